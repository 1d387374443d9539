//! The device at its socket. The client is the independent crate `vfio_user`; errors that it cannot make are sent as bytes.

mod clients;
mod config;
mod memory;
mod support;
