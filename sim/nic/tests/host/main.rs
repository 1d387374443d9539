//! The host library on simulated NICs.

mod contexts;
mod lifecycle;
mod socket;
mod support;
