//! Benches, and what they measure with.

mod figures;
mod ranks;
mod transfer;
