//! `spinneret-mpi-check`: whether the MPI of this machine does what spinneret expects of it.
//!
//! `mpirun -n 4 spinneret-mpi-check` runs all checks, and prints a line for each; with names, those. It also can do what a
//! program should not, by name, for the tests of how that ends.

mod attach;
mod collective;
mod messages;
mod random;
mod trouble;

use random::Random;
use spinneret_mpi_sys::{Error, Mpi};
use std::env;
use std::fmt::Display;
use std::process::ExitCode;

/// What is wrong, in a sentence.
type Failure = String;

/// A check, by its name.
type Check = (&'static str, fn(&Mpi) -> Result<(), Failure>);

const CHECKS: &[Check] = &[
    ("start", start),
    ("collective", collective::check),
    ("messages", messages::check),
    ("requests", messages::requests),
    ("persistent", messages::persistent),
    ("errors", trouble::errors),
];

/// Says what failed, in one piece: launchers put pieces of several ranks into one line.
fn failed(what: &dyn Display) -> ExitCode {
    let line = format!("spinneret-mpi-check: {what}\n");
    eprint!("{line}");
    ExitCode::FAILURE
}

fn main() -> ExitCode {
    let names: Vec<String> = env::args().skip(1).collect();
    if names == ["attach"] {
        return match attach::run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failed(&failure),
        };
    }
    let mpi = match Mpi::init() {
        Ok(mpi) => mpi,
        Err(error) => return failed(&error),
    };
    if let [name] = &names[..]
        && let Some((_, misbehave)) = trouble::MISBEHAVIOUR.iter().find(|(known, _)| known == name)
    {
        misbehave(&mpi);
        return ExitCode::SUCCESS;
    }
    if let Some(name) = names
        .iter()
        .find(|name| !CHECKS.iter().any(|(known, _)| known == name))
    {
        let known: Vec<&str> = CHECKS.iter().map(|(known, _)| *known).collect();
        mpi.or_abort(Err::<(), _>(format!(
            "there is no check {name}; there are {}",
            known.join(", ")
        )));
    }
    for (name, check) in CHECKS {
        if names.is_empty() || names.iter().any(|asked| asked == name) {
            let checked = check(&mpi).map_err(|failure| format!("the check {name} failed: {failure}"));
            mpi.or_abort(checked);
            if mpi.world().rank() == 0 {
                println!("{name}: ok");
            }
        }
    }
    ExitCode::SUCCESS
}

/// What is said before anything is sent.
fn start(mpi: &Mpi) -> Result<(), Failure> {
    let version = mpi.version().map_err(text)?;
    if mpi.world().rank() == 0 {
        println!(
            "{} ranks, MPI {}.{}: {}",
            mpi.world().size(),
            version.standard.0,
            version.standard.1,
            version.library
        );
    }
    expect("the size of a rank alone", mpi.alone().size(), 1)?;
    let again = Mpi::init().err().map(|error| error.to_string());
    expect("a second start", again, Some(Error::Again.to_string()))
}

fn text(error: Error) -> Failure {
    error.to_string()
}

/// Fails if what was found is not what was expected.
fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let mut words = format!("{what}: found {found:?}, expected {expected:?}");
    // Long areas are not worth printing whole.
    if let Some((cut, _)) = words.char_indices().nth(400) {
        words.replace_range(cut.., " ...");
    }
    Err(words)
}
