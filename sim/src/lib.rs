#![doc = include_str!("../README.md")]

pub mod agent;
pub mod axi;
pub mod axil;
pub mod channel;
pub mod dma;
mod handshake;
pub mod model;
mod pause;
mod port_trace;
pub mod prelude;
pub mod seed;
pub mod simulation;
pub mod stream;
pub mod test_run;
pub mod uart;
pub mod waveform;
