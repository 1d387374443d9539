//! The egress path: from the cluster to the wire.

pub mod tx_inject;
