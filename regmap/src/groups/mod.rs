//! The register table, one module per group.

pub mod cl;
pub mod her;
pub mod her_meta;
pub mod me;
pub mod stats;

use crate::register::Register;

/// All groups in the order of their offsets.
pub(crate) const ALL: &[&[Register]] = &[cl::ALL, stats::ALL, me::ALL, her::ALL, her_meta::ALL];
