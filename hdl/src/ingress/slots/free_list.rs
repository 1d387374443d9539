//! The slots of one class: which are free, and who owns the others.

use super::SlotClass;
use crate::entry::ParameterError;
use crate::stream::{Fifo, FifoConfig, SkidBuffer, StreamOut};
use spinneret_verilog::prelude::*;

/// Free slots of a larger list are kept in block RAM.
const DISTRIBUTED_SLOTS: usize = 64;

/// Free slots of one class, in the order in which they became free.
///
/// ```text
/// fill ---+
///         +-> register -> address -> FIFO -> register -> slot
/// free_* -+                                                |
///    |       owner = taken XOR freed                       |
///    +-----> bit per slot  bit per slot <------------------+
/// ```
///
/// Two bits say who owns a slot: `taken` changes when the slot is given out, `freed` when it comes back,
/// and the slot is out while they differ. So each memory has one writer, and a free is checked and
/// takes effect in one cycle, also if the same slot is freed again in the next: `freed` is written from a
/// register one cycle later, so that finding the slot and writing its bit are two paths and not one, and the
/// slot in that register counts as free.
/// A slot that comes back can be given out four cycles later.
///
/// A list that tracks slots knows more of those that are out, by two more bits, which differ while the cluster has
/// the slot: `handed` changes when the slot is handed on, and `cleared` follows it when the slot is given out again.
/// Only while they differ does a free of the cluster count; those who are trusted can free a slot at any time.
/// Such a list can keep `note` bits of each slot that is handed on, and shows them with its free.
#[module(
    class: SlotClass,
    address_width: usize,
    tracked: bool,
    note: usize,
    error = ParameterError,
    index = class.index_width(),
)]
pub struct FreeList {
    /// Synchronous reset; afterwards every slot must be filled in once.
    pub rst: Wire<In, bool>,
    /// Puts the slot `fill_index` into the list, whatever its owner; only while `open` is low.
    pub fill: Wire<In, bool>,
    /// Number of the slot that is filled in.
    pub fill_index: Wire<In, { index }>,
    /// All slots have been filled in; the first is at the output in the next cycle.
    pub open: Wire<In, bool>,
    /// Frees the slot `free_index`, if it is out.
    pub free: Wire<In, bool>,
    /// Number of the slot that is freed.
    pub free_index: Wire<In, { index }>,
    /// With `free`: it counts whether the slot has been handed on or not; only if slots are tracked.
    pub trusted: Optional<Wire<In, bool>, { tracked }>,
    /// The slot `hand_index`, which is out, is handed on, later than one cycle after it was given; only if slots
    /// are tracked.
    pub hand: Optional<Wire<In, bool>, { tracked }>,
    /// Number of the slot that is handed on; only if slots are tracked.
    pub hand_index: Optional<Wire<In, { index }>, { tracked }>,
    /// Its note; only if there is a note.
    pub hand_note: Optional<Wire<In, { note }>, { note > 0 }>,
    /// That of the slot `free_index`; only if there is a note.
    pub free_note: Optional<Wire<Out, { note }>, { note > 0 }>,
    /// With `free`: the slot was out and is free now.
    pub free_done: Wire<Out, bool>,
    /// Address of a free slot.
    pub slot: StreamOut<{ address_width }>,
    /// Slots that are out.
    pub used: Wire<Out, { count_width(class) }>,
    /// Most slots that were out at the same time since reset.
    pub peak: Wire<Out, { count_width(class) }>,
    taken: Ram<{ RamStyle::Distributed }, { class.count }, 1>,
    freed: Ram<{ RamStyle::Distributed }, { class.count }, 1>,
    handed: Optional<Ram<{ RamStyle::Distributed }, { class.count }, 1>, { tracked }>,
    /// The same as `handed`, to be read for slots that are given out.
    handed_again: Optional<Ram<{ RamStyle::Distributed }, { class.count }, 1>, { tracked }>,
    cleared: Optional<Ram<{ RamStyle::Distributed }, { class.count }, 1>, { tracked }>,
    /// The same as `cleared`, to be read for slots that are handed on.
    cleared_again: Optional<Ram<{ RamStyle::Distributed }, { class.count }, 1>, { tracked }>,
    notes: Optional<Ram<{ RamStyle::Distributed }, { class.count }, { note }>, { note > 0 }>,
    /// A slot is free since the last cycle.
    back: Reg<bool, Reset>,
    /// {what `taken` becomes when the slot is given out, number}.
    back_entry: Reg<{ index + 1 }>,
    /// {product, if the number alone does not say it, what `taken` becomes, number}.
    list: Checked<Fifo<{ places(class) }>>,
    /// {what `taken` becomes, number, address} of the next slots.
    front: Checked<SkidBuffer<{ 1 + index + address_width }>>,
    used_count: Reg<{ count_width(class) }, Reset>,
    peak_count: Reg<{ count_width(class) }, Reset>,
}

/// Width of a number of slots, from none to all.
pub(super) fn count_width(class: SlotClass) -> usize {
    address_width(class.count + 1)
}

/// The FIFO of a class's slots. A registered one of fewer than four places cannot pass a slot every cycle.
fn places(class: SlotClass) -> FifoConfig {
    let depth = class.count.next_power_of_two().max(4);
    FifoConfig::by_depth(
        class.product_width() + class.index_width() + 1,
        depth,
        DISTRIBUTED_SLOTS,
    )
}

/// A suffix that tells lists with a note apart.
pub(super) fn noted(suffix: String, note: usize) -> String {
    match note {
        0 => suffix,
        note => format!("{suffix}_note_{note}"),
    }
}

#[kernel(
    FreeList,
    suffix = noted(class.variant(tracked), note),
)]
fn update() {
    let (index, unit, width) = (class.index_width(), class.unit_bits(), class.quotient_width());
    let number = back_entry.slice(0, index);
    /// The slot that is freed is the one in `back`.
    let again = back & (number == free_index);
    taken.read_addr = free_index;
    freed.read_addr = free_index;
    /// A free is right if the slot is out, and the last one was not the same.
    let out = (taken.read_data != freed.read_data) & !again;
    free_done = if tracked {
        handed.read_addr = free_index;
        cleared.read_addr = free_index;
        free & out & (*trusted | (handed.read_data != cleared.read_data))
    } else {
        free & out
    };
    back = fill | free_done;
    back_entry = if fill {
        cat!(true, fill_index)
    } else {
        cat!(!taken.read_data, free_index)
    };
    freed.write(back, number, !back_entry.slice(index, 1));
    /// The list has a place for every slot, so it is never full.
    list.s.valid = back;
    let first = class.low_base() >> unit;
    let quotient = if class.product_width() > 0 {
        /// The slot's address in units: number times the odd number of its size, after the first slot. It is computed
        /// before the FIFO, as block RAM takes longest to read.
        let product = (0..64_usize)
            .filter(|bit| class.odd() >> bit & 1 == 1)
            .map(|bit| number.resize(width) << bit)
            .fold(constant(lit(first, width)), |sum, term| sum + term);
        list.s.data = cat!(product, back_entry);
        list.m.data.slice(index + 1, width)
    } else {
        list.s.data = back_entry;
        list.m.data.slice(0, index).resize(width) | first
    };
    let below = lit(class.low_base() & ((1 << unit) - 1), unit);
    let above = lit(class.prefix(), address_width - class.varying_bits());
    let address = cat!(above, quotient, below);
    front.s.data = cat!(list.m.data.slice(0, index + 1), address);
    front.s.valid = list.m.valid & open;
    list.m.ready = front.s.ready & open;
    slot.data = front.m.data.slice(0, address_width);
    slot.valid = front.m.valid;
    front.m.ready = slot.ready;

    /// The slot is out one cycle after it was given, long before it can come back.
    let gave = reg_reset(front.m.valid & slot.ready, false);
    let gave_entry = reg(front.m.data.slice(address_width, index + 1));
    let given = gave_entry.slice(0, index);
    /// A bit of a slot changes; the bits of a slot that is filled in become 0.
    let change = |changes: Sig<bool>, number: Sig, bit: Sig| {
        (
            fill | changes,
            if fill { fill_index } else { number },
            if fill { lit(0, 1) } else { bit },
        )
    };
    let (write_taken, taken_number, taken_bit) = change(gave, given, gave_entry.slice(index, 1));
    taken.write(write_taken, taken_number, taken_bit);
    /// A slot that was freed before it was handed on must not count as handed on when it is given out again, so
    /// it is the give that clears the bit, and not the free.
    if tracked {
        handed_again.read_addr = given;
        cleared_again.read_addr = *hand_index;
        let (write_handed, handed_number, handed_bit) = change(*hand, *hand_index, !cleared_again.read_data);
        let (_, _, cleared_bit) = change(gave, given, handed_again.read_data);
        for (handed, cleared) in [(handed, cleared), (handed_again, cleared_again)] {
            handed.write(write_handed, handed_number, handed_bit);
            cleared.write(write_taken, taken_number, cleared_bit);
        }
    }

    if note > 0 {
        notes.write(*hand, *hand_index, *hand_note);
        *free_note = notes.read(0, free_index);
    }

    /// The level follows one cycle later, which keeps its carries off the path from a packet's length.
    let came = reg_reset(free_done, false);
    if gave & !came {
        used_count = used_count + 1;
    } else if came & !gave {
        used_count = used_count - 1;
    }
    if used_count > peak_count {
        peak_count = used_count;
    }
    used = used_count;
    peak = peak_count;
}
