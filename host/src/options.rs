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

/// Share of a context in HPU time. Only spinneret's own clusters have shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Share {
    /// Relative to the weights of other contexts: 1 to 15.
    pub weight: u32,
    /// Clocks after which a handler is stopped; 0: never.
    pub budget: u32,
}

impl Default for Share {
    /// The same as that of other contexts, and a million clocks.
    fn default() -> Self {
        Self {
            weight: 1,
            budget: HANDLER_CLOCKS,
        }
    }
}

/// HPU time that a context has used since the clusters were reset.
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
}
