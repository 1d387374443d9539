//! Zero-copy receives for an MPI program, on one rank with its NIC.
//!
//! ```text
//! sender                                   receiver
//!   send: start                              recv: start
//!   announcement {tag, communicator, bytes} -->  matched by the host, in MPI's order
//!   <------------------------ grant {id}         the id is armed in a slot of the NIC first
//!   SLMP with a window, from the host ======>    handlers place each segment
//!   <----------------- acknowledgements          by the NIC alone
//!                                            completion word in host memory: test, wait
//! ```
//!
//! Everything happens inside of [`Library::progress`], which all other functions that wait call. Nothing here starts threads.

use crate::layout::Layout;
use crate::nic::memory::{BUFFERS, COUNTERS, Counter, HPUS, LOCAL_BYTES, SLOTS, common};
use control::{Control, Host};
use receive::{Inbox, Receiving};
use send::Outbox;
use slots::{Area, Slots};
use spinneret_host::{
    Address, Context, Device, HostMemory, Nic, OpenDevice, Options, Program, Rule, Ruleset,
};
use spinneret_slmp::frame::Frame;
use spinneret_slmp::{SenderConfig, wire};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

mod control;
mod error;
mod receive;
mod requests;
mod send;
mod slots;

pub use control::PORT;
pub use error::Error;
pub use receive::{Copies, From};
pub use send::To;

/// Frames that are taken before other work, so that a host that floods this one cannot block it.
const FRAMES_AT_ONCE: usize = 1024;

/// How a library is opened.
#[derive(Clone, Debug)]
pub struct Config {
    /// Host memory for buffers, and for messages that the host unpacks.
    pub host_bytes: u32,
    /// Handler memory for tables of runs, 8 B a run and some more; types that do not fit are unpacked by the host.
    pub table_bytes: u32,
    /// How messages are sent.
    pub sender: SenderConfig,
    /// Time after which an announcement is repeated if it was not granted; each time twice as long, up to 16 times that.
    pub repeat: Duration,
    /// Time after which a message that was not granted fails.
    pub patience: Duration,
}

impl Default for Config {
    /// For round trips of some ten microseconds.
    fn default() -> Self {
        Self {
            host_bytes: 128 << 20,
            table_bytes: 512 << 10,
            sender: SenderConfig {
                mode: spinneret_slmp::Mode::Window(16),
                initial_timeout: Duration::from_micros(500),
                min_timeout: Duration::from_micros(50),
                max_timeout: Duration::from_millis(20),
                give_up: Duration::from_secs(1),
                ..SenderConfig::default()
            },
            repeat: Duration::from_micros(50),
            patience: Duration::from_secs(10),
        }
    }
}

/// Memory that the NIC can write to. [`Library::free_buffer`] frees it, or the library when it is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    library: u64,
    start: u32,
    bytes: u32,
}

impl Buffer {
    /// Its bytes.
    pub fn len(&self) -> u32 {
        self.bytes
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

/// A persistent receive or send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    library: u64,
    number: usize,
    is_receive: bool,
}

/// Counters of the library and of the handlers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that handlers have put in place.
    pub placed: u64,
    /// Messages that the host has put in place, as their type does not fit the NIC, or as they are of its own rank.
    pub unpacked: u64,
    /// Messages that were longer than their receive.
    pub truncated: u64,
    /// Registers and words of the NIC that were written for starts of receives.
    pub words_written: u64,
}

/// The library of one rank.
#[derive(Debug)]
pub struct Library<D: Device = OpenDevice> {
    name: u64,
    nic: Nic<D>,
    context: Context<D>,
    host: HostMemory<D>,
    area: Area,
    slots: Slots<D>,
    own: Host,
    /// The number of this rank, if it is one of all.
    own_rank: Option<usize>,
    ranks: Vec<Host>,
    inbox: Inbox,
    receives: Vec<Option<Receiving>>,
    outbox: Outbox,
    /// Frames that the NIC had no room for.
    waiting: VecDeque<Vec<u8>>,
    counts: Counts,
}

impl<D: Device> Library<D> {
    /// Takes a buffer.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn buffer(&mut self, bytes: u32) -> Result<Buffer, Error> {
        let (free, bytes_taken) = (self.area.free(), u64::from(bytes));
        let start = self.area.take(bytes_taken).ok_or(Error::NoRoom {
            bytes: bytes_taken,
            free,
        })?;
        Ok(Buffer {
            library: self.name,
            start,
            bytes,
        })
    }

    /// Gives a buffer back.
    ///
    /// # Errors
    /// If it is not of this library, or a request that was not freed uses it.
    pub fn free_buffer(&mut self, buffer: Buffer) -> Result<(), Error> {
        self.check(&buffer)?;
        let is_used = self
            .receives
            .iter()
            .flatten()
            .any(|receive| receive.buffer == buffer)
            || self.outbox.uses(&buffer);
        match is_used {
            true => Err(Error::Active),
            false => {
                self.area.give(buffer.start);
                Ok(())
            }
        }
    }

    /// Where a buffer begins in this process, for zero-copy access: its bytes, until it is freed or the library is
    /// dropped.
    /// The NIC writes to it while a receive is active.
    ///
    /// # Errors
    /// If it is not of this library.
    pub fn pointer(&self, buffer: &Buffer) -> Result<NonNull<u8>, Error> {
        self.check(buffer)?;
        let start = self.host.pointer()?;
        let address = start.map_addr(|address| address.saturating_add(buffer.start as usize));
        Ok(address)
    }

    /// Reads bytes of a buffer.
    ///
    /// # Errors
    /// If they are not in it, or it is not of this library.
    pub fn read(&self, buffer: &Buffer, offset: u32, bytes: &mut [u8]) -> Result<(), Error> {
        self.check_range(buffer, i64::from(offset), i64::from(offset) + bytes.len() as i64)?;
        Ok(self.host.read(buffer.start + offset, bytes)?)
    }

    /// Writes bytes of a buffer.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn write(&self, buffer: &Buffer, offset: u32, bytes: &[u8]) -> Result<(), Error> {
        self.check_range(buffer, i64::from(offset), i64::from(offset) + bytes.len() as i64)?;
        Ok(self.host.write(buffer.start + offset, bytes)?)
    }

    fn check(&self, buffer: &Buffer) -> Result<(), Error> {
        match buffer.library == self.name {
            true => Ok(()),
            false => Err(Error::ForeignBuffer),
        }
    }

    fn check_range(&self, buffer: &Buffer, first: i64, end: i64) -> Result<(), Error> {
        self.check(buffer)?;
        match first >= 0 && end <= i64::from(buffer.bytes) {
            true => Ok(()),
            false => Err(Error::OutsideBuffer {
                first,
                end,
                bytes: buffer.bytes,
            }),
        }
    }

    /// Checks that elements are in a buffer. The first has its address at `origin`, which may be outside.
    fn check_layout(&self, buffer: &Buffer, origin: i64, layout: &Layout) -> Result<(), Error> {
        let at = |offset: i64| offset.saturating_add(origin);
        self.check_range(buffer, at(layout.first()), at(layout.end()))
    }

    /// Checks that the rank exists, or is [`NOBODY`].
    fn check_rank(&self, rank: usize) -> Result<(), Error> {
        let ranks = self.ranks.len();
        match rank < ranks || rank == NOBODY {
            true => Ok(()),
            false => Err(Error::NoRank { rank, ranks }),
        }
    }

    /// Does what is to be done now. Time does not pass here.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn progress(&mut self) -> Result<(), Error> {
        self.write_tables()?;
        self.advance()
    }

    /// The same, without what has time until a message comes.
    fn advance(&mut self) -> Result<(), Error> {
        self.take_frames()?;
        self.look_for_completions()?;
        self.go_on()
    }

    fn take_frames(&mut self) -> Result<(), Error> {
        for _ in 0..FRAMES_AT_ONCE {
            let Some(frame) = self.nic.receive()? else { break };
            self.take_frame(&frame);
        }
        Ok(())
    }

    /// Grants and sends what can be granted and sent now.
    fn go_on(&mut self) -> Result<(), Error> {
        self.match_announcements()?;
        loop {
            while let Some(frame) = self.waiting.pop_front() {
                if !self.nic.transmit(&frame)? {
                    self.waiting.push_front(frame);
                    return Ok(());
                }
            }
            let answers = self.inbox.answers();
            if !answers.is_empty() {
                let frames = answers.into_iter();
                self.waiting
                    .extend(frames.map(|(rank, control)| control.frame(self.own, self.ranks[rank])));
                continue;
            }
            let now = self.nic.now();
            match self.outbox.next(now, self.own, &self.ranks, &self.host)? {
                Some(frame) => self.waiting.push_back(frame),
                None => return Ok(()),
            }
        }
    }

    /// Takes a frame that came. Switches send those to everybody whose address they do not know yet, so it may be for another.
    /// Frames with this rank's own address are ignored.
    fn take_frame(&mut self, frame: &[u8]) {
        let own = self.own.ip;
        let rank_of = |ranks: &[Host], [from, to]: [Ipv4Addr; 2]| {
            let rank = ranks.iter().position(|host| host.ip == from);
            rank.filter(|_| to == own && from != own)
        };
        if let Some((ends, control)) = Control::parse(frame) {
            if let Some(rank) = rank_of(&self.ranks, ends) {
                match control {
                    Control::Announce(announcements) => {
                        for announcement in announcements {
                            if self.inbox.has_room(rank) {
                                self.inbox.announce(rank, announcement);
                            }
                        }
                    }
                    Control::Grant(grants) => {
                        let now = self.nic.now();
                        grants
                            .into_iter()
                            .for_each(|grant| self.outbox.grant(rank, grant, now));
                    }
                }
            }
        } else if let Ok(frame) = Frame::parse(frame)
            && frame.from.socket.port() == wire::PORT
            && let Some(rank) = rank_of(&self.ranks, [frame.from, frame.to].map(|end| *end.socket.ip()))
        {
            self.outbox.acknowledge(rank, &frame.header, self.nic.now());
        }
    }

    /// Returns the counters.
    pub fn counts(&self) -> Counts {
        Counts {
            words_written: self.slots.words_written(),
            ..self.counts
        }
    }

    /// Returns a counter of the handlers, summed over all HPUs.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn handler_count(&self, counter: Counter) -> Result<u32, Error> {
        let [clusters, hpus] = self.nic.device().shape();
        let mut bytes = vec![0; 4 * COUNTERS * HPUS.min((clusters * hpus) as usize)];
        let memory = self.context.handler_memory();
        memory.read(common::COUNTERS as u32, &mut bytes)?;
        let (words, _) = bytes.as_chunks();
        let rows = words.iter().skip(counter as usize).step_by(COUNTERS);
        Ok(rows.fold(0_u32, |sum, word| sum.wrapping_add(u32::from_le_bytes(*word))))
    }

    /// The NIC.
    pub fn nic(&self) -> &Nic<D> {
        &self.nic
    }
}

// How a library is opened: its context, and what is in the memories of the context.

/// The handlers' name in their program.
const HANDLERS: &str = "mpi_types";
/// Clusters in which tasks have scratchpads.
const CLUSTERS: u32 = 4;

impl<D: Device> Library<D> {
    /// Opens a context with the handlers of `runtime/examples/mpi_types`. `ranks` are the addresses of all ranks in their
    /// order; that of the NIC itself is one of them.
    ///
    /// # Errors
    /// If the NIC has no room for it, has too many clusters or no address, or does not answer.
    pub fn open(nic: &Nic<D>, program: &Program, ranks: &[Address], config: Config) -> Result<Self, Error> {
        let [clusters, _] = nic.device().shape();
        if clusters > CLUSTERS {
            return Err(Error::TooManyClusters(clusters));
        }
        let own = nic.address().ok_or(Error::NoAddress)?;
        let options = Options {
            host_bytes: config.host_bytes.max(BUFFERS as u32),
            handler_bytes: Some(Slots::<D>::bytes(config.table_bytes)),
            scratchpad_bytes: Some((SLOTS * LOCAL_BYTES) as u32),
        };
        // No packet comes before memory is ready.
        let context = nic.open_context(program, HANDLERS, &Ruleset::any(), &options)?;
        let host = context.host_memory();
        host.write(0, &vec![0; BUFFERS])?;
        let slots = Slots::open(context.handler_memory(), first_id(&own, nic.now()))?;
        context.set_ruleset(&segments())?;
        let address = |address: &Address| Host {
            mac: address.mac,
            ip: address.ip,
        };
        Ok(Self {
            name: next_name(),
            nic: nic.clone(),
            context,
            area: Area::new(BUFFERS as u32, host.len()),
            host,
            slots,
            own: address(&own),
            own_rank: ranks.iter().position(|rank| rank.ip == own.ip),
            ranks: ranks.iter().map(address).collect(),
            inbox: Inbox::new(ranks.len()),
            receives: Vec::new(),
            outbox: Outbox::new(config, ranks.len()),
            waiting: VecDeque::new(),
            counts: Counts::default(),
        })
    }
}

/// A number that distinguishes the buffers and requests of a library from those of others in this process.
fn next_name() -> u64 {
    static NAMES: AtomicU64 = AtomicU64::new(0);
    NAMES.fetch_add(1, Ordering::Relaxed)
}

/// Where ids of messages begin: elsewhere at each time, so that late segments for an earlier library are those of no message.
/// A simulation has the same times in each run, and so the same frames.
fn first_id(own: &Address, now: Duration) -> u32 {
    let station = own.mac.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let mut mixed = station.rotate_left(32) ^ now.as_nanos() as u64;
    for _ in 0..2 {
        mixed = (mixed ^ mixed >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    (mixed >> 32) as u32
}

/// Segments of SLMP; for the NIC they are of messages without end, since the handlers keep their own books.
fn segments() -> Ruleset {
    Ruleset::all()
        .rule(Rule::IPV4)
        .rule(Rule::ip_protocol(17, 17))
        .rule(Rule::udp_destination_port(wire::PORT, wire::PORT))
        .end_of_message(Rule::NEVER)
}

// How far a request is, and what came of it.

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    Inactive,
    GoesOn,
    HasEnded,
}

/// The null rank, as `MPI_PROC_NULL`: messages to it and from it complete at once.
pub const NOBODY: usize = usize::MAX;

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Bytes of the message; elements are these by the type's size.
    pub bytes: u32,
    /// The other rank.
    pub rank: usize,
    /// The tag; -1 if there was no message.
    pub tag: i32,
}

impl Status {
    /// The status of a message to or from [`NOBODY`].
    const NOTHING: Self = Self {
        bytes: 0,
        rank: NOBODY,
        tag: -1,
    };
}
