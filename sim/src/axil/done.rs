//! What a master was answered.

use crate::axi::Response;

/// A write that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteWriteDone {
    /// The number that [`LiteMaster::write`](super::LiteMaster::write) gave it.
    pub number: u64,
    /// Its address.
    pub address: u64,
    /// BRESP.
    pub response: Response,
    /// The cycle of the transfer of its address.
    pub address_cycle: u64,
    /// The cycle of the transfer of its data.
    pub data_cycle: u64,
    /// The first cycle in which its response was valid.
    pub valid_cycle: u64,
    /// The cycle of the transfer of its response.
    pub response_cycle: u64,
}

impl LiteWriteDone {
    /// Cycles from the later transfer of address and data to a valid response.
    pub fn latency_cycles(&self) -> u64 {
        self.valid_cycle - self.address_cycle.max(self.data_cycle)
    }
}

/// A read that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteReadDone {
    /// The number that [`LiteMaster::read`](super::LiteMaster::read) gave it.
    pub number: u64,
    /// Its address.
    pub address: u64,
    /// RDATA.
    pub data: u64,
    /// RRESP.
    pub response: Response,
    /// The cycle of the transfer of its address.
    pub address_cycle: u64,
    /// The first cycle in which its data was valid.
    pub valid_cycle: u64,
    /// The cycle of the transfer of its data.
    pub response_cycle: u64,
}

impl LiteReadDone {
    /// Cycles from the transfer of the address to valid data.
    pub fn latency_cycles(&self) -> u64 {
        self.valid_cycle - self.address_cycle
    }
}
