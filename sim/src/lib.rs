//! Simulation of spinneret: Verilated models run by a loop of clocks, bus models, captures, rules.

// The text of `models` names this crate as other crates do.
extern crate self as spinneret_sim;

pub mod agent;
pub mod axi;
pub mod axil;
pub mod capture;
pub mod channel;
mod clocking;
pub mod dma;
mod failure;
mod handshake;
pub mod matching;
pub mod model;
pub mod models;
mod names;
pub mod packets;
mod pause;
mod port_trace;
pub mod reference;
pub mod seed;
pub mod simulation;
pub mod stream;
pub mod test_run;
pub mod uart;
pub mod waveform;
mod waves;
