//! Checks bursts.

use super::{AxiShape, INCR, KIND_BITS, LENGTH_BITS, PAGE_BITS, SIZE_BITS};
use spinneret_verilog::prelude::*;

/// Says where a burst ends, and whether it is one that a memory can do: incrementing, no beat wider than the
/// port, and within 4 KiB (AMBA IHI 0022, sections A3.4.1 and A3.4.2).
///
/// Combinational.
#[hardware(shape: AxiShape, beat_bits = shape.beat_bits(), span = LENGTH_BITS + beat_bits)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct BurstCheck {
    /// The lowest bits of its address: the place of its first byte in its 4 KiB.
    pub start: Wire<In, { PAGE_BITS }>,
    /// Its beats, minus 1.
    pub length: Wire<In, { LENGTH_BITS }>,
    /// Bytes of a beat, as a power of two.
    pub size: Wire<In, { SIZE_BITS }>,
    /// Kind of burst.
    pub kind: Wire<In, { KIND_BITS }>,
    /// Place of its last byte; only if it is not refused.
    pub last_byte: Wire<Out, { PAGE_BITS }>,
    /// It cannot be done.
    pub refused: Wire<Out, bool>,
    /// The bits of an address within a beat.
    mask: Wire<Local, { PAGE_BITS }>,
    /// From the last byte of the first beat to that of the last.
    span: Wire<Local, { span }>,
    sum: Wire<Local, { span.max(PAGE_BITS) + 1 }>,
    #[new(beat_bits)]
    _beat_bits: usize,
}

impl Logic for BurstCheck {
    #[kernel(suffix = self._beat_bits)]
    fn update(&mut self) {
        let (span, sum) = (self.span.width(), self.sum.width());
        self.mask.next = 0.into();
        for bit in 0..self._beat_bits {
            if self.size.val() > bit as u64 {
                self.mask.next.set_bit(bit, true);
            }
        }
        /// Shifting bit by bit of the size is shallower than choosing among all shifts.
        self.span.next = self.length.val().resize(span);
        for bit in 0..SIZE_BITS {
            if self.size.val().get_bit(bit) {
                self.span.next = self.span.val() << (1 << bit) as u64;
            }
        }
        self.sum.next = (self.start.val() | self.mask.val()).resize(sum) + self.span.val().resize(sum);
        self.last_byte.next = self.sum.val().slice(0, PAGE_BITS);
        self.refused.next = self.kind.val() != INCR
            || self.size.val() > self._beat_bits as u64
            || self.sum.val().slice(PAGE_BITS, sum - PAGE_BITS).any();
    }
}
