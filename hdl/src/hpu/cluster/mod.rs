//! Clusters of handler processing units, with their memories, scheduler and copies.

mod ports;
pub mod scheduler;

pub use ports::*;
pub use scheduler::{MessageScheduler, SchedulerShape};

use crate::entry::Variant;

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &scheduler::SIMULATED;
