//! The behaviour of blocks in Rust, compared with that of their text in Icarus Verilog and Verilator.
//!
//! Blocks share a test bench, because building a model with Verilator takes seconds.

mod connections;
mod kernels;
mod plain;
mod records;

use crate::support::Suite;

#[test]
fn plain_blocks_do_the_same_in_rust_and_verilog() {
    let mut suite = Suite::default();
    // The flip-flop of rust-hdl brings its own text, in which numbers have 64 bits.
    suite.waivers = &["-Wno-WIDTH"];
    plain::add_to(&mut suite);
    suite.check();
}

#[test]
fn blocks_do_what_their_models_do() {
    let mut suite = Suite::default();
    records::add_to(&mut suite);
    connections::add_to(&mut suite);
    kernels::add_to(&mut suite);
    suite.check();
}
