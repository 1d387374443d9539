//! A rank of a program of MPI, which has its own NIC.
//!
//! MPI itself is asked before time begins on the NIC only: who waits inside of MPI lets no simulated time pass, so another rank
//! that needs some of it would never come. Whatever ranks have to agree on later goes over their NICs.

mod communicator;

pub use communicator::Communicator;

use crate::layout::Layout;
use crate::library::{Buffer, Config, Copies, Error, From, Library, Request, To};
use spinneret_host::{Address, Device, Nic, OpenDevice, Program};
use spinneret_mpi_sys::Comm;
use std::time::Duration;

/// How long a rank answers others after it has nothing to do any more: several times what they wait before they say it again.
const LINGER: Duration = Duration::from_millis(5);
/// Between two looks meanwhile; nobody is in a hurry.
const LINGERING: Duration = Duration::from_micros(50);

/// The NIC of a rank, and the others that it can speak to.
#[derive(Debug)]
pub struct Rank<D: Device = OpenDevice> {
    library: Library<D>,
    /// Its own number in the communicator that it was opened with; ranks of the library are those.
    own: usize,
    /// The number in `MPI_COMM_WORLD` of each of them.
    world: Vec<usize>,
    /// How many communicators this rank has given a number.
    named: u32,
    /// Memory for what ranks say to agree on something.
    words: Buffer,
    patience: Duration,
}

impl Rank {
    /// Opens the NIC of this rank by its name, with the handlers of `runtime/examples/mpi_types`. All ranks of a communicator
    /// call it, each with a NIC of its own in one network.
    ///
    /// # Errors
    /// If there is no such NIC, that of another rank has no address, or there is no room for the library.
    pub fn open(name: &str, program: &Program, comm: &Comm, config: Config) -> Result<Self, Error> {
        let device = OpenDevice::open(name);
        // A rank that has failed takes part all the same, so that the others hear of it and do not wait.
        let address = device.as_ref().ok().and_then(Device::address);
        let all = comm.allgather(&octets(address))?;
        let device = device.map_err(|source| Error::Open(Box::new(source)))?;
        let (all, _) = all.as_chunks();
        let all = all.iter().enumerate();
        let addresses: Result<Vec<Address>, Error> = all
            .map(|(rank, octets)| address_of(*octets).ok_or(Error::OtherWithoutNic(rank)))
            .collect();
        let world = comm.world_ranks()?;
        Self::new(
            &Nic::new(device)?,
            program,
            &addresses?,
            (comm.rank(), world),
            config,
        )
    }
}

impl<D: Device> Rank<D> {
    /// A rank on a NIC that is open: its own number, and those of all ranks in `MPI_COMM_WORLD` in the order of their addresses.
    ///
    /// # Errors
    /// As [`Library::open`].
    pub fn new(
        nic: &Nic<D>,
        program: &Program,
        addresses: &[Address],
        (own, world): (usize, Vec<usize>),
        config: Config,
    ) -> Result<Self, Error> {
        let patience = config.patience;
        let mut library = Library::open(nic, program, addresses, config)?;
        Ok(Self {
            words: library.buffer(communicator::BYTES)?,
            library,
            own,
            world,
            named: 0,
            patience,
        })
    }

    /// Ends when all ranks have come as far, and stays for those whose last acknowledgement got lost.
    ///
    /// # Errors
    /// If one of them does not come.
    pub fn close(mut self) -> Result<(), Error> {
        let world = self.world();
        self.barrier(&world)?;
        let end = self.library.nic().now() + LINGER;
        while self.library.nic().now() < end {
            self.library.progress()?;
            self.library.nic().wait(LINGERING)?;
        }
        Ok(())
    }

    /// Buffers, requests and counters; ranks are those of the communicator that this one was opened with.
    pub fn library(&mut self) -> &mut Library<D> {
        &mut self.library
    }

    /// Prepares a receive, as [`Library::recv_init`] does, of elements at an origin in a buffer, from a rank of a communicator
    /// with a tag.
    ///
    /// # Errors
    /// As [`Library::recv_init`], or if the communicator has no such rank.
    pub fn recv_init(
        &mut self,
        (buffer, origin): (&Buffer, i64),
        layout: &Layout,
        (source, tag): (Option<usize>, Option<i32>),
        communicator: &Communicator,
        copies: Copies,
    ) -> Result<Request, Error> {
        let from = From {
            rank: source.map(|rank| communicator.rank(rank)).transpose()?,
            tag,
            communicator: communicator.number(),
        };
        self.library.recv_init(buffer, origin, layout, from, copies)
    }

    /// Prepares a send, as [`Library::send_init`] does, of elements at an origin in a buffer, to a rank of a communicator with a
    /// tag.
    ///
    /// # Errors
    /// As [`Library::send_init`], or if the communicator has no such rank.
    pub fn send_init(
        &mut self,
        (buffer, origin): (&Buffer, i64),
        layout: &Layout,
        (destination, tag): (usize, i32),
        communicator: &Communicator,
    ) -> Result<Request, Error> {
        let to = To {
            rank: communicator.rank(destination)?,
            tag,
            communicator: communicator.number(),
        };
        self.library.send_init(buffer, origin, layout, to)
    }
}

/// An address for the others; nothing but 0 if there is none.
fn octets(address: Option<Address>) -> [u8; 10] {
    let mut octets = [0; 10];
    if let Some(address) = address {
        octets[..6].copy_from_slice(&address.mac);
        octets[6..].copy_from_slice(&address.ip.octets());
    }
    octets
}

fn address_of(octets: [u8; 10]) -> Option<Address> {
    let [mac @ .., a, b, c, d] = octets;
    (octets != [0; 10]).then(|| Address {
        mac,
        ip: [a, b, c, d].into(),
    })
}
