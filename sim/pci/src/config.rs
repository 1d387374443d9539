//! Configuration space: the identity of a function, and the few bits that software can set.
//!
//! Layouts are those of the PCI Local Bus specification 3.0 (header, power management, MSI, MSI-X) and of the PCI Express Base
//! specification 3.0, section 7 (the PCI Express capability).

use spinneret_regmap::pci;

/// Bytes of the configuration space of PCI Express.
pub(crate) const CONFIG_BYTES: usize = 4096;

const COMMAND: usize = 0x04;
const COMMAND_MEMORY: u16 = 1 << 1;
const COMMAND_MASTER: u16 = 1 << 2;
/// Writable bits of the command register: memory, master, parity, system errors, no INTx.
const COMMAND_BITS: u16 = 0x0546;
const STATUS: usize = 0x06;
const STATUS_CAPABILITIES: u16 = 1 << 4;
const BARS: usize = 0x10;
const FIRST_CAPABILITY: usize = 0x40;
/// Of the PCI Express capability: device control, and the bit that resets the function.
const DEVICE_CONTROL: usize = 0x08;
const INITIATE_RESET: u16 = 1 << 15;

/// The configuration space of a function.
#[derive(Clone, Debug)]
pub(crate) struct ConfigSpace {
    bytes: Box<[u8; CONFIG_BYTES]>,
    /// Bits that software can change.
    writable: Box<[u8; CONFIG_BYTES]>,
    /// Where the PCI Express capability is.
    express: usize,
}

/// Effect of a write on the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Nothing,
    /// Reset of this function.
    Reset,
}

impl ConfigSpace {
    /// As after power-up.
    pub(crate) fn new(identity: &Identity) -> Self {
        let mut space = Self {
            bytes: Box::new([0; CONFIG_BYTES]),
            writable: Box::new([0; CONFIG_BYTES]),
            express: 0,
        };
        space.header(identity);
        space.capabilities(identity);
        space
    }

    fn header(&mut self, identity: &Identity) {
        let [subsystem_vendor, subsystem] = identity.subsystem;
        self.put(0x00, &identity.vendor.to_le_bytes());
        self.put(0x02, &identity.device.to_le_bytes());
        self.allow(COMMAND, &COMMAND_BITS.to_le_bytes());
        self.put(STATUS, &STATUS_CAPABILITIES.to_le_bytes());
        self.put(
            0x08,
            &(identity.class << 8 | u32::from(identity.revision)).to_le_bytes(),
        );
        // Cache line and interrupt line are notes of software to itself.
        self.allow(0x0c, &[0xff]);
        self.allow(0x3c, &[0xff]);
        self.put(0x2c, &subsystem_vendor.to_le_bytes());
        self.put(0x2e, &subsystem.to_le_bytes());
        for bar in identity.bars {
            let at = BARS + 4 * bar.number as usize;
            let address = !(bar.bytes - 1);
            match bar.is_long {
                true => {
                    self.put(at, &[0b100]);
                    self.allow(at, &address.to_le_bytes());
                }
                false => self.allow(at, &(address as u32).to_le_bytes()),
            }
        }
    }

    fn capabilities(&mut self, identity: &Identity) {
        let power = FIRST_CAPABILITY;
        self.put(0x34, &[power as u8]);
        let express = power + 8;
        // Version 3, D0 and D3, and nothing is lost between them.
        self.put(power, &[0x01, express as u8, 0x03, 0x00, 0b1000, 0x00]);
        self.allow(power + 4, &[0b11]);
        let messages = express + 0x3c;
        self.express(express, messages);
        match identity.messages {
            Messages::Table {
                vectors,
                bar,
                table,
                pending,
            } => {
                self.put(messages, &[0x11, 0]);
                self.put(messages + 2, &((vectors - 1) as u16).to_le_bytes());
                self.allow(messages + 2, &0xc000_u16.to_le_bytes());
                self.put(messages + 4, &(table | bar).to_le_bytes());
                self.put(messages + 8, &(pending | bar).to_le_bytes());
            }
            Messages::Plain { vectors } => {
                // Addresses of 64 bits; the logarithm of the number of vectors.
                let control = 1 << 7 | (vectors.ilog2() as u16) << 1;
                self.put(messages, &[0x05, 0]);
                self.put(messages + 2, &control.to_le_bytes());
                self.allow(messages + 2, &0x0071_u16.to_le_bytes());
                self.allow(
                    messages + 4,
                    &[0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                );
            }
        }
    }

    /// An endpoint, version 2, at a link of 16 lanes of 8 GT/s, as the boards have.
    fn express(&mut self, at: usize, next: usize) {
        self.express = at;
        self.put(at, &[0x10, next as u8, 0x02, 0x00]);
        // Payloads of 256 bytes, extended tags, errors by their roles, reset of the function.
        let device: u32 = 1 | 1 << 5 | 1 << 15 | 1 << 28;
        self.put(at + 0x04, &device.to_le_bytes());
        // Relaxed ordering, no snooping, reads of up to 512 bytes.
        self.put(at + DEVICE_CONTROL, &0x2810_u16.to_le_bytes());
        self.allow(at + DEVICE_CONTROL, &(!INITIATE_RESET).to_le_bytes());
        let link: u32 = 3 | 16 << 4;
        self.put(at + 0x0c, &link.to_le_bytes());
        self.allow(at + 0x10, &0x00c3_u16.to_le_bytes());
        self.put(at + 0x12, &(link as u16).to_le_bytes());
        // Completion timeouts can be switched off.
        self.put(at + 0x24, &(1_u32 << 4).to_le_bytes());
        self.allow(at + 0x28, &0x001f_u16.to_le_bytes());
        // 2.5, 5 and 8 GT/s.
        self.put(at + 0x2c, &0b1110_u32.to_le_bytes());
        self.put(at + 0x30, &3_u16.to_le_bytes());
        self.allow(at + 0x30, &0x000f_u16.to_le_bytes());
    }

    /// Whether the BARs answer.
    pub(crate) fn has_memory(&self) -> bool {
        self.half(COMMAND) & COMMAND_MEMORY != 0
    }

    /// Whether the function may send requests: DMA, and messages of interrupts.
    pub(crate) fn is_master(&self) -> bool {
        self.half(COMMAND) & COMMAND_MASTER != 0
    }

    /// Reads bytes; they must be inside of the space.
    pub(crate) fn read(&self, offset: usize, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.bytes[offset..offset + bytes.len()]);
    }

    /// Writes bytes; they must be inside of the space.
    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) -> Effect {
        for (at, value) in (offset..).zip(bytes) {
            let writable = self.writable[at];
            self.bytes[at] = self.bytes[at] & !writable | value & writable;
        }
        let reset = self.express + DEVICE_CONTROL + 1;
        let high = reset.checked_sub(offset).and_then(|at| bytes.get(at));
        match high.is_some_and(|high| u16::from(*high) << 8 & INITIATE_RESET != 0) {
            true => Effect::Reset,
            false => Effect::Nothing,
        }
    }

    fn half(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn allow(&mut self, at: usize, bits: &[u8]) {
        self.writable[at..at + bits.len()].copy_from_slice(bits);
    }
}

/// Bytes of the application BAR.
const APPLICATION_BYTES: u64 = 16 << 20;

/// Identity of a function: its ids, BARs and interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub(crate) vendor: u16,
    pub(crate) device: u16,
    pub(crate) subsystem: [u16; 2],
    pub(crate) revision: u8,
    /// Class, subclass, interface.
    pub(crate) class: u32,
    pub(crate) bars: &'static [Bar],
    pub(crate) messages: Messages,
}

/// A base address register and its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) number: u32,
    pub(crate) bytes: u64,
    /// Its address has 64 bits, and takes the next register as well.
    pub(crate) is_long: bool,
    pub(crate) content: Content,
}

/// Contents of a BAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The application BAR.
    Application,
    /// Table and pending bits of MSI-X.
    Table,
    /// Constant words at these offsets.
    Words(&'static [(u32, u32)]),
}

/// Kind of interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Messages {
    /// MSI-X and its number of vectors.
    Table {
        vectors: u32,
        bar: u32,
        table: u32,
        pending: u32,
    },
    /// MSI and its number of vectors.
    Plain { vectors: u32 },
}

impl Messages {
    pub(crate) fn vectors(&self) -> u32 {
        match self {
            Self::Table { vectors, .. } | Self::Plain { vectors } => *vectors,
        }
    }
}

impl Identity {
    /// The function that a NIC has to itself.
    pub const OWN: Self = Self {
        vendor: pci::VENDOR,
        device: pci::DEVICE,
        subsystem: [pci::SUBSYSTEM_VENDOR, pci::SUBSYSTEM],
        revision: pci::REVISION,
        class: pci::CLASS,
        bars: &[
            Bar {
                number: pci::APPLICATION_BAR,
                bytes: APPLICATION_BYTES,
                is_long: true,
                content: Content::Application,
            },
            Bar {
                number: pci::MSIX_BAR,
                bytes: pci::MSIX_BAR_BYTES as u64,
                is_long: false,
                content: Content::Table,
            },
        ],
        messages: Messages::Table {
            vectors: pci::VECTORS,
            bar: pci::MSIX_BAR,
            table: pci::MSIX_TABLE,
            pending: pci::MSIX_PENDING,
        },
    };

    /// As much of Corundum's function as its driver `mqnic` wants to see before it hands the application to a driver of its
    /// own: no network interface, and the application BAR. Numbers are those of `modules/mqnic/mqnic_hw.h`.
    pub const MQNIC: Self = Self {
        vendor: 0x1234,
        device: 0x1001,
        subsystem: [0x1234, 0x1001],
        revision: 0,
        class: 0x02_0000,
        bars: &[
            Bar {
                number: 0,
                bytes: 1 << 16,
                is_long: true,
                content: Content::Words(MQNIC_BLOCKS),
            },
            Bar {
                number: 2,
                bytes: APPLICATION_BYTES,
                is_long: true,
                content: Content::Application,
            },
        ],
        messages: Messages::Plain { vectors: 32 },
    };
}

/// The register blocks that `mqnic` looks for: type, version, offset of the next block, registers.
const MQNIC_BLOCKS: &[(u32, u32)] = &[
    // Firmware: its id, version 0.0.1.0, and the board's vendor and device.
    (0x000, 0xffff_ffff),
    (0x004, 0x0000_0100),
    (0x008, 0x100),
    (0x00c, 0),
    (0x010, 0),
    (0x014, 0x0000_0100),
    (0x018, 0x1234_0000),
    (0x01c, 0x0100_0000),
    // Interfaces: none.
    (0x100, 0x0000_c000),
    (0x104, 0x0000_0100),
    (0x108, 0x200),
    (0x10c, 0),
    (0x110, 0),
    // Application: its id, from which the auxiliary device gets its name.
    (0x200, 0x0000_c005),
    (0x204, 0x0000_0200),
    (0x208, 0),
    (0x20c, 0x1234_0100),
];
