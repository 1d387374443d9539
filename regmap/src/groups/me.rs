//! The matching engine. Mask, start and end are held byte-swapped, see [`crate::matching`].

use crate::register::{Bits, Register, Reset};
use crate::sizes::{RULES_PER_RULESET, RULESETS};

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
