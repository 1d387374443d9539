//! The host's end.

use crate::frame::{Frame, Info, Mac};
use spinneret_regmap::ether::{
    CLOSE, DISCOVER, DONE, FAILED, FROM_BOARD, IN_USE, MESSAGE, MOST_WORDS, OPEN, READ, VERSION, VERSION_AT,
    WRITE,
};
use std::collections::VecDeque;
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
    /// The board refused an access.
    #[error("the board refused the access to address {address:#x}: it has no register or memory there")]
    Refused {
        /// Address of the word.
        address: u32,
    },
}

/// Bytes that handlers have written to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWrite {
    /// Address of the first one.
    pub address: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A session with a board.
#[derive(Debug)]
pub struct Session<L> {
    link: L,
    board: Mac,
    key: u64,
    /// Number of the request that began the session.
    first: u32,
    number: u32,
    is_open: bool,
    /// Number of the next message.
    next_message: u32,
    writes: VecDeque<HostWrite>,
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

impl<L: Link> Session<L> {
    /// Begins a session with a board.
    ///
    /// # Errors
    /// The board does not answer, or has another key.
    pub fn open(link: L, board: Mac, key: u64) -> Result<Self, Error> {
        let first = random();
        let mut session = Self {
            link,
            board,
            key,
            first,
            number: first.wrapping_sub(1),
            is_open: false,
            next_message: 0,
            writes: VecDeque::new(),
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

    /// Waits for host writes, for as long as the limit says, and acknowledges them.
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

    /// Takes the next host write, in the order in which the board sent them.
    pub fn take_write(&mut self) -> Option<HostWrite> {
        self.writes.pop_front()
    }

    /// Takes the number of host writes that were lost since the last call, because the host was silent for too long.
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
        if frame.kind != MESSAGE | FROM_BOARD {
            return Ok(Some(frame));
        }
        // One that comes before the answer to the first request is sent again.
        if frame.key >> 32 != u64::from(self.first) || !self.is_open {
            return Ok(None);
        }
        let ahead = frame.number.wrapping_sub(self.next_message);
        let is_new = ahead < 1 << 31;
        if let (true, Some(bytes)) = (is_new, frame.data.get(..frame.count.into())) {
            self.lost += ahead;
            self.next_message = frame.number.wrapping_add(1);
            self.writes.push_back(HostWrite {
                address: frame.address,
                bytes: bytes.to_vec(),
            });
        }
        let acknowledgement = request(own, self.board, MESSAGE, self.key, frame.number);
        self.link.send(&acknowledgement.encode())?;
        Ok(None)
    }
}

/// Addresses of the parts of a long access.
fn addresses(first: u32) -> impl Iterator<Item = u32> {
    (0..).map(move |piece: u32| first.wrapping_add(piece.wrapping_mul(4 * MOST_WORDS as u32)))
}
