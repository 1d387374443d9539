//! What a function is to drivers: its numbers, its BARs, its interrupts.

use spinneret_regmap::pci;

/// Bytes of the application BAR.
const APPLICATION_BYTES: u64 = 16 << 20;

/// Which function the device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Personality {
    pub(crate) vendor: u16,
    pub(crate) device: u16,
    pub(crate) subsystem: [u16; 2],
    pub(crate) revision: u8,
    /// Class, subclass, interface.
    pub(crate) class: u32,
    pub(crate) bars: &'static [Bar],
    pub(crate) messages: Messages,
}

/// A base address register, and what is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) number: u32,
    pub(crate) bytes: u64,
    /// Its address has 64 bits, and takes the next register as well.
    pub(crate) is_long: bool,
    pub(crate) content: Content,
}

/// What is behind a BAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The application BAR.
    Application,
    /// Table and pending bits of MSI-X.
    Table,
    /// These words at these offsets, which nobody can change.
    Words(&'static [(u32, u32)]),
}

/// How interrupts are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Messages {
    /// MSI-X with so many vectors.
    Table {
        vectors: u32,
        bar: u32,
        table: u32,
        pending: u32,
    },
    /// MSI with so many vectors.
    Plain { vectors: u32 },
}

impl Messages {
    pub(crate) fn vectors(&self) -> u32 {
        match self {
            Self::Table { vectors, .. } | Self::Plain { vectors } => *vectors,
        }
    }
}

impl Personality {
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

/// The register blocks that `mqnic` looks for: type, version, offset of the next, and their registers.
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
    // Application: its id, after which the auxiliary device is named.
    (0x200, 0x0000_c005),
    (0x204, 0x0000_0200),
    (0x208, 0),
    (0x20c, 0x1234_0100),
];
