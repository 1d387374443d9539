//! The side that asks.

use crate::layout::{Layout, LayoutError};
use crate::memory::Memory;
use crate::port::Port;
use crate::process::Process;

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

    /// The ports behind it.
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
