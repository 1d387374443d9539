//! Corundum's DMA and its RAM: the test plays the design, cycle by cycle.

mod bench;
mod faults;
mod rules;
#[path = "../support/mod.rs"]
mod support;
mod transfers;
