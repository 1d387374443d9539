//! A model of the PsPIN cluster that executes real handlers: 32-bit RISC-V binaries.
//!
//! ```text
//!          Her                Task                   one instruction
//! NIC ==> Cluster ==> Queues ==> Group ==> Hpu { Hart, Driver } ==> View { Memory, registers }
//!  ^                                             |
//!  +=== Feedback, NicCommand, HostCommand =======+
//! ```
//!
//! - [`rv`] is the instruction set simulator.
//! - [`map`] has the address map, the memories, and what handlers may access.
//! - [`Queues`](queues::Queues) schedule handlers as sPIN defines it.
//! - [`Cluster`] steps all of it clock by clock. A NIC attaches to it.
//! - [`Program`] reads the ELF file of handlers.
//!
//! Timing is approximate: [`Timing`] lists all latencies, and `docs/cluster/model.md` has their sources. The model includes
//! the instruction caches and the contention of HPUs for L2. It does not include bank conflicts in L1 and in the
//! instruction cache, nor contention of packets and copies with HPUs on the buses.

pub mod map;
pub mod queues;
pub mod rv;
pub mod task;

mod cluster;
mod driver;
mod event;
mod hpu;
mod timing;

pub use cluster::{Cluster, Config, Debugger, size_class};
pub use driver::COMMANDS;
pub use event::{
    DataPath, Ending, Event, Fault, HpuId, Named, Profile, Run, Spent, TraceEntry, TraceEvent, digest,
};
pub use hpu::{REFUSED_COMMAND, REFUSED_HOST, REFUSED_LENGTH, SILENCE, TERMINATED, WATCHDOG};
pub use map::Memory;
pub use queues::BUFFERED;
pub use spinneret_program::{Function, Program, ProgramError, Segment};
pub use timing::{BEAT_BYTES, Timing};
