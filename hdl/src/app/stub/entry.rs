//! The stand-in for the cluster in the catalog.

use super::{ClusterStub, PspinWrapBench, StubShape};
use crate::entry::{Config, Entry, Parameter, Variant};

/// Name of the block: that of the public design's cluster.
pub(super) const NAME: &str = "pspin_wrap";

/// The stand-in.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "stand-in for the PsPIN cluster: memory, and fixed things that a packet is done with",
    shipped: false,
    parameters,
    derived: |_| Vec::new(),
    build: |values| Ok(Box::new(ClusterStub::new(StubShape::new(values)?)?)),
};

/// The stand-in with the port names that bus models expect.
pub(crate) const BENCH_ENTRY: Entry = Entry {
    name: "pspin_wrap_bench",
    doc: "pspin_wrap with the port names of AXI, for its testbench",
    shipped: false,
    parameters,
    derived: |_| Vec::new(),
    build: |values| Ok(Box::new(PspinWrapBench::new(StubShape::new(values)?)?)),
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    BENCH_ENTRY.model("pspin_wrap_bench", &[]),
    // So small that queues fill often, and addresses repeat.
    BENCH_ENTRY.model(
        "pspin_wrap_bench_small",
        &[("memory_bytes", 16384), ("her_queue", 2), ("stdout_words", 4)],
    ),
];

/// Parameters with their values in a configuration.
pub(super) fn parameters(_config: Config) -> Vec<Parameter> {
    let parameter = Parameter::new;
    vec![
        parameter("clusters", 2, [1, 64], "clusters, each with its bits of status").carried_by("N_CLUSTERS"),
        parameter(
            "mpqs",
            16,
            [1, 64],
            "message processing queues that the status has bits for",
        )
        .carried_by("N_MPQ"),
        parameter(
            "memory_bytes",
            1 << 21,
            [4096, 1 << 21],
            "bytes of the memory, a power of two; addresses repeat in less than 2 MiB",
        ),
        parameter("her_queue", 8, [2, 64], "HERs that can wait, a power of two"),
        parameter(
            "stdout_words",
            1024,
            [4, 8192],
            "words of stdout that can wait, a power of two",
        ),
    ]
}
