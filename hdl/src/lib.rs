//! The hardware blocks of spinneret.

pub mod app;
pub mod axi;
pub mod bar;
pub mod catalog;
pub mod egress;
mod event_counters;
pub mod hostdma;
pub mod ingress;
pub mod stream;

pub use event_counters::{COUNTER_WIDTH, EventCounters};
