//! Builds Verilator models of generated SystemVerilog into a Rust crate.
