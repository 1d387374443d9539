//! How everything around the path behaves, and what became of the packets.

use super::counters::{Cause, Counters, Drops, Refusals};
use super::release::Release;
use spinneret_sim::axi::SlaveConfig;
use spinneret_sim::stream::Pause;

/// How everything around the path behaves.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// Whether there certainly is room and a slot for every packet, so that each one's fate is predicted.
    pub calm: bool,
    /// Packets under way at most, with those whose slot the cluster has; random traffic waits so long.
    pub most_under_way: u64,
    /// Gaps between beats from the wire.
    pub input: Pause,
    /// Backpressure of the NIC.
    pub nic: Pause,
    /// Backpressure of the cluster.
    pub her: Pause,
    /// The packet buffer.
    pub slave: SlaveConfig,
    /// Gaps between frees.
    pub feedback: Pause,
    /// When slots are freed.
    pub release: Release,
    /// Large slots that the cluster has already when random traffic begins, so that there are few.
    pub occupied: u64,
    /// Wrong frees in percent of the good ones.
    pub bad_frees: u32,
}

/// No pauses, no errors, slots freed at once.
impl Default for Behaviour {
    fn default() -> Self {
        Self {
            calm: true,
            most_under_way: u64::MAX,
            input: Pause::Never,
            nic: Pause::Never,
            her: Pause::Never,
            slave: SlaveConfig::default(),
            feedback: Pause::Never,
            release: Release::AtOnce,
            occupied: 0,
            bad_frees: 0,
        }
    }
}

/// What became of the packets since the last comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Unmatched packets, all of which came out.
    pub bypassed: u64,
    /// Matched packets.
    pub matched: u64,
    /// Those of them for which the cluster took a HER.
    pub hers: u64,
    /// Those that were dropped.
    pub drops: Drops,
    /// Frees that were refused.
    pub refused: Refusals,
}

impl Outcome {
    /// What was counted between two readings of the counters.
    pub(super) fn between(base: &Counters, now: &Counters) -> Self {
        let mut drops = Drops::default();
        for cause in Cause::ALL {
            drops[cause] = now.drops[cause] - base.drops[cause];
        }
        Self {
            bypassed: now.bypassed - base.bypassed,
            matched: now.matched - base.matched,
            hers: now.hers - base.hers,
            drops,
            refused: Refusals {
                no_start: now.refused.no_start - base.refused.no_start,
                not_out: now.refused.not_out - base.refused.not_out,
                early: now.refused.early - base.refused.early,
            },
        }
    }
}
