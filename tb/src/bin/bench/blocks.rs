//! Blocks: the matching engine, the paths of packets and commands, the host DMA, the rate limiter.

use crate::{Cell, Figures, gbps, reference, throughput};
use anyhow::{Context, Result};
use spinneret_models::SpinneretRateLimiter;
use spinneret_sim::model::Model as _;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::hostdma::{Latencies, Rates, latencies, rates};
use spinneret_tb::rate_limiter::{LimiterBench, Settings};
use spinneret_tb::{egress, ingress, pkt_match};

/// Frames of each measurement.
const MATCHING_FRAMES: usize = 64;

/// Frame sizes in bytes, with the cycles a frame that the public design takes: unmatched, matched.
const MATCHING_SIZES: [(usize, Option<(f64, f64)>); 11] = [
    (60, None),
    (64, Some((4.0, 5.0))),
    (65, None),
    (128, None),
    (256, None),
    (512, None),
    (1024, None),
    (1500, Some((28.0, 29.0))),
    (1514, None),
    (4096, None),
    (9000, None),
];

struct MatchingRow {
    size: usize,
    traffic: pkt_match::Traffic,
    cycles: pkt_match::Cycles,
    reference: Option<f64>,
}

/// Measures all sizes in all kinds of traffic; the figures get that name.
pub(crate) fn matching<M: Model>(name: &'static str) -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    for traffic in pkt_match::Traffic::ALL {
        let sim = Simulation::new(M::with_seed(1)).context("the model cannot be simulated")?;
        let mut bench = pkt_match::marked(sim);
        let mut row = |(size, reference): (_, Option<(_, _)>)| MatchingRow {
            size,
            traffic,
            cycles: pkt_match::measure(&mut bench, size, traffic, MATCHING_FRAMES),
            reference: match traffic {
                pkt_match::Traffic::Unmatched => reference.map(|(unmatched, _)| unmatched),
                pkt_match::Traffic::Matched => reference.map(|(_, matched)| matched),
                pkt_match::Traffic::Alternating => None,
            },
        };
        rows.extend(MATCHING_SIZES.map(|size| row(size).cells()));
        cycles += bench.sim.cycle_count();
        bench.finish();
    }
    let explanation = format!(
        "data 512 bit, all outputs ready, {MATCHING_FRAMES} frames a row; reference: the public design's matcher"
    );
    Ok(Figures::new(name, Some(1), explanation, rows, cycles))
}

impl MatchingRow {
    fn cells(&self) -> Vec<Cell> {
        let pkt_match::Cycles {
            per_frame,
            latency,
            meta_after_last,
        } = self.cycles;
        let [theirs, ratio] = reference("reference_cycles_per_frame", self.reference, per_frame);
        vec![
            Cell::plain("bytes", "bytes", self.size),
            Cell::plain("frames", "frames", self.traffic.name()),
            Cell::new(
                "cycles a frame",
                format!("{per_frame:.2}"),
                "cycles_per_frame",
                per_frame,
            ),
            theirs,
            ratio,
            throughput(self.size, per_frame),
            Cell::plain("first in to first out", "latency_cycles", latency),
            Cell::optional("last out to metadata", "meta_after_last_cycles", meta_after_last),
        ]
    }
}

/// Frame sizes in bytes, with the cycles of the public design: a matched frame, first beat to HER.
const INGRESS_SIZES: [(usize, Option<(f64, f64)>); 8] = [
    (64, Some((5.0, 15.0))),
    (65, None),
    (128, Some((7.0, 17.0))),
    (256, Some((9.0, 21.0))),
    (512, Some((13.0, 29.0))),
    (1024, Some((21.0, 45.0))),
    (1500, Some((29.0, 62.0))),
    (1514, None),
];

/// Cycles from the last beat of a burst to its response.
const INGRESS_RESPONSES: [u64; 3] = [1, 10, 30];

struct IngressRow {
    size: usize,
    load: ingress::Load,
    response: u64,
    path: ingress::Path,
    reference: Option<(f64, f64)>,
}

/// Measures all sizes with all loads and response latencies; the figures get that name.
pub(crate) fn ingress<M: Model>(name: &'static str) -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    for load in ingress::Load::ALL {
        for response in INGRESS_RESPONSES {
            let sim = Simulation::new(M::with_seed(1)).context("the model cannot be simulated")?;
            let mut bench = ingress::marked(sim, response);
            let mut row = |(size, reference): (_, Option<_>)| IngressRow {
                size,
                load,
                response,
                path: ingress::measure(&mut bench, size, load),
                // The public design was measured with matched frames, and a memory that answers quickly.
                reference: reference.filter(|_| load == ingress::Load::Matched && response == 1),
            };
            rows.extend(INGRESS_SIZES.map(|size| row(size).cells()));
            cycles += bench.sim.cycle_count();
            bench.finish();
        }
    }
    Ok(Figures::new(name, Some(1), INGRESS_EXPLANATION, rows, cycles))
}

const INGRESS_EXPLANATION: &str = "\
data 512 bit, cluster and NIC always ready, slots freed at once; reference: the public design's ingress path
cycles a frame: from one HER to the HER of a later frame, back to back, divided by all frames between them
first beat to HER: from the cycle that takes the first beat to the cycle in which the HER is valid, empty path";

impl IngressRow {
    fn cells(&self) -> Vec<Cell> {
        let ingress::Path { per_packet, latency } = self.path;
        let (their_cycles, their_latency) = self.reference.unzip();
        let [their_cycles, faster] = reference("reference_cycles_per_frame", their_cycles, per_packet);
        let [their_latency, sooner] = reference("reference_latency_cycles", their_latency, latency as f64);
        vec![
            Cell::plain("bytes", "bytes", self.size),
            Cell::plain("frames", "frames", self.load.name()),
            Cell::plain("response after", "response_cycles", self.response),
            Cell::new(
                "cycles a frame",
                format!("{per_packet:.2}"),
                "cycles_per_frame",
                per_packet,
            ),
            their_cycles,
            faster,
            throughput(self.size, per_packet),
            Cell::plain("first beat to HER", "latency_cycles", latency),
            their_latency,
            sooner,
        ]
    }
}

/// Frame sizes in bytes.
const EGRESS_SIZES: [u64; 8] = [64, 65, 128, 256, 512, 1024, 1500, 9600];

/// Cycles from a read to its first line.
const EGRESS_LATENCIES: [u64; 3] = [1, 10, 40];

/// Sizes that are measured from every place of a line.
const EGRESS_EVERYWHERE: [u64; 2] = [64, 1500];

/// The public design: bytes, cycles from a read to its first line, cycles a frame from the start of a line. It does not
/// send other frames right.
const EGRESS_REFERENCE: [(u64, u64, f64); 9] = [
    (64, 1, 3.0),
    (128, 1, 3.5),
    (256, 1, 5.0),
    (512, 1, 9.0),
    (1024, 1, 17.0),
    (1500, 1, 25.0),
    (64, 10, 7.5),
    (64, 40, 22.4),
    (1500, 40, 33.9),
];

struct EgressRow {
    size: u64,
    place: String,
    latency: u64,
    rate: egress::Rate,
    reference: Option<f64>,
}

/// Measures all sizes with all latencies; the figures get that name.
pub(crate) fn egress<M: Model>(name: &'static str) -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    for latency in EGRESS_LATENCIES {
        let sim = Simulation::new(M::with_seed(1)).context("the model cannot be simulated")?;
        let mut bench = egress::EgressBench::new(sim, egress::Stimulus::after(latency));
        for size in EGRESS_SIZES {
            rows.push(EgressRow::aligned(&mut bench, size, latency));
            if EGRESS_EVERYWHERE.contains(&size) {
                rows.extend(EgressRow::everywhere(&mut bench, size, latency));
            }
        }
        cycles += bench.sim.cycle_count();
        bench.finish();
    }
    let rows = rows.iter().map(EgressRow::cells).collect();
    Ok(Figures::new(name, Some(1), EGRESS_EXPLANATION, rows, cycles))
}

const EGRESS_EXPLANATION: &str = "\
data 512 bit, memory and wire always ready; reference: the public design's egress path
cycles a frame: from the end of one frame to that of a later one, back to back, divided by their number
lines of memory: those that a frame lies in; the bus reads one a clock, so no path takes fewer cycles
command to answer, to first beat: from the cycle that takes the command, empty path";

impl EgressRow {
    /// Frames from the start of a line.
    fn aligned<M: Model>(bench: &mut egress::EgressBench<M>, size: u64, latency: u64) -> Self {
        let known = EGRESS_REFERENCE.iter();
        let known = known.filter(|(bytes, after, _)| (*bytes, *after) == (size, latency));
        Self {
            size,
            place: "0".to_owned(),
            latency,
            rate: egress::measure(bench, size, egress::Place::Offset(0)),
            reference: known.map(|(_, _, cycles)| *cycles).next(),
        }
    }

    /// Frames from each other place of a line: those places together that give the same rate.
    fn everywhere<M: Model>(bench: &mut egress::EgressBench<M>, size: u64, latency: u64) -> Vec<Self> {
        let mut rows: Vec<(u64, Self)> = Vec::new();
        for offset in 1..bench.setup.beat {
            let rate = egress::measure(bench, size, egress::Place::Offset(offset));
            if let Some((first, last)) = rows.last_mut()
                && last.rate == rate
            {
                last.place = format!("{first} to {offset}");
                continue;
            }
            let row = Self {
                size,
                place: offset.to_string(),
                latency,
                rate,
                reference: None,
            };
            rows.push((offset, row));
        }
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn cells(&self) -> Vec<Cell> {
        let egress::Rate {
            per_frame,
            lines,
            latency,
            answer,
        } = self.rate;
        let [theirs, ratio] = reference("reference_cycles_per_frame", self.reference, per_frame);
        vec![
            Cell::plain("bytes", "bytes", self.size),
            Cell::plain("place in the line", "place", self.place.clone()),
            Cell::plain("lines after", "read_latency_cycles", self.latency),
            Cell::new(
                "cycles a frame",
                format!("{per_frame:.2}"),
                "cycles_per_frame",
                per_frame,
            ),
            Cell::new("lines of memory", format!("{lines:.0}"), "lines_per_frame", lines),
            theirs,
            ratio,
            throughput(self.size as usize, per_frame),
            Cell::plain("command to answer", "answer_cycles", answer),
            Cell::plain("command to first beat", "first_beat_cycles", latency),
        ]
    }
}

/// Bytes of a burst and clocks of latency, with the bytes a clock of the public design.
const HOSTDMA_LOADS: [(u64, u64, f64); 6] = [
    (64, 0, 5.8),
    (512, 0, 28.4),
    (4096, 0, 55.4),
    (64, 100, 0.58),
    (512, 100, 4.3),
    (4096, 100, 23.5),
];

/// Clocks from AW to B of a write of 64 bytes that is alone, in the public design without latency.
const HOSTDMA_THEIR_WRITE: (u64, u64, u64) = (64, 0, 10);

struct HostDmaRow {
    bytes: u64,
    latency: u64,
    rates: Rates,
    alone: Latencies,
    reference: f64,
    reference_write: Option<u64>,
}

/// Measures all sizes and latencies; the figures get that name.
pub(crate) fn hostdma<M: Model>(name: &'static str) -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    let sim = || Simulation::new(M::with_seed(1)).context("the model cannot be simulated");
    for (bytes, latency, reference) in HOSTDMA_LOADS {
        let (rates, spent) = rates(sim()?, bytes, latency);
        let (alone, spent_alone) = latencies(sim()?, bytes, latency);
        cycles += spent + spent_alone;
        let (their_bytes, their_latency, write) = HOSTDMA_THEIR_WRITE;
        let row = HostDmaRow {
            bytes,
            latency,
            rates,
            alone,
            reference,
            reference_write: ((their_bytes, their_latency) == (bytes, latency)).then_some(write),
        };
        rows.push(row.cells());
    }
    Ok(Figures::new(name, None, HOSTDMA_EXPLANATION, rows, cycles))
}

const HOSTDMA_EXPLANATION: &str = "\
data 512 bit, cluster always ready; reference: the public design, one transfer in flight, writes or reads
latency: clocks until the model of Corundum's DMA begins to move bytes, one line of the RAM a clock
bytes a cycle: writes and reads at the same time, between two answers of bursts back to back
AW to B, AR to last R: cycles of a burst that is alone; Gb/s at 250 MHz";

impl HostDmaRow {
    fn cells(&self) -> Vec<Cell> {
        let Rates { writes, reads } = self.rates;
        let tenth = |figure: f64| format!("{figure:.1}");
        let whole = |bytes_a_cycle: f64| tenth(gbps(1, 1.0 / bytes_a_cycle));
        vec![
            Cell::plain("bytes", "bytes", self.bytes),
            Cell::plain("latency", "latency_cycles", self.latency),
            Cell::new(
                "written a cycle",
                tenth(writes),
                "written_bytes_per_cycle",
                writes,
            ),
            Cell::new("read a cycle", tenth(reads), "read_bytes_per_cycle", reads),
            Cell::plain("reference", "reference_bytes_per_cycle", self.reference),
            Cell::text("ratio", format!("{:.1}x", writes.min(reads) / self.reference)),
            Cell::text("Gb/s written", whole(writes)),
            Cell::text("Gb/s read", whole(reads)),
            Cell::plain("AW to B", "write_cycles", self.alone.write),
            Cell::optional("reference", "reference_write_cycles", self.reference_write),
            Cell::plain("AR to last R", "read_cycles", self.alone.read),
        ]
    }
}

/// Frames of each measurement.
const LIMITER_FRAMES: usize = 64;
/// Frame sizes in bytes.
const LIMITER_SIZES: [usize; 4] = [64, 65, 1500, 9000];
/// Bytes in a period of 1024 clocks: nothing held, 100, 40, 10 and 1 Gb/s at 250 MHz.
const LIMITER_RATES: [Option<u64>; 5] = [None, Some(51_200), Some(20_480), Some(5_120), Some(512)];
/// Bytes that may be saved: two beats.
const LIMITER_BURST: u64 = 128;

struct LimiterRow {
    size: usize,
    rate: Option<u64>,
    per_frame: f64,
    latency: u64,
}

/// Measures all sizes at all rates.
pub(crate) fn limiter() -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    for rate in LIMITER_RATES {
        for size in LIMITER_SIZES {
            let sim = Simulation::new(SpinneretRateLimiter::with_seed(1));
            let mut sim = sim.context("the model cannot be simulated")?;
            sim.set_cycle_limit(10_000_000);
            let settings = Settings {
                enforce: rate.is_some(),
                rate: rate.unwrap_or(0),
                burst: LIMITER_BURST,
            };
            let never = (Pause::Never, Pause::Never);
            let mut bench = LimiterBench::new(sim, never, settings);
            let start = bench.sim.cycle_count();
            (0..LIMITER_FRAMES).for_each(|_| bench.source.send(Frame::new(vec![7; size])));
            bench.drain();
            let received = bench.sink.receive_all();
            let (first, last) = (&received[0], &received[LIMITER_FRAMES - 1]);
            let row = LimiterRow {
                size,
                rate,
                per_frame: (last.first_cycle - first.first_cycle) as f64 / (LIMITER_FRAMES - 1) as f64,
                latency: first.first_cycle - start,
            };
            rows.push(row.cells());
            cycles += bench.sim.cycle_count();
            bench.sim.finish();
        }
    }
    let explanation = format!(
        "data 512 bit, {LIMITER_FRAMES} frames a row wait, the output is ready, burst {LIMITER_BURST} bytes"
    );
    Ok(Figures::new("limiter", Some(0), explanation, rows, cycles))
}

impl LimiterRow {
    fn cells(&self) -> Vec<Cell> {
        let set = self.rate.map(|rate| gbps(rate as usize, 1024.0));
        let set = set.map_or_else(String::new, |set| format!("{set:.1}"));
        let rate = self
            .rate
            .map_or_else(|| "not enforced".to_owned(), |rate| rate.to_string());
        let reached = gbps(self.size, self.per_frame);
        let per_frame = self.per_frame;
        vec![
            Cell::new("bytes in 1024 clocks", rate, "bytes_in_1024_clocks", self.rate),
            Cell::text("Gb/s that is set", set),
            Cell::plain("bytes a frame", "bytes", self.size),
            Cell::new(
                "cycles a frame",
                format!("{per_frame:.2}"),
                "cycles_per_frame",
                per_frame,
            ),
            Cell::new(
                "Gb/s at 250 MHz",
                format!("{reached:.2}"),
                "gbps_at_250_mhz",
                reached,
            ),
            Cell::plain("first in to first out", "latency_cycles", self.latency),
        ]
    }
}
