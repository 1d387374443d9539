//! The register table, one module per group: here those of the public design, with their additions.

/// A table of registers, one a line: what makes it, and its arguments; or a register that has a name.
macro_rules! rows {
    (@row $register:ident) => { $register };
    (@row $make:ident $($argument:expr),+) => { $make($($argument),+) };
    ($($name:ident $($($argument:expr),+)?;)*) => { &[$(rows!(@row $name $($($argument),+)?)),*] };
}

pub(crate) mod counters;
pub(crate) mod extensions;

use crate::register::Register;
use counters::{bar_access, egress, host_read, host_write, ingress};
use extensions::{caps, events, guard, slots};

/// All groups in the order of their offsets.
pub(crate) const ALL: &[&[Register]] = &[
    cl::ALL,
    stats::ALL,
    ingress::ALL,
    egress::ALL,
    host_write::ALL,
    host_read::ALL,
    bar_access::ALL,
    me::ALL,
    her::ALL,
    her_meta::ALL,
    guard::ALL,
    slots::ALL,
    events::ALL,
    caps::ALL,
];

pub mod cl {
    //! Control of the PsPIN clusters.

    use crate::CLUSTERS;
    use crate::register::{Access, Bits, Field, Register, Reset};

    /// Fetch enable and auxiliary reset.
    pub const CTRL: Register = Register {
        bits: Bits::Each(&[u32::MAX >> (32 - CLUSTERS), 1]),
        reset: Reset::Each(&[0, 1]),
        unit: "bit mask",
        description: "[0] fetch enable, one bit per cluster; [1] bit 0 holds the clusters in auxiliary reset.",
        elements: &["fetch_enable", "aux_reset"],
        ..Register::held("cl", "ctrl", 0x0000, 2)
    };
    /// Standard output of the handler processing units.
    pub const FIFO: Register = Register {
        access: Access::ReadPops,
        reset: Reset::All(u32::MAX),
        unit: "word",
        description: "Standard output of the handler processing units; all ones when it is empty.",
        side_effect: "A read takes the word out of the queue.",
        ..Register::held("cl", "fifo", 0x0008, 1)
    };
    /// Whether the clusters can be reached.
    pub const STATUS: Register = Register {
        bits: Bits::All(0x3),
        unit: "bit mask",
        description: "State of the clusters' clock and reset.",
        fields: &[
            Field::flag("running", 0, "the clusters' clock is running (locked)"),
            Field::flag("held", 1, "the clusters or the link to them are held in reset"),
        ],
        extension: true,
        ..Register::shown("cl", "status", 0x000c, 1)
    };
    /// The group, ordered by offset.
    pub const ALL: &[Register] = &[CTRL, FIFO, STATUS];

    /// Offset of the fetch enable bits, one per cluster.
    pub const FETCH_ENABLE: u32 = CTRL.offset;
    /// Offset of the auxiliary reset, whose bit 0 holds the clusters in reset while it is 1.
    pub const AUX_RESET: u32 = CTRL.offset + 4;
}

pub mod stats {
    //! Statistics and state.

    use crate::register::{Access, Bits, Field, Register, Reset};
    use crate::{CLUSTERS, MPQS};

    /// State of the clusters.
    pub const CLUSTER: Register = Register {
        bits: Bits::All(u32::MAX >> (32 - CLUSTERS)),
        unit: "bit mask",
        description: "[0] end of computation, [1] busy, which the public cluster is as long as it fetches instructions; one bit per cluster.",
        elements: &["end_of_computation", "busy"],
        ..Register::shown("stats", "cluster", 0x1000, 2)
    };
    /// State of the message processing queues.
    pub const MPQ: Register = Register {
        bits: Bits::All(u32::MAX >> (32 - MPQS)),
        unit: "bit mask",
        description: "Message processing queues that are full, one bit each.",
        ..Register::shown("stats", "mpq", 0x1008, 1)
    };
    /// Counters and errors of the data path.
    pub const DATAPATH: Register = Register {
        bits: Bits::Each(&[u32::MAX, 0xf]),
        unit: "packets, code",
        description: "[0] packets dropped by the allocator, [1] last error of the egress DMA.",
        elements: &["dropped_packets", "egress_dma_error"],
        ..Register::shown("stats", "datapath", 0x100c, 2)
    };
    /// Forgets the last error of the egress DMA.
    pub const ERROR_CLEAR: Register = Register {
        access: Access::WritePulse,
        bits: Bits::All(1),
        reset: Reset::All(0),
        unit: "flag",
        description: "Writing 1 clears the last error of the egress DMA.",
        side_effect: "A write of 1 to bit 0 clears `stats.datapath[1]`.",
        fields: &[Field::flag(
            "egress_dma",
            0,
            "clear the last error of the egress DMA",
        )],
        extension: true,
        ..Register::held("stats", "error_clear", 0x1014, 1)
    };
    /// The group, ordered by offset.
    pub const ALL: &[Register] = &[CLUSTER, MPQ, DATAPATH, ERROR_CLEAR];

    /// Offset of the count of packets that the allocator dropped.
    pub const DROPPED_PACKETS: u32 = DATAPATH.offset;
    /// Offset of the last error of the egress DMA.
    pub const EGRESS_DMA_ERROR: u32 = DATAPATH.offset + 4;
}

pub mod me {
    //! The matching engine. Mask, start and end are held byte-swapped, see [`crate::matching`].

    use crate::register::{Bits, Register, Reset};
    use crate::{RULES_PER_RULESET, RULESETS};

    const RULES: u32 = RULESETS * RULES_PER_RULESET;

    const fn register(name: &'static str, offset: u32, count: u32) -> Register {
        Register::held("me", name, offset, count)
    }

    /// Whether rules match at all.
    pub const VALID: Register = Register {
        unit: "flag",
        description: "Rules are latched and match while 1: write 0, change the rules, write 1.",
        bits: Bits::All(1),
        ..register("valid", 0x2000, 1)
    };
    /// How the rules of a ruleset are joined.
    pub const MODE: Register = Register {
        unit: "0 AND, 1 OR",
        description: "How the rules of each ruleset are joined.",
        bits: Bits::All(1),
        ..register("mode", 0x2004, RULESETS)
    };
    /// Which word of the frame a rule looks at.
    pub const IDX: Register = Register {
        unit: "word index",
        description: "The word that the rule looks at: bytes 4*idx to 4*idx+3 of the frame; ruleset-major.",
        ..register("idx", 0x2014, RULES)
    };
    /// Which bits of the word a rule looks at.
    pub const MASK: Register = Register {
        unit: "byte-swapped",
        description: "Bits of the word that are compared.",
        ..register("mask", 0x2054, RULES)
    };
    /// Smallest value that matches.
    pub const START: Register = Register {
        unit: "byte-swapped",
        reset: Reset::All(1),
        description: "Smallest masked value that matches; the reset value is above end, which matches nothing.",
        ..register("start", 0x2094, RULES)
    };
    /// Largest value that matches.
    pub const END: Register = Register {
        unit: "byte-swapped",
        description: "Largest masked value that matches.",
        ..register("end", 0x20d4, RULES)
    };
    /// From where a rule counts its word index. An engine without the option `ip_relative` does not look at it.
    pub const RELATIVE: Register = Register {
        unit: "flag",
        description: "The word index counts from the start of the IPv4 or IPv6 payload, if the engine has the option ip_relative.",
        bits: Bits::All(1),
        extension: true,
        ..register("relative", 0x2114, RULES)
    };
    /// The group, ordered by offset.
    pub const ALL: &[Register] = &[VALID, MODE, IDX, MASK, START, END, RELATIVE];

    /// Offset of a ruleset's mode; `None` if there is no such ruleset.
    pub const fn mode(ruleset: u32) -> Option<u32> {
        MODE.address(ruleset)
    }

    /// Offset of a rule's word index; `None` if there is no such ruleset or rule.
    pub const fn idx(ruleset: u32, rule: u32) -> Option<u32> {
        address(&IDX, ruleset, rule)
    }

    /// Offset of a rule's mask; `None` if there is no such ruleset or rule.
    pub const fn mask(ruleset: u32, rule: u32) -> Option<u32> {
        address(&MASK, ruleset, rule)
    }

    /// Offset of a rule's start value; `None` if there is no such ruleset or rule.
    pub const fn start(ruleset: u32, rule: u32) -> Option<u32> {
        address(&START, ruleset, rule)
    }

    /// Offset of a rule's end value; `None` if there is no such ruleset or rule.
    pub const fn end(ruleset: u32, rule: u32) -> Option<u32> {
        address(&END, ruleset, rule)
    }

    /// Offset of a rule's flag for the IP payload; `None` if there is no such ruleset or rule.
    pub const fn relative(ruleset: u32, rule: u32) -> Option<u32> {
        address(&RELATIVE, ruleset, rule)
    }

    const fn address(register: &Register, ruleset: u32, rule: u32) -> Option<u32> {
        if ruleset < RULESETS && rule < RULES_PER_RULESET {
            register.address(ruleset * RULES_PER_RULESET + rule)
        } else {
            None
        }
    }
}

pub mod her {
    //! The generator of handler execution requests.

    use crate::CONTEXTS;
    use crate::register::{Bits, Register};

    /// Whether the execution contexts are in use.
    pub const VALID: Register = Register {
        bits: Bits::All(1),
        unit: "flag",
        description: "Execution contexts are latched and active while 1: write 0, change them, write 1.",
        side_effect: "While 0 the contexts latched last stay in force, until a reset of the clusters: then none is.",
        ..Register::held("her", "valid", 0x3000, 1)
    };
    /// Which execution contexts are in use.
    pub const CTX_ENABLED: Register = Register {
        bits: Bits::All(1),
        unit: "flag",
        description: "Whether the execution context starts handlers.",
        ..Register::held("her", "ctx_enabled", 0x3004, CONTEXTS)
    };
    /// The group, ordered by offset.
    pub const ALL: &[Register] = &[VALID, CTX_ENABLED];

    /// Offset of a context's enable flag; `None` if there is no such context.
    pub const fn ctx_enabled(context: u32) -> Option<u32> {
        CTX_ENABLED.address(context)
    }
}

pub mod her_meta {
    //! Fields of handler execution requests, for each execution context.

    use crate::register::Register;
    use crate::{CONTEXTS, REGISTER_BYTES};

    /// The group, ordered by offset; the fields follow one another, each with one element per context.
    pub const ALL: &[Register] = rows! {
        field 0, "handler_mem_addr", ADDRESS, "Handler memory of the context.";
        field 1, "handler_mem_size", BYTES, "Size of the handler memory.";
        field 2, "host_mem_addr_0", ADDRESS, "Host memory of the context, low word of its address.";
        field 3, "host_mem_addr_1", ADDRESS, "Host memory of the context, high word of its address.";
        field 4, "host_mem_size", BYTES, "Size of the host memory.";
        field 5, "hh_addr", ADDRESS, "Entry point of the header handler.";
        field 6, "hh_size", BYTES, "Size of the header handler.";
        field 7, "ph_addr", ADDRESS, "Entry point of the packet handler.";
        field 8, "ph_size", BYTES, "Size of the packet handler.";
        field 9, "th_addr", ADDRESS, "Entry point of the tail handler.";
        field 10, "th_size", BYTES, "Size of the tail handler.";
        field 11, "scratchpad_0_addr", ADDRESS, "Scratchpad in the L1 memory of cluster 0: offset in its scratchpads, which begin at 0x14400.";
        field 12, "scratchpad_0_size", BYTES, "Size of the scratchpad of cluster 0.";
        field 13, "scratchpad_1_addr", ADDRESS, "Scratchpad in the L1 memory of cluster 1: offset in its scratchpads, which begin at 0x14400.";
        field 14, "scratchpad_1_size", BYTES, "Size of the scratchpad of cluster 1.";
        field 15, "scratchpad_2_addr", ADDRESS, "Scratchpad in the L1 memory of cluster 2.";
        field 16, "scratchpad_2_size", BYTES, "Size of the scratchpad of cluster 2.";
        field 17, "scratchpad_3_addr", ADDRESS, "Scratchpad in the L1 memory of cluster 3.";
        field 18, "scratchpad_3_size", BYTES, "Size of the scratchpad of cluster 3.";
    };

    /// Offset of a field, named as in the table, for a context; `None` if there is no such field or context.
    pub fn offset(field: &str, context: u32) -> Option<u32> {
        ALL.iter()
            .find(|register| register.name == field)?
            .address(context)
    }

    const BASE: u32 = 0x4000;
    const STRIDE: u32 = CONTEXTS * REGISTER_BYTES;
    const ADDRESS: &str = "address";
    const BYTES: &str = "bytes";

    const fn field(
        position: u32,
        name: &'static str,
        unit: &'static str,
        description: &'static str,
    ) -> Register {
        Register {
            unit,
            description,
            ..Register::held("her_meta", name, BASE + STRIDE * position, CONTEXTS)
        }
    }
}
