//! Host memory that somebody else has, behind a bus that may refuse addresses.

use std::fmt;

/// Memory of a host, by the addresses that the device has for it.
///
/// Bytes are moved all or none: an access that is refused has changed nothing.
pub trait HostBus: fmt::Debug {
    /// Reads bytes from an address on.
    ///
    /// # Errors
    /// If one of them is not there.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Refused>;

    /// Writes bytes from an address on.
    ///
    /// # Errors
    /// If one of them is not there.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Refused>;
}

/// The host refused an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The code of Corundum's status that says why.
    pub code: u8,
}

impl Refused {
    /// Nobody answers to that address: an unsupported request of PCI Express.
    pub const UNSUPPORTED_REQUEST: Self = Self { code: 10 };
}
