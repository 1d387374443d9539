//! `FrameFifo`.

use crate::frames::{self, FRAME};
use crate::reference::{self, Pins, Reference};
use spinneret_models as models;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{STALLED, each, patterns};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The contract of the frame FIFO.
struct FrameFifoReference {
    depth: usize,
    /// Beats of whole frames.
    stored: VecDeque<(u64, bool)>,
    /// Beats of the frame that is coming in.
    coming: Vec<(u64, bool)>,
    /// Beat in the output register.
    output: Option<(u64, bool)>,
    overflowed: bool,
    /// The frame that ended in the cycle before was dropped; true because it did not fit.
    dropped: Option<bool>,
    /// Cycles since reset.
    cycle: u64,
}

impl FrameFifoReference {
    fn new(depth: usize) -> Self {
        Self {
            depth,
            stored: VecDeque::new(),
            coming: Vec::new(),
            output: None,
            overflowed: false,
            dropped: None,
            cycle: 0,
        }
    }

    /// A beat comes in; returns how its frame was dropped, if this beat ended it so.
    fn push(&mut self, beat: (u64, bool), is_full: bool, drop_frame: bool) -> Option<bool> {
        let (_, last) = beat;
        self.overflowed |= is_full;
        self.coming.push(beat);
        if self.overflowed {
            self.coming.clear();
        }
        if !last {
            return None;
        }
        let overflowed = std::mem::take(&mut self.overflowed);
        let frame = std::mem::take(&mut self.coming);
        if overflowed || drop_frame {
            return Some(overflowed);
        }
        self.stored.extend(frame);
        None
    }
}

impl Reference for FrameFifoReference {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        pins.expect("s_ready", self.cycle > 0)?;
        pins.expect("dropped", self.dropped.is_some())?;
        pins.expect("dropped_overflow", self.dropped == Some(true))?;
        pins.expect_beat("m", self.output)?;
        let is_full = self.stored.len() + self.coming.len() == self.depth;
        if pins.high("m_ready") {
            self.output = None;
        }
        if self.output.is_none() {
            self.output = self.stored.pop_front();
        }
        self.dropped = None;
        if pins.fires("s") {
            self.dropped = self.push(pins.beat("s"), is_full, pins.high("drop_frame"));
        }
        self.cycle += 1;
        Ok(())
    }

    fn reset(&mut self) {
        *self = Self::new(self.depth);
    }

    fn inside(&self) -> usize {
        self.stored.len() + self.coming.len() + usize::from(self.output.is_some())
    }
}

/// In the tag of a frame that is dropped: the port `drop_frame` follows this bit of the data.
const DROP: u64 = 1 << 20;

/// Drives `drop_frame` from the data, after the source.
struct DropFrame;

impl Agent for DropFrame {
    fn drive(&mut self, dut: &mut Instance) {
        let (data, drop_frame) = (dut.find("s_data"), dut.find("drop_frame"));
        if let (Some(data), Some(drop_frame)) = (data, drop_frame) {
            let value = dut.value(data);
            dut.set_high(drop_frame, value & u128::from(DROP << 8) != 0);
        }
    }

    fn sample(&mut self, _dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        Ok(())
    }

    fn reset(&mut self, _dut: &mut Instance) {}

    fn describe(&self) -> String {
        "drop_frame follows the data".to_owned()
    }
}

struct Tb<M> {
    sim: Simulation<M>,
    source: ChannelSource,
    sink: ChannelSink,
}

impl<M: Model> Tb<M> {
    fn new(run: &mut TestRun, depth: usize, pauses: (Pause, Pause)) -> Self {
        let mut sim = run.simulation::<M>();
        let source = sim.channel_source("s", FRAME, pauses.0);
        let sink = sim.channel_sink("m", FRAME, pauses.1);
        sim.attach(Rc::new(RefCell::new(DropFrame)));
        reference::attach(&mut sim, FrameFifoReference::new(depth));
        sim.reset();
        // Ready rises one cycle after reset.
        sim.cycle();
        Self { sim, source, sink }
    }

    /// Runs until everything that was sent has left or was dropped.
    fn drain(&mut self, depth: usize) -> Vec<frames::Arrived> {
        let source = &self.source;
        self.sim.run_until(|_| source.is_idle());
        self.sink.set_pause(Pause::Never);
        self.sim.run(depth as u64 + 3);
        frames::receive(&self.sink)
    }
}

/// Returns whether the frames that arrived are a subsequence of those sent.
fn is_subsequence(received: &[(u64, u64)], sent: &[(u64, u64)]) -> bool {
    let mut sent = sent.iter();
    received.iter().all(|frame| sent.any(|other| other == frame))
}

fn random_traffic<M: Model>(depth: usize) {
    each(0x0001_ff1f, patterns(), |run, pauses| {
        let mut rng = run.rng("frames");
        let mut tb = Tb::<M>::new(run, depth, pauses);
        let mut sent = Vec::new();
        for number in 0..800 {
            let tag = if rng.random_range(0..8) == 0 {
                number | DROP
            } else {
                number
            };
            // Now and then a frame that does not fit into the smaller one.
            let beats = frames::random_length(&mut rng, (depth as u64 + 2).min(20));
            frames::send(&tb.source, tag, beats);
            sent.push((tag, beats));
        }
        let received = frames::contents(&tb.drain(depth));
        assert!(!received.is_empty());
        assert!(is_subsequence(&received, &sent));
        assert!(received.iter().all(|(tag, _)| tag & DROP == 0));
    });
}

#[test]
fn gives_frames_whole_and_in_order() {
    random_traffic::<models::FrameFifo8>(8);
    random_traffic::<models::FrameFifo64>(64);
}

#[test]
fn gives_a_frame_two_cycles_after_its_last_beat_and_without_a_pause() {
    run_test(0x0002_ff1f, |run| {
        let pauses = (Pause::Random { percent: 70 }, Pause::Never);
        let mut tb = Tb::<models::FrameFifo64>::new(run, 64, pauses);
        for beats in [1, 2, 10, 63, 64] {
            frames::send(&tb.source, beats, beats);
            let source = &tb.source;
            tb.sim.run_until(|_| source.is_idle());
            let taken = tb.sim.cycle_count() - 1;
            let received = tb.drain(64);
            assert_eq!(received.len(), 1);
            assert_eq!(
                (received[0].first_cycle, received[0].last_cycle),
                (taken + 2, taken + 1 + beats)
            );
        }
    });
}

#[test]
fn passes_one_beat_per_cycle() {
    run_test(0x0003_ff1f, |run| {
        let mut tb = Tb::<models::FrameFifo64>::new(run, 64, (Pause::Never, Pause::Never));
        let start = tb.sim.cycle_count();
        (0..50).for_each(|tag| frames::send(&tb.source, tag, 20));
        let received = tb.drain(64);
        assert_eq!(tb.source.counts().stalls, 0);
        let cycles: Vec<_> = received
            .iter()
            .map(|frame| (frame.first_cycle, frame.last_cycle))
            .collect();
        let expected: Vec<_> = (1..=50)
            .map(|n| (start + 20 * n + 1, start + 20 * n + 20))
            .collect();
        assert_eq!(cycles, expected);
    });
}

#[test]
fn drops_what_does_not_fit_whole() {
    run_test(0x0004_ff1f, |run| {
        let mut tb = Tb::<models::FrameFifo8>::new(run, 8, (Pause::Never, STALLED));
        // One beat of the first frame waits in the output register, so four places are left.
        for (tag, beats) in [(0, 5), (1, 5), (2, 3), (3, 2), (4, 1), (5, 1)] {
            frames::send(&tb.source, tag, beats);
        }
        assert_eq!(frames::contents(&tb.drain(8)), [(0, 5), (2, 3), (4, 1)]);
        frames::send(&tb.source, 6, 9);
        frames::send(&tb.source, 7, 8);
        assert_eq!(frames::contents(&tb.drain(8)), [(7, 8)]);
    });
}

#[test]
fn drops_marked_frames() {
    run_test(0x0005_ff1f, |run| {
        let mut tb = Tb::<models::FrameFifo8>::new(run, 8, (Pause::Never, Pause::Never));
        for (tag, beats) in [
            (0, 2),
            (1 | DROP, 3),
            (2, 1),
            (3 | DROP, 1),
            (4 | DROP, 12),
            (5, 4),
        ] {
            frames::send(&tb.source, tag, beats);
        }
        assert_eq!(frames::contents(&tb.drain(8)), [(0, 2), (2, 1), (5, 4)]);
        // Only the flag with the last beat counts.
        tb.source.send(&[(6 | DROP) << 8 | 1, 0]);
        tb.source.send(&[6 << 8 | 2, 1]);
        tb.sim.run(10);
        assert_eq!(tb.sink.receive_all().len(), 2);
    });
}

#[test]
fn forgets_everything_at_reset() {
    run_test(0x0006_ff1f, |run| {
        let half = Pause::Random { percent: 50 };
        let mut tb = Tb::<models::FrameFifo8>::new(run, 8, (half.clone(), half));
        for cycles in 1..50 {
            (0..cycles).for_each(|tag| frames::send(&tb.source, tag, 1 + tag % 4));
            tb.sim.run(cycles);
            tb.sim.reset();
            tb.sink.receive_all();
        }
        let source = &tb.source;
        tb.sim.run_until(|_| source.is_idle());
        tb.sink.set_pause(Pause::Never);
        tb.sim.run(20);
        assert!(!tb.sink.receive_all().is_empty());
    });
}
