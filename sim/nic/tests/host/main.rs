//! The host library on simulated NICs.

mod contexts;
mod lifecycle;
mod server;
mod socket;
mod support;
