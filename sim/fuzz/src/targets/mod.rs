//! Everything that takes what others wrote.

mod files;
mod gdb;
mod handlers;
mod instructions;
mod page;
mod pci;
mod slmp;
mod socket;

use crate::Target;
use anyhow::{Context as _, Result};

/// A target that can be chosen.
#[derive(Debug)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is taken.
    pub about: &'static str,
    /// Pieces of a whole run.
    pub pieces: u64,
    /// Pieces of the run that is part of the tests.
    pub tested: u64,
    make: fn() -> Result<Box<dyn Target>>,
}

impl Entry {
    /// The target itself.
    ///
    /// # Errors
    /// If something that it needs is missing.
    pub fn make(&self) -> Result<Box<dyn Target>> {
        (self.make)().with_context(|| format!("the target {} cannot be made", self.name))
    }
}

/// All targets.
pub const ALL: [Entry; 10] = [
    Entry {
        name: "captures",
        about: "pcap and pcapng files",
        pieces: 100_000,
        tested: 5_000,
        make: files::captures,
    },
    Entry {
        name: "rules",
        about: "rule files",
        pieces: 100_000,
        tested: 5_000,
        make: files::rules,
    },
    Entry {
        name: "topology",
        about: "topologies of `spinneret fabric`",
        pieces: 100_000,
        tested: 2_000,
        make: files::topology,
    },
    Entry {
        name: "elf",
        about: "ELF files of handlers, which are run if they can be",
        pieces: 100_000,
        tested: 500,
        make: files::elf,
    },
    Entry {
        name: "socket",
        about: "messages of programs to `spinneret serve`",
        pieces: 1_000_000,
        tested: 5_000,
        make: || Ok(Box::new(socket::Socket::new()?)),
    },
    Entry {
        name: "page",
        about: "requests to the page of `--watch`",
        pieces: 100_000,
        tested: 200,
        make: || Ok(Box::new(page::Page::new()?)),
    },
    Entry {
        name: "gdb",
        about: "packets of gdb to `--gdb`",
        pieces: 100_000,
        tested: 300,
        make: || Ok(Box::new(gdb::Debugged::new()?)),
    },
    Entry {
        name: "pci",
        about: "messages of virtual machines to `spinneret serve --pci`",
        pieces: 200_000,
        tested: 20_000,
        make: || Ok(Box::new(pci::Pci::new()?)),
    },
    Entry {
        name: "slmp",
        about: "SLMP segments, to handlers on the NIC and to the receiver of UDP",
        pieces: 20_000,
        tested: 600,
        make: || Ok(Box::new(slmp::Slmp::new()?)),
    },
    Entry {
        name: "handlers",
        about: "handlers of random instructions that reach for everything",
        pieces: 100_000,
        tested: 2_000,
        make: || Ok(Box::new(handlers::Handlers::new()?)),
    },
];
