//! The sum of the IP payload of every frame.
//!
//! ```text
//! beat, keep, place of the payload -> bytes of the payload, others 0 -> counters of bits -> words -> + running -> sum
//!                                     (clock 1)                         (clock 2)           (clock 3)
//! ```
//!
//! # Contract
//! - **Sum**: that of the 16-bit words of the payload, the first byte of each in the lowest bits, modulo 0xffff: the sum of RFC 1071
//!   without the inversion, whatever the byte order. It reaches from the start of the payload, as [`PayloadFinder`](super::PayloadFinder)
//!   says, to the end of the frame: padding of short frames belongs to it, and so do extension headers of IPv6. VLAN tags and
//!   headers do not. Of a fragment it is the sum of that fragment. An odd last byte is followed by 0.
//! - **Form**: bit 16 counts as 1, so the sum is `(sum & 0xffff) + (sum >> 16)`. It is 0 only if there is no payload or all
//!   of its bytes are 0.
//! - **Throughput and latency**: one beat a clock, never a stall. The sum is there three clocks after the last beat of its frame.
//! - **Reset**: there is none; after a frame that was cut the first sum is wrong, so the block is reset with what cuts it.
//!
//! Counters replace six words by three with the same sum, in one level of tables each; a carry out of the highest bit goes into
//! the lowest. The 32 words of 512 bits become five in four levels.

use super::MatchShape;
use super::shape::{LARGEST_PAYLOAD_BASE, PAYLOAD_BASE_WIDTH, SMALLEST_PAYLOAD_BASE};
use crate::entry::Entry;
use spinneret_regmap::pspin::packet_size::SUM_BITS;
use spinneret_verilog::prelude::*;

/// Bits of a word that is added.
const WORD: usize = 16;
/// Words that a counter takes, and those that it gives.
const TAKES: usize = 6;
const GIVES: usize = 3;

/// Adds up the IP payload of every frame.
#[module(
    shape: MatchShape,
    keep = shape.axis().keep(),
    words = keep / 2,
    counted = words.saturating_sub(TAKES - 1).div_ceil(TAKES - GIVES),
)]
pub struct PayloadSum {
    /// Synchronous reset: the next beat is the first of a frame.
    pub rst: Wire<In, bool>,
    /// Payload of the beat.
    pub beat_data: Wire<In, { shape.data }>,
    /// Bytes of the beat that belong to the frame.
    pub beat_keep: Wire<In, { keep }>,
    /// Number of the beat within its frame.
    pub beat_number: Wire<In, { shape.beat_number_width() }>,
    /// The beat is the last of its frame.
    pub beat_last: Wire<In, bool>,
    /// The beat is there.
    pub beat_valid: Wire<In, bool>,
    /// The frame has an IP payload, and its place is known.
    pub found: Wire<In, bool>,
    /// The word of the frame that starts two bytes after the payload's start.
    pub base: Wire<In, { PAYLOAD_BASE_WIDTH }>,
    /// The sum of the frame whose last beat was there three clocks ago.
    pub sum: Wire<Out, { SUM_BITS }>,
    bytes: [Reg<8>; keep],
    /// As many as leave fewer words than a counter takes, and the one of the running sum.
    counters: [ColumnCounter; counted + 1],
    /// Words whose sum is that of the beat.
    parts: [Reg<{ WORD }>; words - counted * (TAKES - GIVES)],
    running: Reg<{ SUM_BITS }>,
}

/// The number of ones at each place of six words: `ones + 2 * twos + 4 * fours` is the sum of the words.
#[module(no_clock)]
pub struct ColumnCounter {
    /// Six words.
    pub words: Wire<In, { WORD * TAKES }>,
    /// Bit 0 of the number of ones at each place.
    pub ones: Wire<Out, { WORD }>,
    /// Bit 1.
    pub twos: Wire<Out, { WORD }>,
    /// Bit 2.
    pub fours: Wire<Out, { WORD }>,
}

#[kernel(ColumnCounter)]
fn update() {
    let word = |number: usize| words.slice(WORD * number, WORD);
    let (low, low_carry) = full_add(word(0), word(1), word(2));
    let (high, high_carry) = full_add(word(3), word(4), word(5));
    let (second, third) = full_add(low_carry, high_carry, low & high);
    ones = low ^ high;
    twos = second;
    fours = third;
}

/// The sum of three words at each place, and its carries. Both use `half`, so that synthesis finds a single table for each output bit.
#[kernel]
fn full_add(a: Sig, b: Sig, c: Sig) -> (Sig, Sig) {
    let half = a ^ b;
    (half ^ c, (a & b) | (half & c))
}

/// A word times a power of two modulo 0xffff.
#[kernel]
fn rotate(word: Sig, places: usize) -> Sig {
    let (low, high) = word.split_at(WORD - places);
    cat!(low, high)
}

/// Adds two words and a carry: {carry, sum}.
#[kernel]
fn carry_add(a: Sig, b: Sig, carry: Sig<bool>) -> Sig {
    let one = constant(lit(1, 1));
    let total = cat!(a, one).resize(WORD + 2) + cat!(b, carry).resize(WORD + 2);
    total.slice(1, SUM_BITS)
}

/// Whether the payload is found, and has begun before the word of this lane, or that behind the last one.
#[kernel]
fn has_begun(shape: MatchShape, lane: usize, found: Sig<bool>, beat_number: Sig, base: Sig) -> Sig<bool> {
    let mut begins = found;
    for beat in 0..shape.last_beat_number() {
        let word = beat * shape.lanes() + lane;
        if word < SMALLEST_PAYLOAD_BASE {
            begins = begins && beat_number != beat;
        } else if word < LARGEST_PAYLOAD_BASE {
            begins = begins && (beat_number != beat || base <= word);
        }
    }
    begins
}

#[kernel(PayloadSum)]
fn update() {
    /// First clock: bytes before the payload and behind the frame are 0. The two bytes before the base belong to the payload.
    for (number, byte) in bytes.iter().enumerate() {
        let lane = number / 4 + number % 4 / 2;
        let begins = has_begun(shape, lane, found, beat_number, base);
        *byte = if !beat_keep[number] || !begins {
            lit(0, 8)
        } else {
            beat_data.slice(8 * number, 8)
        };
    }
    let (is_masked, masked_last) = (reg_reset(beat_valid, false), reg(beat_last));

    /// Second clock: as few words as fit a counter with the running sum.
    let mut free = counters.iter();
    let mut count = |words: &[Sig]| {
        let counter = free.next().expect("each counter takes three words away");
        counter.words = cat_all(words);
        vec![counter.ones, rotate(counter.twos, 1), rotate(counter.fours, 2)]
    };
    let mut words: Vec<Sig> = bytes.chunks(2).map(|pair| cat!(pair[1], pair[0])).collect();
    while words.len() >= TAKES {
        words = words
            .chunks(TAKES)
            .flat_map(|part| {
                if part.len() == TAKES {
                    count(part)
                } else {
                    part.to_vec()
                }
            })
            .collect();
    }
    for (part, word) in parts.iter().zip(words) {
        *part = word;
    }
    let (is_counted, counted_last) = (reg_reset(is_masked, false), reg(masked_last));

    /// Third clock: the running sum.
    let (before, carry) = running.split_at(WORD);
    let mut words = parts.to_vec();
    words.push(before);
    words.resize(TAKES, constant(lit(0, WORD)));
    let last = count(&words);
    let first_sum = carry_add(last[0], last[1], carry[0]);
    let (part, carry) = first_sum.split_at(WORD);
    let total = carry_add(part, last[2], carry[0]);
    if rst || (is_counted && counted_last) {
        running = 0;
    } else if is_counted {
        running = total;
    }
    sum = reg(total);
}

/// [`PayloadSum`] with the parameters of the matching engine.
pub(crate) const SUM: Entry = entry!(part "payload_sum", PayloadSum(MatchShape):
    "sum of the IP payload of every frame, one beat a clock");
