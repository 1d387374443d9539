//! Host services from handlers: LLVM libc's RPC protocol, brought to the NIC.
//!
//! A handler asks and the host answers, through a buffer in host memory: two mailboxes, a header and a packet of 64 bytes
//! for each port. The buffer is byte for byte that of LLVM 22 or of LLVM 23 ([`Layout`]), so LLVM's own clients and servers
//! work with ours.
//!
//! ```text
//!  client (handler)          buffer in host memory           server (host)
//!  Client -> Port --send--> header, packet, mailbox --> Server -> Call -> Service: Libc, Emissary, yours
//!                 <--recv--        packet, mailbox <--
//! ```
//!
//! The protocol ([`Process`], [`Client`]) needs neither `std` nor allocation, and reaches the buffer through [`Memory`] alone.
//! Two features are on by default: `server` adds the [`server`], the opcodes of LLVM's libc ([`clib`]), and memory that threads
//! ([`Buffer`]) and processes ([`Mapping`]) share; `nic` adds [`Services`] for the handlers of a context.

#![cfg_attr(not(feature = "server"), no_std)]

pub mod client;
pub mod handle;
pub mod layout;
pub mod memory;
pub mod opcode;
pub mod place;
pub mod process;

pub use client::{Client, Port};
pub use layout::{Announcement, Layout, LayoutError, Packet, Version};
pub use memory::{Memory, Words};
pub use opcode::{Fault, Status};
pub use process::Process;

#[cfg(feature = "server")]
pub mod clib;
#[cfg(feature = "server")]
pub mod described;
#[cfg(feature = "server")]
pub mod emissary;
#[cfg(feature = "nic")]
pub mod nic;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
pub mod typed;

#[cfg(feature = "server")]
pub use clib::{Libc, TestCalls};
#[cfg(feature = "server")]
pub use emissary::Emissary;
#[cfg(feature = "server")]
pub use memory::{Buffer, Mapping};
#[cfg(feature = "nic")]
pub use nic::{BackgroundService, Copies, Offer, Services, ServicesError};
#[cfg(feature = "server")]
pub use server::{Call, CallMode, Refusal, Server, Service};
#[cfg(feature = "server")]
pub use spinneret_rpc_macro::service;
