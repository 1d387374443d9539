//! What a run waits for in the NIC: room for the next packet, and the packets that are in the cluster.

use crate::nic::Nic;
use anyhow::anyhow;
use spinneret_cluster::{Cluster, HpuId};

/// Packets that follow the NIC wait while so many are between the wire and the cluster: none of them is dropped.
const AHEAD: u64 = 4;
/// They wait while the cluster has so many for each HPU: no HPU runs out of work.
const INSIDE_FOR_HPU: u64 = 4;
/// Simulated time without progress after which packets in the cluster would wait for ever.
const STUCK_PS: u64 = 1_000_000_000;

/// Room in the NIC for packets that come as fast as it takes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// HERs that the cluster will have got when every packet so far has come through.
    expected: u64,
}

impl Room {
    /// Before the first packet.
    pub(super) fn new(nic: &Nic) -> Self {
        Self {
            expected: nic.cluster().hers(),
        }
    }

    /// Whether the NIC takes another packet without dropping one.
    pub(super) fn is_there(self, nic: &Nic) -> bool {
        let cluster = nic.cluster();
        let [small, large] = cluster.packets_inside();
        let hpus = (cluster.config().clusters * cluster.config().hpus) as u64;
        let on_their_way = self.expected.saturating_sub(cluster.hers());
        (on_their_way < AHEAD && small + large < INSIDE_FOR_HPU * hpus) || nic.is_idle()
    }

    /// The NIC gets a packet now, for handlers or not.
    pub(super) fn give(&mut self, nic: &Nic, for_handlers: bool) {
        let came = nic.cluster().hers();
        // A frame that the NIC dropped never comes. None is on its way when the NIC is idle.
        let expected = if nic.is_idle() {
            came
        } else {
            self.expected.max(came)
        };
        self.expected = expected + u64::from(for_handlers);
    }
}

/// Whether packets in the cluster go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standstill {
    /// The last look at which the cluster had no packets or they went on, and the steps that they had taken then.
    since_ps: u64,
    progress: u64,
}

impl Standstill {
    /// Begins to look.
    pub(super) fn new(nic: &Nic) -> Self {
        Self {
            since_ps: nic.now_ps(),
            progress: nic.cluster().progress(),
        }
    }

    /// Looks at the cluster: whether its packets would wait for ever. Asked also while packets come, or the time in which
    /// none did would count.
    pub(super) fn is_for_ever(&mut self, nic: &Nic) -> bool {
        let cluster = nic.cluster();
        let progress = cluster.progress();
        // No HPU has a packet that is copied to L1, so steps count as well as tasks that go on.
        if cluster.packets_inside() == [0; 2] || cluster.goes_on() || progress != self.progress {
            *self = Self {
                since_ps: nic.now_ps(),
                progress,
            };
        }
        nic.now_ps() - self.since_ps > STUCK_PS
    }
}

/// Why so many packets are left in the cluster.
pub(super) fn why_left(cluster: &Cluster, left: u64) -> anyhow::Error {
    let Some((HpuId { cluster: group, core }, task)) = cluster.endless() else {
        return anyhow!(
            "{left} packets are still in the cluster, and nothing goes on there: HPUs stand still, or packets wait for others"
        );
    };
    anyhow!(
        "{left} packets are still in the cluster: HPU {group}.{core} has had packet {} (message {}) for more than {} clocks \
         (--watchdog), and with --strict-pspin nothing ends a handler",
        task.packet,
        task.her.message,
        cluster.config().watchdog,
    )
}
