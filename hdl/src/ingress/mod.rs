//! From the wire to the cluster.

pub mod dma;
mod event_counters;
pub mod pkt_alloc;
pub mod pkt_match;
pub mod slots;

pub use event_counters::{COUNTER_WIDTH, EventCounters};
