//! A simulated NIC as a PCI device of a virtual machine, by the protocol vfio-user.
//!
//! ```text
//! virtual machine ==Unix socket==> Server: Channel, Request --> Function: ConfigSpace, Bridge --> Application
//!                 <====== eventfds ======= Interrupts <-- raise
//!   its memory    <== mapped by both ====> GuestMemory <-- the DMA of the simulation
//! ```
//!
//! The protocol is that of QEMU's `docs/interop/vfio-user.rst`. Nothing here blocks: the simulation polls the server
//! now and then, in its own thread ([why](../../docs/decisions/0010-host-software.md)). An [`Application`] is behind
//! the BARs; this crate knows only the ids of a NIC's function.

mod client;
mod config;
mod function;
mod memory;
mod protocol;
mod server;

pub use config::Identity;
pub use function::Application;
pub use memory::GuestMemory;
pub use server::{Served, Server};
