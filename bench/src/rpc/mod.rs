//! `./dev bench rpc`: costs of calls from handlers to the host, compared with bars.

mod ranks;
mod simulated;
mod threads;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use ranks::{Variant, WINDOW, run as run_rank};
use serde::Serialize;
use serde_json::{Value, json};
use spinneret_mpi_sys::Mpi;
use spinneret_table::bench::Bars;
use spinneret_table::{figures, say};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;

/// Parts of the bench that are not kinds of calls.
const MESSAGE: &str = "message";
const THREADS: &str = "threads";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Calls of each HPU
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    calls: u32,
    /// Run only calls whose names contain NAME; `message` is the long message, `threads` are calls between threads
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
    /// Folder `libc` of LLVM's sources, to measure in comparison with calls between threads; $CXX or g++ compiles it
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

/// MPICH takes a message of this length before the other rank asks for it, so no send waits for that rank's simulation.
const LAUNCHER: &str = "mpirun.mpich";
const COMPILER: &str = "mpicc.mpich";
/// Handlers, one at a time.
const HANDLERS: &str = "9";
/// Clocks of the cluster in a nanosecond.
const CLOCKS_PER_NS: f64 = 0.04;

/// Results of the fastest message.
#[derive(Clone, Copy, Debug, Serialize)]
struct Message {
    /// Clocks of `spin_mpi_send` in simulated time, in which the host's MPI_Send takes none.
    call: u64,
    /// Clocks of the copy of the same bytes to host memory, without a call.
    copy: u64,
    /// Clocks that MPI_Send takes of this machine, on average, measured between the same processes.
    own: f64,
}

impl Message {
    /// Lets two ranks exchange messages; returns nothing without MPICH.
    ///
    /// # Errors
    /// If that fails.
    fn measure() -> Result<Option<Self>> {
        let mut command = Command::new(LAUNCHER);
        command.args(["-n", "2"]).arg(std::env::current_exe()?);
        command.args([
            "calls",
            "--variant",
            "timed",
            "--messages",
            HANDLERS,
            "--window",
            "1",
        ]);
        let output = match command.env("SPINNERET_MPICC", COMPILER).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                say(format_args!(
                    "64 KiB by MPI are left out: {LAUNCHER} is not installed"
                ));
                return Ok(None);
            }
            output => output.with_context(|| format!("cannot start {LAUNCHER}"))?,
        };
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{command:?} ended with {}: {errors}",
            output.status
        );
        let mut reports = printed
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let sender = reports.find(|report| report["rank"] == 0);
        let sender = sender.with_context(|| format!("no report of rank 0: {printed}"))?;
        let figure = |name: &str| {
            let figure = sender[name].as_u64();
            figure.with_context(|| format!("the report of rank 0 has no `{name}`: {sender}"))
        };
        let calls = figure("calls")?;
        ensure!(
            figure("wrong")? == 0 && calls > 0,
            "not all messages were right: {sender}"
        );
        Ok(Some(Self {
            call: figure("least_clocks")?,
            copy: figure("least_copy_clocks")?,
            own: figure("plain_ns")? as f64 / calls as f64 * CLOCKS_PER_NS,
        }))
    }

    /// Prints it. The bar is 1.3 times the copy, with MPI's own time on both sides.
    fn show(&self, bars: &mut Bars) {
        let mut table = figures(["64 KiB", "clocks", "clocks with MPI's own", "bar", ""], &[0, 4]);
        let (copy, call, own) = (self.copy as f64, self.call as f64, self.own);
        let cells = |what: &str, clocks: f64, bar: String| {
            [
                what.to_owned(),
                format!("{clocks:.0}"),
                format!("{:.0}", clocks + own),
                bar,
            ]
        };
        table.add_row(cells("its copy alone", copy, String::new()));
        let bar = format!("<= {:.0}", 1.3 * copy + own);
        let is_kept = 10 * self.call <= 13 * self.copy;
        table.add_row(bars.row(cells("spin_mpi_send", call, bar), is_kept));
        println!("{table}");
        say(format_args!(
            "The quickest of eight sends of each handler, so its program is in the cache. MPI's own are {own:.0} clocks ({:.1} us) \
             of this machine under MPICH, which takes no simulated time; the bar is 1.3 times the copy, and MPI's own.",
            own / CLOCKS_PER_NS / 1000.0
        ));
    }
}
