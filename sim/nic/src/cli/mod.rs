//! The `spinneret` command.
//!
//! Exit codes: 0 success; 1 the work began and failed (a damaged capture, handlers that failed, hardware that disagrees
//! with its model); 2 the work could not begin as asked (arguments, rule files, missing or foreign captures, outputs
//! that cannot be created); 130 Ctrl-C before it began. Nothing is written in the last two cases.

pub mod match_cmd;
mod new_cmd;
pub mod send_cmd;

pub use match_cmd::{Report, RuleSetReport};

use crate::fabric::FabricArguments;
use crate::run::{ReceiveArguments, RunArguments, ServeArguments};
use crate::terminal::{Failure, tell_failure};
use anyhow::anyhow;
use clap::{CommandFactory as _, Parser, Subcommand};
use spinneret_manual::ManualArguments;
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  the work began and failed: a damaged capture, an impossible packet, hardware that disagrees with its model,
     handlers that failed or were refused something (unless --allow-faults is given)
  2  the work could not begin as asked: arguments, rule file, capture or outputs; nothing was written
  130  Ctrl-C before the work began, where nothing was written, or a second Ctrl-C";

/// Models are the slow part of a run, so people who compare speeds have to know their compiler.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nmodels of the hardware compiled by ",
    env!("SPINNERET_MODEL_COMPILER")
);

/// spinneret's tools: the hardware of an open sPIN network card, simulated on real packets.
#[derive(Debug, Parser)]
#[command(name = "spinneret", version, long_version = LONG_VERSION, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sort the packets of a capture by the rules of a file, as the matching engine does
    Match(match_cmd::MatchArguments),
    /// Run handlers on the NIC, with packets from a capture, made up, or from Linux
    Run(Box<RunArguments>),
    /// Offer a NIC to programs in other processes, through a Unix socket
    Serve(Box<ServeArguments>),
    /// Connect many NICs by cables and switches, each for a program of its own
    Fabric(Box<FabricArguments>),
    /// Send a file to an SLMP receiver, over this machine's network
    Send(send_cmd::SendArguments),
    /// Receive files through SLMP, by handlers on the NIC or at a UDP port
    Receive(Box<ReceiveArguments>),
    /// Make a folder with a handler that runs, rules, a Makefile and a test
    New(new_cmd::NewArguments),
    /// Print where the headers, the linker script and the examples of handlers are
    Where,
    /// Write manual pages and completions for shells
    #[command(hide = true)]
    Manual(ManualArguments),
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Match(arguments) => match_cmd::run(arguments),
        Command::Run(arguments) => crate::run::run(arguments),
        Command::Serve(arguments) => crate::run::serve(arguments),
        Command::Fabric(arguments) => crate::fabric::fabric(arguments),
        Command::Send(arguments) => send_cmd::run(arguments),
        Command::Receive(arguments) => crate::run::receive(arguments),
        Command::New(arguments) => new_cmd::run(arguments),
        Command::Where => new_cmd::tell_where(),
        Command::Manual(arguments) => {
            spinneret_manual::write(&Arguments::command(), "spinneret", &arguments.share)
                .map_err(|error| Failure::Work(anyhow!("{error}")))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            tell_failure(&failure);
            failure.exit_code()
        }
    }
}
