//! Judges bursts.

use super::{AxiShape, INCR, KIND_BITS, LENGTH_BITS, PAGE_BITS, SIZE_BITS};
use spinneret_verilog::prelude::*;

/// Says where a burst ends, and whether it is one that a memory can do: incrementing, no beat wider than the
/// port, and within 4 KiB (AMBA IHI 0022, sections A3.4.1 and A3.4.2).
///
/// Combinational.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct BurstCheck {
    /// The lowest bits of its address: the place of its first byte in its 4 KiB.
    pub start: Wire<In>,
    /// Its beats, minus 1.
    pub length: Wire<In>,
    /// Bytes of a beat, as a power of two.
    pub size: Wire<In>,
    /// Kind of burst.
    pub kind: Wire<In>,
    /// Place of its last byte; only if it is not refused.
    pub last_byte: Wire<Out>,
    /// It cannot be done.
    pub refused: Wire<Out, bool>,
    /// The bits of an address within a beat.
    mask: Wire<Local>,
    /// From the last byte of the first beat to that of the last.
    span: Wire<Local>,
    sum: Wire<Local>,
    _beat_bits: usize,
}

impl BurstCheck {
    /// A judge for bursts at a port.
    pub fn new(shape: AxiShape) -> Self {
        let beat_bits = shape.beat_bits();
        let span = LENGTH_BITS + beat_bits;
        Self {
            start: Wire::word(PAGE_BITS),
            length: Wire::word(LENGTH_BITS),
            size: Wire::word(SIZE_BITS),
            kind: Wire::word(KIND_BITS),
            last_byte: Wire::word(PAGE_BITS),
            refused: Wire::bit(),
            mask: Wire::word(PAGE_BITS),
            span: Wire::word(span),
            sum: Wire::word(span.max(PAGE_BITS) + 1),
            _beat_bits: beat_bits,
        }
    }
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
