//! The paths of packets and commands, with beats of 512 bits and with narrow ones.

use crate::{Cell, Figures, reference, throughput};
use anyhow::{Context, Result};
use spinneret_models::{
    PspinEgressDatapathW64, PspinEgressDatapathW128, PspinEgressDatapathW256, PspinIngressDatapathW64,
    PspinIngressDatapathW128, PspinIngressDatapathW256,
};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::{egress, ingress};

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

/// Frame sizes in bytes of paths with narrow beats.
const NARROW_SIZES: [usize; 2] = [64, 1518];

/// Rows of a table, and the cycles that were simulated for them.
type Rows = (Vec<Vec<Cell>>, u64);
/// Measures an ingress path with a load and a response latency.
pub(crate) type MeasureIngress = fn(ingress::Load, u64, &[(usize, Option<(f64, f64)>)]) -> Result<Rows>;

/// The ingress path with narrow beats.
pub(crate) const NARROW_INGRESS: [MeasureIngress; 3] = [
    ingress_rows::<PspinIngressDatapathW64>,
    ingress_rows::<PspinIngressDatapathW128>,
    ingress_rows::<PspinIngressDatapathW256>,
];

struct IngressRow {
    beat_bytes: usize,
    size: usize,
    load: ingress::Load,
    response: u64,
    path: ingress::Path,
    reference: Option<(f64, f64)>,
}

/// Measures all sizes with all loads and response latencies, and paths with narrow beats; the figures get that name.
pub(crate) fn ingress<M: Model>(name: &'static str, narrow: &[MeasureIngress]) -> Result<Figures> {
    let mut parts: Vec<Rows> = Vec::new();
    for load in ingress::Load::ALL {
        for response in INGRESS_RESPONSES {
            parts.push(ingress_rows::<M>(load, response, &INGRESS_SIZES)?);
        }
    }
    for measure in narrow {
        let sizes = NARROW_SIZES.map(|size| (size, None));
        parts.push(measure(ingress::Load::Matched, 1, &sizes)?);
    }
    Ok(joined(name, 2, INGRESS_EXPLANATION, parts))
}

/// The figures of several measurements. The column with that number stands to the left.
fn joined(name: &'static str, left: usize, explanation: &str, parts: Vec<Rows>) -> Figures {
    let cycles = parts.iter().map(|(_, cycles)| cycles).sum();
    let rows = parts.into_iter().flat_map(|(rows, _)| rows).collect();
    Figures::new(name, Some(left), explanation, rows, cycles)
}

fn ingress_rows<M: Model>(
    load: ingress::Load,
    response: u64,
    sizes: &[(usize, Option<(f64, f64)>)],
) -> Result<Rows> {
    let sim = Simulation::new(M::with_seed(1)).context("the model cannot be simulated")?;
    let mut bench = ingress::marked(sim, response);
    let row = |(size, reference): &(usize, Option<_>)| IngressRow {
        beat_bytes: bench.setup.beat_bytes,
        size: *size,
        load,
        response,
        path: ingress::measure(&mut bench, *size, load),
        // The public design was measured with matched frames, and a memory that answers quickly.
        reference: reference.filter(|_| load == ingress::Load::Matched && response == 1),
    };
    let rows = sizes.iter().map(row).map(|row| row.cells()).collect();
    let cycles = bench.sim.cycle_count();
    bench.finish();
    Ok((rows, cycles))
}

const INGRESS_EXPLANATION: &str = "\
cluster and NIC always ready, slots freed at once; reference: the public design's ingress path
cycles a frame: from one HER to the HER of a later frame, back to back, divided by all frames between them
first beat to HER: from the cycle that takes the first beat to the cycle in which the HER is valid, empty path";

impl IngressRow {
    fn cells(&self) -> Vec<Cell> {
        let ingress::Path { per_packet, latency } = self.path;
        let (their_cycles, their_latency) = self.reference.unzip();
        let [their_cycles, faster] = reference("reference_cycles_per_frame", their_cycles, per_packet);
        let [their_latency, sooner] = reference("reference_latency_cycles", their_latency, latency as f64);
        vec![
            Cell::plain("beat bits", "data_width_bits", 8 * self.beat_bytes),
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

/// Measures an egress path with these sizes and a read latency.
pub(crate) type MeasureEgress = fn(u64, &[u64]) -> Result<Rows>;

/// The egress path with narrow beats.
pub(crate) const NARROW_EGRESS: [MeasureEgress; 3] = [
    egress_rows::<PspinEgressDatapathW64>,
    egress_rows::<PspinEgressDatapathW128>,
    egress_rows::<PspinEgressDatapathW256>,
];

struct EgressRow {
    beat_bytes: u64,
    size: u64,
    place: String,
    latency: u64,
    rate: egress::Rate,
    reference: Option<f64>,
}

/// Measures all sizes with all latencies, and paths with narrow beats; the figures get that name.
pub(crate) fn egress<M: Model>(name: &'static str, narrow: &[MeasureEgress]) -> Result<Figures> {
    let mut parts: Vec<Rows> = Vec::new();
    for latency in EGRESS_LATENCIES {
        parts.push(egress_rows::<M>(latency, &EGRESS_SIZES)?);
    }
    for measure in narrow {
        parts.push(measure(1, &NARROW_SIZES.map(|size| size as u64))?);
    }
    Ok(joined(name, 2, EGRESS_EXPLANATION, parts))
}

fn egress_rows<M: Model>(latency: u64, sizes: &[u64]) -> Result<Rows> {
    let sim = Simulation::new(M::with_seed(1)).context("the model cannot be simulated")?;
    let mut bench = egress::EgressBench::new(sim, egress::Stimulus::after(latency));
    let mut rows: Vec<EgressRow> = Vec::new();
    for &size in sizes {
        rows.push(EgressRow::aligned(&mut bench, size, latency));
        if EGRESS_EVERYWHERE.contains(&size) {
            rows.extend(EgressRow::everywhere(&mut bench, size, latency));
        }
    }
    let cycles = bench.sim.cycle_count();
    bench.finish();
    Ok((rows.iter().map(EgressRow::cells).collect(), cycles))
}

const EGRESS_EXPLANATION: &str = "\
memory and wire always ready; reference: the public design's egress path
cycles a frame: from the end of one frame to that of a later one, back to back, divided by their number
lines of memory: those that a frame lies in; the bus reads one a clock, so no path takes fewer cycles
command to answer, to first beat: from the cycle that takes the command, empty path";

impl EgressRow {
    /// Frames from the start of a line.
    fn aligned<M: Model>(bench: &mut egress::EgressBench<M>, size: u64, latency: u64) -> Self {
        // The public design has beats of 64 bytes.
        let known = EGRESS_REFERENCE.iter();
        let asked = (bench.setup.beat == 64).then_some((size, latency));
        let known = known.filter(|(bytes, after, _)| Some((*bytes, *after)) == asked);
        Self {
            beat_bytes: bench.setup.beat,
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
                beat_bytes: bench.setup.beat,
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
            Cell::plain("beat bits", "data_width_bits", 8 * self.beat_bytes),
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
