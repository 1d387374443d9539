//! `molly`: plans, checks and runs loop nests on a grid of ranks.

use args::{Arguments, Command};
use clap::{CommandFactory as _, Parser as _};
use spinneret_mpi_sys::{Mpi, launched};
use std::fmt;
use std::process::ExitCode;

mod args;
mod picture;
mod plan;
mod programs;
mod run;
mod view;

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    let is_launched = launched().is_some_and(|launcher| launcher.size > 1);
    let ended = match (is_launched, Mpi::init as fn() -> Result<Mpi, _>) {
        (false, _) => work(&command, None).map_err(|failure| (true, failure)),
        (true, init) => match init() {
            Err(error) => Err((true, Failure::usage(error))),
            Ok(mpi) => match work(&command, Some(&mpi)) {
                // Every rank finds this error on its own, so one of them reports it, before a launcher ends that one
                // because of another rank's exit code.
                Err(failure @ Failure::Usage(_)) => {
                    let world = mpi.world();
                    if world.rank() == 0 {
                        eprintln!("molly: {failure}");
                    }
                    // A rank that cannot wait for the others ends anyway.
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
        Command::Check(arguments) => run::check(arguments, mpi),
        Command::Run(arguments) => run::run(arguments, mpi),
        Command::Manual(arguments) => {
            spinneret_manual::write(&Arguments::command(), "molly", &arguments.share).map_err(Failure::work)
        }
    }
}

/// Why the command did not succeed, by exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The work could not begin as asked; nothing was written. Every rank finds this on its own.
    Usage(anyhow::Error),
    /// The work began and failed.
    Work(anyhow::Error),
}

impl Failure {
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::Usage(error.into())
    }

    pub(crate) fn work(error: impl Into<anyhow::Error>) -> Self {
        Self::Work(error.into())
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Work(_) => ExitCode::from(1),
        }
    }
}

/// Plans and grids are what was asked for; anything else goes wrong while it works.
impl From<molly::Error> for Failure {
    fn from(error: molly::Error) -> Self {
        match error {
            error if error.is_found_by_all() => Self::usage(error),
            _ => Self::work(error),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(error) | Self::Work(error) => write!(f, "{error}"),
        }
    }
}

/// A table of figures after two columns of words; 80 columns wide if the output is no terminal.
pub(crate) fn narrow<const N: usize>(headings: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = spinneret_table::figures(headings, &[0, 1]);
    if table.width().is_none() {
        table.set_width(80);
    }
    rows.for_each(|row| {
        table.add_row(row);
    });
    format!("{table}\n")
}

/// Ranks, or how many they are.
pub(crate) fn ranks(ranks: &[usize]) -> String {
    match ranks {
        few @ ([_] | [_, _]) => few.iter().map(usize::to_string).collect::<Vec<_>>().join(","),
        many => format!("{} ranks", many.len()),
    }
}
