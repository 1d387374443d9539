//! Checks bursts.

use super::{AxiShape, INCR, KIND_BITS, LENGTH_BITS, PAGE_BITS, SIZE_BITS};
use spinneret_verilog::prelude::*;

/// Says where a burst ends, and whether it is one that a memory can do: incrementing, no beat wider than the
/// port, and within 4 KiB (AMBA IHI 0022, sections A3.4.1 and A3.4.2).
///
/// Combinational.
#[module(no_clock, shape: AxiShape, beat_bits: usize = shape.beat_bits())]
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
}

/// The bits of an address in 4 KiB that are within a beat of `2^size` bytes, on a port whose beats have `2^beat_bits`.
#[kernel]
pub(crate) fn within_beat(size: Sig, beat_bits: usize) -> Sig {
    let mask = wire(PAGE_BITS);
    mask = 0;
    for bit in 0..beat_bits {
        mask[bit] = size > bit;
    }
    mask
}

#[kernel(BurstCheck { start, length, size, kind, last_byte, refused, beat_bits }, suffix = self._beat_bits)]
fn update() {
    let mask = within_beat(size, beat_bits);
    // Shifting bit by bit of the size is shallower than choosing among all shifts.
    let shifted = |span: Sig, bit: usize| if size[bit] { span << (1_usize << bit) } else { span };
    let span_by_1 = shifted(length.resize(LENGTH_BITS + beat_bits), 0);
    let span_by_3 = shifted(span_by_1, 1);
    /// From the last byte of the first beat to that of the last.
    let span = shifted(span_by_3, 2);
    let width = span.width().max(PAGE_BITS) + 1;
    let sum = (start | mask).resize(width) + span.resize(width);
    last_byte = sum.slice(0, PAGE_BITS);
    refused = kind != INCR || size > beat_bits || sum.slice(PAGE_BITS, width - PAGE_BITS).any();
}
