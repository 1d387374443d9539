//! Clusters of handler processing units, with their memories, scheduler and copies.

pub(crate) mod bench;
pub(crate) mod complex;
pub(crate) mod complex_bench;
pub(crate) mod context_registers;
mod copier;
pub(crate) mod crossbar;
pub mod driver;
mod host;
mod hpu_cluster;
mod hpu_port;
mod l1;
pub(crate) mod line_memory;
mod ports;
pub(crate) mod program_writer;
mod rotator;
pub mod scheduler;
pub(crate) mod share_bench;
pub(crate) mod slaves;
mod steps;
mod turn;
mod word_server;

pub use bench::LineSlavesBench;
pub use complex::{ComplexShape, HpuComplex};
pub use complex_bench::ComplexBench;
pub use context_registers::ContextRegisters;
pub(crate) use copier::ENTRY as COPIER;
pub use copier::{LONGEST, LineCopier, LineStore};
pub use crossbar::{CrossbarShape, LineCrossbar, LineDecoder, LineRest, LineReturn, LineTurn};
pub use driver::ClusterDriver;
pub(crate) use host::ENTRY as HOST_COPIER;
pub(crate) use host::OWN_ID;
pub use host::{
    BURST, ContextQueues, CopyJob, HOST_PORT, HostCopier, HostIntake, HostReads, HostShape, HostWrites, PART,
    PartFields, QueueShape, Traffic, WordsJob,
};
pub(crate) use hpu_cluster::ENTRY as CLUSTER;
pub use hpu_cluster::HpuCluster;
pub use hpu_port::HpuPort;
pub(crate) use hpu_port::PORT;
pub(crate) use l1::L1;
pub use l1::{ClusterL1, L1Shape, L1Words, L1WordsIn};
pub use line_memory::{LineMemory, LineMemoryShape};
pub use ports::*;
pub use program_writer::ProgramWriter;
pub(crate) use rotator::ENTRY as ROTATOR;
pub use rotator::{LineRotator, PlacedFields};
pub use scheduler::{BETWEEN_TASKS, MessageScheduler, SchedulerShape};
pub use share_bench::ShareBench;
pub use slaves::{LineBurst, LineReader, LineWriter};
pub use steps::{CopyFields, LineLoader, LineSteps, StepFields};
pub use turn::Turn;
pub(crate) use word_server::SERVER;
pub use word_server::{ServedAccess, WordServer};

use crate::entry::Variant;

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    crossbar::ENTRY.variant("line_crossbar", ""),
    crossbar::ENTRY.variant("line_crossbar_small", "readers=2 writers=3 clusters=1"),
    crossbar::ENTRY.variant("line_crossbar_wide", "readers=12 writers=12 clusters=8"),
    line_memory::ENTRY.variant("line_memory_ultra", "lines=64"),
    line_memory::ENTRY.variant("line_memory_block", "lines=16 ultra=0"),
    bench::ENTRY.variant("line_slaves_bench", ""),
    PORT.variant("hpu_port", ""),
    PORT.variant("hpu_port_single", "clusters=1"),
    L1.variant("cluster_l1", ""),
    L1.variant("cluster_l1_small", "lines=2 ultra=0"),
    driver::ENTRY.variant("cluster_driver", ""),
    context_registers::ENTRY.variant("context_registers", ""),
    COPIER.variant("line_copier", ""),
    HOST_COPIER.variant("host_copier", ""),
    HOST_COPIER.variant("host_copier_tenants", "contexts=8"),
    SERVER.variant("word_server", ""),
    SERVER.variant("word_server_single", "clusters=1"),
    SERVER.variant("word_server_wide", "clusters=8"),
    scheduler::SIMULATED[0],
    scheduler::SIMULATED[1],
    scheduler::SIMULATED[2],
    share_bench::ENTRY.variant("share_bench", ""),
    complex_bench::ENTRY.variant("complex_bench", ""),
];
