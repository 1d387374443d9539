//! From the wire to the cluster.

pub mod datapath;
pub mod dma;
mod event_counters;
pub mod her_gen;
pub mod pkt_alloc;
pub mod pkt_match;
pub mod slots;

pub use event_counters::{COUNTER_WIDTH, EventCounters};
