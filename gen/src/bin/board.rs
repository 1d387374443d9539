//! Builds the bitstream of a board with open tools; `board --help` says how.

use clap::Parser as _;
use spinneret_gen::board::open_tools::{Arguments, run};
use spinneret_gen::report::fail;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, format_args!("board: {error:#}\n")),
    }
}
