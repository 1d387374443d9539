//! Programs on ranks that are threads: results, order and messages.

mod overlap;
mod programs;
mod qcd;
mod random;
mod sums;
