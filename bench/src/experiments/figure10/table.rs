//! Figure 10 as a table.

use super::unpack::Unpacking;
use super::{ELEMENTS, MESSAGES, PAPER_LENGTHS, PAPER_MESSAGES, Point, Spec, TIMES};
use crate::experiments::csv as sheet;
use spinneret_nic::mpi::{PaperType, Trial};
use std::time::Duration;

/// Columns of a point with one set of prices.
const COLUMNS: [&str; 25] = [
    "type",
    "window",
    "messages",
    "bytes",
    "prices_times",
    "transfer_us",
    "gbps",
    "gbps_computing",
    "dimension",
    "multiplications",
    "elapsed_us",
    "t_mm_us",
    "t_poll_us",
    "overlap_ratio",
    "elapsed_by_transfer",
    "availability",
    "looks",
    "words_seen",
    "words_written",
    "words_read",
    "frames_sent",
    "paper_gbps",
    "paper_gbps_computing",
    "paper_host_gbps",
    "paper_overlap_ratio",
];
/// Columns of each MPI that was measured.
const UNPACK_COLUMNS: [&str; 2] = ["unpack_measured_us", "availability_with_unpack"];

/// What the paper has for a point: throughput without and with computation, of MPICH on its hosts, R.
pub(super) fn of_paper(spec: &Spec) -> [Option<f64>; 4] {
    let kind = usize::from(spec.kind == PaperType::Complex);
    let length = PAPER_LENGTHS.iter().find(|paper| paper.bytes == spec.bytes());
    if let Some(paper) = length.filter(|_| spec.messages == MESSAGES) {
        return paper.medians[kind].map(Some);
    }
    let messages = PAPER_MESSAGES
        .iter()
        .find(|(messages, _)| *messages == spec.messages);
    let reference = messages.filter(|_| spec.elements == ELEMENTS);
    [reference.map(|(_, medians)| medians[kind]), None, None, None]
}

/// The header, and a row for each point and set of prices; what is simulated and what is measured stands in different
/// columns.
pub(super) fn csv(points: &[Point], unpackings: &[Unpacking]) -> String {
    let mut header: Vec<String> = COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    for unpacking in unpackings {
        let name = short_name(&unpacking.library);
        header.extend(UNPACK_COLUMNS.iter().map(|column| format!("{name}_{column}")));
    }
    let rows = points.iter().flat_map(|point| {
        let trials = TIMES.iter().zip(&point.done.trials);
        trials.map(|(times, trial)| row(point, *times, trial, unpackings))
    });
    sheet(&header, &Vec::from_iter(rows))
}

fn row(point: &Point, times: u32, trial: &Trial, unpackings: &[Unpacking]) -> Vec<String> {
    let (spec, alone, acts) = (&point.spec, &point.done.alone, &trial.acts);
    let bytes = alone.bytes as f64 * 8.0 / 1e3;
    let mut row = vec![
        spec.kind.name().to_owned(),
        spec.window.to_string(),
        spec.messages.to_string(),
        spec.bytes().to_string(),
        times.to_string(),
        micros(alone.time),
        format!("{:.3}", alone.gbps()),
        format!("{:.3}", bytes / (trial.elapsed.as_secs_f64() * 1e6)),
        trial.dimension.to_string(),
        trial.multiplications.to_string(),
        micros(trial.elapsed),
        micros(trial.computed),
        micros(trial.polling()),
        format!("{:.4}", trial.ratio()),
        format!("{:.4}", trial.elapsed.as_secs_f64() / alone.time.as_secs_f64()),
        format!("{:.4}", trial.availability(alone, Duration::ZERO)),
        acts.looks.to_string(),
        acts.words_seen.to_string(),
        acts.words_written.to_string(),
        acts.words_read.to_string(),
        acts.frames.to_string(),
    ];
    row.extend(of_paper(spec).map(|value| value.map(|value| value.to_string()).unwrap_or_default()));
    for unpacking in unpackings {
        let time = unpacking.of(spec);
        row.push(time.map(micros).unwrap_or_default());
        let availability = time.map(|time| format!("{:.4}", trial.availability(alone, time)));
        row.push(availability.unwrap_or_default());
    }
    row
}

fn micros(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e6)
}

/// A name for columns.
fn short_name(library: &str) -> &'static str {
    match library.contains("MPICH") {
        true => "mpich",
        false => "openmpi",
    }
}
