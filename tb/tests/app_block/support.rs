//! What the tests of the application block share.

use spinneret_sim::prelude::*;
use spinneret_tb::app::{
    Actions, AppBench, Behaviour, CONTEXTS, Clocks, Context, from_wire, matched, unmatched,
};

/// A block between models, not configured.
pub(crate) fn bench_with(run: &mut TestRun, clocks: Clocks, behaviour: &Behaviour) -> AppBench {
    let sim = run.simulation_with(&clocks.domains());
    AppBench::new(sim, clocks, behaviour)
}

/// The same without pauses, with a cluster of 40 MHz.
pub(crate) fn bench(run: &mut TestRun) -> AppBench {
    bench_with(run, Clocks::BOARD, &Behaviour::default())
}

/// Four contexts that do the same.
pub(crate) fn all_contexts(actions: Actions) -> [Option<Context>; CONTEXTS] {
    std::array::from_fn(|number| Some(Context::new(number, actions)))
}

/// A block whose contexts all do the same, ready for packets.
pub(crate) fn started(run: &mut TestRun, clocks: Clocks, actions: Actions) -> AppBench {
    let mut bench = bench_with(run, clocks, &Behaviour::default());
    bench.bring_up(all_contexts(actions));
    bench
}

/// Sends a packet for a context.
pub(crate) fn send_matched(bench: &mut AppBench, rng: &mut ChaCha8Rng, context: usize, size: usize) {
    let bytes = matched(rng, context, size);
    let frame = from_wire(rng, bytes);
    bench.receive(0, frame);
}

/// Sends a packet that matches nothing.
pub(crate) fn send_unmatched(bench: &mut AppBench, rng: &mut ChaCha8Rng, interface: usize, size: usize) {
    let bytes = unmatched(rng, size);
    let frame = from_wire(rng, bytes);
    bench.receive(interface, frame);
}
