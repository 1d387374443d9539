//! `FrameDemux`.

use crate::frames::{self, FRAME};
use crate::reference::{self, Pins, Reference};
use spinneret_models as models;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, STALLED, case, each, patterns};

/// The contract of the demultiplexer.
struct DemuxReference {
    /// Beats in the output registers.
    outputs: Vec<Option<(u64, bool)>>,
    misrouted: bool,
}

impl Reference for DemuxReference {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        pins.expect("misrouted", self.misrouted)?;
        for (index, output) in self.outputs.iter().enumerate() {
            pins.expect_beat(&format!("m_{index}"), *output)?;
        }
        for (index, output) in self.outputs.iter_mut().enumerate() {
            if pins.high(&format!("m_{index}_ready")) {
                *output = None;
            }
        }
        let number = pins.value("select_data") as usize;
        let output = self.outputs.get_mut(number);
        let beat = pins.beat("s");
        let ready = pins.high("select_valid") && output.as_ref().is_none_or(|output| output.is_none());
        let take = pins.high("s_valid") && ready;
        pins.expect("s_ready", ready)?;
        pins.expect("select_ready", take && beat.1)?;
        self.misrouted = take && beat.1 && output.is_none();
        if let (true, Some(output)) = (take, output) {
            *output = Some(beat);
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.outputs.fill(None);
        self.misrouted = false;
    }

    fn inside(&self) -> usize {
        self.outputs.iter().flatten().count()
    }
}

struct Tb<M> {
    sim: Simulation<M>,
    source: ChannelSource,
    select: ChannelSource,
    sinks: Vec<ChannelSink>,
}

impl<M: Model> Finish for Tb<M> {}

impl<M: Model> Tb<M> {
    fn new(run: &mut TestRun, (outputs, pauses): (usize, (Pause, Pause))) -> Self {
        let mut sim = run.simulation::<M>();
        let source = sim.channel_source("s", FRAME, pauses.0.clone());
        let select = sim.channel_source("select", &["data"], pauses.0);
        let sink = |index| sim.channel_sink(&format!("m_{index}"), FRAME, pauses.1.clone());
        let sinks = (0..outputs).map(sink).collect();
        reference::attach(
            &mut sim,
            DemuxReference {
                outputs: vec![None; outputs],
                misrouted: false,
            },
        );
        sim.reset();
        Self {
            sim,
            source,
            select,
            sinks,
        }
    }

    fn send(&self, output: u64, tag: u64, beats: u64) {
        frames::send(&self.source, tag, beats);
        self.select.send(&[output]);
    }

    /// Runs until everything that was sent has left.
    fn drain(&mut self) {
        let (source, select) = (&self.source, &self.select);
        self.sim.run_until(|_| source.is_idle() && select.is_idle());
        self.sinks.iter().for_each(|sink| sink.set_pause(Pause::Never));
        self.sim.run(2);
    }
}

fn two(run: &mut TestRun) -> Tb<models::FrameDemux2> {
    Tb::new(run, (2, (Pause::Never, Pause::Never)))
}

fn five(run: &mut TestRun) -> Tb<models::FrameDemux5> {
    Tb::new(run, (5, (Pause::Never, Pause::Never)))
}

/// Frames of random length to random outputs, also to those that do not exist.
fn random_traffic<M: Model>(outputs: u64) {
    each(0x0001_de30, patterns(), |run, pauses| {
        let mut rng = run.rng("frames");
        let mut tb = Tb::<M>::new(run, (outputs as usize, pauses));
        let mut expected = vec![Vec::new(); outputs as usize];
        for tag in 0..600 {
            let output = rng.random_range(0..outputs.next_power_of_two().max(2));
            let beats = frames::random_length(&mut rng, 12);
            tb.send(output, tag, beats);
            if let Some(expected) = expected.get_mut(output as usize) {
                expected.push((tag, beats));
            }
        }
        tb.drain();
        let received: Vec<_> = tb
            .sinks
            .iter()
            .map(|sink| frames::contents(&frames::receive(sink)))
            .collect();
        assert_eq!(received, expected);
    });
}

#[test]
fn delivers_every_frame_to_its_output() {
    random_traffic::<models::FrameDemux1>(1);
    random_traffic::<models::FrameDemux2>(2);
    random_traffic::<models::FrameDemux5>(5);
}

#[test]
fn passes_one_beat_per_cycle_across_frames_and_outputs() {
    case(0x0002_de30, five, |tb| {
        let mut next = tb.sim.cycle_count();
        // Number 6 is beyond the last output: its beats are taken at the same rate.
        let outputs = [0, 1, 4, 6, 4, 2, 3, 3, 0];
        let beats = |tag: usize| 1 + tag as u64 % 3;
        for (tag, output) in outputs.into_iter().enumerate() {
            tb.send(output, tag as u64, beats(tag));
        }
        tb.drain();
        for (tag, output) in outputs.into_iter().enumerate() {
            let beats = beats(tag);
            if let Some(sink) = tb.sinks.get(output as usize) {
                let items: Vec<_> = (0..beats).filter_map(|_| sink.receive()).collect();
                let cycles: Vec<u64> = items.iter().map(|item| item.cycle).collect();
                assert_eq!(
                    cycles,
                    (next + 1..=next + beats).collect::<Vec<_>>(),
                    "frame {tag}"
                );
                assert!(items.iter().all(|item| item.values[0] >> 8 == tag as u64));
            }
            next += beats;
        }
    });
}

#[test]
fn a_stalled_output_blocks_only_its_own_frames() {
    case(0x0003_de30, two, |tb| {
        tb.sinks[1].set_pause(STALLED);
        tb.send(1, 1, 1);
        tb.send(0, 2, 20);
        tb.send(1, 3, 2);
        tb.send(0, 4, 1);
        tb.sim.run(50);
        // The first frame waits in its register, the second passes, the third waits for the first.
        assert_eq!(tb.source.counts().beats, 21);
        assert_eq!(frames::contents(&frames::receive(&tb.sinks[0])), [(2, 20)]);
        tb.sinks[1].set_pause(Pause::Never);
        tb.drain();
        assert_eq!(frames::contents(&frames::receive(&tb.sinks[1])), [(1, 1), (3, 2)]);
        assert_eq!(frames::contents(&frames::receive(&tb.sinks[0])), [(4, 1)]);
    });
}

#[test]
fn takes_nothing_before_it_knows_the_output() {
    case(0x0004_de30, two, |tb| {
        frames::send(&tb.source, 1, 3);
        tb.sim.run(10);
        assert_eq!(tb.source.counts().beats, 0);
        tb.select.send(&[1]);
        tb.sim.run(2);
        assert_eq!((tb.source.counts().beats, tb.select.counts().beats), (2, 0));
        tb.drain();
        assert_eq!(frames::contents(&frames::receive(&tb.sinks[1])), [(1, 3)]);
    });
}

#[test]
fn forgets_beats_at_reset() {
    run_test(0x0005_de30, |run| {
        let half = Pause::Random { percent: 50 };
        let mut tb = Tb::<models::FrameDemux5>::new(run, (5, (half.clone(), half)));
        for round in 0..50 {
            // Frames of one beat, so that what is cut off leaves no rest behind.
            (0..40).for_each(|tag| tb.send(tag % 5, tag, 1));
            tb.sim.run(1 + round);
            tb.sim.reset();
            assert_eq!(
                tb.source.waiting(),
                tb.select.waiting(),
                "both are taken together"
            );
            tb.sinks.iter().for_each(|sink| drop(sink.receive_all()));
        }
        let left = tb.source.waiting();
        tb.drain();
        let received: usize = tb.sinks.iter().map(|sink| frames::receive(sink).len()).sum();
        assert_eq!(received, left);
    });
}
