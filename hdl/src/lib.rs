//! The hardware blocks of spinneret.

pub mod axi;
pub mod catalog;
pub mod egress;
mod event_counters;
pub mod hostdma;
pub mod ingress;
pub mod stream;
pub mod uart;

pub use event_counters::{COUNTER_WIDTH, EventCounters};
