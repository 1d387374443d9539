//! `./dev bench rpc`: what calls of handlers to the host cost, and which bars they keep.

mod message;
mod ranks;
mod simulated;
mod threads;

use anyhow::{Result, ensure};
use clap::Args;
use message::Message;
use ranks::{Variant, WINDOW, run as run_rank};
use serde_json::{Value, json};
use spinneret_mpi_sys::Mpi;
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

/// Arguments of `calls`.
#[derive(Debug, Args)]
pub(crate) struct CallsArguments {
    /// How messages go
    #[arg(long, value_enum, default_value = "plain")]
    variant: Variant,
    /// Number of messages
    #[arg(long, default_value_t = 5000)]
    messages: u32,
    /// Messages that handlers have at a time
    #[arg(long, default_value_t = WINDOW, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
}

/// Runs this rank, and prints its report as JSON.
///
/// # Errors
/// If the simulation or MPI fails.
pub(crate) fn calls(arguments: &CallsArguments) -> Result<()> {
    let mpi = Mpi::init()?;
    let size = mpi.world().size();
    ensure!(size == 2, "there are {size} ranks: start two, by `mpirun -n 2`");
    let report = run_rank(&mpi, arguments.variant, arguments.messages, arguments.window);
    println!("{}", serde_json::to_string(&mpi.or_abort(report))?);
    Ok(())
}
