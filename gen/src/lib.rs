//! Writes the SystemVerilog of spinneret, and measures it with yosys.
//!
//! The way from a command line to files has four steps, one module each: [`request`] turns names
//! and `--set` values into blocks with complete parameters, [`render`] turns those into files in
//! memory, [`store`] compares them with a directory or writes them as a whole, and [`report`]
//! says what happened. [`listing`] describes what can be asked for; [`cli`] is the command itself.
//! [`board`] makes the files of a board, which are stored and told about in the same way.
//! [`synth`] is independent of all that: it synthesises what was written and counts.

pub mod board;
pub mod cli;
pub mod error;
pub mod pnr;
pub mod render;
pub mod report;
pub mod request;
pub mod store;
pub mod synth;
pub mod workspace;
