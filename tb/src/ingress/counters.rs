//! The counters of the path, and why packets are dropped.

use spinneret_sim::prelude::*;
use std::fmt;
use std::ops::{AddAssign, Index, IndexMut};

/// Why a matched packet is dropped, in the order in which causes are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// No room in front of the DMA.
    Overload,
    /// No free slot.
    NoSlot,
    /// The memory refused a burst.
    WriteError,
    /// The frame says that it is bad, or its `tkeep` is impossible.
    BadFrame,
    /// More bytes than the largest slot.
    Oversize,
    /// Neither the packet's context nor context 0 is enabled.
    NoContext,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 6] = [
        Self::Overload,
        Self::NoSlot,
        Self::WriteError,
        Self::BadFrame,
        Self::Oversize,
        Self::NoContext,
    ];

    /// Name of its counter.
    fn port(self) -> &'static str {
        match self {
            Self::Overload => "dropped_overload_o",
            Self::NoSlot => "dropped_no_slot_o",
            Self::WriteError => "dropped_write_error_o",
            Self::BadFrame => "dropped_bad_frame_o",
            Self::Oversize => "dropped_oversize_o",
            Self::NoContext => "dropped_no_context_o",
        }
    }

    /// For reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overload => "overload",
            Self::NoSlot => "no slot",
            Self::WriteError => "write error",
            Self::BadFrame => "bad frame",
            Self::Oversize => "oversize",
            Self::NoContext => "no context",
        }
    }
}

/// Dropped packets by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; Cause::ALL.len()]);

impl Drops {
    /// Of all causes.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Index<Cause> for Drops {
    type Output = u64;

    fn index(&self, cause: Cause) -> &u64 {
        &self.0[cause as usize]
    }
}

impl IndexMut<Cause> for Drops {
    fn index_mut(&mut self, cause: Cause) -> &mut u64 {
        &mut self.0[cause as usize]
    }
}

impl AddAssign for Drops {
    fn add_assign(&mut self, other: Self) {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own += others;
        }
    }
}

/// `2 overload, 1 bad frame`, without causes that did not happen.
impl fmt::Display for Drops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let happened = Cause::ALL.into_iter().filter(|cause| self[*cause] > 0);
        let parts: Vec<String> = happened
            .map(|cause| format!("{} {}", self[cause], cause.name()))
            .collect();
        f.write_str(&if parts.is_empty() {
            "none".to_owned()
        } else {
            parts.join(", ")
        })
    }
}

/// Refused frees by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// No slot starts at the address.
    pub no_start: u64,
    /// The slot was not out.
    pub not_out: u64,
    /// Before all slots were in their lists.
    pub early: u64,
}

/// What the path has counted since its reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Matched packets.
    pub matched: u64,
    /// Unmatched packets.
    pub bypassed: u64,
    /// HERs that the cluster took.
    pub hers: u64,
    /// Dropped packets.
    pub drops: Drops,
    /// The public design's counter of dropped packets.
    pub alloc_dropped: u64,
    /// Refused frees.
    pub refused: Refusals,
    /// Small slots that are out, and the most there were.
    pub small: Occupancy,
    /// Large slots likewise.
    pub large: Occupancy,
}

impl Counters {
    /// Packets that left the path, one way or the other.
    pub fn packets(&self) -> u64 {
        self.bypassed + self.hers + self.drops.sum()
    }
}

/// Slots of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Slots that are out.
    pub used: u64,
    /// Most that were out at the same time.
    pub peak: u64,
}

/// The ports of the counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterPorts {
    traffic: [PortHandle; 3],
    drops: [PortHandle; Cause::ALL.len()],
    alloc_dropped: PortHandle,
    refused: [PortHandle; 3],
    slots: [PortHandle; 4],
}

impl CounterPorts {
    /// Looks them up.
    ///
    /// # Panics
    /// If one is missing.
    pub(super) fn find(dut: &Instance) -> Self {
        let find = |name: &str| {
            let port = dut.port(name, Direction::Output);
            port.unwrap_or_else(|error| panic!("{error}"))
        };
        Self {
            traffic: ["matched_pkts_o", "bypassed_pkts_o", "her_pkts_o"].map(find),
            drops: Cause::ALL.map(|cause| find(cause.port())),
            alloc_dropped: find("alloc_dropped_pkts"),
            refused: ["refused_no_start_o", "refused_not_out_o", "refused_early_o"].map(find),
            slots: ["small_used_o", "small_peak_o", "large_used_o", "large_peak_o"].map(find),
        }
    }

    /// Reads them.
    pub(super) fn read(&self, dut: &Instance) -> Counters {
        let value = |port: PortHandle| dut.value(port) as u64;
        let [matched, bypassed, hers] = self.traffic.map(value);
        let [no_start, not_out, early] = self.refused.map(value);
        let [small_used, small_peak, large_used, large_peak] = self.slots.map(value);
        Counters {
            matched,
            bypassed,
            hers,
            drops: Drops(self.drops.map(value)),
            alloc_dropped: value(self.alloc_dropped),
            refused: Refusals {
                no_start,
                not_out,
                early,
            },
            small: Occupancy {
                used: small_used,
                peak: small_peak,
            },
            large: Occupancy {
                used: large_used,
                peak: large_peak,
            },
        }
    }
}
