//! Blocks: the matching engine, the host DMA, the rate limiter.

use crate::{Cell, Figures, gbps, reference, throughput};
use anyhow::{Context, Result};
use spinneret_models::SpinneretRateLimiter;
use spinneret_sim::model::Model as _;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::hostdma::{Latencies, Rates, latencies, rates};
use spinneret_tb::pkt_match;
use spinneret_tb::rate_limiter::{LimiterBench, Settings};

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
