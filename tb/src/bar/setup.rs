//! What a BAR was generated with.

use crate::parameters::Parameters;
use spinneret_sim::model::Model;

/// What a BAR was generated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Width of an address of the BAR in bits.
    pub address_bits: u32,
    /// Words in a beat to the cluster.
    pub lanes: usize,
    /// Clocks that the cluster has for its answer.
    pub timeout_cycles: u64,
}

impl Setup {
    /// That of a model in the catalog.
    ///
    /// # Panics
    /// If there is no such model, or it is no BAR.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name);
        Self {
            address_bits: get("address_width") as u32,
            lanes: get("data_width") as usize / 32,
            timeout_cycles: get("timeout_cycles"),
        }
    }

    /// The lane of the word at that address of the cluster.
    pub fn lane(&self, address: u32) -> usize {
        address as usize / 4 % self.lanes
    }

    /// Whether the BAR reaches that offset.
    pub fn reaches(&self, offset: u64) -> bool {
        offset < 1 << self.address_bits
    }
}
