//! What the tests of the path share.

use spinneret_models::PspinEgressDatapath;
use spinneret_sim::test_run::TestRun;
use spinneret_tb::egress::{Behaviour, Command, EgressBench};

/// The path in the reference configuration between bus models.
pub(crate) type Bench = EgressBench<PspinEgressDatapath>;

/// The path with everything ready, and lines after that many cycles.
pub(crate) fn after(run: &mut TestRun, cycles: u64) -> Bench {
    let mut bench = EgressBench::new(run.simulation(), Behaviour::after(cycles));
    // In the first cycle after a reset it takes nothing.
    bench.run(2);
    bench
}

/// A command whose id follows from its address.
pub(crate) fn command(source: u64, length: u64) -> Command {
    Command {
        id: (source / 64 + length) % 64,
        source,
        length,
    }
}

/// The same with an id.
pub(crate) fn with_id(id: u64, source: u64, length: u64) -> Command {
    Command { id, source, length }
}
