//! Vendor primitives of AMD UltraScale+ devices.

mod cluster_clock;
mod mmcm;

pub use cluster_clock::{CLUSTER_CLOCK, ClusterClock, ClusterClockModel};
pub use mmcm::{MmcmError, MmcmSettings};
