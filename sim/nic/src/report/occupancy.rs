//! How full the NIC is, as plots and traces show it.

use crate::nic::Nic;

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

impl Occupancy {
    /// How full a NIC is, as the model of the cluster knows it.
    pub fn of(nic: &Nic) -> Self {
        let cluster = nic.cluster();
        let [slots_small, slots_large] = cluster.packets_inside();
        Self {
            slots_small,
            slots_large,
            busy_hpus: cluster.busy_hpus() as u64,
            queued: cluster.queued() as u64,
        }
    }
}
