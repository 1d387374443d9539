//! Cuts packets into bursts.

use super::{BeatFields, DmaShape};
use crate::axi::LENGTH_BITS;
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Cuts packets into bursts: one beat a clock, and one clock from input to output registers.
///
/// A burst ends where a block of `burst_beats` beats of memory does, or with its packet, so it never
/// crosses 4 KiB. It starts when all its beats are in sight: the length of a packet need not be known.
///
/// The first beat of a packet takes its slot. A packet without one is discarded, and so is what lies after
/// the slot. One cycle after a burst has left, or a packet has ended without one, there is a record.
#[module(
    shape: DmaShape,
    beat = shape.beat(),
    depth = shape.burst_beats,
    places = shape.address - shape.beat_bits(),
)]
pub struct FrameWriter {
    /// Marked beats.
    pub beat: StreamIn<{ beat.width }>,
    /// Bit n: the n-th beat from now is there.
    pub seen: Wire<Out, { depth }>,
    /// Bit n: the n-th beat from now is there and ends its frame.
    pub last: Wire<Out, { depth }>,
    /// Where the next packet goes: {there is no slot, address}.
    pub slot: StreamIn<{ 1 + shape.address }>,
    /// Address of a burst.
    pub burst_address: Wire<Out, { shape.address }>,
    /// Its beats, minus 1.
    pub burst_length: Wire<Out, { LENGTH_BITS }>,
    /// The burst is there.
    pub burst_valid: Wire<Out, bool>,
    /// The burst is taken in this cycle.
    pub burst_ready: Wire<In, bool>,
    /// Data of a beat.
    pub data: Wire<Out, { beat.data.width }>,
    /// Its bytes that are written.
    pub strobes: Wire<Out, { beat.keep.width }>,
    /// It is the last of its burst.
    pub data_last: Wire<Out, bool>,
    /// The beat is there.
    pub data_valid: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub data_ready: Wire<In, bool>,
    /// Record of a burst, as [`DmaShape::record_width`] says.
    pub record: Wire<Out, { shape.record_width() }>,
    /// The record is there.
    pub record_valid: Wire<Out, bool>,
    /// Two more records find room.
    pub record_room: Wire<In, bool>,
    window: Window<{ beat }, { depth }>,
    address_reg: Reg<{ places }>,
    length_reg: Reg<{ shape.block_bits() }>,
    burst_valid_reg: Reg<bool, Reset>,
    data_reg: Reg<{ beat.data.width }>,
    strobes_reg: Reg<{ beat.keep.width }>,
    last_reg: Reg<bool>,
    data_valid_reg: Reg<bool, Reset>,
    /// After the first beat of a packet.
    in_frame: Reg<bool, Reset>,
    /// After the first beat of a burst.
    bursting: Reg<bool, Reset>,
    /// Beats of the burst after the next one.
    burst_left: Reg<{ shape.block_bits() }>,
    /// The packet has no slot.
    slotless: Reg<bool>,
    bad: Reg<bool>,
    /// Address of the packet.
    base: Reg<{ shape.address }>,
    /// Number of the beat in memory that was written last.
    place: Reg<{ places }>,
    /// Place of the next beat within its block.
    lane: Reg<{ shape.block_bits() }>,
}

#[kernel(FrameWriter)]
fn update() {
    let fields = shape.beat();
    let (address, bits, depth, block) = (
        shape.address,
        shape.beat_bits(),
        shape.burst_beats,
        shape.block_bits(),
    );
    window.s = beat;
    seen = window.seen;
    last = window.last;
    let head_last = window.head.flag(fields.last);
    /// The packet: where it goes, and what is known of it so far.
    let first = !in_frame;
    let (place_now, lane_now, slotless_now, base_now) = if first {
        (
            slot.data.slice(bits, address - bits),
            slot.data.slice(bits, block),
            slot.data[address],
            slot.data.slice(0, address),
        )
    } else {
        (place + 1, lane, slotless, base)
    };
    let bad_now = window.head.flag(fields.bad) || (!first && bad);
    let discard = slotless_now || window.head.flag(fields.beyond);
    /// The beat ends a block of memory, for each beat in sight.
    let block_end = word_of((0..depth).map(|ahead| lane_now == depth - 1 - ahead));
    /// The burst: up to the first beat in sight that must end it.
    let stop = window.cut | (block_end & window.seen);
    let nearest = |length: Sig, ahead: usize| if stop[ahead] { ahead } else { length };
    let length = (0..depth).rev().fold(constant(lit(0, block)), nearest);
    let burst_left_now = if bursting { burst_left } else { length };
    let burst_last = burst_left_now == 0;
    /// A beat is written when its burst is in flight, or can start; it is dropped when it has no place.
    let can_send = !data_valid_reg || data_ready;
    let can_start = stop.any() && record_room && (!burst_valid_reg || burst_ready);
    let has_slot = !first || slot.valid;
    let write = can_send && (bursting || (has_slot && can_start && !discard));
    let drop = !bursting && has_slot && discard && record_room && window.seen[0];
    let go = write || drop;
    window.take = go;
    slot.ready = go && first;
    /// Output registers. A beat follows the window while its register is free, also if it is not written: that is
    /// known late in a clock.
    if burst_ready {
        burst_valid_reg = false;
    }
    if can_send {
        data_valid_reg = write;
        data_reg = window.head.field(fields.data);
        strobes_reg = window.head.field(fields.keep);
        last_reg = burst_last;
    }
    if write {
        place = place_now;
        lane = lane_now + 1;
        burst_left = burst_left_now - 1;
        bursting = !burst_last;
        if !bursting {
            burst_valid_reg = true;
            address_reg = place_now;
            length_reg = length;
        }
    }
    if go {
        in_frame = !head_last;
        bad = bad_now;
    }
    /// So does the packet's metadata, until its first beat has left.
    if first {
        slotless = slotless_now;
        base = base_now;
    }
    /// The record: {over, bad, no slot, last of its packet, has a response, address of the packet}.
    record = reg(cat!(
        window.head.flag(fields.over),
        bad_now,
        slotless_now,
        head_last,
        write,
        base_now
    ));
    record_valid = reg_reset((write && burst_last) || (drop && head_last), false);
    burst_address = cat!(address_reg, lit(0, bits));
    burst_length = length_reg.resize(LENGTH_BITS);
    burst_valid = burst_valid_reg;
    data = data_reg;
    strobes = strobes_reg;
    data_last = last_reg;
    data_valid = data_valid_reg;
}

/// Shows the next beats of a stream, of which the first can be taken.
///
/// ```text
/// s -> ... -> entry 1 -> entry 0 -> head        depth 2
///
/// s ==+====================+==> head            deeper: the entries are marks only
///     |    +--------+      |
///     +===>| memory |======+
///          +--------+
/// ```
///
/// It sees `depth` beats: those in its `depth` - 1 entries, and the one at the input. So the first beat of a
/// frame that is one beat long leaves in the cycle in which it comes, and one beat a clock passes.
/// A beat that was seen stays where it is, or moves ahead when the head is taken.
/// # Parameters
/// `depth` is at least 1. Above 2 it is a power of two, and beats wait in distributed RAM, because narrow beats need many
/// entries: 15 with 64 bits.
#[module(
    beat: BeatFields,
    depth: usize,
    deep: bool = depth > 2,
    entry: usize = if deep { MARKS } else { beat.width },
)]
pub struct Window {
    /// Synchronous reset: discards what it holds.
    pub rst: Wire<In, bool>,
    /// Marked beats.
    pub s: StreamIn<{ beat.width }>,
    /// The first beat, without the mark that ends a burst.
    pub head: Wire<Out, { beat.cut.at }>,
    /// Bit n: beat n is there, and so are those before it.
    pub seen: Wire<Out, { depth }>,
    /// Bit n: beat n is there and ends its frame.
    pub last: Wire<Out, { depth }>,
    /// Bit n: beat n is there and ends a burst.
    pub cut: Wire<Out, { depth }>,
    /// Takes the first beat; only when it is there.
    pub take: Wire<In, bool>,
    // Waiting beats, or their marks.
    entries: [Reg<{ entry }>; depth - 1],
    used: [Reg<bool, Reset>; depth - 1],
    /// The beats that wait, if the entries are marks.
    memory: Optional<Ram<{ RamStyle::Distributed }, { depth }, { beat.cut.at }>, { deep }>,
    write_ptr: Optional<Reg<{ address_width(depth) }, Reset>, { deep }>,
    read_ptr: Optional<Reg<{ address_width(depth) }, Reset>, { deep }>,
}

/// Marks of a beat that all beats in sight show: {it ends a burst, it ends its frame}.
const MARKS: usize = 2;

#[kernel(Window)]
fn update() {
    let behind = depth - 1;
    let input = if deep {
        cat!(s.data[beat.cut.at], s.data[beat.last.at])
    } else {
        s.data
    };
    let (last_at, cut_at) = if deep { (0, 1) } else { (beat.last.at, beat.cut.at) };
    /// The input is the beat after the entries that are used.
    let comes = |place: usize| {
        if place == 0 {
            s.valid
        } else {
            s.valid && used[place - 1]
        }
    };
    let here: Vec<_> = (0..depth)
        .map(|place| {
            if place == behind {
                comes(place)
            } else {
                used[place] || comes(place)
            }
        })
        .collect();
    let stored = entries
        .iter()
        .zip(&used)
        .map(|(entry, used)| if *used { *entry } else { input });
    /// Beat n, from its entry or from the input.
    let beats: Vec<_> = stored.chain([input]).collect();
    for place in 0..depth {
        seen[place] = here[place];
        last[place] = here[place] && beats[place][last_at];
        cut[place] = here[place] && beats[place][cut_at];
    }
    for place in 0..behind {
        if take {
            used[place] = here[place + 1];
            entries[place] = beats[place + 1];
        } else if !used[place] {
            used[place] = here[place];
            entries[place] = input;
        }
    }
    head = if deep {
        if used[0] {
            memory.read_data
        } else {
            s.data.slice(0, beat.cut.at)
        }
    } else {
        beats[0].slice(0, beat.cut.at)
    };
    s.ready = if behind == 0 {
        take
    } else {
        take || !used[behind - 1]
    };
    if deep {
        /// There is always a free place, which holds a beat when the pointer has moved.
        memory.write(s.valid, *write_ptr, s.data.slice(0, beat.cut.at));
        memory.read_addr = *read_ptr;
        if s.valid && s.ready && (used[0] || !take) {
            *write_ptr = *write_ptr + 1;
        }
        if take && used[0] {
            *read_ptr = *read_ptr + 1;
        }
    }
}
