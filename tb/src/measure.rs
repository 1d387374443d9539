//! Cycles of the matching engine, counted.

use crate::parameters::Parameters;
use crate::pkt_match::{MatchBench, Pauses, one_rule};
use spinneret_regmap::matching::Rule;
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::Frame;

/// Which of the frames match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// None.
    Unmatched,
    /// All.
    Matched,
    /// Every second one.
    Alternating,
}

impl Traffic {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Unmatched, Self::Matched, Self::Alternating];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unmatched => "unmatched",
            Self::Matched => "matched",
            Self::Alternating => "alternating",
        }
    }

    fn matches(self, frame: usize) -> bool {
        match self {
            Self::Unmatched => false,
            Self::Matched => true,
            Self::Alternating => frame % 2 == 1,
        }
    }
}

/// What was counted for frames of one size, in clock cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// Cycles a frame, back to back, all outputs ready.
    pub per_frame: f64,
    /// First beat in to first beat out, through an empty engine.
    pub latency: u64,
    /// Last beat out to metadata out, through an empty engine; negative if the metadata is first.
    pub meta_after_last: Option<i64>,
}

/// Byte 0 of a frame that matches; others start with 0.
const MARK: u8 = 0xff;

/// An engine whose ruleset 0 matches frames by their first byte.
pub fn marked<M: Model>(sim: Simulation<M>) -> MatchBench<M> {
    let rule = Rule {
        idx: 0,
        mask: 0xff00_0000,
        start: u32::from(MARK) << 24,
        end: u32::from(MARK) << 24,
        relative: false,
    };
    let mut bench = MatchBench::new(sim, Pauses::default());
    bench.load(Some(&one_rule(&Parameters::of::<M>().matcher(), rule)));
    bench
}

/// Counts the cycles of frames of one size.
///
/// # Panics
/// If a frame is lost or changed.
pub fn measure<M: Model>(bench: &mut MatchBench<M>, size: usize, traffic: Traffic, frames: usize) -> Cycles {
    let (latency, meta_after_last) = measure_alone(bench, size, traffic != Traffic::Unmatched);
    for number in 0..frames {
        bench.send(frame(size, traffic.matches(number)));
    }
    let sent = bench.source.sent();
    // From the first frame that is completely in to the last one: whole periods, without start-up.
    while bench.source.sent() == sent {
        bench.sim.cycle();
    }
    let (first_done, first_count) = (bench.sim.cycle_count(), bench.source.sent());
    while !bench.source.is_idle() {
        bench.sim.cycle();
    }
    let cycles = bench.sim.cycle_count() - first_done;
    let counted = bench.source.sent() - first_count;
    bench.settle();
    Cycles {
        per_frame: cycles as f64 / counted as f64,
        latency,
        meta_after_last,
    }
}

/// One frame through an empty engine.
fn measure_alone<M: Model>(bench: &mut MatchBench<M>, size: usize, matched: bool) -> (u64, Option<i64>) {
    bench.sim.run(32);
    let start = bench.sim.cycle_count();
    let alone = frame(size, matched);
    bench.source.send(alone);
    bench.sim.run(64 + size as u64);
    let sink = if matched { &bench.pspin } else { &bench.nic };
    let received = sink
        .receive()
        .unwrap_or_else(|| panic!("a frame of {size} bytes does not come out"));
    let meta = matched.then(|| {
        let item = bench
            .meta
            .receive()
            .unwrap_or_else(|| panic!("no metadata for {size} bytes"));
        item.cycle as i64 - received.last_cycle as i64
    });
    (received.first_cycle - start, meta)
}

fn frame(size: usize, matched: bool) -> Frame {
    let mut bytes = vec![0; size];
    bytes[0] = if matched { MARK } else { 0 };
    Frame::new(bytes)
}
