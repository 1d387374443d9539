//! The egress path against its reference model, and each line of its contract.

mod delivery;
mod errors;
mod support;
mod timing;
