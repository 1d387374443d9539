//! A model of the board's end: what `control_endpoint` does, without its clocks.

use crate::frame::{Frame, Info, Mac};
use spinneret_regmap::ether::{
    CLOSE, DISCOVER, DONE, FAILED, FROM_BOARD, HEADER_BYTES, IN_USE, KIND_AT, MESSAGE, MOST_BYTES,
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

/// Counters of control frames, one for each frame; then host writes that were lost.
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
    /// Acknowledgements.
    pub acknowledged: u32,
    /// Host writes that were lost.
    pub lost: u32,
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
    /// Answer to the last request: status, words, data.
    last: (u8, u16, Vec<u8>),
    /// Host writes that are not acknowledged.
    writes: VecDeque<(u32, Vec<u8>)>,
    /// Number of the first of them.
    message: u32,
}

impl<M: Memory> Board<M> {
    /// Returns a board without an owner.
    pub fn new(info: Info, memory: M) -> Self {
        Self {
            info,
            memory,
            counters: Counters::default(),
            owner: None,
            next: 0,
            last: (DONE, 0, Vec::new()),
            writes: VecDeque::new(),
            message: 0,
        }
    }

    /// Takes a host write. It is lost while there is no owner, or if it is too long.
    pub fn host_write(&mut self, address: u32, bytes: &[u8]) {
        if self.owner.is_none() || bytes.len() > MOST_BYTES {
            self.message = self.message.wrapping_add(1);
            self.counters.lost += 1;
        } else {
            self.writes.push_back((address, bytes.to_vec()));
        }
    }

    /// Returns the frame of the first host write that is not acknowledged, to send now or again.
    pub fn message(&self) -> Option<Vec<u8>> {
        let ((address, bytes), (_, target, _)) = (self.writes.front()?, self.owner?);
        let message = Frame {
            kind: MESSAGE | FROM_BOARD,
            number: self.message,
            address: *address,
            count: bytes.len() as u16,
            data: bytes.clone(),
            ..self.frame(target)
        };
        Some(message.encode())
    }

    /// Returns the number of host writes that are not acknowledged.
    pub fn waiting(&self) -> usize {
        self.writes.len()
    }

    /// Gives up the first host write, as after its last try.
    pub fn give_up(&mut self) {
        if self.writes.pop_front().is_some() {
            self.message = self.message.wrapping_add(1);
            self.counters.lost += 1;
        }
    }

    /// Handles a frame that has come in, and returns the answer.
    pub fn hear(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let Some(frame) = well_formed(bytes) else {
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
        if frame.kind == MESSAGE {
            match has_key {
                true => self.counters.acknowledged += 1,
                false => self.counters.refused += 1,
            }
            if has_key && frame.number == self.message && self.writes.pop_front().is_some() {
                self.message = self.message.wrapping_add(1);
            }
            return None;
        }
        let (status, count, data) = self.answer(&frame, has_key);
        let answer = Frame {
            kind: frame.kind | FROM_BOARD,
            number: frame.number,
            address: self.message,
            count,
            status,
            data,
            ..self.frame(frame.source)
        };
        Some(answer.encode())
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

    /// Status, words and data of the answer to a request.
    fn answer(&mut self, frame: &Frame, has_key: bool) -> (u8, u16, Vec<u8>) {
        let first = self.owner.map(|(.., first)| first);
        let is_opened = first == Some(frame.number);
        let opens = frame.kind == OPEN;
        if frame.kind == DISCOVER {
            self.counters.executed += 1;
            return (DONE, 0, self.info.encode().to_vec());
        }
        if first.is_some() && !has_key {
            self.counters.refused += 1;
            return (IN_USE, 0, Vec::new());
        }
        let is_new = if opens {
            !is_opened
        } else {
            has_key && frame.number == self.next
        };
        if is_new {
            self.counters.executed += 1;
            self.next = frame.number.wrapping_add(1);
            self.last = self.execute(frame);
            return self.last.clone();
        }
        if opens {
            self.counters.repeated += 1;
            return (DONE, 0, Vec::new());
        }
        if has_key && frame.number.wrapping_add(1) == self.next {
            self.counters.repeated += 1;
            return self.last.clone();
        }
        self.counters.refused += 1;
        (NO_SESSION, 0, Vec::new())
    }

    fn execute(&mut self, frame: &Frame) -> (u8, u16, Vec<u8>) {
        let mut data = Vec::new();
        match frame.kind {
            OPEN => self.owner = Some((frame.key, frame.source, frame.number)),
            CLOSE => {
                self.owner = None;
                while !self.writes.is_empty() {
                    self.give_up();
                }
            }
            _ => {
                let mut words = frame.words();
                for done in 0..frame.count {
                    let address = frame.address.wrapping_add(4 * u32::from(done));
                    let is_done = match frame.kind {
                        READ => self
                            .memory
                            .read(address)
                            .map(|word| data.extend(word.to_be_bytes())),
                        _ => words.next().and_then(|word| self.memory.write(address, word)),
                    };
                    if is_done.is_none() {
                        return (FAILED, done, data);
                    }
                }
                return (DONE, frame.count, data);
            }
        }
        (DONE, 0, data)
    }
}

/// The frame, if it is whole and of this protocol.
fn well_formed(bytes: &[u8]) -> Option<Frame> {
    let header = bytes.get(..HEADER_BYTES)?;
    let kind = header[KIND_AT];
    let is_version = header[VERSION_AT] == VERSION || kind == DISCOVER;
    let is_known = is_version && (DISCOVER..=MESSAGE).contains(&kind);
    let frame = Frame::of_any_version(bytes).filter(|_| is_known)?;
    let is_access = kind == READ || kind == WRITE;
    let is_range = (1..=MOST_WORDS).contains(&frame.count.into()) && frame.address.is_multiple_of(4);
    let is_whole = kind != WRITE || frame.words().count() >= frame.count.into();
    (!is_access || (is_range && is_whole)).then_some(frame)
}
