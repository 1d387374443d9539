//! What a master sends, and how.

use crate::model::PortHandle;

/// A write of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteWrite {
    /// AWADDR, of any alignment.
    pub address: u64,
    /// WDATA.
    pub data: u64,
    /// WSTRB; `None` is all bytes.
    pub strobes: Option<u8>,
    /// AWPROT; `None` is a random value.
    pub protection: Option<u8>,
}

impl LiteWrite {
    /// A write of all bytes of a word.
    pub fn new(address: u64, data: u64) -> Self {
        Self {
            address,
            data,
            strobes: None,
            protection: None,
        }
    }

    /// The same write of these bytes only.
    #[must_use]
    pub fn strobed(self, strobes: u8) -> Self {
        let strobes = Some(strobes);
        Self { strobes, ..self }
    }
}

/// A read of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteRead {
    /// ARADDR, of any alignment.
    pub address: u64,
    /// ARPROT; `None` is a random value.
    pub protection: Option<u8>,
}

impl LiteRead {
    /// A read of a word.
    pub fn new(address: u64) -> Self {
        let protection = None;
        Self { address, protection }
    }
}

/// Whether a value fits a port.
pub(super) fn check_fit(name: &str, value: u64, port: PortHandle) -> Result<(), String> {
    let width = port.width();
    if width < 64 && value >> width != 0 {
        return Err(format!("{name} {value:#x} does not fit {width} bits"));
    }
    Ok(())
}
