//! Clusters of handler processing units, with their memories, scheduler and copies.

mod hpu_port;
mod l1;
mod ports;
mod word_server;

pub use hpu_port::HpuPort;
pub(crate) use hpu_port::PORT;
pub(crate) use l1::L1;
pub use l1::{ClusterL1, L1Shape, L1Words, L1WordsIn, PIPELINES, THREAD, THREADS};
pub use ports::*;
pub(crate) use word_server::SERVER;
pub use word_server::{ServedAccess, WordServer};

use crate::entry::Variant;

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    PORT.variant("hpu_port", ""),
    PORT.variant("hpu_port_single", "clusters=1"),
    SERVER.variant("word_server", ""),
    SERVER.variant("word_server_single", "clusters=1"),
    L1.variant("cluster_l1", ""),
    L1.variant("cluster_l1_small", "lines=2 ultra=0"),
];
