//! A rank of a program of MPI, which has its own NIC.
//!
//! Ranks call MPI itself only before time begins on the NIC. A rank that waits inside MPI lets no simulated time pass,
//! so another rank that needs some of it would never arrive. Later, ranks agree on everything over their NICs.

use crate::layout::Layout;
use crate::library::{Buffer, Config, Copies, Error, From, Library, NOBODY, Request, To};
use spinneret_host::{Address, Device, Nic, OpenDevice, Program};
use spinneret_mpi_sys::Comm;
use std::time::Duration;

/// How long a rank answers others after it has nothing to do any more: several times what they wait before they say it again.
const LINGER: Duration = Duration::from_millis(5);
/// Interval between two polls meanwhile.
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
        // A rank that has failed takes part all the same, so that the others learn of it and do not wait.
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
            words: library.buffer(BYTES)?,
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

// Communicators, as ranks of the library and a number that only their messages have.

/// A communicator of MPI whose ranks all have a NIC here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communicator {
    number: u32,
    /// This rank in it.
    own: usize,
    /// Its ranks, as those of the library.
    ranks: Vec<usize>,
}

impl Communicator {
    /// The number that distinguishes its messages from others.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many ranks it has.
    pub fn size(&self) -> usize {
        self.ranks.len()
    }

    /// This rank in it.
    pub fn own(&self) -> usize {
        self.own
    }

    /// Translates a rank of it to one of the library; [`NOBODY`] stays.
    ///
    /// # Errors
    /// If it has no such rank.
    pub fn rank(&self, rank: usize) -> Result<usize, Error> {
        let ranks = self.ranks.len();
        let found = self
            .ranks
            .get(rank)
            .copied()
            .or((rank == NOBODY).then_some(NOBODY));
        found.ok_or(Error::NoRank { rank, ranks })
    }

    /// Translates a rank of the library to one of it.
    pub fn find(&self, of_library: usize) -> Option<usize> {
        self.ranks.iter().position(|rank| *rank == of_library)
    }
}

impl<D: Device> Rank<D> {
    /// The communicator that this rank was opened with.
    pub fn world(&self) -> Communicator {
        Communicator {
            number: 0,
            own: self.own,
            ranks: (0..self.world.len()).collect(),
        }
    }

    /// Another communicator, of some of these ranks. All of its ranks call this, those that call it for several in the same
    /// order. Its first rank tells the others a number, over their NICs.
    ///
    /// # Errors
    /// If one of its ranks has no NIC here, or does not come.
    pub fn communicator(&mut self, comm: &Comm) -> Result<Communicator, Error> {
        let here = |rank: usize| {
            let found = self.world.iter().position(|world| *world == rank);
            found.ok_or(Error::NotHere { world_rank: rank })
        };
        let ranks: Result<Vec<usize>, Error> = comm.world_ranks()?.into_iter().map(here).collect();
        let (ranks, own) = (ranks?, comm.rank());
        let number = match ranks.split_first() {
            Some((_, others)) if own == 0 => {
                self.named += 1;
                // No other rank gives the same.
                let number = (self.own as u32 + 1) << 16 | self.named & 0xffff;
                others.iter().try_for_each(|other| self.tell(*other, number))?;
                number
            }
            Some((first, _)) => self.hear(*first)?,
            None => 0,
        };
        Ok(Communicator { number, own, ranks })
    }
}

// Messages of one word by which ranks agree on something, sent like all other messages.

/// Tag of these messages; those of programs are not negative.
const TAG: i32 = -1;
/// The communicator number of messages about communicators.
const NAMING: u32 = u32::MAX;
/// Where the word lies that comes, in another line than the one that goes.
const COMES: u32 = 64;
/// Bytes of a word.
const WORD: u32 = 4;
/// Bytes of memory for it.
const BYTES: u32 = COMES + WORD;

impl<D: Device> Rank<D> {
    /// Ends when all ranks of a communicator have begun it, which takes as many rounds as their number has bits.
    ///
    /// # Errors
    /// If one of them does not come.
    pub fn barrier(&mut self, communicator: &Communicator) -> Result<(), Error> {
        let (size, own) = (communicator.size(), communicator.own());
        let mut distance = 1;
        // After each round, twice as many ranks have come by all that is known here.
        while distance < size {
            let to = communicator.rank((own + distance) % size)?;
            let from = communicator.rank((own + size - distance) % size)?;
            let receive = self.receive_word(from, communicator.number())?;
            let send = self.send_word(to, communicator.number(), 0)?;
            let (received, sent) = (self.finish(receive), self.finish(send));
            received.and(sent)?;
            distance *= 2;
        }
        Ok(())
    }

    /// Tells a rank the number of a communicator.
    fn tell(&mut self, rank: usize, number: u32) -> Result<(), Error> {
        let send = self.send_word(rank, NAMING, number)?;
        self.finish(send)
    }

    /// Hears from a rank which number a communicator has.
    fn hear(&mut self, rank: usize) -> Result<u32, Error> {
        let receive = self.receive_word(rank, NAMING)?;
        self.finish(receive)?;
        let mut word = [0; WORD as usize];
        self.library.read(&self.words, COMES, &mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    fn send_word(&mut self, rank: usize, communicator: u32, word: u32) -> Result<Request, Error> {
        self.library.write(&self.words, 0, &word.to_le_bytes())?;
        let to = To {
            rank,
            tag: TAG,
            communicator,
        };
        let request = self
            .library
            .send_init(&self.words, 0, &Layout::contiguous(WORD), to)?;
        self.library.start(request)?;
        Ok(request)
    }

    fn receive_word(&mut self, rank: usize, communicator: u32) -> Result<Request, Error> {
        let from = From {
            rank: Some(rank),
            tag: Some(TAG),
            communicator,
        };
        let (layout, origin) = (Layout::contiguous(WORD), i64::from(COMES));
        let request = self
            .library
            .recv_init(&self.words, origin, &layout, from, Copies::Refused)?;
        self.library.start(request)?;
        Ok(request)
    }

    /// Waits for the end of a request, and frees it.
    fn finish(&mut self, request: Request) -> Result<(), Error> {
        let ended = self.library.wait(request, self.patience);
        self.library.free(request)?;
        ended.map(drop)
    }
}
