//! Ports for those that may wait.

use crate::layout::Version;
use crate::memory::Memory;
use crate::packet::{Cut, Join, Packet};
use crate::process::{Process, State};
use crate::status::Fault;
use core::sync::atomic::{AtomicU32, Ordering, fence};

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

    /// What this side knows of it.
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

    /// Receives a stream of bytes, `recv_n`, and gives its length. What does not fit is received and forgotten.
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

    /// Closes the port: a server gives back what it still has.
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
        // After a close there is nothing to give back any more; else the memory may be gone, and nobody is left to tell.
        let _ = self.process.finish(&mut self.state);
        self.process.unlock(self.state.index());
    }
}

// Which ports are taken on one side. The other side never sees it.

const BITS: u32 = u32::BITS;
const LOCK_WORDS: usize = (Version::V23.max_ports() / BITS) as usize;

/// One bit for each port: bit i % 32 of word i / 32.
#[derive(Debug)]
pub(crate) struct Locks([AtomicU32; LOCK_WORDS]);

impl Locks {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU32::new(0) }; LOCK_WORDS])
    }

    /// Takes a port if nobody has it. What its last owner did is then seen.
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

    /// Whether somebody has a port.
    pub(crate) fn is_taken(&self, port: u32) -> bool {
        self.0[(port / BITS) as usize].load(Ordering::Relaxed) & 1 << (port % BITS) != 0
    }
}
