//! Writes the SystemVerilog of spinneret; `gen-verilog --help` says how.

use clap::Parser as _;
use spinneret_gen::cli::{Arguments, Outcome, run};
use spinneret_gen::report::fail;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Differs) => ExitCode::from(1),
        Err(error) => fail(&error, format_args!("gen-verilog: {error}\n")),
    }
}
