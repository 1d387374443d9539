//! Clusters of handler processing units, with their memories, scheduler and copies.

pub(crate) mod bench;
pub(crate) mod crossbar;
pub(crate) mod line_memory;
mod ports;
pub(crate) mod program_writer;
pub(crate) mod slaves;

pub use bench::LineSlavesBench;
pub use crossbar::{CrossbarShape, LineCrossbar, LineDecoder, LineReturn, LineTurn};
pub use line_memory::{LineMemory, LineMemoryShape};
pub use ports::*;
pub use program_writer::ProgramWriter;
pub use slaves::{LineBurst, LineReader, LineWriter};

use crate::entry::Variant;

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    crossbar::ENTRY.variant("line_crossbar", ""),
    crossbar::ENTRY.variant("line_crossbar_small", "readers=2 writers=3 clusters=1"),
    line_memory::ENTRY.variant("line_memory_ultra", "lines=64"),
    line_memory::ENTRY.variant("line_memory_block", "lines=16 ultra=0"),
    bench::ENTRY.variant("line_slaves_bench", ""),
];
