//! Turns rust-hdl blocks into readable, explicit SystemVerilog.
