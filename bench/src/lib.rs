//! Benches of whole programs, and the paper's experiments.
//!
//! ```text
//! ./dev bench NAME ---> nic, cluster, laptop, fabric, pci, serve, mpi, rpc ---> spinneret_table::bench: medians, bars, JSON
//! ./dev experiments ---> experiments: figure7 ... figure10 ---> CSV, pictures
//! ```
//!
//! A bench contains its subject only. Benches of single blocks, which count cycles, are in `tb/`; Molly's is in
//! `molly/command/`.

mod cluster;
pub mod experiments;
mod fabric;
mod figure1;
mod harness;
mod laptop;
mod mpi;
mod nic;
mod pass;
mod pci;
mod rpc;
mod serve;
pub mod transfer;

use anyhow::Result;
use clap::{Parser, Subcommand};
use spinneret_table::bench::Figures;
use std::process::ExitCode;

/// Measures whole programs of spinneret, and reproduces the paper's experiments.
///
/// Benches print tables and write their figures as JSON. The exit code is 1 if a figure misses its bar.
#[derive(Debug, Parser)]
#[command(
    name = "bench",
    after_help = "Also by `./dev bench`: match, ingress, egress, hostdma, limiter, app (cycles of blocks), molly"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Speed of the simulation of one NIC under load
    Nic(Figures<nic::Arguments>),
    /// Latency, handler times and rates of spinneret's own clusters, as RTL at 250 MHz
    Cluster(Figures<cluster::Arguments>),
    /// Pings, round trips, full load and simulation speed of one NIC, compared with the paper and Icarus
    Laptop(Figures<laptop::Arguments>),
    /// Speed of many simulated NICs on threads and on ranks of MPI, and a token on a ring
    Fabric(Figures<fabric::Arguments>),
    /// Round trips of a client of `spinneret serve --pci`
    Pci(Figures<pci::Arguments>),
    /// Effect of a client that floods `spinneret serve` on other clients
    Serve(Figures<serve::Arguments>),
    /// Throughput and overlap of messages of MPI's datatypes, in simulated time
    Mpi(Figures<mpi::Arguments>),
    /// Cost of calls from handlers to the host
    Rpc(Figures<rpc::Arguments>),
    /// The paper's Figures 7 to 10 as tables, CSV and SVG
    Experiments(experiments::Arguments),
    /// One of two MPI ranks whose handlers exchange messages; `mpirun -n 2` starts both
    Calls(rpc::CallsArguments),
    /// A token on a ring of N NICs in this process
    #[command(hide = true)]
    Ring {
        /// NICs on the ring
        nics: usize,
    },
}

/// Runs the command.
pub fn main() -> ExitCode {
    spinneret_table::failed(run(Arguments::parse().command))
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Nic(bench) => bench.measure("nic", nic::run),
        Command::Cluster(bench) => bench.measure("cluster", cluster::run),
        Command::Laptop(bench) => bench.measure("laptop", laptop::run),
        Command::Fabric(bench) => bench.measure("fabric", fabric::run),
        Command::Pci(bench) => bench.measure("pci", pci::run),
        Command::Serve(bench) => bench.measure("serve", serve::run),
        Command::Mpi(bench) => bench.measure("mpi", mpi::run),
        Command::Rpc(bench) => bench.measure("rpc", rpc::run),
        Command::Experiments(arguments) => experiments::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Calls(arguments) => rpc::calls(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Ring { nics } => fabric::ring(nics).map(|()| ExitCode::SUCCESS),
    }
}
