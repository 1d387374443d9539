//! The slaves of the stand-in in front of its memory.

use super::shape::{DATA, OFFSET, PLACE, StubShape};
use crate::hpu::cluster::{LineReadHandles, LineWriteHandles};
use crate::stream::StreamInHandles;
use spinneret_regmap::pspin;
use spinneret_verilog::prelude::*;

/// Handler and packet memory, one after the other.
const HANDLER_AND_PACKET: u64 = pspin::HANDLER_BASE as u64;
/// Program memory.
const PROGRAM: u64 = pspin::PROGRAM_BASE as u64;
/// The bit of an address that tells the program memory from the other windows.
const PROGRAM_BIT: usize = (HANDLER_AND_PACKET ^ PROGRAM).trailing_zeros() as usize;
/// Bits of an address within the program memory.
const PROGRAM_BITS: usize = pspin::PROGRAM_BYTES.ilog2() as usize;
/// Bits of an address within the quarter of the memory that the program memory is part of.
const QUARTER_BITS: usize = PLACE - 2;

/// The line of the memory at a line of the address space. The program memory is in the last quarter, which the other windows
/// leave free.
#[kernel]
pub(super) fn line_of(shape: StubShape, line: Sig) -> Sig {
    let place = line.slice(0, shape.line());
    let quarter = QUARTER_BITS - OFFSET;
    if shape.line() <= quarter {
        place
    } else {
        let program = cat!(fill(true, shape.line() - quarter), place.slice(0, quarter));
        if line[PROGRAM_BIT - OFFSET] {
            program
        } else {
            place
        }
    }
}

/// There is memory at a line of the address space.
#[kernel]
fn is_mapped(line: Sig) -> Sig<bool> {
    let (place, window) = line.split_at(PLACE - OFFSET);
    let (_, program) = line.split_at(PROGRAM_BITS - OFFSET);
    (window == HANDLER_AND_PACKET >> PLACE && place.slice(QUARTER_BITS - OFFSET, 2) != 3)
        || program == PROGRAM >> PROGRAM_BITS
}

/// Writes of a slave go to the memory.
#[kernel]
pub(super) fn serve_write(shape: StubShape, s: LineWriteHandles, m: StreamInHandles) {
    let mapped = is_mapped(s.line);
    m.data = cat!(line_of(shape, s.line), s.strobe, s.data);
    m.valid = s.valid && mapped;
    s.ready = m.ready || !mapped;
    s.failed = !mapped;
}

/// Reads of a slave go to the memory, whose data comes in the next clock.
#[kernel]
pub(super) fn serve_read(shape: StubShape, s: LineReadHandles, m: StreamInHandles, data: Sig) {
    let mapped = is_mapped(s.line);
    m.data = line_of(shape, s.line);
    m.valid = s.valid && mapped;
    s.ready = m.ready || !mapped;
    s.failed = !mapped;
    let comes = reg_reset(m.valid && m.ready, false);
    s.data_valid = comes;
    s.data = data & comes.repeat(DATA);
}
