//! A model of the board's end: what `control_endpoint` does, without its clocks.

use crate::frame::{Frame, Info, Mac};
use spinneret_regmap::ether::{
    CLOSE, DISCOVER, DONE, FAILED, FROM_BOARD, HEADER_BYTES, HOST_READ, IN_USE, KIND_AT, MESSAGE, MOST_BYTES,
    MOST_WORDS, NO_SESSION, OPEN, READ, VERSION, VERSION_AT, WRITE,
};
use std::collections::VecDeque;

/// Registers and memories of a board.
pub trait Memory {
    /// Reads a word; `None` if there is none.
    fn read(&mut self, address: u32) -> Option<u32>;

    /// Writes a word; `None` if there is none.
    fn write(&mut self, address: u32, word: u32) -> Option<()>;
}

/// Counters of control frames, one for each frame; then host writes and reads that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Answered for the first time.
    pub executed: u32,
    /// Answered again.
    pub repeated: u32,
    /// Not of the protocol.
    pub malformed: u32,
    /// For another board, or from a group.
    pub foreign: u32,
    /// Without the key, or out of order.
    pub refused: u32,
    /// Acknowledgements, and answers to host reads.
    pub acknowledged: u32,
    /// Host writes and reads that were lost.
    pub lost: u32,
}

/// What a board does about a frame.
#[derive(Debug)]
pub enum Heard {
    /// It sends this answer.
    Answer(Vec<u8>),
    /// It executes a request; [`Board::executed`] has the answer then.
    Request(Request),
}

/// A request to read or write words.
#[derive(Debug)]
pub struct Request(Frame);

/// Status, words that were done, and data of an answer.
pub type Outcome = (u8, u16, Vec<u8>);

impl Request {
    /// Executes the request.
    pub fn execute(&self, memory: &mut impl Memory) -> Outcome {
        let Self(frame) = self;
        let mut data = Vec::new();
        let mut words = frame.words();
        for done in 0..frame.count {
            let address = frame.address.wrapping_add(4 * u32::from(done));
            let is_done = match frame.kind {
                READ => memory.read(address).map(|word| data.extend(word.to_be_bytes())),
                _ => words.next().and_then(|word| memory.write(address, word)),
            };
            if is_done.is_none() {
                return (FAILED, done, data);
            }
        }
        (DONE, frame.count, data)
    }
}

/// A message that its owner has to acknowledge or to answer.
#[derive(Debug)]
enum Message {
    Write(u32, Vec<u8>),
    Read(u32, u16),
}

/// A board.
#[derive(Debug)]
pub struct Board<M> {
    /// Its data.
    pub info: Info,
    /// Its memories.
    pub memory: M,
    /// Its counters.
    pub counters: Counters,
    /// Key and address of the owner, and number of the request that began the session.
    owner: Option<(u64, Mac, u32)>,
    next: u32,
    /// Answer to the last request.
    last: Outcome,
    /// Those that are not acknowledged or answered.
    messages: VecDeque<Message>,
    /// Number of the first of them.
    message: u32,
    /// Bytes of host reads that are over; `None` if there are none.
    read: VecDeque<Option<Vec<u8>>>,
}

impl<M: Memory> Board<M> {
    /// Handles a frame that has come in, and returns the answer.
    pub fn hear(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self.begin(bytes)? {
            Heard::Answer(answer) => Some(answer),
            Heard::Request(request) => {
                let outcome = request.execute(&mut self.memory);
                Some(self.executed(&request, outcome))
            }
        }
    }
}

impl<M> Board<M> {
    /// Returns a board without an owner.
    pub fn new(info: Info, memory: M) -> Self {
        Self {
            info,
            memory,
            counters: Counters::default(),
            owner: None,
            next: 0,
            last: (DONE, 0, Vec::new()),
            messages: VecDeque::new(),
            message: 0,
            read: VecDeque::new(),
        }
    }

    /// Takes a host write. It is lost while there is no owner, or if it is too long.
    pub fn host_write(&mut self, address: u32, bytes: &[u8]) {
        if self.owner.is_none() || bytes.len() > MOST_BYTES {
            self.message = self.message.wrapping_add(1);
            self.counters.lost += 1;
        } else {
            self.messages.push_back(Message::Write(address, bytes.to_vec()));
        }
    }

    /// Takes a host read of 1 to 1,024 bytes. [`take_read`](Self::take_read) has its bytes later.
    pub fn host_read(&mut self, address: u32, bytes: u16) {
        self.messages.push_back(Message::Read(address, bytes));
        if self.owner.is_none() {
            self.give_up();
        }
    }

    /// Returns the bytes of the next host read that is over, or `None` in it if there are none.
    pub fn take_read(&mut self) -> Option<Option<Vec<u8>>> {
        self.read.pop_front()
    }

    /// Returns the frame of the first message that is not over, to send now or again.
    pub fn message(&self) -> Option<Vec<u8>> {
        let (message, (_, target, _)) = (self.messages.front()?, self.owner?);
        let (kind, address, count, data) = match message {
            Message::Write(address, bytes) => (MESSAGE, *address, bytes.len() as u16, bytes.clone()),
            Message::Read(address, bytes) => (HOST_READ, *address, *bytes, Vec::new()),
        };
        let message = Frame {
            kind: kind | FROM_BOARD,
            number: self.message,
            address,
            count,
            data,
            ..self.frame(target)
        };
        Some(message.encode())
    }

    /// Returns the number of messages that are not over.
    pub fn waiting(&self) -> usize {
        self.messages.len()
    }

    /// Gives up the first message, as after its last try.
    pub fn give_up(&mut self) {
        if let Some(message) = self.next_message() {
            self.counters.lost += 1;
            if matches!(message, Message::Read(..)) {
                self.read.push_back(None);
            }
        }
    }

    fn next_message(&mut self) -> Option<Message> {
        let message = self.messages.pop_front()?;
        self.message = self.message.wrapping_add(1);
        Some(message)
    }

    /// Handles a frame that has come in, but for the accesses of a request. No other request may be handled until those are
    /// [`executed`](Self::executed).
    pub fn begin(&mut self, bytes: &[u8]) -> Option<Heard> {
        let wanted = match self.messages.front() {
            Some(Message::Read(_, bytes)) => Some(*bytes),
            _ => None,
        };
        let Some(frame) = well_formed(bytes, self.message, wanted) else {
            self.counters.malformed += 1;
            return None;
        };
        let is_mine =
            frame.target == self.info.mac || (frame.target == Mac::BROADCAST && frame.kind == DISCOVER);
        if !is_mine || frame.source.0[0] & 1 == 1 {
            self.counters.foreign += 1;
            return None;
        }
        let has_key = self.owner.is_some_and(|(key, ..)| key == frame.key);
        if frame.kind == MESSAGE || frame.kind == HOST_READ {
            match has_key {
                true => self.counters.acknowledged += 1,
                false => self.counters.refused += 1,
            }
            let is_kind = wanted.is_some() == (frame.kind == HOST_READ);
            if has_key && is_kind && frame.number == self.message && self.next_message().is_some() {
                let bytes = frame
                    .data
                    .get(..frame.count.into())
                    .filter(|bytes| !bytes.is_empty());
                self.read.extend(wanted.map(|_| bytes.map(<[u8]>::to_vec)));
            }
            return None;
        }
        Some(match self.answer(&frame, has_key) {
            Some(outcome) => Heard::Answer(self.encode(&frame, outcome)),
            None => Heard::Request(Request(frame)),
        })
    }

    /// Returns the answer to a request that has been executed.
    pub fn executed(&mut self, request: &Request, outcome: Outcome) -> Vec<u8> {
        self.last.clone_from(&outcome);
        self.encode(&request.0, outcome)
    }

    fn encode(&self, request: &Frame, (status, count, data): Outcome) -> Vec<u8> {
        let answer = Frame {
            kind: request.kind | FROM_BOARD,
            number: request.number,
            address: self.message,
            count,
            status,
            data,
            ..self.frame(request.source)
        };
        answer.encode()
    }

    /// Returns the number of the last request, if there is an owner.
    pub fn last_number(&self) -> Option<u32> {
        self.owner.map(|_| self.next.wrapping_sub(1))
    }

    fn frame(&self, target: Mac) -> Frame {
        Frame {
            target,
            source: self.info.mac,
            kind: 0,
            key: u64::from(self.owner.map_or(0, |(.., first)| first)) << 32,
            number: 0,
            address: 0,
            count: 0,
            status: DONE,
            limit: MOST_WORDS as u32,
            data: Vec::new(),
        }
    }

    /// The answer to a request; `None` if its accesses have to be executed.
    fn answer(&mut self, frame: &Frame, has_key: bool) -> Option<Outcome> {
        let first = self.owner.map(|(.., first)| first);
        let is_opened = first == Some(frame.number);
        let opens = frame.kind == OPEN;
        if frame.kind == DISCOVER {
            self.counters.executed += 1;
            return Some((DONE, 0, self.info.encode().to_vec()));
        }
        if first.is_some() && !has_key {
            self.counters.refused += 1;
            return Some((IN_USE, 0, Vec::new()));
        }
        let is_new = if opens {
            !is_opened
        } else {
            has_key && frame.number == self.next
        };
        if is_new {
            self.counters.executed += 1;
            self.next = frame.number.wrapping_add(1);
            self.last = (DONE, 0, Vec::new());
            match frame.kind {
                OPEN => self.owner = Some((frame.key, frame.source, frame.number)),
                CLOSE => self.close(),
                _ => return None,
            }
            return Some(self.last.clone());
        }
        if opens {
            self.counters.repeated += 1;
            return Some((DONE, 0, Vec::new()));
        }
        if has_key && frame.number.wrapping_add(1) == self.next {
            self.counters.repeated += 1;
            return Some(self.last.clone());
        }
        self.counters.refused += 1;
        Some((NO_SESSION, 0, Vec::new()))
    }

    fn close(&mut self) {
        self.owner = None;
        while !self.messages.is_empty() {
            self.give_up();
        }
    }
}

/// The frame, if it is whole and of this protocol. The message with this number waits for so many bytes, if it is a host read.
fn well_formed(bytes: &[u8], message: u32, wanted: Option<u16>) -> Option<Frame> {
    let header = bytes.get(..HEADER_BYTES)?;
    let kind = header[KIND_AT];
    let is_version = header[VERSION_AT] == VERSION || kind == DISCOVER;
    let is_known = is_version && (DISCOVER..=HOST_READ).contains(&kind);
    let frame = Frame::of_any_version(bytes).filter(|_| is_known)?;
    let is_access = kind == READ || kind == WRITE;
    let is_range = (1..=MOST_WORDS).contains(&frame.count.into()) && frame.address.is_multiple_of(4);
    let is_whole = kind != WRITE || frame.words().count() >= frame.count.into();
    let has_bytes = wanted == Some(frame.count) && 4 * frame.words().count() >= frame.count.into();
    let is_answer = kind != HOST_READ || frame.number != message || frame.count == 0 || has_bytes;
    (is_answer && (!is_access || (is_range && is_whole))).then_some(frame)
}
