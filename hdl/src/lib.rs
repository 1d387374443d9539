//! The hardware blocks of spinneret.

#[macro_use]
pub mod entry;

pub mod app;
pub mod axi;
pub mod bar;
pub mod catalog;
pub mod cdc;
pub mod egress;
mod event_counters;
pub mod events;
pub mod hostdma;
pub mod hpu;
pub mod ingress;
mod limits;
pub mod mac;
pub mod regs;
pub mod stream;
pub mod uart;

pub use event_counters::{COUNTER_WIDTH, EventCounters};
