//! The ingress path against its reference model, and each line of its contract.

mod bad_input;
mod delivery;
mod drops;
mod each;
mod resets;
mod slots;
mod small;
mod stall;
mod support;
mod traffic;
