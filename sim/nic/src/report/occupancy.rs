//! How full the NIC is, as plots and traces show it.

/// How full the NIC is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Small slots of the packet buffer that are in use.
    pub slots_small: u64,
    /// Large slots of the packet buffer that are in use.
    pub slots_large: u64,
    /// HPUs on which a handler runs.
    pub busy_hpus: u64,
    /// Packets that wait for an HPU.
    pub queued: u64,
}
