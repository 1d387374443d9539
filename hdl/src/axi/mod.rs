//! AXI4 and AXI4-Lite (AMBA IHI 0022).

mod burst_check;
mod lite;
mod master;
mod slave;

pub use burst_check::BurstCheck;
pub use lite::{AxiLiteMaster, AxiLiteSlave};
pub use master::{AxiMaster, AxiTarget};
pub use slave::{AxiReadSlave, AxiSlave, AxiWriteSlave, UserWidths};

/// BRESP and RRESP: the transfer was done.
pub const OKAY: u64 = 0b00;
/// BRESP and RRESP: the slave could not do it.
pub const SLVERR: u64 = 0b10;
/// BRESP and RRESP: there is nothing at that address.
pub const DECERR: u64 = 0b11;
/// AxBURST of an incrementing burst.
pub const INCR: u64 = 0b01;
/// AxCACHE: normal memory, bufferable, not cached.
pub const BUFFERABLE: u64 = 0b0011;
/// AxPROT: unprivileged, not secure, data.
pub const UNPRIVILEGED: u64 = 0b010;
/// Width of AxLEN in bits.
pub const LENGTH_BITS: usize = 8;
/// Width of AxSIZE in bits.
pub const SIZE_BITS: usize = 3;
/// Width of AxBURST in bits.
pub const KIND_BITS: usize = 2;
/// Width of AWATOP in bits.
pub const ATOP_BITS: usize = 6;
/// Bits of an address within 4 KiB, which no burst crosses.
pub const PAGE_BITS: usize = 12;

/// Widths of an AXI4 port in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiShape {
    /// An address.
    pub address: usize,
    /// A beat, a power of two.
    pub data: usize,
    /// An id.
    pub id: usize,
}

impl AxiShape {
    /// Strobes of a beat.
    pub fn strobes(self) -> usize {
        self.data / 8
    }

    /// Bits of an address within a beat: AxSIZE of a beat as wide as the port.
    pub fn beat_bits(self) -> usize {
        self.strobes().trailing_zeros() as usize
    }
}
