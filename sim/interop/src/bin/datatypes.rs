//! `./dev interop datatypes`: the public handlers for MPI datatypes.

use clap::Parser as _;
use spinneret_interop::datatypes::{Arguments, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("datatypes: {error:#}");
            ExitCode::from(2)
        }
    }
}
