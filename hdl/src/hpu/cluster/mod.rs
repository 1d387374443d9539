//! Clusters of handler processing units, with their memories, scheduler and copies.

mod hpu_port;
mod l1;
mod ports;

pub use hpu_port::HpuPort;
pub(crate) use hpu_port::PORT;
pub(crate) use l1::L1;
pub use l1::{ClusterL1, L1Shape, L1Words, L1WordsIn, PIPELINES, THREAD, THREADS};
pub use ports::*;

use crate::entry::Variant;

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    PORT.variant("hpu_port", ""),
    L1.variant("cluster_l1", ""),
    L1.variant("cluster_l1_small", "lines=2 ultra=0"),
];
