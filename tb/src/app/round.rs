//! Rounds of everything at once, as tests and soaks run them.

use super::behaviour::Behaviour;
use super::bench::AppBench;
use super::clocks::Clocks;
use super::context::{Actions, Context};
use super::packets::{CONTEXTS, from_host, from_wire, marked_bad, matched, random_size, unmatched};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_models::MqnicAppBlock;
use spinneret_sim::simulation::Simulation;
use std::fmt;
use std::ops::AddAssign;

/// Packets and frames between two comparisons of everything.
const BATCH: u64 = 100;
/// Frames that wait in Corundum at most.
const WAITING: usize = 30;

/// What became of everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets that passed, of interface 0.
    pub bypassed: u64,
    /// Packets that matched.
    pub matched: u64,
    /// Those of them that came to the cluster.
    pub hers: u64,
    /// Those that were dropped and counted.
    pub dropped: u64,
    /// Frames of the cluster on the wire.
    pub frames: u64,
    /// Resets of the cluster.
    pub resets: u64,
    /// Clocks of the core that were simulated.
    pub clocks: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.bypassed += other.bypassed;
        self.matched += other.matched;
        self.hers += other.hers;
        self.dropped += other.dropped;
        self.frames += other.frames;
        self.resets += other.resets;
        self.clocks += other.clocks;
    }
}

/// `70 passed, 30 matched: 28 to the cluster, 2 dropped, 28 frames came back; 1 reset`.
impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} matched: {} to the cluster, {} dropped, {} frames came back; {} resets",
            self.bypassed, self.matched, self.hers, self.dropped, self.frames, self.resets
        )
    }
}

/// Packets and frames through an application block: all contexts do what is drawn, but each sends its packets back, so
/// that what became of them is seen; between batches the cluster may be reset in full traffic.
///
/// # Panics
/// At the first thing that is wrong.
pub fn run_round(sim: Simulation<MqnicAppBlock>, clocks: Clocks, count: u64) -> Totals {
    // Rounds of one seed differ, as their clocks do.
    let mut rng = sim.rng(&format!("everything with {clocks:?}"));
    let behaviour = Behaviour::random(&mut rng);
    let mut bench = AppBench::new(sim, clocks, &behaviour);
    let contexts = random_contexts(&mut rng);
    bench.bring_up(contexts);
    bench.model.complete = false;
    let (mut left, mut resets) = (count, 0);
    while left > 0 {
        let batch = left.min(BATCH);
        for _ in 0..batch {
            send(&mut bench, &mut rng);
        }
        left -= batch;
        if rng.random_ratio(1, 4) {
            reset_cluster(&mut bench, &mut rng);
            resets += 1;
        } else {
            bench.settle();
        }
    }
    let clocks = bench.now();
    let account = bench.finish();
    Totals {
        bypassed: account.bypassed,
        matched: account.matched,
        hers: account.hers,
        dropped: account.dropped(),
        frames: account.frames,
        resets,
        clocks,
    }
}

/// Contexts that all send their packets back, and do more at random.
fn random_contexts(rng: &mut ChaCha8Rng) -> [Option<Context>; CONTEXTS] {
    std::array::from_fn(|number| Some(Context::new(number, Actions::of(rng.random_range(0..16) | 1))))
}

/// Sends a packet or a frame as soon as few wait, now and then after a pause.
fn send(bench: &mut AppBench, rng: &mut ChaCha8Rng) {
    bench.run_until(1_000_000, "frames that wait in Corundum", |bench| {
        let waiting = bench.rx.iter().chain(&bench.tx).map(|source| source.waiting());
        waiting.sum::<usize>() < WAITING
    });
    if rng.random_ratio(1, 8) {
        bench.run(rng.random_range(1..500));
    }
    let size = random_size(rng);
    match rng.random_range(0..7) {
        0 => {
            let bytes = unmatched(rng, size);
            let frame = from_host(rng, bytes);
            bench.transmit(rng.random_range(0..2), frame);
        }
        1 | 2 => {
            let bytes = unmatched(rng, size);
            let frame = from_wire(rng, bytes);
            bench.receive(rng.random_range(0..2), frame);
        }
        _ => {
            let context = rng.random_range(0..CONTEXTS);
            let bytes = matched(rng, context, size);
            let frame = from_wire(rng, bytes);
            let bad = rng.random_ratio(1, 20);
            bench.receive(0, if bad { marked_bad(frame) } else { frame });
        }
    }
}

/// The cluster is reset while packets come, and works again.
fn reset_cluster(bench: &mut AppBench, rng: &mut ChaCha8Rng) {
    bench.hold_cluster();
    for _ in 0..rng.random_range(0..20) {
        send(bench, rng);
    }
    bench.run(rng.random_range(0..300));
    bench.release_cluster();
    bench.wait_for_rest();
    // Nobody knows how far the cluster was with what was lost.
    bench.read_stdout();
    bench.forget_effects();
}
