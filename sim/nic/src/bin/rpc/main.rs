//! `./dev bench rpc`: what calls of handlers to the host cost, and which bars they keep.

mod message;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use message::Message;
use serde_json::json;
use spinneret_nic::services::Pace;
use spinneret_nic::services::bench::{Call, Row, measure};
use spinneret_rpc::{Copies, Offer};
use spinneret_table::{figures, result_row, say};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Measures calls of handlers to the host, in simulated time, and holds them to their bars.
#[derive(Debug, Parser)]
#[command(name = "bench rpc")]
struct Arguments {
    /// Calls of each HPU
    #[arg(long, default_value_t = 200)]
    calls: u32,
    /// Only calls whose names contain this; the long message is `message`
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
    /// Where the figures go as JSON
    #[arg(long, value_name = "FILE", default_value = "target/bench/rpc.json")]
    json: PathBuf,
}

/// What is promised of a row.
#[derive(Clone, Copy, Debug)]
enum Bar {
    /// At most so many clocks.
    Clocks(f64),
    /// At least so many calls a second.
    Rate(f64),
    /// Nothing.
    Free,
}

impl Bar {
    fn is_kept(self, row: &Row) -> bool {
        match self {
            Self::Clocks(most) => row.clocks <= most,
            Self::Rate(least) => row.rate >= least,
            Self::Free => true,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Clocks(most) => format!("<= {most} clocks"),
            Self::Rate(least) => format!(">= {:.1} M/s", least / 1e6),
            Self::Free => String::new(),
        }
    }
}

use Bar::{Clocks, Free, Rate};
use Copies::{Bits, Host, Words};

/// What is measured: the call, where handlers wait, ports of an HPU, HPUs.
const ROWS: [(Call, Copies, u32, u32, Bar); 30] = [
    (Call::Noop, Words, 1, 1, Clocks(150.0)),
    (Call::Noop, Host, 1, 1, Clocks(200.0)),
    (Call::Tell, Words, 1, 1, Free),
    (Call::Tell, Host, 1, 1, Free),
    (Call::Increment, Words, 1, 1, Free),
    (Call::Increment, Host, 1, 1, Free),
    (Call::Increment, Bits, 1, 1, Free),
    (Call::Noop, Bits, 1, 1, Clocks(150.0)),
    (Call::Noop, Words, 1, 16, Free),
    (Call::Noop, Host, 1, 16, Rate(3.5e6)),
    (Call::Noop, Bits, 1, 16, Rate(3.5e6)),
    (Call::Increment, Words, 1, 16, Free),
    (Call::Increment, Host, 1, 16, Free),
    (Call::Increment, Bits, 1, 16, Free),
    (Call::Asynchronous, Words, 1, 1, Free),
    (Call::Asynchronous, Words, 2, 1, Free),
    (Call::Asynchronous, Host, 2, 1, Free),
    (Call::Asynchronous, Words, 2, 16, Free),
    (Call::Asynchronous, Host, 2, 16, Free),
    (Call::Asynchronous, Bits, 2, 1, Free),
    (Call::Asynchronous, Bits, 2, 16, Rate(6e6)),
    (Call::Post, Words, 2, 1, Free),
    (Call::Post, Words, 2, 16, Free),
    (Call::Post, Host, 2, 16, Free),
    (Call::Post, Bits, 2, 16, Free),
    (Call::Puts, Words, 1, 1, Free),
    (Call::Printf, Words, 1, 1, Free),
    (Call::Printf, Host, 1, 1, Free),
    (Call::Puts, Words, 1, 16, Free),
    (Call::Printf, Words, 1, 16, Free),
];

fn main() -> ExitCode {
    spinneret_table::failed(work())
}

/// Whether all bars are kept.
fn work() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let mut rows = Vec::new();
    let is_asked = |call: &Call| name(*call).contains(&arguments.only);
    for (call, copies, ports_per_hpu, hpus, bar) in ROWS.into_iter().filter(|row| is_asked(&row.0)) {
        let offer = Offer {
            copies,
            ports_per_hpu,
            ..Offer::default()
        };
        rows.push((measure(call, &offer, hpus, arguments.calls.max(1))?, bar));
    }
    let is_message_asked = "message".contains(&arguments.only);
    ensure!(
        is_message_asked || !rows.is_empty(),
        "no call has `{}` in its name",
        arguments.only
    );
    if !rows.is_empty() {
        show(&rows);
    }
    let message = match is_message_asked {
        true => Message::measure()?,
        false => None,
    };
    message.inspect(Message::show);
    write(&arguments.json, &rows, message)?;
    let missed = rows.iter().filter(|(row, bar)| !bar.is_kept(row)).count()
        + usize::from(message.is_some_and(|message| !message.is_kept()));
    match missed {
        0 => Ok(ExitCode::SUCCESS),
        _ => {
            eprintln!("bench rpc: {missed} bars are missed");
            Ok(ExitCode::FAILURE)
        }
    }
}

fn name(call: Call) -> String {
    format!("{call:?}").to_lowercase()
}

/// Where handlers wait, in words of the documentation.
fn place(copies: Copies) -> &'static str {
    match copies {
        Host => "host memory",
        Words => "NIC, words",
        Bits => "NIC, bits",
    }
}

fn show(rows: &[(Row, Bar)]) {
    let headings = [
        "simulated",
        "waits at",
        "ports of an HPU",
        "HPUs",
        "clocks a call",
        "M calls/s",
        "bar",
        "",
    ];
    let mut table = figures(headings, &[0, 1, 7]);
    for (row, bar) in rows {
        let kept = match bar {
            Free => "",
            _ if bar.is_kept(row) => "kept",
            _ => "MISSED",
        };
        let cells = [
            name(row.call),
            place(row.copies).to_owned(),
            row.ports_per_hpu.to_string(),
            row.hpus.to_string(),
            format!("{:.1}", row.clocks),
            format!("{:.2}", row.rate / 1e6),
            bar.text(),
            kept.to_owned(),
        ];
        table.add_row(result_row(cells, bar.is_kept(row)));
    }
    println!("{table}");
    let pace = Pace::default();
    say(format_args!(
        "All of it is simulated: clusters at 40 MHz, 450 ns to host memory and back. The host looks at all mailboxes in {} ns \
         and works {} ns for each port that has something to do, one after the other; its caches and other work of its processor \
         are left out.",
        pace.look_ps / 1000,
        pace.work_ps / 1000
    ));
}

fn write(path: &Path, rows: &[(Row, Bar)], message: Option<Message>) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let rows: Vec<_> = rows
        .iter()
        .map(|(row, bar)| json!({ "row": row, "bar": bar.text(), "kept": bar.is_kept(row) }))
        .collect();
    let figures = json!({ "simulated": rows, "message": message });
    std::fs::write(path, format!("{figures:#}\n"))
        .with_context(|| format!("{} cannot be written", path.display()))?;
    say(format_args!("figures: {}", path.display()));
    Ok(())
}
