//! A long message of a handler by MPI, between two ranks with a NIC each.

use anyhow::{Context as _, Result, bail, ensure};
use serde::Serialize;
use serde_json::Value;
use spinneret_table::{figures, result_row, say};
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
pub(crate) struct Message {
    /// Clocks of `spin_mpi_send`, in simulated time, in which the host's MPI_Send takes none.
    pub(crate) call: u64,
    /// Clocks of the copy of the same bytes to host memory, without a call.
    pub(crate) copy: u64,
    /// Clocks that MPI_Send takes of this machine, on average, measured between the same processes.
    pub(crate) own: f64,
}

impl Message {
    /// At most 1.3 times the copy, with MPI's own time on both sides.
    pub(crate) fn is_kept(&self) -> bool {
        10 * self.call <= 13 * self.copy
    }

    /// Lets two ranks send each other messages; nothing if there is no MPICH.
    ///
    /// # Errors
    /// If that fails.
    pub(crate) fn measure() -> Result<Option<Self>> {
        let calls = std::env::current_exe()?.with_file_name("calls");
        let mut command = Command::new(LAUNCHER);
        command.args(["-n", "2"]).arg(&calls);
        command.args(["--variant", "timed", "--messages", HANDLERS, "--window", "1"]);
        let output = match command.env("SPINNERET_MPICC", COMPILER).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                say(format_args!(
                    "64 KiB by MPI are left out: {LAUNCHER} is not installed"
                ));
                return Ok(None);
            }
            output => output.with_context(|| format!("{LAUNCHER} does not start"))?,
        };
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!(
                "{LAUNCHER} {} ended with {}: {errors}",
                calls.display(),
                output.status
            );
        }
        let reports = said.lines().filter_map(|line| serde_json::from_str(line).ok());
        let sender = reports.into_iter().find(|report: &Value| report["rank"] == 0);
        let sender = sender.with_context(|| format!("rank 0 says nothing of its messages: {said}"))?;
        let figure = |name: &str| {
            let figure = sender[name].as_u64();
            figure.with_context(|| format!("rank 0 says no `{name}`: {sender}"))
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

    /// Prints it.
    pub(crate) fn show(&self) {
        let headings = ["64 KiB", "clocks", "clocks with MPI's own", "bar", ""];
        let mut table = figures(headings, &[0, 4]);
        let (copy, call, own) = (self.copy as f64, self.call as f64, self.own);
        let cells = |what: &str, clocks: f64, bar: String, kept: &str| {
            let with = format!("{:.0}", clocks + own);
            [
                what.to_owned(),
                format!("{clocks:.0}"),
                with,
                bar,
                kept.to_owned(),
            ]
        };
        table.add_row(cells("its copy alone", copy, String::new(), ""));
        let kept = if self.is_kept() { "kept" } else { "MISSED" };
        let bar = format!("<= {:.0}", 1.3 * copy + own);
        table.add_row(result_row(
            cells("spin_mpi_send", call, bar, kept),
            self.is_kept(),
        ));
        println!("{table}");
        say(format_args!(
            "The quickest of eight sends of each handler, so its program is in the cache. MPI's own are {own:.0} clocks ({:.1} us) \
             of this machine under MPICH, which takes no simulated time; the bar is 1.3 times the copy, and MPI's own.",
            own / CLOCKS_PER_NS / 1000.0
        ));
    }
}
