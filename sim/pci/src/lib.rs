//! A simulated NIC as a PCI device of a virtual machine, by the protocol vfio-user.
//!
//! ```text
//! virtual machine ==Unix socket==> Server: Channel, Request --> Function: ConfigSpace, Bridge --> Application
//!                 <====== eventfds ======= Interrupts <-- raise
//!   its memory    <== mapped by both ====> GuestMemory <-- the DMA of the simulation
//! ```
//!
//! The protocol is that of QEMU's `docs/interop/vfio-user.rst`. Nothing here waits: who simulates looks at the server now and
//! then, and everything happens in that one thread ([why](../../docs/decisions/0010-host-software.md)). What is
//! behind the BARs is an [`Application`]; this crate knows no NIC but by the numbers of its function.

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
