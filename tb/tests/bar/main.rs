//! The BAR against its reference model, and each line of its contract.

mod errors;
mod map;
mod random;
mod support;
mod timing;
