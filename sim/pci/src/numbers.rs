//! Temporary.
#![allow(missing_docs)]
pub const VENDOR: u16 = 0x1234;
pub const DEVICE: u16 = 0x5350;
pub const SUBSYSTEM_VENDOR: u16 = VENDOR;
pub const SUBSYSTEM: u16 = 0x0001;
pub const REVISION: u8 = 1;
pub const CLASS: u32 = 0x12_0000;
pub const APPLICATION_BAR: u32 = 0;
pub const MSIX_BAR: u32 = 2;
pub const MSIX_BAR_BYTES: u32 = 0x1000;
pub const MSIX_TABLE: u32 = 0;
pub const MSIX_PENDING: u32 = 0x800;
pub const VECTORS: u32 = 6;
