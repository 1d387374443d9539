//! The application block: what passes through it, and what crosses to the cluster and back.

use crate::figures::{Figures, gbps, table};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use spinneret_models::MqnicAppBlock;
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::app::{
    AppBench, Clocks, Crossing, Work, measure_latency, measure_rate, measure_work, prepare_work,
};

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
        // What passes does not know the cluster's clock.
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
    Ok(Figures {
        name,
        table: table(&HEADINGS, 0, rows.iter().map(Row::text)),
        explanation: EXPLANATION.to_owned(),
        rows: rows.iter().map(Row::json).collect(),
        cycles,
    })
}

const HEADINGS: [&str; 9] = [
    "path",
    "bytes",
    "cluster MHz",
    "DMA latency",
    "first in to first out",
    "cycles a packet",
    "packets a cycle",
    "bytes a cycle",
    "Gb/s",
];

const EXPLANATION: &str = "\
cycles of the core's clock, 250 MHz; data 512 bit; nobody pauses
first in to first out: from the cycle that takes the first beat to the one that gives it, nothing else under way
cycles a packet: back to back; of matched packets from HER to HER, with the wire never idle: those are dropped that
find no room. The cluster is the stand-in, which does one packet after the other: these are its figures, not PsPIN's
DMA latency: clocks until the model of Corundum's DMA begins to move bytes, one line of the RAM a clock";

/// What passes, with frames of all sizes.
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

/// What the cluster is given, with packets of all sizes and DMAs near and far.
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
    fn text(&self) -> Vec<String> {
        let rate = |show: &dyn Fn(f64, u64) -> String| {
            self.rate
                .map_or_else(String::new, |(cycles, bytes)| show(cycles, bytes))
        };
        vec![
            self.path.to_owned(),
            shown(self.size),
            shown(self.cluster_mhz),
            shown(self.dma_clocks),
            shown(self.latency),
            rate(&|cycles, _| format!("{cycles:.2}")),
            rate(&|cycles, _| format!("{:.4}", 1.0 / cycles)),
            rate(&|cycles, bytes| format!("{:.2}", bytes as f64 / cycles)),
            rate(&|cycles, bytes| format!("{:.1}", gbps(bytes as usize, cycles))),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "path": self.path,
            "bytes": self.size,
            "cluster_mhz": self.cluster_mhz,
            "dma_latency_cycles": self.dma_clocks,
            "latency_cycles": self.latency,
            "cycles_per_packet": self.rate.map(|(cycles, _)| cycles),
            "packets_per_cycle": self.rate.map(|(cycles, _)| 1.0 / cycles),
            "bytes_per_cycle": self.rate.map(|(cycles, bytes)| bytes as f64 / cycles),
            "gbps_at_250_mhz": self.rate.map(|(cycles, bytes)| gbps(bytes as usize, cycles)),
        })
    }
}

/// A figure, if there is one.
fn shown<T: ToString>(figure: Option<T>) -> String {
    figure.map_or_else(String::new, |figure| figure.to_string())
}
