//! Builds the bitstream of a board with open tools; `board --help` says how.

use clap::Parser as _;
use spinneret_gen::board::build::{Arguments, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("board: {error:#}");
            ExitCode::from(2)
        }
    }
}
