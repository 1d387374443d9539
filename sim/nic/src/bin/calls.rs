//! One of two ranks of MPI whose handlers send each other messages: started by mpirun, for tests and `./dev bench calls`.

use anyhow::{Result, ensure};
use clap::Parser;
use spinneret_mpi_sys::Mpi;
use spinneret_nic::services::ranks::{Variant, WINDOW, run};
use std::process::ExitCode;

/// Handlers of two ranks send each other messages by MPI, each rank with its own simulated NIC.
#[derive(Debug, Parser)]
#[command(name = "calls")]
struct Arguments {
    /// How they go
    #[arg(long, value_enum, default_value = "plain")]
    variant: Variant,
    /// How many there are
    #[arg(long, default_value_t = 5000)]
    messages: u32,
    /// How many handlers have at a time
    #[arg(long, default_value_t = WINDOW, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
}

fn main() -> ExitCode {
    spinneret_table::failed(work().map(|()| ExitCode::SUCCESS))
}

fn work() -> Result<()> {
    let arguments = Arguments::parse();
    let mpi = Mpi::init()?;
    let size = mpi.world().size();
    ensure!(size == 2, "there are {size} ranks: start two, by `mpirun -n 2`");
    let report = mpi.or_abort(run(&mpi, arguments.variant, arguments.messages, arguments.window));
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}
