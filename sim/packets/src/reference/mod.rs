//! Reference models: what the hardware must do, in plain Rust and without a clock.
//!
//! Testbenches and commands compare the Verilated blocks with these models, frame by frame.

pub mod matcher;
