//! Molly's ranks, each with a NIC of its own: handlers put values from other ranks into their place in fields.
//!
//! ```text
//! rank that sends                          rank that receives
//!   pack into a buffer                       no row accesses the ghost cells any more: Placing::expect
//!   start: announcement  ----------------->    a persistent receive whose layout is the plan's runs is started
//!   <------------------------------- grant     by the library, which arms a slot of the NIC
//!   segments of SLMP  ====================>    handlers put each run into the field's storage
//!                                            Placing::placed: polls the message's word in host memory
//! ```
//!
//! Fields live in host memory of the library's context ([`Library::pointer`](spinneret_mpi::Library::pointer)), so the
//! host copies nothing. The grant is the credit without which a message does not come.
//! [`Plan::lifetimes`](molly::Plan::lifetimes) determines when a rank gives it.

#![deny(unsafe_code)]

use crate::lines::{HPUS, segment_bytes};
use molly::model::Run;
use molly::{Error, Field, Geometry, Result, Storage as _};
use spinneret_host::{Device, Program};
use spinneret_mpi::library::{self, Config};
use spinneret_mpi_sys::Mpi;
use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::{Duration, Instant};
use transport::Nics;

mod lines;
mod transport;

/// Timing of a rank's host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// How long it waits for other ranks at most.
    pub patience: Duration,
    /// Time of an instance of a body on a simulated NIC's clock; on a card real time passes.
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

/// The result of a rank, and the work of its NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended<R> {
    /// The result of the program.
    pub result: R,
    /// The NIC's work for it.
    pub placed: Placed,
}

/// The work of a NIC for its rank.
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
        // The values there stay readable: the memory is never freed.
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

// The cost of receiving the messages of a channel.

/// Clocks of an HPU for a packet without its runs, and for each run; measured on the simulated NIC (docs/host/mpi.md).
const PACKET_CLOCKS: f64 = 400.0;
const RUN_CLOCKS: f64 = 30.0;
/// Clocks of the cluster in a microsecond.
const CLOCKS_A_US: f64 = 40.0;
/// Time of a message without the work of HPUs: from its announcement to the word that reports its arrival, on an idle
/// NIC in a fabric of 500 ns. The rest of the step times of Game of Life in docs/results/software.md.
const MESSAGE_US: f64 = 45.0;
/// The host's time for a message that its NIC puts in place: it reads the frame of the announcement and the message's
/// word, and writes two words to the NIC, of 100 ns each as stated in docs/results/README.md.
const HOST_US: f64 = 0.4;

/// How long a host's copy is measured, and how many elements it has at most.
const MEASURING: Duration = Duration::from_millis(2);
const MOST_BYTES: usize = 1 << 24;

/// The cost of receiving a message, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halo {
    /// Bytes of neighbouring elements.
    pub run_bytes: f64,
    /// The host, measured here.
    pub host_us: f64,
    /// The NIC, computed from what was measured on the simulated one.
    pub nic_us: f64,
    /// Time that the host saves if its NIC receives the message; negative if the host has more to do then.
    pub freed_us: f64,
    /// The better receiver.
    pub by: By,
}

/// The receiver of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The host copies.
    Host,
    /// Its NIC puts them in place.
    Nic,
}

impl By {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Nic => "NIC",
        }
    }
}

impl Halo {
    /// The cost of messages of `bytes` bytes in `pieces` pieces; a row of their field has `row_bytes`.
    pub fn of(bytes: usize, pieces: usize, row_bytes: usize) -> Self {
        let pieces = pieces.max(1);
        let host_us = host_us(bytes / pieces, pieces, row_bytes);
        let packets = bytes.div_ceil(segment_bytes(bytes, pieces)).max(1);
        // A packet that ends within a run makes two of it.
        let runs = pieces.max(packets) as f64 / packets as f64;
        let clocks = packets.div_ceil(HPUS) as f64 * (PACKET_CLOCKS + runs * RUN_CLOCKS);
        let freed_us = host_us - HOST_US;
        Self {
            run_bytes: bytes as f64 / pieces as f64,
            host_us,
            nic_us: MESSAGE_US + clocks / CLOCKS_A_US,
            freed_us,
            by: if freed_us > 0.0 { By::Nic } else { By::Host },
        }
    }
}

/// How long this machine takes to copy a message out of its buffer to pieces in different rows.
fn host_us(run_bytes: usize, pieces: usize, row_bytes: usize) -> f64 {
    // A run of `MOST_BYTES` stands for longer ones.
    let (whole, run_bytes) = (run_bytes.max(1), run_bytes.clamp(1, MOST_BYTES));
    let row = row_bytes.clamp(run_bytes, MOST_BYTES);
    let rows = pieces.clamp(1, (MOST_BYTES / row).max(1));
    let mut field = Field::new([rows as i64, row as i64], |_| 0_u8);
    let run = |row: usize| Run {
        first: vec![row as i64, 0],
        step: 1,
        count: run_bytes as i64,
    };
    let runs: Vec<Run> = (0..rows).map(run).collect();
    let message = vec![1_u8; rows * run_bytes];
    let strides = field.strides(&runs);
    let (begun, mut times) = (Instant::now(), Vec::new());
    while times.len() < 3 || begun.elapsed() < MEASURING {
        let start = Instant::now();
        field.unpack(&strides, black_box(&message));
        times.push(start.elapsed());
    }
    times.sort_unstable();
    // A field that would be too large stands for one of as many rows.
    let each_us = times[times.len() / 2].as_secs_f64() * 1e6 / rows as f64;
    each_us * pieces as f64 * (whole as f64 / run_bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::{By, Halo};

    #[test]
    fn nic_is_chosen_if_it_saves_host_time() {
        let (column, corner) = (Halo::of(16384, 4096, 16384), Halo::of(1, 1, 256));
        assert_eq!((column.run_bytes, column.by), (4.0, By::Nic));
        assert_eq!(corner.by, By::Host);
        // A run that is longer than the longest measured one takes proportionally longer, and no memory.
        let huge = Halo::of(1 << 40, 1, 1 << 50);
        assert!(huge.host_us > 1e4 * Halo::of(1 << 24, 1, 1 << 24).host_us / 2.0);
        assert!(corner.freed_us < 0.0 && corner.nic_us > corner.host_us);
        // Each of 8 HPUs has 512 runs.
        assert!(column.nic_us > 512.0 * 30.0 / 40.0);
    }
}
