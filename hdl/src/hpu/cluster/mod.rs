//! Clusters of handler processing units, with their memories, scheduler and copies.

pub(crate) mod bench;
pub(crate) mod crossbar;
pub(crate) mod line_memory;
mod hpu_port;
mod l1;
pub mod driver;
mod ports;
pub(crate) mod program_writer;
mod slaves;
pub mod scheduler;

pub use bench::LineSlavesBench;
pub use crossbar::{CrossbarShape, LineCrossbar, LineDecoder, LineReturn, LineTurn};
pub use line_memory::{LineMemory, LineMemoryShape};
pub use hpu_port::HpuPort;
pub(crate) use hpu_port::PORT;
pub(crate) use l1::L1;
pub use l1::{ClusterL1, L1Shape, L1Words, L1WordsIn, PIPELINES, THREAD, THREADS};
pub use ports::*;
pub use program_writer::ProgramWriter;
pub use slaves::{LineBurst, LineReader, LineWriter};
mod copier;
mod ports;
mod rotator;
mod steps;

pub use copier::{LONGEST, LineCopier, LineStore};
pub use ports::*;
pub use rotator::{LineRotator, PlacedFields};
pub use steps::{CopyFields, LineLoader, LineSteps, StepFields};

pub(crate) use copier::ENTRY as COPIER;
pub(crate) use rotator::ENTRY as ROTATOR;
pub use scheduler::{MessageScheduler, SchedulerShape};

use crate::entry::Variant;

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    crossbar::ENTRY.variant("line_crossbar", ""),
    crossbar::ENTRY.variant("line_crossbar_small", "readers=2 writers=3 clusters=1"),
    line_memory::ENTRY.variant("line_memory_ultra", "lines=64"),
    line_memory::ENTRY.variant("line_memory_block", "lines=16 ultra=0"),
    program_writer::ENTRY.variant("program_writer", ""),
    bench::ENTRY.variant("line_slaves_bench", ""),
    PORT.variant("hpu_port", ""),
    L1.variant("cluster_l1", ""),
    L1.variant("cluster_l1_small", "lines=2 ultra=0"),
];
pub(crate) const SIMULATED: &[Variant] = &[driver::ENTRY.variant("cluster_driver", "")];
pub(crate) const SIMULATED: &[Variant] = &[COPIER.variant("line_copier", "")];
pub(crate) const SIMULATED: &[Variant] = &scheduler::SIMULATED;
