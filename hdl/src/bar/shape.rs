//! Parameters of the BAR, and its windows.

use super::SpinneretBar;
use crate::axi::{AxiExtras, AxiShape};
use crate::entry::{Entry, Variant};
use spinneret_regmap::bar::{ADDRESS_BITS, CONTROL_REGISTERS, Target, WINDOWS};
use spinneret_verilog::prelude::*;

/// Bits of a word of the host.
pub(super) const WORD_BITS: usize = 32;
/// Bytes of a word of the host.
pub(super) const WORD_BYTES: usize = WORD_BITS / 8;
/// Bits of an address within a word.
pub(super) const BYTE_BITS: usize = WORD_BYTES.trailing_zeros() as usize;
/// Width of an address of the cluster in bits.
pub(super) const CLUSTER_ADDRESS_BITS: usize = 32;
/// Width of a response in bits.
pub(super) const RESPONSE_BITS: usize = 2;
/// Width of AxPROT in bits.
pub(super) const PROTECTION_BITS: usize = 3;
/// Kinds of events that a half reports.
pub(super) const EVENTS: usize = 4;

/// The BAR.
pub(crate) const ENTRY: Entry = entry!(shipped BarShape::BLOCK, SpinneretBar(BarShape):
    "leads the host's accesses to the control registers and to the cluster's memory");

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    // As on a board, with a patience that a test can wait for.
    ENTRY.variant(ENTRY.name, "timeout_cycles=200"),
    // A small BAR without registers, one lane, and hardly any patience.
    ENTRY.variant(
        "spinneret_bar_small",
        "address_width=20 data_width=32 id_width=1 timeout_cycles=2",
    ),
    // A large BAR, of which most is outside.
    ENTRY.variant(
        "spinneret_bar_large",
        "address_width=26 data_width=128 id_width=4 timeout_cycles=32",
    ),
];

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
        format!(
            "{}_{}_{}_{}",
            self.address, self.data, self.id, self.timeout_cycles
        )
    }
}

/// The target of an address of the BAR.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    /// It is in the window of the control registers.
    pub(super) registers: Sig<bool>,
    /// It is in a window of the cluster.
    pub(super) cluster: Sig<bool>,
    /// The cluster's address of the word; only with `cluster`.
    pub(super) cluster_address: Sig,
}

/// Decodes the address of a word as `spinneret_regmap::bar` has it: windows are powers of two, at multiples of their size.
/// Those that a narrower BAR cannot address do not exist.
#[kernel]
pub(super) fn reached(word: Sig) -> Reached {
    let width = word.width() + BYTE_BITS;
    let (in_registers, in_cluster, word_address) = (wire_bit(), wire_bit(), wire(CLUSTER_ADDRESS_BITS));
    in_registers = false;
    in_cluster = false;
    word_address = 0;
    for window in WINDOWS {
        let (start, bits) = (
            u64::from(window.start),
            window.size_bytes.trailing_zeros() as usize,
        );
        if start >= 1 << width.min(ADDRESS_BITS as usize) {
            continue;
        }
        let words = bits - BYTE_BITS;
        /// The window may be as large as the BAR.
        let hit = width <= bits || word.slice(words, width - bits) == start >> bits;
        match window.target {
            Target::ControlRegisters => in_registers = hit,
            Target::Pspin { address } => {
                let above = lit(u64::from(address) >> bits, CLUSTER_ADDRESS_BITS - bits);
                if hit {
                    in_cluster = true;
                    word_address = cat!(above, word.resize(words), lit(0, BYTE_BITS));
                }
            }
            Target::Nothing => {}
        }
    }
    Reached {
        registers: in_registers,
        cluster: in_cluster,
        cluster_address: word_address,
    }
}

#[cfg(test)]
mod tests {
    use spinneret_regmap::bar::{self, WINDOWS};

    #[test]
    fn windows_are_powers_of_two_at_multiples_of_their_size() {
        for window in WINDOWS
            .iter()
            .filter(|window| window.target != bar::Target::Nothing)
        {
            assert!(window.size_bytes.is_power_of_two(), "{window:?}");
            assert_eq!(window.start % window.size_bytes, 0, "{window:?}");
        }
    }
}
