//! The ingress path against its reference model, and each line of its contract.

mod bad_input;
mod bars;
mod bypass;
mod delivery;
mod drops;
mod random;
mod resets;
mod slots;
mod support;
