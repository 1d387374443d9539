//! Writes the SystemVerilog of spinneret, and measures it with yosys and nextpnr.
//!
//! `gen-verilog` has four steps, one module each: [`request`] resolves names and `--set` values into blocks with parameters,
//! [`render`] generates their files in memory, [`store`] compares them with a directory or writes them all or none, and
//! [`report`] prints the result. [`cli`] is the command. [`board`] generates the files of a board, which are stored and
//! reported in the same way. [`synth`] and [`pnr`] measure generated files, [`table3`] reads a board's build.

pub mod board;
pub mod cli;
pub mod error;
pub mod pnr;
pub mod render;
pub mod report;
pub mod request;
pub mod store;
pub mod synth;
pub mod table3;
pub mod workspace;
