//! A long message of a handler by MPI, between two ranks with a NIC each.

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use serde_json::Value;
use spinneret_table::bench::Bars;
use spinneret_table::{figures, say};
use std::io::ErrorKind;
use std::process::Command;

/// MPICH takes a message of this length before the other rank asks for it, so no send waits for that rank's simulation.
const LAUNCHER: &str = "mpirun.mpich";
const COMPILER: &str = "mpicc.mpich";
/// Handlers, one at a time.
const HANDLERS: &str = "9";
/// Clocks of the cluster in a nanosecond.
const CLOCKS_PER_NS: f64 = 0.04;

/// What the quickest message took.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Message {
    /// Clocks of `spin_mpi_send`, in simulated time, in which the host's MPI_Send takes none.
    call: u64,
    /// Clocks of the copy of the same bytes to host memory, without a call.
    copy: u64,
    /// Clocks that MPI_Send takes of this machine, on average, measured between the same processes.
    own: f64,
}

impl Message {
    /// Lets two ranks send each other messages; nothing if there is no MPICH.
    ///
    /// # Errors
    /// If that fails.
    pub(super) fn measure() -> Result<Option<Self>> {
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
    pub(super) fn show(&self, bars: &mut Bars) {
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
