//! The application block: what passes through it, and what crosses to the cluster and back.

use crate::{Cell, Figures, gbps};
use anyhow::{Context, Result};
use spinneret_models::MqnicAppBlock;
use spinneret_sim::prelude::*;
use spinneret_tb::app::{
    AppBench, Clocks, Crossing, Work, measure_latency, measure_rate, measure_work, prepare_work,
};
use spinneret_tb::bench::Finish;

/// Frame sizes in bytes of what passes: one beat, two and 24.
const PASSING: [usize; 3] = [64, 65, 1500];
/// Packet sizes in bytes of what goes to the cluster.
const MATCHED: [usize; 2] = [64, 1500];
/// The cluster's clocks.
const CLOCKS: [Clocks; 2] = [Clocks::BOARD, Clocks::EQUAL];
/// Clocks until Corundum's DMA begins to move bytes: at once, and as far away as host memory is.
const DMA_CLOCKS: [u64; 2] = [0, 112];

/// A line of the table; what was not measured, or has no meaning, is empty.
#[derive(Default)]
struct Row {
    path: &'static str,
    size: Option<usize>,
    cluster_mhz: Option<f64>,
    dma_clocks: Option<u64>,
    latency: Option<u64>,
    /// Cycles a packet, and the bytes that are moved for each.
    rate: Option<(f64, u64)>,
}

/// Measures everything; the figures get that name.
pub(crate) fn run(name: &'static str) -> Result<Figures> {
    let (mut rows, mut cycles) = (Vec::new(), 0);
    for clocks in CLOCKS {
        let sim = Simulation::with_domains(MqnicAppBlock::with_seed(1), &clocks.domains());
        let mut bench = prepare_work(sim.context("the model cannot be simulated")?, clocks);
        // Passing frames do not depend on the cluster's clock.
        if clocks == Clocks::BOARD {
            rows.extend(
                Crossing::ALL
                    .iter()
                    .flat_map(|crossing| passing(&mut bench, *crossing)),
            );
        }
        for work in Work::ALL {
            rows.extend(working(&mut bench, work));
        }
        cycles += bench.now();
        bench.finish();
    }
    let rows = rows.iter().map(Row::cells).collect();
    Ok(Figures::new(name, Some(0), EXPLANATION, rows, cycles))
}

const EXPLANATION: &str = "\
cycles of the core's clock, 250 MHz; data 512 bit; nobody pauses
first in to first out: from the cycle that takes the first beat to the one that gives it, nothing else under way
cycles a packet: back to back; of matched packets from HER to HER, with the wire never idle: those are dropped that
find no room. The cluster is the stand-in, which does one packet after the other: these are its figures, not PsPIN's
DMA latency: clocks until the model of Corundum's DMA begins to move bytes, one line of the RAM a clock";

/// Passing frames of all sizes.
fn passing(bench: &mut AppBench, crossing: Crossing) -> Vec<Row> {
    let path = crossing.name();
    let Some(flow) = crossing.flow() else {
        return vec![Row {
            path,
            latency: Some(measure_latency(bench, crossing, 0)),
            ..Row::default()
        }];
    };
    let row = |size| Row {
        path,
        size: Some(size),
        latency: Some(measure_latency(bench, crossing, size)),
        rate: Some((measure_rate(bench, flow, size), size as u64)),
        ..Row::default()
    };
    PASSING.map(row).into()
}

/// Work for the cluster, with packets of all sizes and DMAs near and far.
fn working(bench: &mut AppBench, work: Work) -> Vec<Row> {
    let far: &[u64] = if work.is_host() {
        &DMA_CLOCKS
    } else {
        &DMA_CLOCKS[..1]
    };
    // The packet is only what starts a read.
    let sizes = if work == Work::Read {
        &MATCHED[..1]
    } else {
        &MATCHED
    };
    let all = sizes
        .iter()
        .flat_map(|size| far.iter().map(|clocks| (*size, *clocks)));
    let row = |(size, clocks)| Row {
        path: work.name(),
        size: Some(size),
        cluster_mhz: Some(1e6 / bench.clocks.cluster_ps as f64),
        dma_clocks: work.is_host().then_some(clocks),
        latency: None,
        rate: Some((measure_work(bench, work, size, clocks), work.bytes(size))),
    };
    all.map(row).collect()
}

impl Row {
    fn cells(&self) -> Vec<Cell> {
        let figure = |heading, key, digits: usize, of: fn(f64, u64) -> f64| {
            let figure = self.rate.map(|(cycles, bytes)| of(cycles, bytes));
            let text = figure.map_or_else(String::new, |figure| format!("{figure:.digits$}"));
            Cell::new(heading, text, key, figure)
        };
        vec![
            Cell::plain("path", "path", self.path),
            Cell::optional("bytes", "bytes", self.size),
            Cell::optional("cluster MHz", "cluster_mhz", self.cluster_mhz),
            Cell::optional("DMA latency", "dma_latency_cycles", self.dma_clocks),
            Cell::optional("first in to first out", "latency_cycles", self.latency),
            figure("cycles a packet", "cycles_per_packet", 2, |cycles, _| cycles),
            figure("packets a cycle", "packets_per_cycle", 4, |cycles, _| {
                1.0 / cycles
            }),
            figure("bytes a cycle", "bytes_per_cycle", 2, |cycles, bytes| {
                bytes as f64 / cycles
            }),
            figure("Gb/s", "gbps_at_250_mhz", 1, |cycles, bytes| {
                gbps(bytes as usize, cycles)
            }),
        ]
    }
}
