//! The state machines of client and server.
//!
//! Each port belongs to one side at a time: to the client while its outbox equals its inbox, else to the server. A side
//! gives a port away by inverting its own outbox, which only this side writes.
//!
//! | | what happens |
//! |---|---|
//! | send | waits for the port, fills the packet, gives the port away |
//! | receive | gives the port away **if the last thing was a receive as well**, waits for it, uses the packet |
//! | close | the server gives the port away if it still has it; then both unlock |
//!
//! So only a second receive in a row acknowledges the first one. Every send is mirrored by a receive; a client starts with
//! a send.

use crate::layout::{HEADER_BYTES, Layout, LayoutError, MAILBOX_BYTES, PACKET_BYTES, Version};
use crate::memory::Memory;
use crate::opcode::Fault;
use core::mem;
use core::sync::atomic::{AtomicU32, Ordering, fence};

/// The mask of lanes: there is one.
const MASK: u64 = 1;

/// The header that the client wrote when it opened a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which lanes count.
    pub mask: u64,
    /// The call.
    pub opcode: u32,
    /// Another one in each call of a client that may be restarted; LLVM's clients never write it.
    pub generation: u32,
}

impl Header {
    fn to_words(self) -> [u64; 2] {
        [
            self.mask,
            u64::from(self.opcode) | u64::from(self.generation) << 32,
        ]
    }

    fn from_words([mask, word]: [u64; 2]) -> Self {
        Self {
            mask,
            opcode: word as u32,
            generation: (word >> 32) as u32,
        }
    }
}

/// The state of an open port on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    index: u32,
    out: u32,
    receive: bool,
    owns: bool,
}

impl State {
    /// The number of the port.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The last value that this side wrote to its mailbox.
    pub fn out(&self) -> u32 {
        self.out
    }

    /// Whether the port is this side's, as far as it has looked.
    pub fn owns(&self) -> bool {
        self.owns
    }
}

/// One side of all ports of a buffer. Nothing here waits: what begins with `try` says whether it was possible.
#[derive(Debug)]
pub struct Process<M, const IS_SERVER: bool> {
    memory: M,
    layout: Layout,
    places: Places,
    locks: Locks,
}

/// Where the parts of the first port lie; those of the others follow.
#[derive(Clone, Copy, Debug)]
struct Places {
    inbox: u32,
    outbox: u32,
    header: u32,
    packet: u32,
}

impl<M: Memory, const IS_SERVER: bool> Process<M, IS_SERVER> {
    /// One side of the ports in a buffer that is all zero, or was left idle.
    ///
    /// # Errors
    /// If the layout does not fit the memory, or its packets have more than one lane.
    pub fn new(memory: M, layout: Layout) -> Result<Self, LayoutError> {
        let (has, needs) = (memory.bytes(), layout.bytes());
        if has < needs {
            return Err(LayoutError::Memory { has, needs });
        }
        if layout.lanes() != 1 {
            return Err(LayoutError::ManyLanes(layout.lanes()));
        }
        let (inbox, outbox) = match IS_SERVER {
            true => (layout.secondary(0), layout.primary(0)),
            false => (layout.primary(0), layout.secondary(0)),
        };
        Ok(Self {
            memory,
            places: Places {
                inbox,
                outbox,
                header: layout.header(0),
                packet: layout.packet(0),
            },
            layout,
            locks: Locks::new(),
        })
    }

    /// How the buffer is laid out.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The memory of the buffer.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// Reads the other side's mailbox of a port.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    #[inline]
    pub fn inbox(&self, port: u32) -> Result<u32, M::Error> {
        self.memory.load(self.places.inbox + MAILBOX_BYTES * port)
    }

    /// Reads this side's mailbox of a port.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    #[inline]
    pub fn outbox(&self, port: u32) -> Result<u32, M::Error> {
        self.memory.load(self.outbox_place(port))
    }

    #[inline]
    fn outbox_place(&self, port: u32) -> u32 {
        self.places.outbox + MAILBOX_BYTES * port
    }

    #[inline]
    fn header_place(&self, port: u32) -> u32 {
        self.places.header + HEADER_BYTES * port
    }

    /// Of packets with one lane.
    #[inline]
    fn packet_place(&self, port: u32) -> u32 {
        self.places.packet + PACKET_BYTES * port
    }

    /// Takes a port's lock, of this side only.
    pub fn try_lock(&self, port: u32) -> bool {
        self.locks.try_take(port)
    }

    /// Frees a port's lock.
    pub fn unlock(&self, port: u32) {
        self.locks.free(port);
    }

    /// Whether a port's lock is taken.
    pub fn is_locked(&self, port: u32) -> bool {
        self.locks.is_taken(port)
    }

    /// Reads the header that the client wrote when it opened the port.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    #[inline]
    pub fn header(&self, port: u32) -> Result<Header, M::Error> {
        let mut words = [0; 2];
        self.memory.read(self.header_place(port), &mut words)?;
        Ok(Header::from_words(words))
    }

    /// Takes the first port from `start` on that is free and this side's. A port whose mailboxes hold what no side writes
    /// is passed over.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    #[inline]
    pub fn try_open(&self, start: u32) -> Result<Option<State>, M::Error> {
        for port in start..self.layout.ports() {
            // A server looks before it locks, as most of its ports are idle.
            if IS_SERVER && self.take_owned(port)?.is_none() {
                continue;
            }
            if !self.try_lock(port) {
                continue;
            }
            if let Some(state) = self.take_owned(port)? {
                return Ok(Some(state));
            }
            self.unlock(port);
        }
        Ok(None)
    }

    /// A port as it is at an open, if it is this side's now.
    #[inline]
    fn take_owned(&self, index: u32) -> Result<Option<State>, M::Error> {
        let (inbox, out) = (self.inbox(index)?, self.outbox(index)?);
        if inbox > 1 || out > 1 || (inbox != out) != IS_SERVER {
            return Ok(None);
        }
        self.memory.acquire();
        Ok(Some(State {
            index,
            out,
            receive: false,
            owns: true,
        }))
    }

    /// A port that this side has not opened, for a side that keeps its ports between calls.
    ///
    /// # Errors
    /// If the memory cannot be reached, or this side's mailbox holds what no side writes.
    pub fn idle(&self, index: u32) -> Result<State, Fault<M::Error>> {
        match self.outbox(index)? {
            out @ 0..=1 => Ok(State {
                index,
                out,
                receive: false,
                owns: false,
            }),
            value => Err(Fault::Mailbox { port: index, value }),
        }
    }

    /// Clears both mailboxes of a port, which neither side may use meanwhile.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn clear(&self, index: u32) -> Result<State, M::Error> {
        self.memory.store(self.layout.primary(index), 0)?;
        self.memory.store(self.layout.secondary(index), 0)?;
        Ok(State {
            index,
            out: 0,
            receive: false,
            owns: false,
        })
    }

    /// Whether a port is the other side's, by a look that changes nothing. A mailbox that no side writes counts as such.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    pub fn is_given_back(&self, state: &State) -> Result<bool, M::Error> {
        let inbox = self.inbox(state.index)?;
        Ok(!state.owns && (inbox > 1 || (inbox != state.out) != IS_SERVER))
    }

    /// Looks whether the port is this side's.
    ///
    /// # Errors
    /// If the memory cannot be reached, or the other side's mailbox holds what no side writes.
    #[inline]
    pub fn try_own(&self, state: &mut State) -> Result<bool, Fault<M::Error>> {
        if !state.owns {
            let value = self.inbox(state.index)?;
            if value > 1 {
                let port = state.index;
                return Err(Fault::Mailbox { port, value });
            }
            state.owns = (value != state.out) == IS_SERVER;
            if state.owns {
                self.memory.acquire();
            }
        }
        Ok(state.owns)
    }

    /// Sends a packet that begins with these words, at most eight. The rest of the packet stays as it was.
    ///
    /// # Errors
    /// As [`try_own`](Self::try_own).
    #[inline]
    pub fn try_send(&self, state: &mut State, words: &[u64]) -> Result<bool, Fault<M::Error>> {
        if !self.try_own(state)? {
            return Ok(false);
        }
        self.memory.write(self.packet_place(state.index), words)?;
        self.give_away(state)?;
        state.receive = false;
        Ok(true)
    }

    /// Receives the first words of a packet, at most eight.
    ///
    /// # Errors
    /// As [`try_own`](Self::try_own).
    #[inline]
    pub fn try_receive(&self, state: &mut State, words: &mut [u64]) -> Result<bool, Fault<M::Error>> {
        if mem::take(&mut state.receive) {
            self.give_away(state)?;
        }
        if !self.try_own(state)? {
            return Ok(false);
        }
        self.memory.read(self.packet_place(state.index), words)?;
        state.receive = true;
        Ok(true)
    }

    /// Makes the port the other side's: all that was written arrives before the mailbox.
    #[inline]
    fn give_away(&self, state: &mut State) -> Result<(), M::Error> {
        self.memory.release()?;
        state.out ^= 1;
        state.owns = false;
        self.memory.store(self.outbox_place(state.index), state.out)
    }

    /// Ends a call, without the lock: a server returns a port that it still has.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    #[inline]
    pub fn finish(&self, state: &mut State) -> Result<(), M::Error> {
        state.receive = false;
        match IS_SERVER && state.owns {
            true => self.give_away(state),
            false => Ok(()),
        }
    }

    /// Ends a call, and leaves a port that this side has by now for the next one: the next poll of the port finds it
    /// so.
    #[cfg(feature = "server")]
    pub(crate) fn pass_on(&self, state: &mut State) {
        (state.receive, state.owns) = (false, false);
    }

    /// Writes what a call begins with. The generation is the next one of the port.
    #[inline]
    pub(crate) fn write_header(&self, port: u32, opcode: u32) -> Result<(), M::Error> {
        let header = Header {
            mask: MASK,
            opcode,
            generation: self.header(port)?.generation.wrapping_add(1),
        };
        self.memory.write(self.header_place(port), &header.to_words())
    }
}

// Locks of ports.

const BITS: u32 = u32::BITS;
const LOCK_WORDS: usize = (Version::V23.max_ports() / BITS) as usize;

/// One bit for each port: bit i % 32 of word i / 32.
#[derive(Debug)]
pub(crate) struct Locks([AtomicU32; LOCK_WORDS]);

impl Locks {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU32::new(0) }; LOCK_WORDS])
    }

    /// Takes a port if it is free. The new owner then sees all writes of the last one.
    #[inline]
    pub(crate) fn try_take(&self, port: u32) -> bool {
        let bit = 1 << (port % BITS);
        let is_free = self.0[(port / BITS) as usize].fetch_or(bit, Ordering::Relaxed) & bit == 0;
        if is_free {
            fence(Ordering::Acquire);
        }
        is_free
    }

    /// Gives a port back.
    #[inline]
    pub(crate) fn free(&self, port: u32) {
        fence(Ordering::Release);
        self.0[(port / BITS) as usize].fetch_and(!(1 << (port % BITS)), Ordering::Relaxed);
    }

    /// Whether a port has an owner.
    pub(crate) fn is_taken(&self, port: u32) -> bool {
        self.0[(port / BITS) as usize].load(Ordering::Relaxed) & 1 << (port % BITS) != 0
    }
}
