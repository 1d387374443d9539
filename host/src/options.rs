//! Shares of contexts in the NIC.

use spinneret_regmap::pspin::HANDLER_CLOCKS;

/// Resources of a context.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Options {
    /// Host memory in bytes; 0 for none.
    pub host_bytes: u32,
    /// Handler memory in L2 in bytes; by default a quarter of what the program leaves, or an eighth of all next to other programs.
    pub handler_bytes: Option<u32>,
    /// Scratchpad in each cluster's L1 in bytes; by default a quarter of the available memory.
    pub scratchpad_bytes: Option<u32>,
}

impl Default for Options {
    /// One MiB of host memory, and a quarter of everything on the NIC.
    fn default() -> Self {
        Self {
            host_bytes: 1 << 20,
            handler_bytes: None,
            scratchpad_bytes: None,
        }
    }
}

/// Share of a context in the NIC. Only spinneret's own clusters have weights, budgets and rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Share {
    /// Weight in HPU time, copies to and from the host, and packets to send, relative to those of other contexts: 1 to 15.
    pub weight: u32,
    /// Clocks after which a handler is stopped; 0: never.
    pub budget: u32,
    /// Bound on slots of the packet buffer, beyond which packets are dropped and counted; 0: none.
    pub slots: u32,
    /// Limit of the bytes of packets that handlers send in a clock of the clusters, in units of 1/256; 0: none.
    pub egress_rate: u32,
}

impl Share {
    /// That of a context when it is opened.
    pub(crate) const FIRST: Self = Self {
        weight: 1,
        budget: HANDLER_CLOCKS,
        slots: 0,
        egress_rate: 0,
    };
}

impl Default for Share {
    /// Weight 1, a million clocks, and no other limit.
    fn default() -> Self {
        Self::FIRST
    }
}

/// Use of the NIC by contexts of a number, since the clusters were reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// Handlers that have ended, modulo 2^32.
    pub handlers: u32,
    /// Clocks that they took.
    pub clocks: u64,
    /// Handlers that were stopped because they used up their budget.
    pub budget_ends: u32,
    /// Handlers that failed, those that used up their budget among them.
    pub failures: u32,
    /// Bytes that handlers copied to the host.
    pub host_written: u64,
    /// Bytes that handlers copied from the host.
    pub host_read: u64,
    /// Bytes of packets that handlers sent.
    pub sent: u64,
    /// Packets that were dropped because the context was at its bound on slots, since the NIC was reset.
    pub dropped_bound: u32,
}
