//! From the wire to the cluster.

pub mod datapath;
pub mod dma;
pub mod her_gen;
pub mod pkt_alloc;
pub mod pkt_match;
pub mod slots;
