//! How much the clusters have to do: packets inside, and what their HPUs do.

use super::{Hpu, State, TRAPS_OUTSIDE};
use spinneret_cluster::size_class;

impl Hpu {
    /// Clocks of the task that runs.
    pub(super) fn running(&self, now: u64) -> u64 {
        self.task
            .and_then(|task| task.begun)
            .map_or(0, |begun| now - begun)
    }

    /// Whether it has stopped for good.
    fn has_stopped(&self) -> bool {
        self.outside > TRAPS_OUTSIDE
    }
}

impl State {
    /// Whether no packet is inside, and each HPU waits for a task or has stopped.
    pub(in crate::nic::rtl) fn is_idle(&self) -> bool {
        let has_stopped = self.hpus.iter().enumerate();
        let stopped = has_stopped.fold(0, |bits, (hpu, state)| {
            bits | u64::from(state.has_stopped()) << hpu
        });
        self.packets.is_empty() && (self.idle | stopped) == self.all()
    }

    /// The number of HPUs that have not asked for a task.
    pub(in crate::nic::rtl) fn starting(&self) -> usize {
        self.hpus() - self.asked.count_ones() as usize
    }

    /// Packets inside: those that fit a small slot, and larger ones.
    pub(in crate::nic::rtl) fn packets_inside(&self) -> [u64; 2] {
        let mut inside = [0; 2];
        for packet in self.packets.values() {
            inside[size_class(packet.her.size)] += 1;
        }
        inside
    }

    /// Clocks in which each HPU ran a handler.
    pub(in crate::nic::rtl) fn busy(&self) -> Vec<u64> {
        let all = self.hpus.iter();
        all.map(|hpu| hpu.busy + hpu.running(self.now)).collect()
    }

    /// HPUs that run a handler.
    pub(in crate::nic::rtl) fn busy_hpus(&self) -> usize {
        self.hpus.iter().filter(|hpu| hpu.task.is_some()).count()
    }

    /// Packets that wait for an HPU.
    pub(in crate::nic::rtl) fn queued(&self) -> usize {
        self.packets.len().saturating_sub(self.busy_hpus())
    }
}
