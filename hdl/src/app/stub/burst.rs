//! The place of a burst in the memory.

use super::shape::{ADDRESS, OFFSET, PLACE, StubShape};
use crate::axi::{DECERR, INCR, KIND_BITS, OKAY, PAGE_BITS, SIZE_BITS, SLVERR};
use spinneret_regmap::pspin;
use spinneret_verilog::prelude::*;

/// Handler and packet memory, one after the other.
const HANDLER_AND_PACKET: u64 = pspin::HANDLER_BASE as u64;
/// Program memory.
const PROGRAM: u64 = pspin::PROGRAM_BASE as u64;
/// Bits of an address within the program memory.
const PROGRAM_BITS: usize = pspin::PROGRAM_BYTES.ilog2() as usize;
/// Bits of an address within the quarter of the memory that the program memory is part of.
const QUARTER_BITS: usize = PLACE - 2;

/// Finds the line of an address, checks a burst that starts there, and computes the place of its next beat.
///
/// Combinational. Beats beyond the end of 4 KiB, which no burst has, continue at its start.
#[hardware(shape: StubShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct StubBurst {
    /// Address of a beat.
    pub address: Wire<In, { ADDRESS }>,
    /// Bytes of a beat, as a power of two.
    pub size: Wire<In, { SIZE_BITS }>,
    /// Kind of burst.
    pub kind: Wire<In, { KIND_BITS }>,
    /// Its line in the memory.
    pub line: Wire<Out, { shape.line() }>,
    /// How a burst that starts there is answered.
    pub response: Wire<Out, 2>,
    /// Address of the next beat.
    pub following: Wire<Out, { ADDRESS }>,
    mask: Wire<Local, { PAGE_BITS }>,
    mapped: Wire<Local, bool>,
}

impl Logic for StubBurst {
    #[kernel(suffix = self._shape.lines())]
    fn update(&mut self) {
        let line = self._shape.line();
        /// The program memory is in the last quarter, which the other windows leave free.
        if OFFSET + line <= QUARTER_BITS {
            self.line.next = self.address.val().slice(OFFSET, line);
        } else if self.address.val().get_bit(24) {
            self.line.next = cat!(
                fill(true, OFFSET + line - QUARTER_BITS),
                self.address.val().slice(OFFSET, QUARTER_BITS - OFFSET)
            );
        } else {
            self.line.next = self.address.val().slice(OFFSET, line);
        }
        self.mapped.next = (self.address.val().slice(PLACE, ADDRESS - PLACE) == HANDLER_AND_PACKET >> PLACE
            && self.address.val().slice(QUARTER_BITS, 2) != 3)
            || self.address.val().slice(PROGRAM_BITS, ADDRESS - PROGRAM_BITS) == PROGRAM >> PROGRAM_BITS;
        if self.kind.val() != INCR || self.size.val() > OFFSET as u64 {
            self.response.next = SLVERR.into();
        } else if self.mapped.val() {
            self.response.next = OKAY.into();
        } else {
            self.response.next = DECERR.into();
        }
        /// The first beat may be anywhere in its line, the others are at multiples of their size.
        self.mask.next = 0.into();
        for bit in 0..OFFSET {
            if self.size.val() > bit as u64 {
                self.mask.next.set_bit(bit, true);
            }
        }
        self.following.next = cat!(
            self.address.val().slice(PAGE_BITS, ADDRESS - PAGE_BITS),
            (self.address.val().slice(0, PAGE_BITS) | self.mask.val()) + 1
        );
    }
}
