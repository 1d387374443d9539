//! One of two ranks of MPI whose handlers send each other messages.

use anyhow::{Result, ensure};
use clap::Args;
use spinneret_mpi_sys::Mpi;
use spinneret_nic::services::ranks::{Variant, WINDOW, run};

/// Arguments of `calls`.
#[derive(Debug, Args)]
pub(crate) struct CallsArguments {
    /// How messages go
    #[arg(long, value_enum, default_value = "plain")]
    variant: Variant,
    /// Number of messages
    #[arg(long, default_value_t = 5000)]
    messages: u32,
    /// Messages that handlers have at a time
    #[arg(long, default_value_t = WINDOW, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
}

/// Runs this rank, and prints its report as JSON.
///
/// # Errors
/// If the simulation or MPI fails.
pub(crate) fn calls(arguments: &CallsArguments) -> Result<()> {
    let mpi = Mpi::init()?;
    let size = mpi.world().size();
    ensure!(size == 2, "there are {size} ranks: start two, by `mpirun -n 2`");
    let report = run(&mpi, arguments.variant, arguments.messages, arguments.window);
    println!("{}", serde_json::to_string(&mpi.or_abort(report))?);
    Ok(())
}
