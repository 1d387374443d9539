//! Rounds of random commands, as tests and soaks run them.

use super::behaviour::Behaviour;
use super::bench::EgressBench;
use super::command::Command;
use super::model::Outcome;
use super::setup::Setup;
use super::traffic::random_command;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
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
