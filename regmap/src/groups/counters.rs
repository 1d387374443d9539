//! Counters of the datapaths. They are 32 bits wide, wrap, and are cleared by a reset of the core only: a reset of the
//! clusters resets only the levels of slots.

use crate::register::Register;
use crate::{CONTEXTS, REGISTER_BYTES};

/// Packets on their way from the wire to the clusters.
pub mod ingress {
    use super::{CONTEXTS, Register, counter};

    const fn packets(position: u32, name: &'static str, description: &'static str) -> Register {
        counter("ingress", 0x1100, position, name, "packets", description)
    }

    const fn slots(position: u32, name: &'static str, description: &'static str) -> Register {
        counter("ingress", 0x1100, position, name, "slots", description)
    }

    /// The group, ordered by offset.
    pub const ALL: &[Register] = rows! {
        packets 0, "matched", "Frames that matched a ruleset.";
        packets 1, "bypassed", "Frames that matched nothing and went to the NIC.";
        packets 2, "hers", "Handler execution requests that left for the clusters; a reset takes those that have not arrived.";
        packets 3, "dropped_overload", "Matched frames that were dropped because bus or clusters did not keep up.";
        packets 4, "dropped_no_slot", "Matched frames that found no free slot.";
        packets 5, "dropped_oversize", "Matched frames longer than a large slot.";
        packets 6, "dropped_bad_frame", "Matched frames with an error bit or gaps.";
        packets 7, "dropped_write_error", "Packets that the packet buffer refused.";
        packets 8, "dropped_no_context", "Packets that no enabled context serves.";
        packets 9, "dropped_reset", "Packets that a reset of the clusters took away.";
        slots 10, "refused_no_start", "Frees of an address at which no slot starts.";
        slots 11, "refused_not_out", "Frees of slots that were not out.";
        slots 12, "refused_early", "Frees before all slots were in their lists.";
        slots LEVELS.start, "large_used", "Large slots that are in use.";
        slots LEVELS.start + 1, "large_peak", "Most large slots that were in use at once.";
        slots LEVELS.start + 2, "small_used", "Small slots that are in use.";
        slots LEVELS.start + 3, "small_peak", "Most small slots that were in use at once.";
        DROPPED_BOUND;
    };

    /// Packets of contexts that were at their bound of slots.
    pub const DROPPED_BOUND: Register = Register {
        count: CONTEXTS,
        ..packets(
            LEVELS.end,
            "dropped_bound",
            "Packets of the context that were dropped because it was at its bound of slots (`slots.bound`).",
        )
    };

    /// Why matched packets are dropped, and the counter of each cause, which may have a word for each context.
    pub fn drops() -> impl Iterator<Item = (&'static str, &'static Register)> {
        ALL.iter()
            .filter_map(|register| Some((register.name.strip_prefix("dropped_")?, register)))
    }

    /// Those that are no counts, but levels.
    pub const LEVELS: core::ops::Range<u32> = 13..17;

    /// Offset of a counter, named as in the table; `None` if there is none of that name.
    pub fn offset(name: &str) -> Option<u32> {
        super::offset(ALL, name)
    }
}

/// Frames on their way from the clusters to the wire.
pub mod egress {
    use super::{Register, counter};

    const fn egress(position: u32, name: &'static str, unit: &'static str, text: &'static str) -> Register {
        counter("egress", 0x1180, position, name, unit, text)
    }

    /// The group, ordered by offset.
    pub const ALL: &[Register] = rows! {
        egress 0, "frames", "frames", "Frames that were sent.";
        egress 1, "read_errors", "commands", "Commands whose data could not be read; nothing was sent.";
        egress 2, "refused", "commands", "Commands that were refused.";
        egress 3, "completions", "frames", "Completions of our own frames, which the host does not see.";
        egress 4, "tag_conflicts", "frames", "Frames of the host with a tag of the cluster's frames.";
        egress 5, "passed", "frames", "Frames that handlers passed to the host.";
        egress 6, "dropped_reset", "commands", "Commands that a reset of the clusters took before their frame was complete.";
    };

    /// Offset of a counter, named as in the table; `None` if there is none of that name.
    pub fn offset(name: &str) -> Option<u32> {
        super::offset(ALL, name)
    }
}

/// Bursts between the clusters and host memory.
macro_rules! host_dma {
    ($(#[$doc:meta])+ $module:ident, $group:literal, $base:literal) => {
        $(#[$doc])+
        pub mod $module {
            use super::{Register, counter};

            const fn half(position: u32, name: &'static str, unit: &'static str, text: &'static str) -> Register {
                counter($group, $base, position, name, unit, text)
            }

            /// Transfers that Corundum's DMA ended with an error, by its code.
            pub const ERRORS: Register = Register {
                count: ERROR_CODES,
                ..half(4, "errors", "transfers", "Transfers that failed, by Corundum's error code: element `i` is code `i` + 1; codes without a meaning count as 3.")
            };
            /// The group, ordered by offset.
            pub const ALL: &[Register] = &[
                half(0, "bursts", "bursts", "Bursts that were answered."),
                half(1, "refused", "bursts", "Bursts that could not be done."),
                half(2, "outside", "bursts", "Bursts with bytes outside of all host windows."),
                half(3, "stray_status", "statuses", "Statuses for tags that were not in flight."),
                ERRORS,
            ];

            /// Error codes that are counted apart: 1 to this one.
            pub const ERROR_CODES: u32 = 11;

            /// Offset of the count of an error code; `None` if there is no such code.
            pub const fn errors(code: u32) -> Option<u32> {
                match code {
                    0 => None,
                    code => ERRORS.address(code - 1),
                }
            }

            /// Offset of a counter, named as in the table; `None` if there is none of that name.
            pub fn offset(name: &str) -> Option<u32> {
                super::offset(ALL, name)
            }
        }
    };
}

host_dma! {
    /// Bursts from the clusters to host memory.
    host_write, "host_write", 0x1200
}

host_dma! {
    /// Bursts from host memory to the clusters.
    host_read, "host_read", 0x1280
}

/// Accesses of the application BAR to the clusters.
pub mod bar_access {
    use super::{Register, counter};

    const fn accesses(position: u32, name: &'static str, description: &'static str) -> Register {
        counter("bar", 0x1300, position, name, "accesses", description)
    }

    /// The group, ordered by offset.
    pub const ALL: &[Register] = rows! {
        accesses 0, "outside", "Accesses outside of all windows.";
        accesses 1, "held", "Accesses to the clusters while they were held in reset.";
        accesses 2, "timeouts", "Accesses that the clusters did not answer in time.";
        accesses 3, "errors", "Accesses that the clusters answered with an error.";
    };

    /// Offset of a counter, named as in the table; `None` if there is none of that name.
    pub fn offset(name: &str) -> Option<u32> {
        super::offset(ALL, name)
    }
}

/// Names of counters that move when all is well, and of levels.
const GOOD: [&str; 7] = [
    "matched",
    "bypassed",
    "hers",
    "frames",
    "completions",
    "passed",
    "bursts",
];

/// Whether a counter moves only when something went wrong.
pub(crate) fn counts_errors(counter: &Register) -> bool {
    let is_level = ingress::ALL[ingress::LEVELS.start as usize..ingress::LEVELS.end as usize]
        .iter()
        .any(|level| level == counter);
    !is_level && !GOOD.contains(&counter.name)
}

const fn counter(
    group: &'static str,
    base: u32,
    position: u32,
    name: &'static str,
    unit: &'static str,
    description: &'static str,
) -> Register {
    Register {
        unit,
        description,
        extension: true,
        ..Register::shown(group, name, base + REGISTER_BYTES * position, 1)
    }
}

fn offset(group: &[Register], name: &str) -> Option<u32> {
    group
        .iter()
        .find(|register| register.name == name)
        .map(|register| register.offset)
}
