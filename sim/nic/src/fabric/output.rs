//! Output of a fabric.

use super::node::Outcome;
use crate::picture::{Area, Axis, COLORS, Painted, Panel, Series, Style, save};
use anyhow::{Context as _, Result, anyhow};
use serde::Serialize;
use serde_json::{Value, json};
use spinneret_fabric::{CableReport, Report};
use spinneret_packets::capture::whole_file::WholeFile;
use spinneret_table::{Table, figures};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Version of the JSON.
const FORMAT: u32 = 1;

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    format: u32,
    /// Outside of the simulation.
    wall_seconds: f64,
    /// Digest, equal for runs with the same frames at the same times.
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

    /// Problems that did not end the run, as text.
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
            "simulated {:.3} ms in {:.2} s: {:.0} NIC clocks per second, {} epochs",
            simulated * 1e3,
            self.wall_seconds,
            clocks as f64 / self.wall_seconds.max(1e-9),
            self.report.rounds
        )?;
        writeln!(
            f,
            "digest {} (equal if all NICs received the same frames at the same times)",
            self.digest
        )
    }
}

fn microseconds(ps: Option<u64>) -> String {
    ps.map_or_else(String::new, |ps| format!("{:.2}", ps as f64 / 1e6))
}

/// Width and height of the picture.
const SIZE: (u32, u32) = (900, 900);

/// A curve: the name of a port, and its points.
type Curve = (String, Vec<(f64, f64)>);

/// Draws the queues of all switch ports that were ever used, the drops, and latencies.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn draw(file: &Path, report: &Report) -> Result<()> {
    let (queues, drops) = curves(report);
    let latencies = latencies(report);
    let range = range([&queues, &drops, &latencies]);
    save(file, SIZE, |area| {
        let thirds = area.split_evenly((3, 1));
        chart(&thirds[0], "Bytes in the queues of ports", "KiB", &queues, range)?;
        chart(
            &thirds[1],
            "Frames that found a queue full",
            "frames",
            &drops,
            range,
        )?;
        chart(
            &thirds[2],
            "From NIC to NIC, mean of a sample",
            "us",
            &latencies,
            range,
        )
    })
    .map_err(|error| anyhow!("the plot {} cannot be written: {error}", file.display()))
}

fn curves(report: &Report) -> (Vec<Curve>, Vec<Curve>) {
    let (mut queues, mut drops) = (Vec::new(), Vec::new());
    for (place, cable) in report.cables.iter().enumerate() {
        let name = format!("{} to {}", cable.from, cable.to);
        let at = |value: fn(&spinneret_fabric::PortReport) -> f64| -> Vec<(f64, f64)> {
            let points = report.samples.iter().filter_map(|sample| {
                let port = sample.ports.iter().find(|port| port.cable == place)?;
                Some((sample.at_ps as f64 / 1e6, value(port)))
            });
            points.collect()
        };
        let queue = at(|port| port.queued_bytes as f64 / 1024.0);
        if queue.iter().any(|(_, bytes)| *bytes > 2.0) {
            queues.push((name.clone(), queue));
        }
        let dropped = at(|port| port.queue_full as f64);
        if dropped.last().is_some_and(|(_, frames)| *frames > 0.0) {
            drops.push((name, dropped));
        }
    }
    (queues, drops)
}

/// Mean latencies of the frames that came to each NIC.
fn latencies(report: &Report) -> Vec<Curve> {
    let nics = report.nics.iter().enumerate().filter(|(_, nic)| nic.received > 0);
    let curves = nics.map(|(number, nic)| {
        let points = report.samples.iter().filter_map(|sample| {
            let came = sample
                .nics
                .iter()
                .find(|came| came.nic == number && came.frames > 0)?;
            let mean_ps = came.latency_ps as f64 / came.frames as f64;
            Some((sample.at_ps as f64 / 1e6, mean_ps / 1e6))
        });
        (format!("to {}", nic.name), points.collect())
    });
    curves.collect()
}

/// From shortly before something happens to the end.
fn range(all: [&Vec<Curve>; 3]) -> (f64, f64) {
    let points = || all.into_iter().flatten().flat_map(|(_, points)| points);
    let right = points().map(|(x, _)| *x).fold(1.0, f64::max);
    let active = points().filter(|(_, y)| *y > 0.0).map(|(x, _)| *x);
    let left = active.fold(right, f64::min);
    (if left < right { left * 0.98 } else { 0.0 }, right)
}

fn chart(area: &Area<'_>, title: &str, unit: &str, curves: &[Curve], (left, right): (f64, f64)) -> Painted {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let top = points().map(|(_, y)| *y).fold(1.0, f64::max) * 1.1;
    let series = curves.iter().enumerate().map(|(place, (name, points))| {
        let color = COLORS[place % COLORS.len()];
        // Once all colours are used, they come again with dashes.
        let style = match place / COLORS.len() % 2 {
            0 => Style::line(color),
            _ => Style::dashed(color),
        };
        let points = points.iter().copied().filter(|(x, _)| *x >= left);
        Series::new(name.clone(), style, points.collect())
    });
    let panel = Panel {
        title: title.to_owned(),
        x: Axis::linear("simulated time, us", left..right),
        y: Axis::linear(unit, 0.0..top),
        series: series.collect(),
    };
    panel.draw(area)
}

/// Processes of a NIC in a trace.
const PROCESSES: u64 = 2;

/// Traces of NICs, next to the merged file.
#[derive(Debug)]
pub(super) struct Parts {
    file: PathBuf,
    folder: TempDir,
}

impl Parts {
    pub(super) fn beside(file: &Path) -> std::io::Result<Self> {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = tempfile::Builder::new()
            .prefix(".trace")
            .tempdir_in(parent.unwrap_or(Path::new(".")))?;
        Ok(Self {
            file: file.to_owned(),
            folder,
        })
    }

    /// The file of a NIC.
    pub(super) fn part(&self, number: usize, name: &str) -> PathBuf {
        self.folder.path().join(format!("{number}-{name}"))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If a part cannot be read, or the file cannot be written.
    pub(super) fn join(self, report: &Report) -> Result<()> {
        let path = self.file.display();
        let unwritten = || format!("the trace {path} cannot be written");
        let mut whole = WholeFile::create(&self.file).with_context(unwritten)?;
        whole
            .write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")
            .with_context(unwritten)?;
        let mut separator = "\n";
        for (number, nic) in report.nics.iter().enumerate() {
            let part = File::open(self.part(number, &nic.name));
            let Ok(part) = part else { continue };
            // The first line opens the list, the last one closes it, and each between them is an event.
            for line in BufReader::new(part).lines() {
                let line = line.with_context(unwritten)?;
                let text = line.trim_end_matches(',');
                let Ok(mut event) = serde_json::from_str::<Value>(text) else {
                    continue;
                };
                of_nic(&mut event, number as u64, &nic.name);
                write!(whole, "{separator}{event}").with_context(unwritten)?;
                separator = ",\n";
            }
        }
        whole.write_all(b"\n]}\n").with_context(unwritten)?;
        whole.finish().with_context(unwritten)
    }
}

/// An event of one NIC among those of all.
fn of_nic(event: &mut Value, number: u64, name: &str) {
    if let Some(pid) = event["pid"].as_u64() {
        event["pid"] = json!(pid + PROCESSES * number);
    }
    if event["ph"] == "M" && event["name"] == "process_name" {
        let process = event["args"]["name"].as_str().unwrap_or_default();
        event["args"]["name"] = json!(format!("{name}: {process}"));
    }
    if let Some(id) = event["id"].as_u64() {
        event["id"] = json!(id << 20 | number);
    }
}
