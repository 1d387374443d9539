//! Figure 8: files over SLMP between two NICs, and the same on bad cables.

use super::iperf::{self, Baseline};
use super::{Clusters, in_parallel, modelled, show};
use crate::harness::{draw, program};
use crate::transfer::{Transfer, Transferred, transfer};
use anyhow::Result;
use spinneret_fabric::Faults;
use spinneret_nic::nic::Backend;
use spinneret_nic::picture::{Axis, COLORS, Panel, Series, Shape, Style, bytes};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::{Mode, SenderConfig};
use spinneret_table::bench::cells;
use std::path::Path;

/// Best median of the paper.
const PAPER_BEST_GBPS: f64 = 6.68;
/// Its throughput with a window of 1.
const PAPER_WINDOW_1_GBPS: f64 = 0.53;

/// Sizes of files in bytes.
const SIZES: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Windows in segments.
const WINDOWS: [u16; 5] = [1, 4, 16, 32, 64];
/// Loss rates of frames.
const LOSSES: [f64; 3] = [0.0, 0.001, 0.05];
/// Rates of duplicated and reordered frames on lossy cables.
const OTHERS: f64 = 0.01;
/// Columns of a transfer.
const COLUMNS: [&str; 9] = [
    "bytes",
    "time_us",
    "gbps",
    "segments",
    "sent_again",
    "lost_on_cable",
    "dropped_by_nic",
    "duplicates",
    "hpu_load",
];
/// Size of the picture in points.
const SIZE: (u32, u32) = (960, 520);
/// From where on sizes are drawn, in bytes.
const SMALLEST: f64 = 8e3;
/// One for each window, from the narrowest on, in print too.
const SHAPES: [Shape; 5] = [
    Shape::Circle,
    Shape::Square,
    Shape::Triangle,
    Shape::Diamond,
    Shape::Tip,
];

/// A point of the picture.
#[derive(Clone, Copy, Debug)]
struct Point {
    window: u16,
    bytes: usize,
    gbps: f64,
}

impl Point {
    /// From a row of the table.
    fn read(line: &str) -> Option<Self> {
        let mut cells = line.split(',');
        Some(Self {
            window: cells.next()?.parse().ok()?,
            bytes: cells.next()?.parse().ok()?,
            gbps: cells.nth(1)?.parse().ok()?,
        })
    }
}

/// Files of all sizes with all windows.
pub(super) fn throughput(out: &Path, clusters: Clusters, largest: usize) -> Result<()> {
    let sizes = SIZES.into_iter().filter(|size| *size <= largest);
    let all: Vec<_> = sizes
        .flat_map(|size| WINDOWS.map(|window| (window, size, Faults::default())))
        .collect();
    let transferred = transfers(clusters, &all)?;
    let rows = transferred
        .iter()
        .map(|(window, done)| row(&[window.to_string()], done));
    let columns = [&["window"][..], &COLUMNS].concat();
    let file = |extension| out.join(clusters.file("figure8", extension));
    show(&file("csv"), &columns, &Vec::from_iter(rows))?;
    let point = |(window, done): &(u16, Transferred)| Point {
        window: *window,
        bytes: done.bytes,
        gbps: done.gbps(),
    };
    let points: Vec<_> = transferred.iter().map(point).collect();
    let model = clusters.rows_of_model(out, "figure8")?;
    let model: Vec<_> = model.iter().filter_map(|line| Point::read(line)).collect();
    let baselines = baselines(out)?;
    draw(&file("svg"), SIZE, |area| {
        panel(&points, &model, &baselines, clusters).draw(area)
    })
}

/// The baseline of the paper, measured on this machine; none without the right to make interfaces, or without iperf3.
fn baselines(out: &Path) -> Result<Vec<Baseline>> {
    let measured =
        iperf::measure().inspect_err(|error| eprintln!("without the baseline of iperf3: {error:#}"));
    let Ok(measured) = measured else {
        return Ok(Vec::new());
    };
    let rows = measured.iter().map(|Baseline { protocol, gbps }| {
        let [low, high] = gbps.interval();
        let figures = cells([gbps.median(), low, high], 3);
        [&[(*protocol).to_owned()][..], &figures].concat()
    });
    let columns = ["protocol", "gbps", "low_gbps", "high_gbps"];
    show(&out.join("figure8-iperf3.csv"), &columns, &Vec::from_iter(rows))?;
    Ok(measured)
}

/// A file with a window of 16 on cables that lose nothing, a little, and a lot, and double and reorder frames as well.
pub(super) fn faults(out: &Path, clusters: Clusters, bytes: usize) -> Result<()> {
    let all = LOSSES.map(|loss| {
        let others = if loss > 0.0 { OTHERS } else { 0.0 };
        let faults = Faults {
            loss,
            duplication: others,
            reordering: others,
            corruption: 0.0,
        };
        (16, bytes, faults)
    });
    let rows = transfers(clusters, &all)?
        .into_iter()
        .zip(all)
        .map(|((_, done), (.., faults))| {
            let faults = [faults.loss, faults.duplication, faults.reordering];
            row(&faults.map(|share| (share * 100.0).to_string()), &done)
        });
    let columns = [
        &["loss_percent", "duplication_percent", "reordering_percent"][..],
        &COLUMNS,
    ];
    show(
        &out.join(clusters.file("slmp-faults", "csv")),
        &columns.concat(),
        &Vec::from_iter(rows),
    )
}

/// Transfers files of all sizes, windows and cables; returns them with their windows.
fn transfers(clusters: Clusters, all: &[(u16, usize, Faults)]) -> Result<Vec<(u16, Transferred)>> {
    let plain = Transfer {
        nic: clusters.config(),
        ..Transfer::default()
    };
    let program = program("slmp", &plain.nic)?;
    in_parallel(all, |&(window, size, faults)| {
        let how = Transfer {
            sender: SenderConfig {
                mode: Mode::Window(window),
                ..plain.sender
            },
            faults,
            ..plain.clone()
        };
        let done = transfer(&program, &file(size), &how)?;
        let (loss, gbps) = (faults.loss * 100.0, done.gbps());
        eprintln!("{size} bytes, window {window}, {loss} % loss: {gbps:.2} Gb/s");
        Ok((window, done))
    })
}

/// Bytes that do not repeat with the segments.
fn file(bytes: usize) -> Vec<u8> {
    let mix = |place: usize| (place as u32).wrapping_mul(0x9e37_79b1).to_be_bytes()[0];
    (0..bytes).map(mix).collect()
}

/// Returns a row of the table: settings and results.
fn row(first: &[String], done: &Transferred) -> Vec<String> {
    let lost: u64 = done.cables.iter().map(|cable| cable.lost).sum();
    let dropped = done.counters.iter();
    let dropped = dropped.filter(|(name, _)| name.starts_with("ingress.dropped_"));
    let dropped: u32 = dropped.map(|(_, count)| count).sum();
    let transfer = [
        done.bytes.to_string(),
        format!("{:.1}", done.time.as_secs_f64() * 1e6),
        format!("{:.3}", done.gbps()),
        done.sender.segments.to_string(),
        done.sender.retransmissions.to_string(),
        lost.to_string(),
        dropped.to_string(),
        done.segments.of(Cause::Duplicate).to_string(),
        format!("{:.2}", done.hpu_load),
    ];
    [first, &transfer].concat()
}

/// Throughput over the size of the file, a line for each window, and the model's.
fn panel(points: &[Point], model: &[Point], baselines: &[Baseline], clusters: Clusters) -> Panel {
    let mut windows: Vec<u16> = points.iter().map(|point| point.window).collect();
    windows.sort_unstable();
    windows.dedup();
    let all = || points.iter().chain(model);
    let highest = all()
        .map(|point| point.gbps)
        .chain(baselines.iter().map(|baseline| baseline.gbps.median()))
        .fold(PAPER_BEST_GBPS, f64::max);
    let largest = all().map(|point| point.bytes).max().unwrap_or(1) as f64 * 1.25;
    let line = |points: &[Point], window| -> Vec<(f64, f64)> {
        let line = points.iter().filter(|point| point.window == window);
        line.map(|point| (point.bytes as f64, point.gbps)).collect()
    };
    let styles = COLORS.into_iter().zip(SHAPES.into_iter().cycle());
    let ours = windows
        .into_iter()
        .zip(styles)
        .flat_map(|(window, (color, shape))| {
            let style = Style::line(color);
            let own = Series::new(
                format!("window {window}"),
                style.with(shape),
                line(points, window),
            );
            let name = format!("window {window}, {}", Clusters(Backend::Model).name());
            let other = Series::new(name, modelled(style), line(model, window));
            [own, other]
        })
        .filter(|series| !series.points.is_empty());
    let paper = [
        (PAPER_BEST_GBPS, "paper, best median", SHAPES[4]),
        (PAPER_WINDOW_1_GBPS, "paper, window 1", SHAPES[0]),
    ];
    let level = |value: f64| vec![(SMALLEST, value), (largest, value)];
    let theirs = paper.map(|(value, name, shape)| {
        Series::new(
            format!("{name}: {value}"),
            Style::published_line(shape),
            level(value),
        )
    });
    let measured = baselines
        .iter()
        .zip([SHAPES[1], SHAPES[2]])
        .map(|(baseline, shape)| {
            let (protocol, gbps) = (baseline.protocol, baseline.gbps.median());
            let name = format!("iperf3, {protocol}, measured on this machine's stack: {gbps:.2}");
            Series::new(name, Style::published_line(shape), level(gbps))
        });
    Panel {
        title: format!("Files over SLMP, {}", clusters.name()),
        x: Axis::log("size of the file", SMALLEST..largest).with_words(bytes),
        y: Axis::linear("throughput, Gb/s", 0.0..highest * 1.08),
        series: ours.chain(theirs).chain(measured).collect(),
    }
}
