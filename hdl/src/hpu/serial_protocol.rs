//! The bytes that a pipeline behind a serial line and its host exchange.
//!
//! Either side sends frames of {code, length, payload of that many bytes}. The host sends a command and waits for its answer.
//! Addresses and words of registers come with the most significant byte first, bytes of memory in the order of their addresses.
//!
//! | command | payload | payload of the answer |
//! |---|---|---|
//! | [`HELLO`] | none | protocol version, threads, 256ths of bytes of program memory, of data memory |
//! | [`WRITE`] | address (4), words (4 to 248) | none |
//! | [`READ`] | address (4), number of bytes (1) | those bytes of data memory |
//! | [`RUN`] | address of the handler (4); 0 stops the pipeline | none |
//! | [`PACKET`] | the packet, 1 to 255 bytes | the cause of the handler's failure, 0 if there was none |
//!
//! Before the answer to a packet comes a frame [`SENT`] with each packet that its handler sends.
//! The code of an answer is [`DONE`], or says what was wrong; then it has no payload. Only a write may have changed some words then.

pub use crate::uart::protocol::{
    DONE, FRAMING, OVERRUN, TIMEOUT, UNKNOWN_COMMAND, WRONG_LENGTH, WRONG_VALUE,
};

/// Asks who is there.
pub const HELLO: u8 = 0x00;
/// Writes words into data memory, or, while the pipeline is stopped, into program memory.
pub const WRITE: u8 = 0x01;
/// Reads bytes of data memory; what follows its end is its beginning.
pub const READ: u8 = 0x02;
/// Starts the pipeline, or stops it.
pub const RUN: u8 = 0x03;
/// Has a packet handled.
pub const PACKET: u8 = 0x04;

/// Not an answer: the handler sends this packet.
pub const SENT: u8 = 0x01;
/// The packet was not taken or its task did not end; the pipeline is stopped.
pub const NO_END: u8 = 0xe7;

/// Version of these definitions.
pub const VERSION: u64 = 1;
