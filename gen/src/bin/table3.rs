//! Prints the paper's Table III of a board; `table3 --help` says how.

use clap::Parser as _;
use spinneret_gen::report::fail;
use spinneret_gen::table3::{Arguments, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, format_args!("table3: {error:#}\n")),
    }
}
