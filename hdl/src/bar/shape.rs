//! Parameters of the BAR, and the numbers that follow from them.

use super::entry::{NAME, parameters};
use super::window::CLUSTER_ADDRESS_BITS;
use crate::axi::AxiShape;
use crate::entry::{Checked, Config, ParameterError, Values};
use spinneret_regmap::bar::CONTROL_REGISTERS;

/// Bits of a word of the host.
pub const WORD_BITS: usize = 32;
/// Bytes of a word of the host.
pub const WORD_BYTES: usize = WORD_BITS / 8;
/// Width of AxPROT in bits.
pub const PROTECTION_BITS: usize = 3;
/// Kinds of events that a half reports.
pub const EVENTS: usize = 4;

/// Parameters of the BAR, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarShape {
    /// Width of an address of the BAR in bits.
    pub address: usize,
    /// Widths of the port to the cluster.
    pub axi: AxiShape,
    /// Clocks that the cluster has for its answer.
    pub timeout_cycles: u64,
}

impl BarShape {
    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Reference), values)?;
        let get = |name: &str| checked.get(name) as usize;
        if !get("data_width").is_power_of_two() {
            return Err(checked.refuse("data_width", "it is a power of two".into()));
        }
        Ok(Self {
            address: get("address_width"),
            axi: AxiShape {
                address: CLUSTER_ADDRESS_BITS,
                data: get("data_width"),
                id: get("id_width"),
            },
            timeout_cycles: checked.get("timeout_cycles"),
        })
    }

    /// Width of an address of the registers in bits.
    pub fn register_address(self) -> usize {
        CONTROL_REGISTERS.size_bytes.trailing_zeros() as usize
    }

    /// Words in a beat of the cluster.
    pub fn lanes(self) -> usize {
        self.axi.data / WORD_BITS
    }

    /// Bits of the number of a lane.
    pub fn lane_bits(self) -> usize {
        self.lanes().trailing_zeros() as usize
    }

    /// What tells the modules of one shape from those of another.
    pub(super) fn variant(self) -> String {
        format!("{}_{}_{}", self.address, self.axi.data, self.timeout_cycles)
    }
}
