//! The PCI function of a NIC that has one to itself: what device, drivers and host library agree on.
//!
//! Corundum's function is not this one: there the application BAR belongs to the function of the `mqnic` driver, and
//! nothing of ours raises interrupts.

use crate::events;

/// Vendor: nobody's, which Corundum and QEMU use as well.
pub const VENDOR: u16 = 0x1234;
/// Device: "SP".
pub const DEVICE: u16 = u16::from_be_bytes(*b"SP");
/// Vendor of the subsystem.
pub const SUBSYSTEM_VENDOR: u16 = VENDOR;
/// Subsystem.
pub const SUBSYSTEM: u16 = 0x0001;
/// Revision.
pub const REVISION: u8 = 1;
/// Class: a processing accelerator.
pub const CLASS: u32 = 0x12_0000;
/// The BAR that is the application BAR: 64 bits, not prefetchable.
pub const APPLICATION_BAR: u32 = 0;
/// The BAR with the table of MSI-X: 32 bits.
pub const MSIX_BAR: u32 = 2;
/// Size of that BAR.
pub const MSIX_BAR_BYTES: u32 = 0x1000;
/// Where the table begins in it.
pub const MSIX_TABLE: u32 = 0;
/// Where its pending bits begin.
pub const MSIX_PENDING: u32 = 0x800;
/// Vectors of MSI-X: one for each line of `events.pending`, with its number.
pub const VECTORS: u32 = events::LINES;

/// Each number with its name in the C header, behind `PCI_`, and what it is for people.
pub(crate) const TABLE: &[(&str, u32, &str)] = &[
    ("VENDOR", VENDOR as u32, "vendor id"),
    ("DEVICE", DEVICE as u32, "device id"),
    (
        "SUBSYSTEM_VENDOR",
        SUBSYSTEM_VENDOR as u32,
        "vendor id of the subsystem",
    ),
    ("SUBSYSTEM", SUBSYSTEM as u32, "subsystem id"),
    ("REVISION", REVISION as u32, "revision"),
    ("CLASS", CLASS, "class: processing accelerator"),
    (
        "APPLICATION_BAR",
        APPLICATION_BAR,
        "number of the application BAR: 64 bits, not prefetchable",
    ),
    (
        "MSIX_BAR",
        MSIX_BAR,
        "number of the BAR with the table of MSI-X: 32 bits",
    ),
    ("MSIX_BAR_SIZE", MSIX_BAR_BYTES, "its size in bytes"),
    ("MSIX_TABLE", MSIX_TABLE, "where the table begins in it"),
    ("MSIX_PENDING", MSIX_PENDING, "where its pending bits begin"),
    (
        "VECTORS",
        VECTORS,
        "vectors of MSI-X: vector n is that of bit n of `events.pending`",
    ),
];
