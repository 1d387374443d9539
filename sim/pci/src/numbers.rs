//! Temporary.
#![allow(missing_docs)]
pub(crate) const VENDOR: u16 = 0x1234;
pub(crate) const DEVICE: u16 = 0x5350;
pub(crate) const SUBSYSTEM_VENDOR: u16 = VENDOR;
pub(crate) const SUBSYSTEM: u16 = 0x0001;
pub(crate) const REVISION: u8 = 1;
pub(crate) const CLASS: u32 = 0x12_0000;
pub(crate) const APPLICATION_BAR: u32 = 0;
pub(crate) const MSIX_BAR: u32 = 2;
pub(crate) const MSIX_BAR_BYTES: u32 = 0x1000;
pub(crate) const MSIX_TABLE: u32 = 0;
pub(crate) const MSIX_PENDING: u32 = 0x800;
pub(crate) const VECTORS: u32 = 6;
