//! The BAR against its reference model, and each line of its contract.

mod map;
mod support;
mod timing;
