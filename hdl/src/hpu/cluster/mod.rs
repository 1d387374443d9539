//! Clusters of handler processing units, with their memories, scheduler and copies.

mod copier;
mod host;
mod ports;
mod rotator;
mod steps;

pub use copier::{LONGEST, LineCopier, LineStore};
pub use host::{HOST_ADDRESS, HOST_PORT, HostBursts, HostCopier, HostIntake, HostReads, HostWrites};
pub use ports::*;
pub use rotator::{LineRotator, PlacedFields};
pub use steps::{CopyFields, LineLoader, LineSteps, StepFields};

pub(crate) use copier::ENTRY as COPIER;
pub(crate) use host::ENTRY as HOST_COPIER;
pub(crate) use rotator::ENTRY as ROTATOR;

use crate::entry::Variant;

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    COPIER.variant("line_copier", ""),
    HOST_COPIER.variant("host_copier", ""),
];
