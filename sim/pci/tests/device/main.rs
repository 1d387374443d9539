//! The device at its socket: the client is the crate `vfio_user`, which nobody here wrote, and where that has no words for what a
//! client can do wrong, bytes.

mod clients;
mod config;
mod memory;
mod support;
