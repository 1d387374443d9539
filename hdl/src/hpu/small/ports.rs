//! Port bundles between the blocks of a small complex.
//!
//! A place is the number of 8 bytes of memory: bits 31 to 3 of their address.

use crate::axi::{AxiExtras, AxiShape};
use crate::hpu::cluster::{HPU, SLAVE, WORD};
use spinneret_verilog::prelude::*;

/// Bits of a memory's word.
pub const DATA: usize = 64;
/// Bytes of a memory's word.
pub const DATA_BYTES: usize = DATA / 8;
/// Bits of an address within a memory's word.
pub const WITHIN: usize = DATA_BYTES.ilog2() as usize;
/// Bits of a place.
pub const PLACE: usize = WORD - WITHIN;
/// Clocks from a read's acceptance to its data.
pub const SMALL_READ_CLOCKS: usize = 2;
/// Bits of the number of a thread, which is that of its HPU.
pub const SMALL_THREAD: usize = HPU;
/// Bits of the number of a context.
pub const SMALL_CONTEXT: usize = 1;
/// Bits of the number of a queue in its context.
pub const SMALL_OWN_QUEUE: usize = 3;
/// Bytes of a part of a copy from or to the host: what fits into a frame.
pub const SMALL_PART: usize = 1024;
/// Bits of the length of a copy from or to the host.
pub const SMALL_LENGTH: usize = 21;
/// Bits of the bytes of a part.
pub const SMALL_PART_BITS: usize = SMALL_PART.ilog2() as usize + 1;
/// Widths of the AXI slaves.
pub const SMALL_SLAVE: AxiShape = AxiShape {
    address: WORD,
    data: DATA,
    id: SLAVE.id,
    extras: AxiExtras::NONE,
};

/// Reads of memory: one a clock. An offer may be withdrawn.
#[interface(SmallReadIn)]
pub struct SmallRead {
    /// A word is asked for.
    pub valid: Wire<Out, bool>,
    /// Where.
    pub place: Wire<Out, { PLACE }>,
    /// The read is accepted in this clock.
    pub ready: Wire<In, bool>,
    /// There is no memory.
    pub failed: Wire<In, bool>,
    /// The word, [`SMALL_READ_CLOCKS`] clocks after the acceptance; 0 without memory.
    pub data: Wire<In, { DATA }>,
}

/// Writes of memory: one a clock.
#[interface(SmallWriteIn)]
pub struct SmallWrite {
    /// A word is to be written.
    pub valid: Wire<Out, bool>,
    /// Where.
    pub place: Wire<Out, { PLACE }>,
    /// The bytes that are written.
    pub strobe: Wire<Out, { DATA_BYTES }>,
    /// The word.
    pub data: Wire<Out, { DATA }>,
    /// The write is accepted in this clock.
    pub ready: Wire<In, bool>,
    /// There is no memory, and nothing is written.
    pub failed: Wire<In, bool>,
}

/// Accesses of the pipeline to memory, whose address is decoded.
#[interface(SmallWordsIn, banks: usize, index: usize)]
pub struct SmallWords {
    /// An access is offered.
    pub valid: Wire<Out, bool>,
    /// The thread that makes it.
    pub thread: Wire<Out, { SMALL_THREAD }>,
    /// Bit n: it is in memory n.
    pub bank: Wire<Out, { banks }>,
    /// The lowest bits of its place.
    pub index: Wire<Out, { index }>,
    /// It is in the upper half of the place.
    pub upper: Wire<Out, bool>,
    /// It is a store, and not atomic.
    pub is_write: Wire<Out, bool>,
    /// Bit 5: it is an atomic instruction; bits 4:0 are then bits 31:27 of the instruction.
    pub atomic: Wire<Out, 6>,
    /// Bytes that are written.
    pub strobe: Wire<Out, 4>,
    /// Word to write; the operand of an atomic instruction.
    pub data: Wire<Out, { WORD }>,
    /// The access takes place in this clock.
    pub ready: Wire<In, bool>,
    /// The word before the access, [`SMALL_READ_CLOCKS`] clocks later; after `sc.w` 0 (stored) or 1.
    pub read_data: Wire<In, { WORD }>,
}

/// Requests for the host: one for each part of a copy. Its data follow, or answer.
#[interface(SmallHostIn)]
pub struct SmallHost {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// It is taken.
    pub ready: Wire<In, bool>,
    /// The context that wants it.
    pub context: Wire<Out, { SMALL_CONTEXT }>,
    /// It writes to the host.
    pub is_write: Wire<Out, bool>,
    /// Address in the host where the copy begins.
    pub address: Wire<Out, { 2 * WORD }>,
    /// Bytes from there to the part.
    pub offset: Wire<Out, { SMALL_LENGTH }>,
    /// Bytes of the part.
    pub bytes: Wire<Out, { SMALL_PART_BITS }>,
}

/// Accesses of the host to memory, program memory and registers of contexts.
#[interface(SmallAccessIn)]
pub struct SmallAccess {
    /// There is one. It stays until it is done.
    pub valid: Wire<Out, bool>,
    /// It is a write.
    pub is_write: Wire<Out, bool>,
    /// Where.
    pub place: Wire<Out, { PLACE }>,
    /// The bytes that are written.
    pub strobe: Wire<Out, { DATA_BYTES }>,
    /// The word to write.
    pub data: Wire<Out, { DATA }>,
    /// It is done in this clock.
    pub ready: Wire<In, bool>,
    /// With `ready`: there is nothing at that place, or it cannot be read.
    pub failed: Wire<In, bool>,
    /// With `ready`: the word that was read.
    pub read_data: Wire<In, { DATA }>,
}
