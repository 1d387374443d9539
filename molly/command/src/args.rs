//! The arguments of `molly`.

use crate::Failure;
use crate::programs::{Builtin, NicSetup, Setup, all, join};
use anyhow::anyhow;
use clap::{Args, Parser, Subcommand, ValueEnum};
use molly::{Columns, Error, Geometry, MOST_THREADS, Options, Pipeline};
use spinneret_host::Program;
use spinneret_manual::ManualArguments;
use spinneret_mpi_sys::Mpi;
use std::path::PathBuf;
use std::time::Duration;

/// Environment variable with the default of --geometry.
const VARIABLE: &str = "MOLLY_GEOMETRY";

/// Number of ranks without a launcher, by default.
const RANKS: usize = 4;

/// Affine loops over distributed fields: what a program becomes on a grid of ranks.
///
/// Programs: life5, life9, heat, wave, gauss-seidel, red-black, dslash, lu, product, transposition, five, relax. Under
/// mpirun, `check` and `run` use its processes as ranks, and threads of one process otherwise.
#[derive(Debug, Parser)]
#[command(name = "molly", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the messages, storage and order of a plan
    Plan(PlanArguments),
    /// Compare ranks with the serial program, bit by bit
    Check(CheckArguments),
    /// Run a program and report its time
    Run(RunArguments),
    /// Write manual pages and completions for shells
    #[command(hide = true)]
    Manual(ManualArguments),
}

/// A program with its numbers.
#[derive(Debug, Args)]
pub(crate) struct Asked {
    /// Size of the fields in each dimension, such as 1024 or 512x256 [default: by program]
    #[arg(long, value_name = "N[xN...]")]
    pub(crate) size: Option<String>,
    /// Iterations, for programs that have them
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(i64).range(0..=1_000_000))]
    pub(crate) steps: i64,
    /// Grid of ranks, such as 4, 2x2 or 2x2x2 [default: MOLLY_GEOMETRY, or as square as possible]
    #[arg(long, value_name = "RxR")]
    pub(crate) geometry: Option<String>,
    /// Do not overlap messages with work
    #[arg(long)]
    pub(crate) no_overlap: bool,
    /// Do not replace copies by swapped fields
    #[arg(long)]
    pub(crate) no_exchange: bool,
    /// Rows of an in-place sweep before the next rank starts: a number, `auto` or `off` [default: auto]
    #[arg(long, value_name = "ROWS", value_parser = rows)]
    pub(crate) pipeline: Option<Pipeline>,
    #[command(flatten)]
    pub(crate) columns: ColumnsArgument,
}

/// How messages are sent under MPI.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ColumnsArgument {
    /// Messages under MPI: copied to buffers, sent straight from fields by vector types wherever that is right, or so
    /// only if contiguous
    #[arg(long = "columns", value_name = "MODE", value_enum, default_value_t = ColumnsMode::Auto)]
    mode: ColumnsMode,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ColumnsMode {
    Packed,
    Vector,
    Auto,
}

impl ColumnsArgument {
    pub(crate) fn columns(self) -> Columns {
        match self.mode {
            ColumnsMode::Packed => Columns::Packed,
            ColumnsMode::Vector => Columns::Vector,
            ColumnsMode::Auto => Columns::Chosen,
        }
    }
}

/// NICs that put messages in place.
#[derive(Debug, Clone, Args)]
pub(crate) struct Nics {
    /// Under mpirun, send over the NICs DIR/nic0, DIR/nic1, ... of `spinneret fabric --sockets DIR`, one for each rank
    #[arg(long, value_name = "DIR", requires = "handlers")]
    pub(crate) nic: Option<PathBuf>,
    /// The handlers that put messages in place, mpi_types.elf
    #[arg(long, value_name = "ELF", requires = "nic")]
    pub(crate) handlers: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// Program
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) asked: Asked,
    /// Print the plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a picture of ranks and messages (SVG)
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Program [default: all]
    #[arg(conflicts_with = "random")]
    pub(crate) program: Option<String>,
    #[command(flatten)]
    pub(crate) asked: Asked,
    #[command(flatten)]
    pub(crate) nics: Nics,
    /// Number of random programs to check instead
    #[arg(long, value_name = "N", conflicts_with_all = ["size", "geometry", "nic"])]
    pub(crate) random: Option<u64>,
    /// Seed of the first random program
    #[arg(long, default_value_t = 0, requires = "random")]
    pub(crate) seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Program
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) asked: Asked,
    #[command(flatten)]
    pub(crate) nics: Nics,
    /// Minimum latency of messages between threads, in microseconds
    #[arg(long, value_name = "US", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub(crate) latency: u64,
    /// Number of runs; the time is their median without the first run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: u32,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Ranks of a plan: their messages are listed one by one.
const MOST_RANKS: usize = 1 << 16;

/// The size of a field in a dimension.
const MOST_SIZE: i64 = 1 << 30;

/// Elements of a field: the places of a message's elements are listed, which are many for the faces of a larger one.
const MOST_ELEMENTS: i128 = 1 << 34;

/// Rows after which the next rank can begin.
fn rows(text: &str) -> Result<Pipeline, String> {
    match text {
        "auto" => Ok(Pipeline::default()),
        "off" => Ok(Pipeline::Off),
        rows => rows.parse().map(Pipeline::Rows).map_err(|_| {
            format!(
                "give a number of rows from 1 to {}, `auto`, or `off` for a message whenever a value is needed",
                u32::MAX
            )
        }),
    }
}

/// The program of this name.
pub(crate) fn named(name: &str) -> Result<Builtin, Failure> {
    let builtin = all();
    let names: Vec<&str> = builtin.iter().map(|builtin| builtin.name).collect();
    let text = format!("there is no program `{name}`; there are {}", names.join(", "));
    let found = builtin.into_iter().find(|builtin| builtin.name == name);
    found.ok_or_else(|| Failure::Usage(anyhow!(text)))
}

impl Nics {
    /// The NICs that were asked for, with their handlers.
    pub(crate) fn setup(&self, mpi: Option<&Mpi>) -> Result<Option<NicSetup>, Failure> {
        let (Some(folder), Some(handlers)) = (&self.nic, &self.handlers) else {
            return Ok(None);
        };
        if mpi.is_none() {
            return Err(Failure::Usage(anyhow!(
                "--nic {}: each rank with a NIC is a process; start them by mpirun -n RANKS",
                folder.display()
            )));
        }
        let program = Program::open(handlers);
        let program = program.map_err(|error| Failure::usage(anyhow!("{}: {error}", handlers.display())))?;
        Ok(Some(NicSetup {
            folder: folder.clone(),
            program,
        }))
    }
}

impl Asked {
    /// The arguments with their defaults, for a run or only a plan.
    pub(crate) fn setup(
        &self,
        builtin: &Builtin,
        default: i64,
        mpi: Option<&Mpi>,
        is_run: bool,
    ) -> Result<Setup, Failure> {
        let ranks = mpi.map_or(RANKS, |mpi| mpi.world().size());
        let told = self.geometry.clone().or_else(|| std::env::var(VARIABLE).ok());
        let geometry = match told {
            Some(text) => Geometry::parse(&text),
            None => Geometry::square(ranks, builtin.dims.min(2)),
        };
        let geometry = geometry.map_err(Failure::usage)?;
        if is_run && mpi.is_none() && geometry.ranks() > MOST_THREADS {
            let limit = MOST_THREADS;
            return Err(Failure::usage(Error::Threads { geometry, limit }));
        }
        if geometry.ranks() > MOST_RANKS {
            return Err(Failure::Usage(anyhow!(
                "the grid {geometry} has {} ranks; plans are listed for at most {MOST_RANKS}",
                geometry.ranks()
            )));
        }
        Ok(Setup {
            shape: self.shape(builtin, default)?,
            steps: self.steps,
            geometry,
            options: Options {
                overlap: !self.no_overlap,
                exchange: !self.no_exchange,
                pipeline: self.pipeline.unwrap_or_default(),
                columns: self.columns.columns(),
                ..Options::default()
            },
            nics: None,
            latency: Duration::ZERO,
            repeats: 1,
        })
    }

    fn shape(&self, builtin: &Builtin, default: i64) -> Result<Vec<i64>, Failure> {
        let Some(text) = &self.size else {
            return Ok(vec![default; builtin.dims]);
        };
        let refuse = |why: String| Err(Failure::Usage(anyhow!("--size {text}: {why}")));
        let mut sizes = Vec::new();
        for part in text.split('x') {
            match part.parse::<i64>() {
                Ok(size) if (1..=MOST_SIZE).contains(&size) => sizes.push(size),
                _ => {
                    return refuse(format!(
                        "`{part}` is no size; give a number from 1 to {MOST_SIZE}"
                    ));
                }
            }
        }
        let shape = match sizes[..] {
            [size] => vec![size; builtin.dims],
            _ if sizes.len() == builtin.dims => sizes,
            _ => {
                return refuse(format!(
                    "{} has {} dimensions; give one size for all of them, or one for each, such as {}",
                    builtin.name,
                    builtin.dims,
                    vec!["64"; builtin.dims].join("x")
                ));
            }
        };
        let elements = shape
            .iter()
            .try_fold(1i128, |all, &size| all.checked_mul(size.into()));
        match elements {
            Some(elements) if elements <= MOST_ELEMENTS => Ok(shape),
            _ => refuse(format!(
                "a field of {} would have more than {MOST_ELEMENTS} elements; give smaller sizes",
                join(&shape)
            )),
        }
    }
}
