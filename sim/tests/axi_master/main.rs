//! The master of AXI4, in front of the slaves behind a design that passes all channels on, and in front of
//! designs that are slaves.

mod bench;
mod rules;
#[path = "../support/mod.rs"]
mod support;
mod traffic;
