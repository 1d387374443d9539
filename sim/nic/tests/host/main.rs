//! The host library on simulated NICs.

mod c;
mod contexts;
mod lifecycle;
mod socket;
mod support;
