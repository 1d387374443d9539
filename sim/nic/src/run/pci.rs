//! A NIC as a PCI device of a virtual machine.

use super::host::{Attention, HostProgram, is_matching};
use crate::device::Simulated;
use crate::terminal::tell;
use clap::ValueEnum;
use spinneret_host::Nic;
use spinneret_pci::{Application, Personality, Served, Server};
use spinneret_regmap::bar::{Destination, decode};
use spinneret_regmap::me;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// Which PCI function the NIC is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Function {
    /// Its own, for our drivers and for vfio
    #[default]
    Own,
    /// Corundum's without network interfaces, for the public drivers mqnic and pspin
    Mqnic,
}

/// The socket of the virtual machine, as a program on the host.
#[derive(Debug)]
pub(super) struct PciDevice {
    server: Server,
    /// Whether messages of the hardware are interrupts: Corundum's application block has no port for them.
    has_messages: bool,
    nic: Simulated,
    once: bool,
    /// Somebody has set rules, so packets may come.
    is_matching: bool,
}

impl PciDevice {
    /// Listens at a path.
    ///
    /// # Errors
    /// If that cannot be.
    pub(super) fn bind(path: &Path, function: Function, nic: Simulated, once: bool) -> io::Result<Self> {
        let personality = match function {
            Function::Own => Personality::OWN,
            Function::Mqnic => Personality::MQNIC,
        };
        let server = Server::bind(path, personality)?;
        nic.borrow().host_memory().connect(server.memory());
        Ok(Self {
            server,
            has_messages: function == Function::Own,
            nic,
            once,
            is_matching: false,
        })
    }
}

impl PciDevice {
    /// Makes interrupts of the messages that the hardware has sent.
    fn interrupt(&mut self) {
        let mut nic = self.nic.borrow_mut();
        while let Some(line) = nic.take_message() {
            if self.has_messages {
                self.server.raise(line);
            }
        }
    }
}

impl HostProgram for PciDevice {
    fn poll(&mut self) -> anyhow::Result<Attention> {
        let mut bar = ApplicationBar {
            nic: self.nic.clone(),
            has_rules: false,
            is_over: false,
        };
        let served = self.server.serve(&mut bar)?;
        self.server.take_notes().iter().for_each(tell);
        self.interrupt();
        self.is_matching &= !bar.is_over;
        if bar.has_rules && !self.is_matching {
            self.is_matching = is_matching(&mut self.nic)?;
        }
        Ok(match served {
            Served::Gone if self.once => Attention::Over,
            Served::Nothing | Served::Gone => Attention::Idle,
            Served::Requests => Attention::Until(self.nic.borrow().now_ps()),
        })
    }

    fn is_ready(&self) -> bool {
        self.is_matching
    }

    fn stays(&self) -> bool {
        true
    }

    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        self.server.wakes()
    }
}

/// The application BAR of the simulated hardware.
struct ApplicationBar {
    nic: Simulated,
    /// Rules were put in force.
    has_rules: bool,
    /// What a driver had begun is over.
    is_over: bool,
}

impl Application for ApplicationBar {
    fn read(&mut self, offset: u32) -> io::Result<u32> {
        self.nic.borrow_mut().bus_read(offset).map_err(io::Error::other)
    }

    fn write(&mut self, offset: u32, word: u32, strobes: u8) -> io::Result<()> {
        self.has_rules |= decode(offset) == Destination::ControlRegister(me::VALID.offset);
        let mut nic = self.nic.borrow_mut();
        nic.bus_write(offset, word, strobes).map_err(io::Error::other)
    }

    fn stop(&mut self) -> io::Result<()> {
        self.is_over = true;
        // Who takes the NIC finds it without rules and with its cluster in reset. Its counters stay, for the summary.
        Nic::new(self.nic.clone()).map(drop).map_err(io::Error::other)
    }

    fn reset(&mut self) -> io::Result<()> {
        self.is_over = true;
        self.nic.borrow_mut().reset().map_err(io::Error::other)
    }
}
