//! The fuzz targets.

mod files;
mod gdb;
mod handlers;
mod page;
mod pci;
mod slmp;
mod socket;

use crate::Target;
use anyhow::{Context as _, Result};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A target that can be chosen.
#[derive(Debug)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// The kind of input that the target reads.
    pub about: &'static str,
    /// Pieces of a whole run.
    pub pieces: u64,
    /// Pieces of the run in the tests.
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
        about: "ELF files of handlers, which are run if they load",
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
        about: "handlers of random instructions that access all of the cluster",
        pieces: 100_000,
        tested: 2_000,
        make: || Ok(Box::new(handlers::Handlers::new()?)),
    },
];

/// Connects to the socket `nic` in a folder; reads and writes do not block.
fn connect(folder: &Path) -> Result<UnixStream, String> {
    UnixStream::connect(folder.join("nic"))
        .and_then(|client| client.set_nonblocking(true).map(|()| client))
        .map_err(|error| format!("the server is gone: {error}"))
}
