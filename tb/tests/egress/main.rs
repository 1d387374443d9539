//! The egress path against its reference model, and each line of its contract.

mod answers;
mod backpressure;
mod bars;
mod delivery;
mod errors;
mod latency;
mod random;
mod raw;
mod refusals;
mod resets;
mod support;
