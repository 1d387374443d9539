//! `./dev bench rpc`: what calls of handlers to the host cost, and which bars they keep.

mod calls;
mod message;
mod simulated;
mod threads;

pub(crate) use calls::{CallsArguments, calls};

use anyhow::{Result, ensure};
use clap::Args;
use message::Message;
use serde_json::{Value, json};
use spinneret_table::bench::Bars;
use std::path::PathBuf;

/// Parts that are no kinds of calls.
const MESSAGE: &str = "message";
const THREADS: &str = "threads";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Calls of each HPU
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    calls: u32,
    /// Only calls whose names contain NAME; `message` is the long message, `threads` are calls between threads
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
    /// Folder `libc` of LLVM's sources, measured beside calls between threads; $CXX or g++ compiles it
    #[arg(long, value_name = "DIR")]
    llvm: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, bars: &mut Bars) -> Result<Value> {
    let only = &*arguments.only;
    let rows = simulated::rows(only, arguments.calls)?;
    let [is_message, is_threads] = [MESSAGE, THREADS].map(|part| part.contains(only));
    ensure!(
        is_message || is_threads || !rows.is_empty(),
        "no call has `{only}` in its name"
    );
    if !rows.is_empty() {
        simulated::show(&rows, bars);
    }
    let message = match is_message {
        true => Message::measure()?,
        false => None,
    };
    message.inspect(|message| message.show(bars));
    let threads = match is_threads {
        true => Some(threads::measure(&arguments.llvm)?),
        false => None,
    };
    let rows: Vec<_> = rows
        .iter()
        .map(|(row, bar)| json!({ "row": row, "bar": bar.text(), "kept": bar.is_kept(row) }))
        .collect();
    Ok(json!({ "simulated": rows, "message": message, "threads": threads }))
}
