//! Molly's ranks, each with a NIC of its own: handlers put what comes from other ranks into its place in fields.
//!
//! ```text
//! rank that sends                          rank that receives
//!   pack into a buffer                       nobody looks at the ghost cells any more: Placing::expect
//!   start: announcement  ----------------->    a persistent receive whose layout is the plan's runs is started
//!   <------------------------------- grant     by the library, which arms a slot of the NIC
//!   segments of SLMP  ====================>    handlers put each run into the field's storage
//!                                            Placing::placed: polls the message's word in host memory
//! ```
//!
//! Fields live in host memory of the library's context ([`Library::pointer`](spinneret_mpi::Library::pointer)), so the
//! host copies nothing. The grant is the credit without which a message does not come; when it is given is what
//! [`Plan::lifetimes`](molly::Plan::lifetimes) found out.

#![deny(unsafe_code)]

mod halo;
mod lines;
mod memory;
mod transport;

pub use halo::{By, Halo};
use molly::{Error, Geometry, Result};
use spinneret_host::{Device, Program};
use spinneret_mpi::library::{self, Config};
use spinneret_mpi_sys::Mpi;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use transport::Nics;

/// What a rank's host does beside its NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// How long it waits for other ranks at most.
    pub patience: Duration,
    /// How long an instance of a body takes on a simulated NIC's clock; on a card time passes by itself.
    pub instance: Duration,
}

impl Default for Host {
    /// Ten seconds, and work that takes no simulated time.
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(10),
            instance: Duration::ZERO,
        }
    }
}

/// What a rank gave, and what its NIC did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended<R> {
    /// What the program gave.
    pub result: R,
    /// What the NIC did for it.
    pub placed: Placed,
}

/// What a NIC did for its rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Placed {
    /// Messages that were put into their place in fields,
    pub messages: u64,
    /// and their bytes.
    pub bytes: u64,
    /// Those of these messages that the host has put there, as their runs did not fit the NIC.
    pub unpacked: u64,
    /// Time on the NIC's clock that the rank has waited for messages,
    pub waited: Duration,
    /// and from its start to its end.
    pub time: Duration,
}

/// Runs this process's rank of a grid, with the NIC of this name and the handlers of `runtime/examples/mpi_types`. All
/// processes that MPI has started call it, each with a NIC of its own in one network.
///
/// # Errors
/// [`Error::Ranks`] on all ranks, before anything is sent, if the grid has another number of ranks; if a rank cannot have its
/// NIC; else what `each` gives, or [`Error::Transport`] if a field outlives its rank.
pub fn ranks<R>(
    mpi: &Mpi,
    geometry: &Geometry,
    (name, program): (&str, &Program),
    config: Config,
    each: impl FnOnce(&mut molly::Rank) -> Result<R>,
) -> Result<Ended<R>> {
    let world = mpi.world();
    check(geometry, world.size())?;
    let host = Host {
        patience: config.patience,
        ..Host::default()
    };
    let rank = spinneret_mpi::Rank::open(name, program, &world, config);
    run(
        rank.map_err(|error| failed(world.rank(), &error))?,
        geometry,
        host,
        each,
    )
}

/// Runs a rank of a grid whose NIC is open, until all ranks have ended.
///
/// # Errors
/// As [`ranks`].
pub fn run<D: Device + 'static, R>(
    rank: spinneret_mpi::Rank<D>,
    geometry: &Geometry,
    host: Host,
    each: impl FnOnce(&mut molly::Rank) -> Result<R>,
) -> Result<Ended<R>> {
    let world = rank.world();
    let number = world.own();
    check(geometry, world.size())?;
    let shared = Rc::new(RefCell::new(rank));
    let begun = shared.borrow_mut().library().nic().now();
    let transport = Nics::new(Rc::clone(&shared), number, host);
    let (lent, placed) = (transport.lent(), transport.counts());
    let mut molly_rank = molly::Rank::over(Box::new(transport), number, geometry.clone());
    let result = each(&mut molly_rank);
    drop(molly_rank);
    if lent.is_in_use() {
        // What is stored there stays readable: the memory is never given back.
        std::mem::forget(shared);
        return Err(Error::Transport {
            rank: number,
            what: "a field outlives its rank, whose NIC has the memory: return `Field::owned` or `Rank::gather` of it"
                .to_owned(),
        });
    }
    let result = result?;
    let mut placed = placed.get();
    let rank = Rc::into_inner(shared).map(RefCell::into_inner);
    if let Some(mut rank) = rank {
        placed.time = rank.library().nic().now().saturating_sub(begun);
        placed.unpacked = rank.library().counts().unpacked;
        rank.close().map_err(|error| failed(number, &error))?;
    }
    Ok(Ended { result, placed })
}

fn check(geometry: &Geometry, started: usize) -> Result<()> {
    let wanted = geometry.ranks();
    match wanted == started {
        true => Ok(()),
        false => Err(Error::Ranks {
            geometry: geometry.clone(),
            wanted,
            started,
        }),
    }
}

fn failed(rank: usize, error: &library::Error) -> Error {
    Error::Transport {
        rank,
        what: error.to_string(),
    }
}
