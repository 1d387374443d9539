//! The memory of the stand-in, and whose turn it is.

use super::shape::{DATA, STROBES, StubShape};
use crate::stream::{StreamIn, StreamInHandles};
use spinneret_verilog::prelude::*;

/// Users of the memory: the three slaves, and the operations on HERs.
pub(super) const USERS: usize = 4;
/// Bits of the number of a user.
const USER_BITS: usize = USERS.trailing_zeros() as usize;

/// One line is written and one is read in a clock, in rotation of the users.
///
/// Data is there in the next clock, for one clock. A read of a line that is written in the same clock returns
/// what was there before.
#[module(shape: StubShape)]
pub struct StubMemory {
    /// Writes of the users: {line, strobes, data}.
    pub write: [StreamIn<{ shape.write() }>; USERS],
    /// Reads of the users: line.
    pub read: [StreamIn<{ shape.line() }>; USERS],
    /// The line that was read in the clock before.
    pub data: Wire<Out, { DATA }>,
    /// The users that were chosen last.
    last_writer: Reg<{ USER_BITS }, Reset>,
    last_reader: Reg<{ USER_BITS }, Reset>,
    ram: ByteRam<{ RamStyle::Block }, { shape.lines() }, { STROBES }>,
}

/// The request of the user whose turn it is, the first one that asks after the last one; 0 if there is no request.
#[kernel]
fn in_turn(users: &[StreamInHandles], last: Sig) -> Sig {
    let chosen = wire(USER_BITS);
    chosen = last;
    for (number, user) in users.iter().enumerate().rev() {
        if user.valid {
            chosen = number;
        }
    }
    for (number, user) in users.iter().enumerate().skip(1).rev() {
        if user.valid && last < number {
            chosen = number;
        }
    }
    last = chosen;
    let request = wire(users[0].data.width());
    request = Word::zero(request.width());
    for (number, user) in users.iter().enumerate() {
        user.ready = user.valid && chosen == number;
        if user.ready {
            request = user.data;
        }
    }
    request
}

#[kernel(StubMemory, suffix = shape.lines())]
fn update() {
    let written = in_turn(&write, last_writer);
    ram.write_data = written.slice(0, DATA);
    ram.write_enable = written.slice(DATA, STROBES);
    ram.write_addr = written.slice(DATA + STROBES, shape.line());
    let reads = word_of(read.iter().map(|user| user.valid));
    ram.read_enable = reads.any();
    ram.read_addr = in_turn(&read, last_reader);
    data = ram.read_data;
}
