//! What a run took.

use super::summary::HandlerCounter;
use crate::nic::Nic;
use spinneret_host::{HANDLER_COUNTERS, HOST_DATA_COUNTERS};
use std::time::Duration;

/// Figures that the main loop knows at the end. They count from the beginning of the NIC, or
/// [since](Self::since) another moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Time outside of the simulation.
    pub wall: Duration,
    /// Simulated time.
    pub simulated_ps: u64,
    /// Clocks of the core that were simulated.
    pub simulated_clocks: u64,
    /// Clocks of the cluster in which the rest stood still.
    pub cluster_clocks_alone: u64,
    /// Instructions of all HPUs.
    pub instructions: u64,
    /// Clocks in which a handler ran, by HPU.
    pub hpu_busy: Vec<u64>,
    /// Packets of which the capture held only the beginning.
    pub cut_short: u64,
    /// Commands that were not done, those of the start among them, because nothing else tells about these.
    pub refused_commands: u64,
    /// Packets that came to the cluster and are not done with.
    pub left: u64,
    /// Resets that found something on its way, which is lost.
    pub resets: u64,
    /// The hardware's counters began anew in the middle of something: they cannot be compared with what was seen.
    pub has_restarted: bool,
    /// What handlers have counted since they were loaded; [empty](Self::with_handler_counters) unless it was read.
    pub handler_counters: Vec<HandlerCounter>,
    /// Nothing is on its way: all sums have to add up, but for what resets took.
    pub is_idle: bool,
}

impl End {
    /// The figures of a NIC as it is now.
    pub fn of(nic: &Nic, wall: Duration) -> Self {
        let cluster = nic.cluster();
        let left = cluster.packets_inside().iter().sum();
        Self {
            wall,
            simulated_ps: nic.now_ps(),
            simulated_clocks: nic.simulated_clocks(),
            cluster_clocks_alone: nic.cluster_clocks_alone(),
            instructions: cluster.instructions(),
            hpu_busy: cluster.busy().collect(),
            cut_short: 0,
            refused_commands: cluster.refused(),
            left,
            resets: nic.resets(),
            has_restarted: nic.has_restarted(),
            handler_counters: Vec::new(),
            is_idle: nic.is_idle() && left == 0,
        }
    }

    /// Adds what handlers have counted in `__host_data`, if that is [at an address](super::Recorder::host_data).
    #[must_use]
    pub fn with_handler_counters(self, nic: &Nic, host_data: Option<u32>) -> Self {
        let cluster = nic.cluster();
        let counters = host_data.and_then(|at| {
            let counters = cluster
                .memory()
                .read(at.checked_add(HOST_DATA_COUNTERS)?, 8 * HANDLER_COUNTERS)?;
            Some(counters.as_chunks::<4>().0.as_chunks::<2>().0)
        });
        let counters = counters.unwrap_or_default().iter().zip(0..);
        let counters = counters.map(|([sum, count], index)| HandlerCounter {
            index,
            count: u32::from_le_bytes(*count),
            sum: u32::from_le_bytes(*sum),
        });
        Self {
            handler_counters: counters.filter(|counter| counter.count > 0).collect(),
            ..self
        }
    }

    /// What came to these figures since others, without the time of start-up for example.
    #[must_use]
    pub fn since(&self, start: &Self) -> Self {
        let before = start.hpu_busy.iter().copied().chain(std::iter::repeat(0));
        let busy = self.hpu_busy.iter().zip(before);
        Self {
            wall: self.wall.saturating_sub(start.wall),
            simulated_ps: self.simulated_ps.saturating_sub(start.simulated_ps),
            simulated_clocks: self.simulated_clocks.saturating_sub(start.simulated_clocks),
            cluster_clocks_alone: self
                .cluster_clocks_alone
                .saturating_sub(start.cluster_clocks_alone),
            instructions: self.instructions.saturating_sub(start.instructions),
            hpu_busy: busy.map(|(now, before)| now.saturating_sub(before)).collect(),
            cut_short: self.cut_short,
            refused_commands: self.refused_commands,
            left: self.left,
            resets: self.resets.saturating_sub(start.resets),
            has_restarted: self.has_restarted && !start.has_restarted,
            handler_counters: self.handler_counters.clone(),
            is_idle: self.is_idle,
        }
    }
}
