//! Clusters of handler processing units, with their memories, scheduler and copies.

pub mod driver;
mod ports;

pub use ports::*;

use crate::entry::Variant;

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[driver::ENTRY.variant("cluster_driver", "")];
