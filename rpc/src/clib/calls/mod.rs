//! The packets of each call, in the order in which they come and go.

pub(super) mod files;
pub(super) mod print;
pub(super) mod process;
pub(super) mod streams;

/// C's answer of failure where there is an integer, and `EOF`.
const FAILED: u64 = u64::MAX;
