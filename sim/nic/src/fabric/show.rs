//! What is printed about a fabric.

use super::member::Outcome;

use serde::Serialize;
use spinneret_fabric::{CableReport, Report};
use spinneret_table::{Table, figures};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Version of the JSON.
const FORMAT: u32 = 1;

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    format: u32,
    /// Outside of the simulation.
    wall_seconds: f64,
    /// The same for runs in which all NICs got the same frames at the same times.
    digest: String,
    pub(super) report: Report,
    /// NICs by their numbers.
    nics: BTreeMap<usize, Outcome>,
}

impl Shown {
    pub(super) fn new(report: Report, nics: BTreeMap<usize, Outcome>, wall: Duration) -> Self {
        Self {
            format: FORMAT,
            wall_seconds: wall.as_secs_f64(),
            digest: format!("{:016x}", report.digest()),
            report,
            nics,
        }
    }

    pub(super) fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// What went wrong although all went on, as a sentence.
    pub(super) fn trouble(&self) -> Option<String> {
        let failures = self.nics.iter().flat_map(|(number, nic)| {
            let name = self.report.nics.get(*number).map_or("", |nic| &nic.name);
            nic.failures
                .iter()
                .map(move |failure| format!("{name}: {failure}"))
        });
        failures.chain(self.report.adds_up().err()).next()
    }

    fn nic_table(&self) -> Table {
        let headings = [
            "NIC",
            "frames in",
            "bytes in",
            "wrong",
            "mean us",
            "max us",
            "handled",
            "to host",
            "dropped",
        ];
        let mut table = figures(headings, &[0]);
        for (number, nic) in self.report.nics.iter().enumerate() {
            let summary = self
                .nics
                .get(&number)
                .and_then(|outcome| outcome.summary.as_ref());
            let stage = |name: &str| {
                let stages = summary?.get("stages")?.as_array()?;
                let stage = stages.iter().find(|stage| stage["stage"] == name)?;
                stage["packets"].as_u64()
            };
            let [came, handled, to_host] =
                ["wire in", "to handlers", "to host"].map(|name| stage(name).unwrap_or(0));
            let (most_ps, sum_ps) = nic.latency_ps;
            table.add_row([
                nic.name.clone(),
                nic.received.to_string(),
                nic.received_bytes.to_string(),
                nic.bad.to_string(),
                microseconds(sum_ps.checked_div(nic.received)),
                microseconds((nic.received > 0).then_some(most_ps)),
                handled.to_string(),
                to_host.to_string(),
                came.saturating_sub(handled + to_host).to_string(),
            ]);
        }
        table
    }

    fn cable_table(&self) -> Table {
        let headings = [
            "from",
            "to",
            "sent",
            "queue full",
            "lost",
            "twice",
            "held",
            "wrong",
            "deepest",
        ];
        let mut table = figures(headings, &[0, 1]);
        for CableReport { from, to, counts, .. } in &self.report.cables {
            table.add_row([
                from.clone(),
                to.clone(),
                (counts.offered - counts.queue_full).to_string(),
                counts.queue_full.to_string(),
                counts.lost.to_string(),
                counts.duplicated.to_string(),
                counts.held.to_string(),
                counts.corrupted.to_string(),
                counts.most_queued_bytes.to_string(),
            ]);
        }
        table
    }

    fn switch_table(&self) -> Option<Table> {
        let headings = ["switch", "frames in", "forwarded", "flooded", "filtered", "wrong"];
        let mut table = figures(headings, &[0]);
        for switch in &self.report.switches {
            let counts = switch.counts;
            let figures = [
                counts.received,
                counts.forwarded,
                counts.flooded,
                counts.filtered,
                counts.bad,
            ];
            let figures = figures.map(|figure| figure.to_string());
            table.add_row([switch.name.clone()].into_iter().chain(figures));
        }
        (!self.report.switches.is_empty()).then_some(table)
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.nic_table())?;
        if let Some(table) = self.switch_table() {
            writeln!(f, "{table}\n")?;
        }
        writeln!(f, "{}\n", self.cable_table())?;
        let clocks: u64 = self.nics.values().map(|nic| nic.simulated_clocks).sum();
        let simulated = self.report.time_ps as f64 / 1e12;
        writeln!(
            f,
            "simulated {:.3} ms in {:.2} s: {:.0} clocks of NICs a second, {} rounds",
            simulated * 1e3,
            self.wall_seconds,
            clocks as f64 / self.wall_seconds.max(1e-9),
            self.report.rounds
        )?;
        writeln!(
            f,
            "digest {}: the same if all NICs got the same frames at the same times",
            self.digest
        )
    }
}

fn microseconds(ps: Option<u64>) -> String {
    ps.map_or_else(String::new, |ps| format!("{:.2}", ps as f64 / 1e6))
}
