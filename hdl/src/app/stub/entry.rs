//! The stand-in for the cluster in the catalog.

use super::{ClusterStub, PspinWrapBench, StubShape};
use crate::entry::{Entry, Parameters as _, Variant};

/// The stand-in, with the name of the public design's cluster.
pub(crate) const ENTRY: Entry = Entry::part(
    StubShape::BLOCK,
    "stand-in for the PsPIN cluster: memory, and fixed things that a packet is done with",
    StubShape::parameters,
    |values| Ok(Box::new(ClusterStub::new(StubShape::new(values)?)?)),
);

/// The stand-in with the port names that bus models expect.
pub(crate) const BENCH_ENTRY: Entry = Entry::part(
    "pspin_wrap_bench",
    "pspin_wrap with the port names of AXI, for its testbench",
    StubShape::parameters,
    |values| Ok(Box::new(PspinWrapBench::new(StubShape::new(values)?)?)),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    BENCH_ENTRY.model(BENCH_ENTRY.name, &[]),
    // So small that queues fill often, and addresses repeat.
    BENCH_ENTRY.model(
        "pspin_wrap_bench_small",
        &[("memory_bytes", 16384), ("her_queue", 2), ("stdout_words", 4)],
    ),
];
