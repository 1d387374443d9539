//! Figure 8: files over SLMP to a NIC, repeated until enough transfers succeeded, and the same on bad cables.

mod picture;

use self::picture::Drawn;
use super::iperf::{self, Baseline};
use super::{Clusters, Known, in_parallel, show};
use crate::harness::program;
use crate::transfer::{Transfer, Transferred, transfer, transfers};
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use spinneret_cluster::Program;
use spinneret_fabric::{Counts, Faults};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::wire::MAX_PAYLOAD;
use spinneret_slmp::{Mode, SenderConfig};
use spinneret_table::bench::{Spread, cells};
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Sizes of files in bytes.
const SIZES: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Windows in segments.
const WINDOWS: [u16; 8] = [1, 4, 16, 32, 64, 128, 256, 512];
/// From this size on, few transfers and no narrow windows.
const LARGE: usize = 10_000_000;
const NARROWEST_OF_LARGE: u16 = 16;
/// With two senders.
const WINDOWS_OF_TWO: [u16; 2] = [16, 64];
const BYTES_OF_TWO: usize = 1_000_000;
/// Sessions of a point at most; each has as many transfers as have to succeed.
const SESSIONS: u64 = 3;
/// Longest pause of a sending host after a segment. The mean is the 100 ns that a frame takes a host in Figure 10.
const PAUSE: Duration = Duration::from_nanos(200);
/// A transfer without retransmission fails after that time without an acknowledgement.
const GIVE_UP: Duration = Duration::from_millis(1);
/// Loss rates of frames.
const LOSSES: [f64; 3] = [0.0, 0.001, 0.05];
/// Rates of duplicated and reordered frames on lossy cables.
const OTHERS: f64 = 0.01;
/// The table of iperf3.
const BASELINES: &str = "figure8-iperf3.csv";
/// Columns of a point.
const COLUMNS: [&str; 13] = [
    "window",
    "bytes",
    "senders",
    "retransmit",
    "succeeded",
    "gbps",
    "low_gbps",
    "high_gbps",
    "failed",
    "segments",
    "segments_lost",
    "sent_again",
    "hpu_load",
];
/// Columns of a transfer on a bad cable.
const FAULT_COLUMNS: [&str; 12] = [
    "loss_percent",
    "duplication_percent",
    "reordering_percent",
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

/// A case to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Spec {
    senders: usize,
    retransmit: bool,
    bytes: usize,
    window: u16,
}

impl Spec {
    /// All of them, up to a size. As in the paper, a file is as long as a window at least.
    fn all(largest: usize) -> Vec<Self> {
        let windows = |bytes| {
            let is_large = bytes >= LARGE;
            let fits = move |window: &u16| {
                usize::from(*window) * MAX_PAYLOAD <= bytes && (!is_large || *window >= NARROWEST_OF_LARGE)
            };
            WINDOWS
                .into_iter()
                .filter(fits)
                .map(move |window| (1, bytes, window))
        };
        let one = SIZES.into_iter().flat_map(windows);
        let two = WINDOWS_OF_TWO.map(|window| (2, BYTES_OF_TWO, window));
        let all = one.chain(two).filter(|(_, bytes, _)| *bytes <= largest);
        let both = |(senders, bytes, window)| {
            [false, true].map(|retransmit| Self {
                senders,
                retransmit,
                bytes,
                window,
            })
        };
        // The longest ones come last, because these start first.
        let mut all: Vec<_> = all.flat_map(both).collect();
        all.sort_by_key(|spec| {
            (
                spec.transfers() * spec.bytes * spec.senders / usize::from(spec.window.min(32)),
                *spec,
            )
        });
        all
    }

    /// How many transfers have to succeed. The paper has 20, without retransmission.
    fn transfers(&self) -> usize {
        match (self.bytes >= LARGE, self.retransmit) {
            (true, _) => 3,
            (false, true) => 6,
            (false, false) => 20,
        }
    }
}

/// A point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    spec: Spec,
    /// Throughput of the transfers that succeeded, and how many failed until then.
    gbps: Vec<f64>,
    failed: usize,
    /// Segments of all transfers: sent, of these for another time, and not seen by any handler.
    segments: u64,
    sent_again: u64,
    lost: u64,
    /// Mean of the transfers that succeeded.
    hpu_load: Option<f64>,
}

impl Point {
    /// Transfers in sessions until enough succeeded; the limit is [`SESSIONS`], or one in which none did.
    fn measure(program: &Program, spec: Spec, plain: &Transfer) -> Result<Self> {
        let mut done: Vec<Transferred> = Vec::new();
        let succeeded = |done: &[Transferred]| done.iter().filter(|one| one.failure.is_none()).count();
        for seed in 1..=SESSIONS {
            let how = Transfer {
                seed,
                ..how(plain, &spec)
            };
            let session = transfers(program, &file(spec.bytes), &how, spec.transfers())?;
            let is_hopeless = succeeded(&session.rounds) == 0;
            for round in session.rounds {
                if succeeded(&done) < spec.transfers() {
                    done.push(round);
                }
            }
            if is_hopeless || succeeded(&done) == spec.transfers() {
                break;
            }
        }
        Ok(Self::of(spec, &done))
    }

    fn of(spec: Spec, done: &[Transferred]) -> Self {
        let good = || done.iter().filter(|done| done.failure.is_none());
        let gbps: Vec<f64> = good().map(Transferred::gbps).collect();
        let load: f64 = good().map(|done| done.hpu_load).sum();
        let segments = done.iter().map(Transferred::sent).sum();
        let seen: u64 = done.iter().map(|done| u64::from(done.segments.all())).sum();
        Self {
            spec,
            failed: done.len() - gbps.len(),
            hpu_load: (!gbps.is_empty()).then(|| load / gbps.len() as f64),
            gbps,
            segments,
            sent_again: done.iter().map(Transferred::sent_again).sum(),
            lost: segments - seen,
        }
    }

    fn row(&self) -> Vec<String> {
        let Spec {
            senders,
            retransmit,
            bytes,
            window,
        } = self.spec;
        let gbps = Spread::from_iter(self.gbps.iter().copied());
        let [low, high] = gbps.interval();
        let throughput = match self.gbps.is_empty() {
            true => Default::default(),
            false => cells([gbps.median(), low, high], 3),
        };
        let load = self.hpu_load.map(|load| format!("{load:.2}"));
        let first = [
            window.to_string(),
            bytes.to_string(),
            senders.to_string(),
            retransmit.to_string(),
        ];
        let counts = [
            self.failed.to_string(),
            self.segments.to_string(),
            self.lost.to_string(),
            self.sent_again.to_string(),
        ];
        let succeeded = [self.gbps.len().to_string()];
        [
            &first[..],
            &succeeded,
            &throughput,
            &counts,
            &[load.unwrap_or_default()],
        ]
        .concat()
    }
}

/// For progress.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            spec:
                Spec {
                    senders,
                    retransmit,
                    bytes,
                    window,
                },
            ..
        } = self;
        let gbps = Spread::from_iter(self.gbps.iter().copied()).median();
        write!(
            f,
            "{senders} x {bytes} bytes, window {window}, retransmit {retransmit}: {gbps:.2} Gb/s, {} failed, {} segments lost",
            self.failed, self.lost
        )
    }
}

/// How a sender sends in a case.
fn how(plain: &Transfer, spec: &Spec) -> Transfer {
    let give_up = if spec.retransmit {
        plain.sender.give_up
    } else {
        GIVE_UP
    };
    Transfer {
        senders: spec.senders,
        sender: SenderConfig {
            mode: Mode::Window(spec.window),
            retransmit: spec.retransmit,
            give_up,
            ..plain.sender
        },
        ..plain.clone()
    }
}

/// NICs with these clusters, and hosts that take time.
fn plain(clusters: Clusters) -> Transfer {
    Transfer {
        nic: clusters.config(),
        pause: PAUSE,
        ..Transfer::default()
    }
}

/// Measures the points, or reads those of the table in the folder, and draws them.
pub(super) fn throughput(out: &Path, clusters: Clusters, largest: usize, redraw: bool) -> Result<()> {
    let table = out.join(clusters.file("figure8", "csv"));
    if !redraw {
        let rows = measure(clusters, &Spec::all(largest))?;
        show(&table, &COLUMNS, &rows)?;
    }
    let text = std::fs::read_to_string(&table);
    let text = text.with_context(|| format!("cannot read {}", table.display()))?;
    let own: Vec<_> = text.lines().filter_map(Drawn::read).collect();
    let model = clusters.rows_of_model(out, "figure8")?;
    let model: Vec<_> = model.iter().filter_map(|row| Drawn::read(row)).collect();
    let file = out.join(clusters.file("figure8", "svg"));
    picture::draw(&file, &own, &model, &baselines(out), clusters)
}

/// Measures all points; an interrupted run continues with those that it lacks.
fn measure(clusters: Clusters, specs: &[Spec]) -> Result<Vec<Vec<String>>> {
    let plain = plain(clusters);
    let program = program("slmp", &plain.nic)?;
    let known = Known::<Point>::read(&clusters.file("figure8", "json"))?;
    let mut points = known.all();
    points.retain(|point| specs.contains(&point.spec));
    let is_wanted = |spec: &&Spec| points.iter().all(|point| point.spec != **spec);
    let wanted: Vec<Spec> = specs.iter().filter(is_wanted).copied().collect();
    points.extend(in_parallel(&wanted, |spec| {
        let point = Point::measure(&program, *spec, &plain)?;
        eprintln!("{point}");
        known.add(point.clone())?;
        Ok(point)
    })?);
    known.remove()?;
    points.sort_by_key(|point| point.spec);
    Ok(points.iter().map(Point::row).collect())
}

/// The columns of iperf3.
const BASELINE_COLUMNS: [&str; 4] = ["protocol", "gbps", "low_gbps", "high_gbps"];

/// Measures the baseline of the paper on this machine.
pub(super) fn iperf3(out: &Path) -> Result<()> {
    let rows = iperf::measure()?.into_iter().map(|Baseline { protocol, gbps }| {
        let [low, high] = gbps.interval();
        let figures = cells([gbps.median(), low, high], 3);
        [&[protocol.to_owned()][..], &figures].concat()
    });
    show(&out.join(BASELINES), &BASELINE_COLUMNS, &Vec::from_iter(rows))
}

/// Protocols and medians as they were measured; none if they were not.
fn baselines(out: &Path) -> Vec<(String, f64)> {
    let text = std::fs::read_to_string(out.join(BASELINES)).unwrap_or_default();
    let read = |line: &str| {
        let mut cells = line.split(',');
        Some((cells.next()?.to_owned(), cells.next()?.parse().ok()?))
    };
    text.lines().filter_map(read).collect()
}

/// A file with a window of 16 on cables that lose nothing, a little, and a lot, and double and reorder frames as well.
pub(super) fn faults(out: &Path, clusters: Clusters, bytes: usize) -> Result<()> {
    let plain = plain(clusters);
    let program = program("slmp", &plain.nic)?;
    let rows = in_parallel(&LOSSES, |&loss| {
        let others = if loss > 0.0 { OTHERS } else { 0.0 };
        let faults = Faults {
            loss,
            duplication: others,
            reordering: others,
            corruption: 0.0,
        };
        let how = Transfer {
            faults,
            ..plain.clone()
        };
        let (done, cables) = transfer(&program, &file(bytes), &how)?;
        eprintln!("{bytes} bytes, {} % loss: {:.2} Gb/s", loss * 100.0, done.gbps());
        Ok(fault_row(&faults, &done, &cables))
    })?;
    show(
        &out.join(clusters.file("slmp-faults", "csv")),
        &FAULT_COLUMNS,
        &rows,
    )
}

/// Bytes that do not repeat with the segments.
fn file(bytes: usize) -> Vec<u8> {
    let mix = |place: usize| (place as u32).wrapping_mul(0x9e37_79b1).to_be_bytes()[0];
    (0..bytes).map(mix).collect()
}

fn fault_row(faults: &Faults, done: &Transferred, cables: &[Counts]) -> Vec<String> {
    let lost: u64 = cables.iter().map(|cable| cable.lost).sum();
    let dropped = done.counters.iter();
    let dropped = dropped.filter(|(name, _)| name.starts_with("ingress.dropped_"));
    let dropped: u32 = dropped.map(|(_, count)| count).sum();
    let shares = [faults.loss, faults.duplication, faults.reordering];
    let transfer = [
        done.bytes.to_string(),
        format!("{:.1}", done.time.as_secs_f64() * 1e6),
        format!("{:.3}", done.gbps()),
        done.sent().to_string(),
        done.sent_again().to_string(),
        lost.to_string(),
        dropped.to_string(),
        done.segments.of(Cause::Duplicate).to_string(),
        format!("{:.2}", done.hpu_load),
    ];
    [&shares.map(|share| (share * 100.0).to_string())[..], &transfer].concat()
}
