//! The client: opens ports and calls.

use crate::layout::{Cut, Join, Layout, LayoutError, Packet};
use crate::memory::Memory;
use crate::opcode::Fault;
use crate::process::{Process, State};

/// The side that asks, for any number of threads.
///
/// It never rings a doorbell: the hosts that it is for leave the doorbell's addresses zero and look at the mailboxes.
#[derive(Debug)]
pub struct Client<M>(Process<M, false>);

/// A port as a client has it.
pub type ClientPort<'p, M> = Port<'p, M, false>;

impl<M: Memory> Client<M> {
    /// The client of a buffer.
    ///
    /// # Errors
    /// If the layout does not fit the memory, or its packets have more than one lane.
    pub fn new(memory: M, layout: Layout) -> Result<Self, LayoutError> {
        Process::new(memory, layout).map(Self)
    }

    /// The ports of this client.
    pub fn process(&self) -> &Process<M, false> {
        &self.0
    }

    /// Opens a port for a call, if one is free.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    #[inline]
    pub fn try_open(&self, opcode: u32) -> Result<Option<ClientPort<'_, M>>, M::Error> {
        let Some(state) = self.0.try_open(0)? else {
            return Ok(None);
        };
        let port = Port::new(&self.0, state);
        self.0.write_header(state.index(), opcode)?;
        Ok(Some(port))
    }

    /// Opens a port for a call, and waits for it.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    #[inline]
    pub fn open(&self, opcode: u32) -> Result<ClientPort<'_, M>, M::Error> {
        let mut looks = 0_u32;
        loop {
            if let Some(port) = self.try_open(opcode)? {
                return Ok(port);
            }
            looks = looks.wrapping_add(1);
            self.0.memory().pause(looks);
        }
    }
}

/// A port that is open, for those that may wait. It is closed when it is dropped.
#[derive(Debug)]
pub struct Port<'p, M: Memory, const IS_SERVER: bool> {
    process: &'p Process<M, IS_SERVER>,
    state: State,
}

impl<'p, M: Memory, const IS_SERVER: bool> Port<'p, M, IS_SERVER> {
    /// A port that [`Process::try_open`] has given.
    pub fn new(process: &'p Process<M, IS_SERVER>, state: State) -> Self {
        Self { process, state }
    }

    /// The state of the port on this side.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Sends a packet that begins with these words, at most eight.
    ///
    /// # Errors
    /// As [`Process::try_own`].
    #[inline]
    pub fn send(&mut self, words: &[u64]) -> Result<(), Fault<M::Error>> {
        self.wait(|process, state| process.try_send(state, words))
    }

    /// Receives the first words of a packet, at most eight.
    ///
    /// # Errors
    /// As [`Process::try_own`].
    #[inline]
    pub fn receive(&mut self, words: &mut [u64]) -> Result<(), Fault<M::Error>> {
        self.wait(|process, state| process.try_receive(state, words))
    }

    /// Sends a stream of bytes, `send_n`.
    ///
    /// # Errors
    /// As [`Process::try_own`].
    pub fn send_stream(&mut self, bytes: &[u8]) -> Result<(), Fault<M::Error>> {
        Cut::new(bytes).try_for_each(|packet| self.send(&packet.0))
    }

    /// Receives a stream of bytes, `recv_n`, and returns its length. Bytes that do not fit are received and dropped.
    ///
    /// # Errors
    /// As [`Process::try_own`].
    pub fn receive_stream(&mut self, bytes: &mut [u8]) -> Result<u64, Fault<M::Error>> {
        let (mut join, mut packet, mut at) = (Join::default(), Packet::default(), 0);
        loop {
            self.receive(&mut packet.0)?;
            let is_last = join.take(&packet, |now| {
                let room = &mut bytes[at..];
                let kept = now.len().min(room.len());
                room[..kept].copy_from_slice(&now[..kept]);
                at += kept;
            });
            if let (true, Some(length)) = (is_last, join.length()) {
                return Ok(length);
            }
        }
    }

    /// Closes the port: a server returns a port that it still has.
    ///
    /// # Errors
    /// If the memory cannot be reached.
    #[inline]
    pub fn close(mut self) -> Result<(), M::Error> {
        let finished = self.process.finish(&mut self.state);
        drop(self);
        finished
    }

    #[inline]
    fn wait(
        &mut self,
        mut attempt: impl FnMut(&Process<M, IS_SERVER>, &mut State) -> Result<bool, Fault<M::Error>>,
    ) -> Result<(), Fault<M::Error>> {
        let mut looks = 0_u32;
        while !attempt(self.process, &mut self.state)? {
            looks = looks.wrapping_add(1);
            self.process.memory().pause(looks);
        }
        Ok(())
    }
}

impl<M: Memory, const IS_SERVER: bool> Drop for Port<'_, M, IS_SERVER> {
    #[inline]
    fn drop(&mut self) {
        // Errors are ignored: after `close` nothing is outstanding, or the memory is unreachable and no caller can
        // handle the error.
        let _ = self.process.finish(&mut self.state);
        self.process.unlock(self.state.index());
    }
}
