//! Parameters of the BAR, and the numbers that follow from them.

use super::window::CLUSTER_ADDRESS_BITS;
use crate::axi::{AxiExtras, AxiShape};
use spinneret_regmap::bar::{ADDRESS_BITS, CONTROL_REGISTERS};
use spinneret_verilog::prelude::*;

/// Bits of a word of the host.
pub const WORD_BITS: usize = 32;
/// Bytes of a word of the host.
pub const WORD_BYTES: usize = WORD_BITS / 8;
/// Width of AxPROT in bits.
pub const PROTECTION_BITS: usize = 3;
/// Kinds of events that a half reports.
pub const EVENTS: usize = 4;

/// Parameters of the BAR, checked.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "spinneret_bar")]
pub struct BarShape {
    /// Width of an address of the BAR in bits.
    #[parameter(ADDRESS_BITS, range = 16..=32, name = "address_width")]
    pub address: usize,
    /// Width of a beat to the cluster in bits, a power of two.
    #[parameter(512, range = 32..=1024, power_of_two, name = "data_width")]
    pub data: usize,
    /// Width of an AXI id to the cluster in bits.
    #[parameter(8, range = 1..=32, name = "id_width")]
    pub id: usize,
    /// Clocks that the cluster has for its answer.
    #[parameter(65536, range = 2..=1 << 24)]
    pub timeout_cycles: u64,
}

impl BarShape {
    /// Widths of the port to the host.
    pub fn host(self) -> AxiShape {
        AxiShape::lite(self.address, WORD_BITS)
    }

    /// Widths of the port to the registers.
    pub fn registers(self) -> AxiShape {
        AxiShape::lite(self.register_address(), WORD_BITS)
    }

    /// Widths of an access to the cluster, before it is a burst.
    pub fn access(self) -> AxiShape {
        AxiShape::lite(CLUSTER_ADDRESS_BITS, WORD_BITS)
    }

    /// Widths of the port to the cluster.
    pub fn axi(self) -> AxiShape {
        AxiShape {
            address: CLUSTER_ADDRESS_BITS,
            data: self.data,
            id: self.id,
            extras: AxiExtras::NONE,
        }
    }

    /// Width of an address of the registers in bits.
    pub fn register_address(self) -> usize {
        CONTROL_REGISTERS.size_bytes.trailing_zeros() as usize
    }

    /// Words in a beat of the cluster.
    pub fn lanes(self) -> usize {
        self.data / WORD_BITS
    }

    /// Bits of the number of a lane.
    pub fn lane_bits(self) -> usize {
        self.lanes().trailing_zeros() as usize
    }

    /// The suffix that distinguishes modules of different sizes.
    pub(super) fn variant(self) -> String {
        format!("{}_{}_{}", self.address, self.data, self.timeout_cycles)
    }
}
