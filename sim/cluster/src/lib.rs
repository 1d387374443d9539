//! A model of the PsPIN cluster that executes real handlers: 32-bit RISC-V binaries.
//!
//! ```text
//!          Her                Task                   one instruction
//! NIC ==> Cluster ==> Queues ==> Group ==> Hpu { Hart, Driver } ==> View { Memory, registers }
//!  ^                                             |
//!  +=== Feedback, NicCommand, HostCommand =======+
//! ```
//!
//! - [`rv`] is the instruction set, by itself.
//! - [`map`] says where everything is, [`Memory`] holds the bytes.
//! - [`Queues`](queues::Queues) decide which handler of which packet may run, as sPIN defines it.
//! - [`Cluster`] joins them, clock by clock, and is what a NIC is attached to.
//! - [`Program`] reads what the compiler made of handlers.
//!
//! It is approximate in time: [`Timing`] says what everything costs, and `docs/cluster/model.md` where each figure is from.
//! It models the instruction cache of each cluster, and HPUs that wait for one another on their way to L2. It does not
//! model conflicts of HPUs at banks of L1 and of the instruction cache, nor of packets and copies with HPUs on the buses.

pub mod map;
pub mod queues;
pub mod rv;
pub mod task;

mod cluster;
mod driver;
mod event;
mod hpu;
mod timing;

pub use cluster::{Cluster, Config, Debugger};
pub use driver::COMMANDS;
pub use event::{Ending, Event, Fault, HpuId, Named, TraceEvent, Profile, Run, Spent, TraceEntry, digest};
pub use hpu::{REFUSED_COMMAND, REFUSED_HOST, REFUSED_LENGTH, SILENCE, TERMINATED, WATCHDOG};
pub use map::Memory;
pub use queues::BUFFERED;
pub use spinneret_program::{Function, Program, ProgramError, Segment};
pub use timing::{BEAT_BYTES, Timing};
