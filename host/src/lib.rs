//! The library for applications that use a spinneret NIC: handlers, rules, shared memory, counters.
//!
//! ```text
//! Nic ── open_context ──► Context: handlers from a Program, packets by a Ruleset, HostMemory, HandlerMemory
//!  │                       (up to four; closed when dropped)
//!  ├── counters, stdout
//!  └── Device: a simulated NIC in this process or behind a Unix socket, or a card's device files
//! ```
//!
//! All of it works the same on every [`Device`]. Register offsets come from `spinneret-regmap` only.
//!
//! ```no_run
//! use spinneret_host::{Nic, Options, Program, Ruleset};
//! use std::path::Path;
//! use std::time::Duration;
//!
//! let nic = Nic::open("unix:/run/nic.sock")?;
//! let program = Program::open(Path::new("build/count.elf"))?;
//! let rules = Ruleset::all().rule(spinneret_host::Rule::udp_destination_port(9000, 9999));
//! let context = nic.open_context(&program, "count", &rules, &Options::default())?;
//! nic.wait(Duration::from_millis(10))?;
//! let packets: u32 = context.variable("packets")?.load(0)?;
//! println!("{packets} packets");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

mod context;
mod control;
mod counters;
pub mod device;
mod error;
mod memory;
mod nic;
mod options;
mod share;
pub mod slmp;
mod tenants;

pub use context::{Context, HANDLER_COUNTERS, HOST_DATA_COUNTERS, ProgramNotes};
pub use counters::CounterQueue;
pub use device::{
    Address, Device, DeviceError, ManagedContext, Manager, OpenDevice, SharedMemory, chardev, vfio,
};
pub use error::{Error, ErrorKind};
pub use memory::{HandlerMemory, HostMemory, Word};
pub use nic::{Counter, Counters, Lines, NOTHING_PRINTED, Nic, NicGuard, Printed, Stdout, harmless};
pub use options::{Options, Share, Usage};
pub use spinneret_program::{Code, Program, ProgramError, Stage};
pub use spinneret_regmap::matching::Rule;
pub use spinneret_rules::{
    Join, MatcherParams, NamedRuleset, RuleFile, RuleFileError, Ruleset, RulesetError,
};

/// The examples of the page for users.
#[cfg(doctest)]
#[doc = include_str!("../../docs/host/library.md")]
struct Page;
