//! What blocks do against what their text does in Icarus Verilog and Verilator.
//!
//! All blocks go into one test bench, because building a model with Verilator takes seconds.

mod connections;
mod kernels;
mod plain;
mod records;

use crate::support::Suite;

#[test]
fn blocks_do_the_same_in_rust_and_verilog() {
    let mut suite = Suite::default();
    plain::add_to(&mut suite);
    records::add_to(&mut suite);
    connections::add_to(&mut suite);
    kernels::add_to(&mut suite);
    suite.check();
}
