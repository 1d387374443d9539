//! How many of everything there are.

/// Number of rulesets of the matching engine in the reference configuration.
pub const RULESETS: u32 = 4;
/// Rules of a ruleset: three that decide the match, and the end-of-message rule, which is the last.
pub const RULES_PER_RULESET: u32 = 4;
/// Number of execution contexts; ruleset `n` starts handlers of context `n`.
pub const CONTEXTS: u32 = 4;
/// Longest frame that handlers can send, in bytes, with which the application block is generated.
pub const MAX_FRAME: u32 = 9600;
/// Number of PsPIN clusters in the reference configuration.
pub const CLUSTERS: u32 = 2;
/// Number of message processing queues in the reference configuration.
pub const MPQS: u32 = 16;
/// Bytes of one register: every register is a 32-bit little-endian word.
pub const REGISTER_BYTES: u32 = 4;
