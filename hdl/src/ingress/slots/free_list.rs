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
#[hardware(
    class: SlotClass,
    address_width: usize,
    tracked: bool,
    error = ParameterError,
    index = class.index_width(),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FreeList {
    /// Clock.
    pub clk: Signal<In, Clock>,
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
    /// A slot is free since the last cycle.
    back: Reg<bool, Reset>,
    /// {what `taken` becomes when the slot is given out, number}.
    back_entry: Reg<{ index + 1 }>,
    /// The slot that is freed is the one in `back`.
    again: Wire<Local, bool>,
    number: Wire<Local, { index }>,
    out: Wire<Local, bool>,
    /// The slot's address in units: number times the odd number of its size, after the first slot. It is computed
    /// before the FIFO, as block RAM takes longest to read.
    product: Optional<Wire<Local, { class.quotient_width() }>, { class.product_width() > 0 }>,
    /// {product, if the number alone does not say it, what `taken` becomes, number}.
    list: Checked<Fifo<{ places(class) }>>,
    quotient: Wire<Local, { class.quotient_width() }>,
    offset: Wire<Local, { class.varying_bits() }>,
    address: Wire<Local, { address_width }>,
    /// {what `taken` becomes, number, address} of the next slots.
    front: Checked<SkidBuffer<{ 1 + index + address_width }>>,
    give: Wire<Local, bool>,
    gave: Reg<bool, Reset>,
    gave_entry: Reg<{ index + 1 }>,
    came: Reg<bool, Reset>,
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

impl Logic for FreeList {
    #[kernel(suffix = self._class.variant(self._tracked))]
    fn update(&mut self) {
        let index = self._class.index_width();
        let (varying, unit) = (self._class.varying_bits(), self._class.unit_bits());
        let quotient = self._class.quotient_width();
        let base = self._class.low_base();
        let above = self.slot.data.width() - varying;
        clocked!(self.clk, self.rst => self.back, self.list, self.front, self.gave, self.came,
            self.used_count, self.peak_count);
        clocked!(self.clk => self.taken, self.freed, self.back_entry, self.gave_entry);
        clocked!(self.clk => self.handed, self.handed_again, self.cleared, self.cleared_again);

        /// A free is right if the slot is out, and the last one was not the same.
        self.number.next = self.back_entry.q.val().slice(0, index);
        self.taken.read_addr.next = self.free_index.val();
        self.freed.read_addr.next = self.free_index.val();
        self.again.next = self.back.q.val() & (self.number.val() == self.free_index.val());
        self.out.next = (self.taken.read_data.val() != self.freed.read_data.val()) & !self.again.val();
        if self._tracked {
            self.handed.read_addr.next = self.free_index.val();
            self.cleared.read_addr.next = self.free_index.val();
            self.free_done.next = self.free.val()
                & self.out.val()
                & (self.trusted.val() | (self.handed.read_data.val() != self.cleared.read_data.val()));
        } else {
            self.free_done.next = self.free.val() & self.out.val();
        }
        self.back.d.next = self.fill.val() | self.free_done.val();
        if self.fill.val() {
            self.back_entry.d.next = cat!(true, self.fill_index.val());
        } else {
            self.back_entry.d.next = cat!(!self.taken.read_data.val(), self.free_index.val());
        }
        self.freed.write_enable.next = self.back.q.val();
        self.freed.write_addr.next = self.number.val();
        self.freed.write_data.next = !self.back_entry.q.val().slice(index, 1);
        /// The list has a place for every slot, so it is never full.
        self.list.s.valid.next = self.back.q.val();
        if self._class.product_width() > 0 {
            self.product.next = lit(base >> unit, quotient);
            for bit in 0..64 {
                if self._class.odd() >> bit & 1 == 1 {
                    self.product.next =
                        self.product.val() + (self.number.val().resize(quotient) << bit as u64);
                }
            }
            self.list.s.data.next = cat!(self.product.val(), self.back_entry.q.val());
            self.quotient.next = self.list.m.data.val().slice(index + 1, quotient);
        } else {
            self.list.s.data.next = self.back_entry.q.val();
            self.quotient.next =
                lit(base >> unit, quotient) | self.list.m.data.val().slice(0, index).resize(quotient);
        }
        if unit > 0 {
            self.offset.next = cat!(self.quotient.val(), lit(base & ((1 << unit) - 1), unit));
        } else {
            self.offset.next = self.quotient.val();
        }
        if above > 0 {
            self.address.next = cat!(lit(self._class.prefix(), above), self.offset.val());
        } else {
            self.address.next = self.offset.val();
        }
        self.front.s.data.next = cat!(self.list.m.data.val().slice(0, index + 1), self.address.val());
        self.front.s.valid.next = self.list.m.valid.val() & self.open.val();
        self.list.m.ready.next = self.front.s.ready.val() & self.open.val();
        self.slot.data.next = self.front.m.data.val().slice(0, self.slot.data.width());
        connect!(self.front.m => self.slot; valid, ready);

        /// The slot is out one cycle after it was given, long before it can come back.
        self.give.next = self.front.m.valid.val() & self.slot.ready.val();
        self.gave.d.next = self.give.val();
        self.gave_entry.d.next = self.front.m.data.val().slice(self.slot.data.width(), index + 1);
        self.taken.write_enable.next = self.fill.val() | self.gave.q.val();
        if self.fill.val() {
            self.taken.write_addr.next = self.fill_index.val();
            self.taken.write_data.next = lit(0, 1);
        } else {
            self.taken.write_addr.next = self.gave_entry.q.val().slice(0, index);
            self.taken.write_data.next = self.gave_entry.q.val().slice(index, 1);
        }

        /// A slot that was freed before it was handed on must not count as handed on when it is given out again, so
        /// it is the give that clears the bit, and not the free.
        if self._tracked {
            self.handed_again.read_addr.next = self.gave_entry.q.val().slice(0, index);
            self.cleared_again.read_addr.next = self.hand_index.val();
            self.handed.write_enable.next = self.fill.val() | self.hand.val();
            connect!(self.taken => self.cleared; write_enable, write_addr);
            if self.fill.val() {
                self.handed.write_addr.next = self.fill_index.val();
                self.handed.write_data.next = lit(0, 1);
                self.cleared.write_data.next = lit(0, 1);
            } else {
                self.handed.write_addr.next = self.hand_index.val();
                self.handed.write_data.next = !self.cleared_again.read_data.val();
                self.cleared.write_data.next = self.handed_again.read_data.val();
            }
            connect!(self.handed => self.handed_again; write_enable, write_addr, write_data);
            connect!(self.cleared => self.cleared_again; write_enable, write_addr, write_data);
        }

        /// The level follows one cycle later, which keeps its carries off the path from a packet's length.
        self.came.d.next = self.free_done.val();
        if self.gave.q.val() & !self.came.q.val() {
            self.used_count.d.next = self.used_count.q.val() + 1;
        } else if self.came.q.val() & !self.gave.q.val() {
            self.used_count.d.next = self.used_count.q.val() - 1;
        }
        if self.used_count.q.val() > self.peak_count.q.val() {
            self.peak_count.d.next = self.used_count.q.val();
        }
        self.used.next = self.used_count.q.val();
        self.peak.next = self.peak_count.q.val();
    }
}
