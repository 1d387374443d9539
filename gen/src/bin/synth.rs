//! Measures generated blocks with yosys; `synth --help` says how.

use clap::Parser as _;
use spinneret_gen::report::fail;
use spinneret_gen::synth::{Arguments, Outcome, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::TooDeep) => ExitCode::from(1),
        Err(error) => fail(&error, format_args!("synth: {error}\n")),
    }
}
