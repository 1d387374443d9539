//! From the wire to the cluster.

pub mod dma;
pub mod pkt_alloc;
pub mod pkt_match;
