//! Benches in which nobody pauses.

use spinneret_sim::prelude::*;
use spinneret_tb::bar::{BarBench, Behaviour, Temper};

/// The first control register.
pub(crate) const REGISTERS: u64 = 0x80_0000;
/// A control register that can be written.
pub(crate) const WRITABLE_AT: u64 = 0x80_8000;

/// A cluster that takes everything and answers after that many clocks.
pub(crate) fn slow(cycles: u64) -> Temper {
    Temper {
        least_latency: cycles,
        most_latency: cycles,
        ..Temper::CALM
    }
}

/// A cluster that never answers what it takes, as far as a test goes.
pub(crate) const DEAD: Temper = Temper {
    least_latency: 1_000_000,
    most_latency: 1_000_000,
    ..Temper::CALM
};

/// A bench in which nobody pauses.
pub(crate) fn calm<M: Model>(run: &mut TestRun) -> BarBench<M> {
    BarBench::new(run.simulation::<M>(), Behaviour::default())
}

/// Runs a test with a bench in which nobody pauses.
pub(crate) fn with_calm<M: Model>(test: impl Fn(BarBench<M>)) {
    run_test(1, |run| test(calm(run)));
}
