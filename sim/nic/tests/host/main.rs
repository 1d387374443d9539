//! The host library on simulated NICs.

mod contexts;
mod hostile;
mod lifecycle;
mod server;
mod socket;
mod support;
