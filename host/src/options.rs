//! Shares of contexts in the NIC.

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
