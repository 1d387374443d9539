//! Transports of messages between ranks.

use crate::error::Result;
use crate::memory::Memory;
use spinneret_molly_model::Columns;
use std::ops::Range;
use std::ptr::NonNull;
use std::rc::Rc;

/// Messages of one kind from one rank to another one, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Line {
    /// The other rank.
    pub peer: usize,
    /// Whether they are sent, or received.
    pub is_send: bool,
    /// The number that distinguishes lines between the same ranks; the same one on both sides.
    pub tag: usize,
    /// Buffers on each side, at least 1.
    pub buffers: usize,
    /// Bytes of the longest message.
    pub capacity: usize,
    /// Pieces of neighbouring elements in it, or in another one if that has more.
    pub pieces: usize,
    /// Whether messages go straight into fields, or out of them, as [`Placing::takes`] has said.
    pub is_straight: bool,
}

/// Persistent lines of messages of one rank. Each line has its buffers from when it is opened.
///
/// A sender gets a free buffer ([`Transport::buffer`]), fills it and starts it ([`Transport::start`]). A receiver waits
/// for a message ([`Transport::wait`]), reads it, and gives its buffer back ([`Transport::release`]). A transport may
/// hold a message back until the receiver has a free buffer; plans have enough buffers that no rank then waits for
/// itself.
pub trait Transport {
    /// Opens a line, whose number it gives. Both sides open their lines with a tag in the same order.
    ///
    /// # Errors
    /// If the other rank cannot be reached.
    fn open(&mut self, line: &Line) -> Result<usize>;

    /// Waits until a buffer of a line for sending is free, and gives it for a message of this many bytes, to be filled.
    ///
    /// # Errors
    /// If the receiver does not take messages.
    fn buffer(&mut self, line: usize, bytes: usize) -> Result<&mut [u8]>;

    /// Sends what is in the buffer that [`Transport::buffer`] gave.
    ///
    /// # Errors
    /// If the other rank cannot be reached.
    fn start(&mut self, line: usize) -> Result<()>;

    /// Whether the next message of a line is there.
    ///
    /// # Errors
    /// If the other rank cannot be reached.
    fn test(&mut self, line: usize) -> Result<bool>;

    /// Waits for the next message of a line.
    ///
    /// # Errors
    /// If it does not come.
    fn wait(&mut self, line: usize) -> Result<&[u8]>;

    /// Gives the transport a moment while its rank works: some move long messages only while they are called.
    ///
    /// # Errors
    /// If another rank cannot be reached.
    fn progress(&mut self) -> Result<()> {
        Ok(())
    }

    /// Notes what its rank has called, and where.
    fn enter(&mut self, _call: &str) {}

    /// The call that another rank has noted last, if that can be known.
    fn last_call(&self, _peer: usize) -> Option<String> {
        None
    }

    /// Notes that the rank has executed this many instances of bodies; simulated time advances by their cost.
    ///
    /// # Errors
    /// If the transport fails meanwhile.
    fn worked(&mut self, _instances: u64) -> Result<()> {
        Ok(())
    }

    /// Frees the buffer of the message that [`Transport::wait`] gave.
    ///
    /// # Errors
    /// If the other rank cannot be reached.
    fn release(&mut self, line: usize) -> Result<()>;

    /// The part that puts messages into their place in fields, or takes them there, if this transport can.
    fn placing(&mut self) -> Option<&mut dyn Placing> {
        None
    }
}

/// Pieces of a field's memory, for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where the field's memory begins.
    pub start: NonNull<u8>,
    /// Pieces in the order of the message, in bytes from there.
    pub pieces: Rc<[Range<usize>]>,
}

/// A zero-copy transport: it receives messages into their place in fields, and sends them from there.
pub trait Placing {
    /// Memory of `bytes` bytes for a field, all of them 0, where messages can be put. The byte at `line` begins a line
    /// of caches, if that is possible.
    ///
    /// # Errors
    /// If there is not enough.
    fn memory(&mut self, bytes: usize, line: usize) -> Result<Box<dyn Memory>>;

    /// Whether memory is of this transport.
    fn owns(&self, memory: &dyn Memory) -> bool;

    /// Whether all messages of a line go straight into their place, or out of it, and none through a buffer. `pieces`
    /// is the number of their pieces of memory, if they have the same elements in all chunks.
    fn takes(&self, line: &Line, pieces: Option<usize>, columns: Columns) -> bool;

    /// Lets the next message of a line come into its place from now on, that is, the one after those that are expected
    /// there already. The caller must not access the place until [`Placing::placed`] reports the message.
    ///
    /// # Errors
    /// If the place is not in memory of this transport, or the other rank cannot be reached.
    fn expect(&mut self, line: usize, place: &Place) -> Result<()>;

    /// Waits until the message of a line that was expected first is placed, and returns its bytes.
    ///
    /// # Errors
    /// If it does not come, or none is expected.
    fn placed(&mut self, line: usize) -> Result<usize>;

    /// Sends the content of a place, which must not be written until [`Placing::departed`] returns.
    ///
    /// # Errors
    /// If the place is not in memory of this transport, or the other rank cannot be reached.
    fn start_from(&mut self, line: usize, place: &Place) -> Result<()>;

    /// Waits until the message of a line that was sent first from its place has left; messages that this has reported
    /// already do not count.
    ///
    /// # Errors
    /// If the receiver does not take it, or none was sent.
    fn departed(&mut self, line: usize) -> Result<()>;
}
