//! Rounds of random commands, and cycles of frames.

use super::bench::EgressBench;
use super::command::{Command, random_command};
use super::config::{Behaviour, PIECE, Setup};
use super::model::Outcome;
use crate::bench::Finish;
use spinneret_sim::prelude::*;
use std::ops::AddAssign;

/// Commands between two times of rest.
const BATCH: u64 = 200;

/// What became of all commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// By what became of them.
    pub outcome: Outcome,
    /// Clock cycles that were simulated.
    pub cycles: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.outcome += other.outcome;
        self.cycles += other.cycles;
    }
}

/// Random commands through a path, at times with a reset in the middle. At the end the longest frames take as
/// many cycles as after a reset, so no room was lost.
///
/// # Panics
/// At the first thing that is wrong.
pub fn run_round<M: Model>(sim: Simulation<M>, behaviour: Behaviour, commands: u64) -> Totals {
    let mut rng = sim.rng("traffic");
    let mut bench = EgressBench::new(sim, behaviour);
    let pieces = bench.pieces();
    let mut totals = Totals::default();
    // What the path has counted since its last reset.
    let mut counted = Outcome::default();
    let mut left = commands;
    while left > 0 {
        let batch = left.min(BATCH);
        for _ in 0..batch {
            bench.send(random_command(&mut rng, &bench.setup, &pieces));
            bench.wait_for_less_than(100);
        }
        counted = bench.settle();
        left -= batch;
        if rng.random_ratio(1, 5) {
            totals.outcome += counted;
            counted = Outcome::default();
            reset_in_traffic(&mut bench, &mut rng, &pieces);
        }
    }
    totals.outcome += counted;
    assert_eq!(totals.outcome.commands(), commands, "{totals:?}");
    totals.cycles = bench.sim.cycle_count();
    let worn = cycles_of_longest(&mut bench);
    bench.reset();
    assert_eq!(
        worn,
        cycles_of_longest(&mut bench),
        "cycles of the longest frames"
    );
    bench.finish();
    totals
}

/// Some commands, and a reset in the middle of them.
fn reset_in_traffic<M: Model>(bench: &mut EgressBench<M>, rng: &mut ChaCha8Rng, pieces: &[u64]) {
    for _ in 0..40 {
        bench.send(random_command(rng, &bench.setup, pieces));
    }
    bench.run(rng.random_range(1..300));
    bench.reset();
}

/// Cycles from the end of one of the longest frames to that of a later one, with nothing in the way: three times
/// as many frames as fit into the buffer, less one.
pub fn cycles_of_longest<M: Model>(bench: &mut EgressBench<M>) -> u64 {
    bench.set_calm();
    bench.settle();
    let before = bench.wire.total();
    let frames = longest_frames(&bench.setup);
    for number in 0..frames {
        bench.send(Command {
            id: number % bench.setup.ids,
            source: 0,
            length: bench.setup.max_frame,
        });
    }
    bench.run_until_frames(before + 1);
    let first = bench.last_frame.as_ref().map_or(0, |frame| frame.last_cycle);
    bench.run_until_frames(before + frames);
    let last = bench.last_frame.as_ref().map_or(0, |frame| frame.last_cycle);
    last - first
}

/// Frames that [`cycles_of_longest`] sends.
pub fn longest_frames(setup: &Setup) -> u64 {
    3 * (setup.buffer_beats / setup.beats(setup.max_frame))
}

/// Where the frames lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// That many bytes behind the start of a line, all of them.
    Offset(u64),
    /// Each at another place of its line.
    Everywhere,
}

/// What was counted for frames of one size, in clock cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Cycles a frame, back to back: from the end of one to that of a later one, divided by their number.
    pub per_frame: f64,
    /// Lines of memory a frame, on average: the clocks that the bus needs for it.
    pub lines: f64,
    /// From the cycle that takes the command to that of the first beat, through an empty path.
    pub latency: u64,
    /// From the cycle that takes the command to that of its answer, through an empty path.
    pub answer: u64,
}

/// Frames before counting starts.
const WARM_UP: u64 = 128;
/// Frames that are counted.
const COUNTED: u64 = 256;

/// Counts the cycles of frames of one size.
///
/// # Panics
/// If a frame is lost or changed, or comes to nothing.
pub fn measure<M: Model>(bench: &mut EgressBench<M>, size: u64, place: Place) -> Rate {
    let (latency, answer) = measure_alone(bench, size, place);
    let before = bench.wire.total();
    let mut lines = 0;
    for number in 0..WARM_UP + COUNTED {
        let command = command(bench, size, place, number);
        bench.send(command);
        if number > WARM_UP {
            lines += bench.setup.lines(command.source, command.length);
        }
    }
    let first = last_cycle(bench, before + WARM_UP + 1);
    let last = last_cycle(bench, before + WARM_UP + COUNTED);
    bench.settle();
    let counted = (COUNTED - 1) as f64;
    Rate {
        per_frame: (last - first) as f64 / counted,
        lines: lines as f64 / counted,
        latency,
        answer,
    }
}

/// One frame through an empty path.
fn measure_alone<M: Model>(bench: &mut EgressBench<M>, size: u64, place: Place) -> (u64, u64) {
    bench.settle();
    let taken = bench.sim.cycle_count();
    bench.send(command(bench, size, place, 0));
    bench.settle();
    let first = bench.last_frame.as_ref().map_or(0, |frame| frame.first_cycle);
    let answer = bench.last_answer.map_or(0, |(cycle, _)| cycle);
    (first - taken, answer - taken)
}

fn command<M: Model>(bench: &EgressBench<M>, size: u64, place: Place, number: u64) -> Command {
    let beat = bench.setup.beat;
    let (offset, step) = match place {
        Place::Offset(offset) => (offset, 0),
        // A step that goes through all places.
        Place::Everywhere => (0, 37),
    };
    let slot = (size + 2 * beat).next_multiple_of(beat);
    let source = number % (PIECE / slot) * slot + (offset + step * number) % beat;
    Command {
        id: number % bench.setup.ids,
        source,
        length: size,
    }
}

/// Runs until the wire has that many frames; the cycle of the last one's last beat.
fn last_cycle<M: Model>(bench: &mut EgressBench<M>, frames: u64) -> u64 {
    bench.run_until_frames(frames);
    bench.last_frame.as_ref().map_or(0, |frame| frame.last_cycle)
}
