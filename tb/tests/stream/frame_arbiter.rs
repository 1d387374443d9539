//! `FrameArbiter`.

use crate::frames::{self, FRAME};
use crate::reference::{self, Pins, Reference};
use spinneret_models as models;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, STALLED, case, each, patterns};

/// The contract of the arbiter.
struct ArbiterReference {
    inputs: usize,
    /// Beat in the output register.
    output: Option<(u64, bool)>,
    /// Input that had its turn last.
    owner: usize,
    within_frame: bool,
}

impl ArbiterReference {
    fn new(inputs: usize) -> Self {
        Self {
            inputs,
            output: None,
            owner: inputs - 1,
            within_frame: false,
        }
    }

    /// The input that has a beat and whose turn it is.
    fn turn(&self, pins: Pins<'_>) -> Option<usize> {
        let waits = |input: &usize| pins.high(&format!("s_{input}_valid"));
        if self.within_frame {
            return Some(self.owner).filter(waits);
        }
        (1..=self.inputs)
            .map(|step| (self.owner + step) % self.inputs)
            .find(waits)
    }
}

impl Reference for ArbiterReference {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        pins.expect_beat("m", self.output)?;
        if self.output.is_some() {
            pins.expect("source", self.owner as u64)?;
        }
        if pins.high("m_ready") {
            self.output = None;
        }
        let turn = self.turn(pins).filter(|_| self.output.is_none());
        for input in 0..self.inputs {
            // Ready is a don't-care while valid is low.
            if pins.high(&format!("s_{input}_valid")) {
                pins.expect(&format!("s_{input}_ready"), turn == Some(input))?;
            }
        }
        if let Some(input) = turn {
            let beat = pins.beat(&format!("s_{input}"));
            self.output = Some(beat);
            self.owner = input;
            self.within_frame = !beat.1;
        }
        Ok(())
    }

    fn reset(&mut self) {
        *self = Self::new(self.inputs);
    }

    fn inside(&self) -> usize {
        usize::from(self.output.is_some())
    }
}

struct Tb<M> {
    sim: Simulation<M>,
    sources: Vec<ChannelSource>,
    sink: ChannelSink,
}

impl<M: Model> Finish for Tb<M> {}

impl<M: Model> Tb<M> {
    fn new(run: &mut TestRun, (inputs, pauses): (usize, (Pause, Pause))) -> Self {
        let mut sim = run.simulation::<M>();
        let source = |index| sim.channel_source(&format!("s_{index}"), FRAME, pauses.0.clone());
        let sources = (0..inputs).map(source).collect();
        let sink = sim.channel_sink("m", FRAME, pauses.1);
        reference::attach(&mut sim, ArbiterReference::new(inputs));
        sim.reset();
        Self { sim, sources, sink }
    }

    /// Sends a frame whose tag begins with the number of its input.
    fn send(&self, input: usize, tag: u64, beats: u64) {
        frames::send(&self.sources[input], (input as u64) << 16 | tag, beats);
    }

    /// Runs until everything that was sent has left.
    fn drain(&mut self) {
        let sources = &self.sources;
        self.sim.run_until(|_| sources.iter().all(ChannelSource::is_idle));
        self.sink.set_pause(Pause::Never);
        self.sim.run(2);
    }
}

fn two(run: &mut TestRun) -> Tb<models::FrameArbiter2> {
    Tb::new(run, (2, (Pause::Never, Pause::Never)))
}

fn five(run: &mut TestRun) -> Tb<models::FrameArbiter5> {
    Tb::new(run, (5, (Pause::Never, Pause::Never)))
}

fn random_traffic<M: Model>(inputs: usize) {
    each(0x0001_a4b1, patterns(), |run, pauses| {
        let mut rng = run.rng("frames");
        let mut tb = Tb::<M>::new(run, (inputs, pauses));
        let mut expected = vec![Vec::new(); inputs];
        for tag in 0..600 {
            let (input, beats) = (rng.random_range(0..inputs), frames::random_length(&mut rng, 12));
            tb.send(input, tag, beats);
            expected[input].push((tag, beats));
        }
        tb.drain();
        let mut received = vec![Vec::new(); inputs];
        for (tag, beats) in frames::contents(&frames::receive(&tb.sink)) {
            received[(tag >> 16) as usize].push((tag & 0xffff, beats));
        }
        assert_eq!(received, expected);
    });
}

#[test]
fn delivers_every_frame_whole_and_in_order() {
    random_traffic::<models::FrameArbiter1>(1);
    random_traffic::<models::FrameArbiter2>(2);
    random_traffic::<models::FrameArbiter5>(5);
}

#[test]
fn takes_turns_without_losing_a_cycle() {
    case(0x0002_a4b1, five, |tb| {
        let start = tb.sim.cycle_count();
        for tag in 0..20 {
            (0..5).for_each(|input| tb.send(input, tag, 1 + input as u64));
        }
        tb.drain();
        let received = frames::receive(&tb.sink);
        let turns: Vec<u64> = received.iter().map(|frame| frame.tag >> 16).collect();
        assert_eq!(turns, (0..5).cycle().take(100).collect::<Vec<_>>());
        let first = start + 1;
        let beats: u64 = received.iter().map(|frame| frame.beats).sum();
        assert_eq!(
            (received[0].first_cycle, received[99].last_cycle),
            (first, first + beats - 1)
        );
    });
}

#[test]
fn one_input_alone_loses_no_cycle_either() {
    case(0x0003_a4b1, two, |tb| {
        let first = tb.sim.cycle_count() + 1;
        (0..50).for_each(|tag| tb.send(1, tag, 1));
        tb.drain();
        let cycles: Vec<u64> = frames::receive(&tb.sink)
            .iter()
            .map(|frame| frame.first_cycle)
            .collect();
        assert_eq!(cycles, (first..first + 50).collect::<Vec<_>>());
    });
}

#[test]
fn a_frame_waits_for_one_frame_of_every_other_input_at_most() {
    case(0x0004_a4b1, five, |tb| {
        for input in [0, 1, 3, 4] {
            (0..200).for_each(|tag| tb.send(input, tag, 3));
        }
        let mut rng = tb.sim.rng("gaps");
        for tag in 0..30 {
            tb.sim.run(rng.random_range(20..40));
            tb.sink.receive_all();
            let offered = tb.sim.cycle_count();
            tb.send(2, tag, 1);
            let source = &tb.sources[2];
            tb.sim.run_until(|_| source.is_idle());
            // Four frames of three beats, and the frame's own.
            assert!(tb.sim.cycle_count() - offered <= 4 * 3 + 1);
            assert!(
                [0, 1, 3, 4].iter().all(|input| !tb.sources[*input].is_idle()),
                "the others never pause"
            );
        }
        tb.drain();
        tb.sink.receive_all();
    });
}

#[test]
fn an_input_that_pauses_keeps_its_turn() {
    case(0x0005_a4b1, two, |tb| {
        tb.sources[0].set_pause(Pause::AlwaysAfter(2));
        tb.send(0, 0, 4);
        tb.sim.run(1);
        tb.send(1, 0, 2);
        tb.sim.run(20);
        assert_eq!((tb.sink.waiting(), tb.sources[1].counts().beats), (2, 0));
        tb.sources[0].set_pause(Pause::Never);
        tb.drain();
        assert_eq!(
            frames::contents(&frames::receive(&tb.sink)),
            [(0, 4), (1 << 16, 2)]
        );
    });
}

#[test]
fn starts_with_the_first_input_after_reset() {
    case(0x0006_a4b1, five, |tb| {
        for round in 1..30 {
            // Every frame is one beat, so that what is cut off leaves no rest behind.
            (0..5).for_each(|input| (0..round).for_each(|tag| tb.send(input, tag, 1)));
            tb.sim.run(round);
            tb.sink.set_pause(STALLED);
            tb.sim.run(3);
            tb.sim.reset();
            tb.sink.receive_all();
            tb.sink.set_pause(Pause::Never);
            let waiting = tb.sources.iter().position(|source| !source.is_idle());
            tb.sim.run_until(|_| tb.sink.waiting() > 0);
            let first = tb.sink.receive().map(|item| (item.values[0] >> 24) as usize);
            assert_eq!(first, waiting);
        }
        tb.drain();
        tb.sink.receive_all();
    });
}
