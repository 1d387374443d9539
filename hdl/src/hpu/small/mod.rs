//! Eight HPUs in one pipeline for small FPGAs, with words of 64 bits instead of lines of 64 bytes.

mod complex;
mod copier;
mod memory;
mod port;
mod ports;
mod slaves;

pub(crate) use complex::{BENCH, ENTRY};
pub use complex::{SmallComplex, SmallShape};
pub use copier::SmallCopier;
pub use memory::{SmallMemory, SmallMemoryShape};
pub use port::SmallPort;
pub use ports::*;
pub use slaves::{SmallReader, SmallWriter};

use crate::entry::Variant;

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[BENCH.variant("small_bench", "")];
