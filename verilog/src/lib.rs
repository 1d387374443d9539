//! Turns rust-hdl blocks into readable, explicit SystemVerilog.

// The `#[kernel]` attribute names this crate by its name, also inside of it.
extern crate self as spinneret_verilog;

pub mod lang;
pub mod prelude;
