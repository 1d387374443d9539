//! The egress path against its reference model, and each line of its contract.

mod bars;
mod random;
