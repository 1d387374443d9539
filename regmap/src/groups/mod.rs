//! The register table, one module per group.

pub mod caps;
pub mod cl;
pub(crate) mod counters;
pub mod events;
pub mod guard;
pub mod her;
pub mod her_meta;
pub mod me;
pub mod stats;

use crate::register::Register;
use counters::{bar_access, egress, host_read, host_write, ingress};

/// All groups in the order of their offsets.
pub(crate) const ALL: &[&[Register]] = &[
    cl::ALL,
    stats::ALL,
    ingress::ALL,
    egress::ALL,
    host_write::ALL,
    host_read::ALL,
    bar_access::ALL,
    me::ALL,
    her::ALL,
    her_meta::ALL,
    guard::ALL,
    events::ALL,
    caps::ALL,
];
