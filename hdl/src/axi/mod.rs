//! AXI4 and AXI4-Lite (AMBA IHI 0022).

mod burst_check;
mod channels;
mod ports;
pub(crate) mod upsizer;

pub use burst_check::BurstCheck;
pub(crate) use burst_check::within_beat;
pub use channels::{
    AxiAddressIn, AxiAddressInHandles, AxiAddressOut, AxiAddressOutHandles, AxiDataIn, AxiDataOut, AxiReadIn,
    AxiReadOut, AxiResponseIn, AxiResponseOut,
};
pub use ports::{
    AMBA_CHANNEL, AxiMaster, AxiMasterHandles, AxiReadMaster, AxiReadTarget, AxiTarget, AxiWriteMaster,
    AxiWriteTarget, PSPIN, PSPIN_WRAP,
};
pub use upsizer::{AxiUpsizer, UpsizerShape};

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

/// Widths of an AXI4 or AXI4-Lite port in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiShape {
    /// An address.
    pub address: usize,
    /// A beat, a power of two.
    pub data: usize,
    /// An id; 0: it is AXI4-Lite, which has neither ids nor bursts.
    pub id: usize,
    /// Its additional signals.
    pub extras: AxiExtras,
}

/// Signals that only some AXI4 ports have. Where two ports meet, what one of them has not is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiExtras {
    /// Atomic operations.
    pub atop: bool,
    /// Quality of service and region.
    pub routing: bool,
    /// User signals.
    pub user: UserWidths,
}

/// Widths of the user signals in bits; 0: there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserWidths {
    /// AWUSER.
    pub aw: usize,
    /// WUSER.
    pub w: usize,
    /// BUSER.
    pub b: usize,
    /// ARUSER.
    pub ar: usize,
    /// RUSER.
    pub r: usize,
}

impl UserWidths {
    /// All channels have the same.
    pub const fn all(width: usize) -> Self {
        Self {
            w: width,
            b: width,
            r: width,
            ..Self::addresses(width)
        }
    }

    /// Only addresses have any.
    pub const fn addresses(width: usize) -> Self {
        Self {
            aw: width,
            w: 0,
            b: 0,
            ar: width,
            r: 0,
        }
    }
}

impl AxiExtras {
    /// None of them.
    pub const NONE: Self = Self {
        atop: false,
        routing: false,
        user: UserWidths::all(0),
    };

    /// All of them, with user signals of that width.
    pub const fn all(user: usize) -> Self {
        Self {
            atop: true,
            routing: true,
            user: UserWidths::all(user),
        }
    }
}

impl AxiShape {
    /// AXI4-Lite (IHI 0022, section B1): accesses of one beat.
    pub const fn lite(address: usize, data: usize) -> Self {
        Self {
            address,
            data,
            id: 0,
            extras: AxiExtras::NONE,
        }
    }

    /// It has ids and bursts, and all that describes a burst.
    pub fn has_bursts(self) -> bool {
        self.id > 0
    }

    /// The same with additional signals.
    pub fn with(self, extras: AxiExtras) -> Self {
        Self { extras, ..self }
    }

    /// Strobes of a beat.
    pub fn strobes(self) -> usize {
        self.data / 8
    }

    /// Bits of an address within a beat: AxSIZE of a beat as wide as the port.
    pub fn beat_bits(self) -> usize {
        self.strobes().trailing_zeros() as usize
    }
}
