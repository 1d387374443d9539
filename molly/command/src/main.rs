//! `molly`: what a loop nest becomes on a grid of ranks, whether that is right, and how fast it is.

mod args;
mod check;
mod failure;
mod halos;
mod known;
mod picture;
mod plan;
mod run;
mod setup;
mod shown;
mod ways;
mod words;

use args::{Arguments, Command};
use clap::{CommandFactory as _, Parser as _};
use failure::Failure;
use spinneret_mpi_sys::{Mpi, launched};
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    let is_launched = launched().is_some_and(|launcher| launcher.size > 1);
    let ended = match (is_launched, Mpi::init as fn() -> Result<Mpi, _>) {
        (false, _) => work(&command, None).map_err(|failure| (true, failure)),
        (true, init) => match init() {
            Err(error) => Err((true, Failure::usage(error))),
            Ok(mpi) => match work(&command, Some(&mpi)) {
                // All ranks come to this by themselves, so one of them says it, before a launcher ends it for another's
                // code.
                Err(failure @ Failure::Usage(_)) => {
                    let world = mpi.world();
                    if world.rank() == 0 {
                        eprintln!("molly: {failure}");
                    }
                    // Whoever cannot wait for the others ends all the same.
                    let _ = world.barrier();
                    Err((false, failure))
                }
                // The others would wait for this one.
                other => {
                    mpi.or_abort(other);
                    Ok(())
                }
            },
        },
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err((speaks, failure)) => {
            if speaks {
                eprintln!("molly: {failure}");
            }
            failure.exit_code()
        }
    }
}

fn work(command: &Command, mpi: Option<&Mpi>) -> Result<(), Failure> {
    match command {
        Command::Plan(arguments) => plan::plan(arguments, mpi),
        Command::Check(arguments) => check::check(arguments, mpi),
        Command::Run(arguments) => run::run(arguments, mpi),
        Command::Manual(arguments) => {
            spinneret_manual::write(&Arguments::command(), "molly", &arguments.share).map_err(Failure::work)
        }
    }
}
