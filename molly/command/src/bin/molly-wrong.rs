//! Faulty programs under MPI. `tests/wrong.rs` compares their messages and exit codes.

use molly::mpi::{Mpi, exit_code, ranks};
use molly::programs::{five, transposition};
use molly::{Error, Field, Geometry, Options, Rank, Result};
use std::process::ExitCode;
use std::time::Duration;

/// How long a rank waits for others: far longer than MPI needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let case = std::env::args().nth(1).unwrap_or_default();
    let mpi = match Mpi::init() {
        Ok(mpi) => mpi,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let grid = std::env::var("MOLLY_GEOMETRY").unwrap_or("2".to_owned());
    let result = Geometry::parse(&grid)
        .map_err(Error::Plan)
        .and_then(|geometry| ranks(&mpi, &geometry, PATIENCE, |rank| wrong(&case, rank)));
    exit_code(&mpi, result)
}

fn wrong(case: &str, rank: &mut Rank) -> Result<()> {
    match case {
        "an element that is not there" => {
            let (mut from, mut to) = (rank.field([4, 3], |_| 1.0), rank.field([4, 4], |_| 0.0));
            transposition::run(rank, &mut from, &mut to)?;
        }
        "a field of nobody" => {
            let (mut from, mut to) = (Field::new([4, 4], |_| 1.0), rank.field([4, 4], |_| 0.0));
            transposition::run(rank, &mut from, &mut to)?;
        }
        "a limit" => {
            rank.set_options(Options {
                operations: 1000,
                ..Options::default()
            });
            let (mut now, mut next) = (rank.field([16; 2], |_| 1.0), rank.field([16; 2], |_| 0.0));
            five::run(rank, &mut now, &mut next, 2)?;
        }
        "another call" => {
            let (mut now, mut next) = (rank.field([16; 2], |_| 1.0), rank.field([16; 2], |_| 0.0));
            match rank.rank() {
                0 => {
                    rank.gather(&now)?;
                }
                _ => {
                    five::run(rank, &mut now, &mut next, 2)?;
                }
            }
        }
        // As right as a program can be, with ranks that own nothing.
        _ => {
            let (mut from, mut to) = (rank.field([1, 3], |_| 1.0), rank.field([3, 1], |_| 0.0));
            transposition::run(rank, &mut from, &mut to)?;
        }
    }
    Ok(())
}
