//! Places and routes generated blocks with nextpnr; `pnr --help` says how.

use clap::Parser as _;
use spinneret_gen::pnr::{Arguments, Outcome, run};
use spinneret_gen::report::fail;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::TooSlow) => ExitCode::from(1),
        Err(error) => fail(&error, format_args!("pnr: {error}\n")),
    }
}
