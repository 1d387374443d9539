//! The host's end.

use crate::frame::{Frame, Info, Mac};
use spinneret_regmap::ether::{
    CLOSE, DISCOVER, DONE, FAILED, FROM_BOARD, HOST_READ, IN_USE, MESSAGE, MOST_BYTES, MOST_WORDS, OPEN,
    READ, VERSION, VERSION_AT, WRITE,
};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::time::{Duration, Instant};

/// How long a request waits for its answer before it is sent again.
pub const PATIENCE: Duration = Duration::from_millis(20);
/// How often a request is sent before the board counts as absent.
pub const TRIES: u32 = 50;

/// Carries frames between this host and boards.
pub trait Link {
    /// Returns the address of this host.
    fn address(&self) -> Mac;

    /// Sends a frame, which may get lost.
    ///
    /// # Errors
    /// If the interface is gone or down.
    fn send(&mut self, frame: &[u8]) -> io::Result<()>;

    /// Waits for a frame. Returns `None` after the limit.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    fn receive(&mut self, limit: Duration) -> io::Result<Option<Vec<u8>>>;
}

/// Why a board does not do something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The interface does not work.
    #[error("the network interface fails: {0}")]
    Link(#[from] io::Error),
    /// No answer.
    #[error("the board {0} does not answer: check its power, and the cable to its port 0")]
    Nobody(Mac),
    /// Another host has the board.
    #[error("another host has the key of the board {0}: close it there, or switch the board off and on")]
    InUse(Mac),
    /// The session is over.
    #[error(
        "the board {0} has ended this session: another program of this host opened it, or it was switched off; open it again"
    )]
    NoSession(Mac),
    /// An answer is too short.
    #[error("the board {0} answers with fewer words than were read: load a design of this program's release")]
    Short(Mac),
    /// The board refused an access.
    #[error("the board refused the access to address {address:#x}: it has no register or memory there")]
    Refused {
        /// Address of the word.
        address: u32,
    },
}

/// Memory of the host that handlers write and read.
pub trait HostMemory {
    /// Writes bytes from an address on; those where the host has no memory are dropped.
    fn write(&mut self, address: u32, bytes: &[u8]);

    /// Reads bytes from an address on. Returns whether the host has memory for all of them.
    fn read(&mut self, address: u32, bytes: &mut [u8]) -> bool;
}

/// A session with a board.
#[derive(Debug)]
pub struct Session<L, H> {
    link: L,
    /// What handlers write and read.
    pub memory: H,
    board: Mac,
    key: u64,
    /// Number of the request that began the session.
    first: u32,
    number: u32,
    is_open: bool,
    /// Number of the next message.
    next_message: u32,
    /// The answer to the last host read, and its number.
    answer: Option<(u32, Vec<u8>)>,
    lost: u32,
}

/// Boards that have answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Those of this version of the protocol.
    pub boards: Vec<Info>,
    /// Those of other versions, and these.
    pub foreign: Vec<(Mac, u8)>,
}

impl Found {
    fn is_empty(&self) -> bool {
        self.boards.is_empty() && self.foreign.is_empty()
    }

    fn add(&mut self, answer: &Frame, version: u8) {
        if version != VERSION {
            let board = (answer.source, version);
            if !self.foreign.contains(&board) {
                self.foreign.push(board);
            }
        } else if let Some(info) = Info::of(answer)
            && !self.boards.contains(&info)
        {
            self.boards.push(info);
        }
    }
}

/// Finds the boards on a wire: those that answer within a time, in the order of their addresses. A search for one board ends with its answer.
///
/// # Errors
/// If the interface fails.
pub fn discover(link: &mut impl Link, target: Mac, time: Duration) -> io::Result<Found> {
    let number = random();
    let request = request(link.address(), target, DISCOVER, 0, number);
    let mut found = Found::default();
    let end = Instant::now() + time;
    loop {
        link.send(&request.encode())?;
        let again = end.min(Instant::now() + PATIENCE);
        while let Some(bytes) = link.receive(again.saturating_duration_since(Instant::now()))? {
            let answer = Frame::of_any_version(&bytes).filter(|answer| {
                (answer.kind, answer.number) == (DISCOVER | FROM_BOARD, number)
                    && answer.target == request.source
            });
            if let Some(answer) = answer {
                found.add(&answer, bytes[VERSION_AT]);
            }
        }
        let is_found = target != Mac::BROADCAST && !found.is_empty();
        if is_found || Instant::now() >= end {
            found.boards.sort_by_key(|info| info.mac);
            found.foreign.sort_unstable();
            return Ok(found);
        }
    }
}

fn request(source: Mac, target: Mac, kind: u8, key: u64, number: u32) -> Frame {
    Frame {
        target,
        source,
        kind,
        key,
        number,
        address: 0,
        count: 0,
        status: 0,
        limit: 0,
        data: Vec::new(),
    }
}

/// A number that no other program has drawn, as far as chance allows.
fn random() -> u32 {
    RandomState::new().build_hasher().finish() as u32
}

impl<L: Link, H: HostMemory> Session<L, H> {
    /// Begins a session with a board.
    ///
    /// # Errors
    /// The board does not answer, or has another key.
    pub fn open(link: L, board: Mac, key: u64, memory: H) -> Result<Self, Error> {
        let first = random();
        let mut session = Self {
            link,
            memory,
            board,
            key,
            first,
            number: first.wrapping_sub(1),
            is_open: false,
            next_message: 0,
            answer: None,
            lost: 0,
        };
        let answer = session.ask(OPEN, 0, 0, Vec::new())?;
        session.next_message = answer.address;
        session.is_open = true;
        Ok(session)
    }

    /// Ends the session, so that other hosts can open the board.
    ///
    /// # Errors
    /// The board does not answer.
    pub fn close(&mut self) -> Result<(), Error> {
        match self.ask(CLOSE, 0, 0, Vec::new()) {
            // The answer to the first request was lost.
            Ok(_) | Err(Error::NoSession(_) | Error::InUse(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Reads words from an address on, which is a multiple of 4.
    ///
    /// # Errors
    /// The board does not answer, or refuses an access.
    pub fn read(&mut self, address: u32, words: &mut [u32]) -> Result<(), Error> {
        for (address, piece) in addresses(address).zip(words.chunks_mut(MOST_WORDS)) {
            let answer = self.ask(READ, address, piece.len(), Vec::new())?;
            self.check(address, &answer)?;
            if answer.words().count() < piece.len() {
                return Err(Error::Short(self.board));
            }
            for (word, read) in piece.iter_mut().zip(answer.words()) {
                *word = read;
            }
        }
        Ok(())
    }

    /// Writes words in the order of their addresses, from one on that is a multiple of 4.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn write(&mut self, address: u32, words: &[u32]) -> Result<(), Error> {
        for (address, piece) in addresses(address).zip(words.chunks(MOST_WORDS)) {
            let data = piece.iter().flat_map(|word| word.to_be_bytes()).collect();
            let answer = self.ask(WRITE, address, piece.len(), data)?;
            self.check(address, &answer)?;
        }
        Ok(())
    }

    /// Waits for host writes and reads, for as long as the limit says.
    ///
    /// # Errors
    /// If the interface fails.
    pub fn listen(&mut self, limit: Duration) -> Result<(), Error> {
        let end = Instant::now() + limit;
        loop {
            let Some(bytes) = self.link.receive(end.saturating_duration_since(Instant::now()))? else {
                return Ok(());
            };
            self.hear(&bytes)?;
        }
    }

    /// Takes the number of host writes and reads that were lost since the last call, because the host was silent for too long.
    pub fn take_lost(&mut self) -> u32 {
        std::mem::take(&mut self.lost)
    }

    /// Returns the link.
    pub fn link(&mut self) -> &mut L {
        &mut self.link
    }

    fn check(&self, address: u32, answer: &Frame) -> Result<(), Error> {
        match answer.status {
            FAILED => Err(Error::Refused {
                address: address.wrapping_add(4 * u32::from(answer.count)),
            }),
            _ => Ok(()),
        }
    }

    /// Sends a request until it is answered.
    fn ask(&mut self, kind: u8, address: u32, count: usize, data: Vec<u8>) -> Result<Frame, Error> {
        self.number = self.number.wrapping_add(1);
        let request = Frame {
            address,
            count: count as u16,
            data,
            ..request(self.link.address(), self.board, kind, self.key, self.number)
        };
        let bytes = request.encode();
        for _ in 0..TRIES {
            self.link.send(&bytes)?;
            let end = Instant::now() + PATIENCE;
            while let Some(bytes) = self.link.receive(end.saturating_duration_since(Instant::now()))? {
                if let Some(answer) = self.hear(&bytes)?
                    && (answer.kind, answer.number) == (kind | FROM_BOARD, self.number)
                {
                    return match answer.status {
                        DONE | FAILED => Ok(answer),
                        IN_USE => Err(Error::InUse(self.board)),
                        _ => Err(Error::NoSession(self.board)),
                    };
                }
            }
        }
        Err(Error::Nobody(self.board))
    }

    /// Handles a message, or returns an answer.
    fn hear(&mut self, bytes: &[u8]) -> Result<Option<Frame>, Error> {
        let own = self.link.address();
        let frame = Frame::decode(bytes).filter(|frame| (frame.source, frame.target) == (self.board, own));
        let Some(frame) = frame else {
            return Ok(None);
        };
        let is_read = frame.kind == HOST_READ | FROM_BOARD;
        if !is_read && frame.kind != MESSAGE | FROM_BOARD {
            return Ok(Some(frame));
        }
        // One that comes before the answer to the first request is sent again.
        if frame.key >> 32 != u64::from(self.first) || !self.is_open {
            return Ok(None);
        }
        let ahead = frame.number.wrapping_sub(self.next_message);
        let is_new = ahead < 1 << 31;
        if is_new {
            self.lost += ahead;
            self.next_message = frame.number.wrapping_add(1);
        }
        if is_read {
            self.answer_read(&frame, is_new)?;
            return Ok(None);
        }
        if let (true, Some(bytes)) = (is_new, frame.data.get(..frame.count.into())) {
            self.memory.write(frame.address, bytes);
        }
        let acknowledgement = request(own, self.board, MESSAGE, self.key, frame.number);
        self.link.send(&acknowledgement.encode())?;
        Ok(None)
    }

    /// Answers a host read. One that was answered before gets the same answer.
    fn answer_read(&mut self, read: &Frame, is_new: bool) -> io::Result<()> {
        if is_new {
            let mut data = vec![0; usize::from(read.count).min(MOST_BYTES)];
            if !self.memory.read(read.address, &mut data) {
                data.clear();
            }
            let count = data.len() as u16;
            data.resize(data.len().next_multiple_of(8), 0);
            let answer = Frame {
                count,
                data,
                ..request(self.link.address(), self.board, HOST_READ, self.key, read.number)
            };
            self.answer = Some((read.number, answer.encode()));
        }
        match &self.answer {
            Some((number, answer)) if *number == read.number => self.link.send(answer),
            _ => Ok(()),
        }
    }
}

/// Addresses of the parts of a long access.
fn addresses(first: u32) -> impl Iterator<Item = u32> {
    (0..).map(move |piece: u32| first.wrapping_add(piece.wrapping_mul(4 * MOST_WORDS as u32)))
}
