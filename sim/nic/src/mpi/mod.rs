//! Messages of MPI's datatypes between two ranks, each with its NIC, in one fabric of this process, and what the
//! receiving host may do meanwhile.
//!
//! ```text
//! ranks: a library on each NIC
//!    |
//! types ----> exchange: buffers, every byte compared <---- tests, `./dev experiments`, `./dev bench mpi`
//! priced: what the host does takes time
//!    +------> overlap: {multiply, look} while messages come, by the paper's rule
//! ```

mod exchange;
mod overlap;
mod priced;
mod types;

pub use exchange::{Exchange, Exchanged, FILL, GUARD, LIMIT, exchange, room};
pub use overlap::{Alone, Multiplication, Overlapped, Trial, overlap};
pub use priced::{HostAccesses, HostLatencies, LatencyModel};
pub use types::{Constructor, PaperType, Step, blocks, bytes, hindexed, hvector};

use crate::device::Simulated;
use crate::fabric::{Hosted, run_programs};
use crate::installed::{DataError, example};
use crate::nic::NicConfig;
use crate::run;
use crate::run::BuildError;
use spinneret_cluster::{Program, ProgramError};
use spinneret_fabric::topology::{Simple, ip_of, mac_of};
use spinneret_fabric::{FabricError, Faults, NodeExit, Settings, TopologyError};
use spinneret_host::{Address, Nic};
use spinneret_mpi::LayoutError;
use spinneret_mpi::library::{Config, Library};

/// A rank of MPI.
pub type Rank = Library<LatencyModel<Simulated>>;

/// A program of a rank, on its NIC.
pub type Work<'p> = Box<dyn FnOnce(&Simulated) -> Result<(), ExchangeError> + Send + 'p>;

/// Why messages did not come as they should.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The library.
    #[error(transparent)]
    Mpi(#[from] spinneret_mpi::library::Error),
    /// The NIC.
    #[error(transparent)]
    Host(#[from] spinneret_host::Error),
    /// A type.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The handlers are not there.
    #[error(transparent)]
    Data(#[from] DataError),
    /// They cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Their program cannot be read.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// There is no such cable.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The simulation.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Something else came, or nothing.
    #[error("{0}")]
    Wrong(String),
}

/// The handlers.
///
/// # Errors
/// If they cannot be built.
pub fn program() -> Result<Program, ExchangeError> {
    let elf = run::program(&example("mpi_types")?, NicConfig::default().cluster.clusters)?;
    Ok(Program::open(&elf)?)
}

/// A library on a NIC of a fabric of so many.
///
/// # Errors
/// If it cannot be opened.
pub fn rank_on(
    nic: &Simulated,
    program: &Program,
    ranks: usize,
    config: Config,
) -> Result<Rank, ExchangeError> {
    let address = |number| Address {
        mac: mac_of(number),
        ip: ip_of(number),
    };
    let ranks: Vec<Address> = (0..ranks).map(address).collect();
    let nic = Nic::new(LatencyModel::new(nic.clone()))?;
    Ok(Library::open(&nic, program, &ranks, config)?)
}

/// Runs a program on each NIC, so many NICs at once.
///
/// # Errors
/// If one of them fails.
pub fn ranks(
    faults: Faults,
    seed: u64,
    threads: usize,
    programs: Vec<Work<'_>>,
) -> Result<(), ExchangeError> {
    let topology = Simple {
        nics: programs.len(),
        faults,
        seed,
        ..Simple::default()
    };
    let programs = programs.into_iter().map(|program| {
        Box::new(move |nic: &Simulated| {
            // Who is stopped by another's end has not failed.
            program(nic).map_err(|error| match nic.borrow().is_stopped() {
                true => NodeExit::Stopped(spinneret_fabric::Stopped),
                false => NodeExit::Failed(error.to_string()),
            })
        }) as Hosted<'_>
    });
    let settings = Settings {
        threads,
        ..Settings::default()
    };
    run_programs(
        &topology.topology()?,
        &NicConfig::default(),
        settings,
        programs.collect(),
    )?;
    Ok(())
}
