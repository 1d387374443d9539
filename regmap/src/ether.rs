//! Frames by which a host controls a board over Ethernet; `docs/boards/control.md` has the protocol.
//!
//! Numbers are in network order. Words of data follow the header.

/// EtherType of the frames: the first of two that IEEE 802 leaves to local experiments.
pub const ETHER_TYPE: u16 = 0x88b5;
/// Version of the protocol.
pub const VERSION: u8 = 1;

/// Kind of a request that asks for the board's data; anybody gets an answer.
pub const DISCOVER: u8 = 1;
/// Kind of a request that begins a session, and sets the key.
pub const OPEN: u8 = 2;
/// Kind of a request that ends the session, and forgets the key.
pub const CLOSE: u8 = 3;
/// Kind of a request that reads words.
pub const READ: u8 = 4;
/// Kind of a request that writes words.
pub const WRITE: u8 = 5;
/// Kind of a message of the board, a host write; the owner acknowledges it with the same kind.
pub const MESSAGE: u8 = 6;
/// Kind of a message of the board, a host read; the owner answers it with the same kind and the bytes, or with none.
pub const HOST_READ: u8 = 7;
/// Bit of the kind in frames of the board.
pub const FROM_BOARD: u8 = 0x80;

/// Status: the request was executed.
pub const DONE: u8 = 0;
/// Status: the board refused an access; the words before it are done.
pub const FAILED: u8 = 1;
/// Status: the board has another key.
pub const IN_USE: u8 = 2;
/// Status: the request belongs to no session, or to an earlier one.
pub const NO_SESSION: u8 = 3;

/// Place of the version, after the Ethernet header of 14 bytes.
pub const VERSION_AT: usize = 14;
/// Place of the kind.
pub const KIND_AT: usize = 15;
/// Place of the key, 8 bytes; in frames of the board the session, 4 bytes, and zeros.
pub const KEY_AT: usize = 16;
/// Place of the number of the request or message.
pub const NUMBER_AT: usize = 24;
/// Place of the address; in answers the number of the next message.
pub const ADDRESS_AT: usize = 28;
/// Place of the number of words, 2 bytes; in messages the number of bytes.
pub const COUNT_AT: usize = 32;
/// Place of the status.
pub const STATUS_AT: usize = 34;
/// Place of the largest number of words in a frame.
pub const LIMIT_AT: usize = 36;
/// Bytes of the header: the place of the data.
pub const HEADER_BYTES: usize = 40;
/// Bytes of the shortest frame of the board.
pub const SHORTEST_BYTES: usize = 64;

/// Words of a frame at most.
pub const MOST_WORDS: usize = 256;
/// Bytes of a host write or read at most.
pub const MOST_BYTES: usize = 4 * MOST_WORDS;

/// Bytes of a board's data, in the answer to [`DISCOVER`].
pub const INFO_BYTES: usize = 32;
/// Bytes of the name in it, from its first byte on; zeros follow a shorter one.
pub const NAME_BYTES: usize = 16;
/// Place of the design's version in it.
pub const DESIGN_AT: usize = 16;
/// Place of the number of clusters in it, 2 bytes, and of HPUs in each, 2 bytes.
pub const SHAPE_AT: usize = 20;
/// Place of the bytes of memory for handlers and their data in it.
pub const MEMORY_AT: usize = 24;
/// Place of the bytes of program memory in it.
pub const PROGRAM_AT: usize = 28;

/// Address of the control registers; lower ones are memory as handlers see it.
pub const REGISTERS: u32 = 0x8000_0000;
