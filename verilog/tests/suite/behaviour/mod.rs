//! What blocks do in Rust against what their text does in Icarus Verilog and Verilator.
//!
//! All blocks go into one test bench, because building a model with Verilator takes seconds.

mod connections;
mod constructs;
mod kernels;
mod operators;
mod records;
mod structures;

use crate::support::Suite;

#[test]
fn blocks_do_the_same_in_rust_and_verilog() {
    let mut suite = Suite::default();
    operators::add_to(&mut suite);
    records::add_to(&mut suite);
    connections::add_to(&mut suite);
    constructs::add_to(&mut suite);
    structures::add_to(&mut suite);
    kernels::add_to(&mut suite);
    suite.check();
}
