//! The slots of the packet buffer: gives out free ones of both classes, and takes them back by address.
//!
//! ```text
//!          +-> finders -> which slot? -+-> FreeList of small slots -> small
//! free ----+                           |
//!          +-> came too early?         +-> FreeList of large slots -> large
//! ```
//!
//! # Contract
//! - **Behaviour**: `small` and `large` each show the address of a free slot of their class; who takes it
//!   owns the slot until its address comes in at `free`. At all times every slot is owned by exactly one: a
//!   list, or who took it. `tb/proofs/slot_pool.sv` proves it for four small and two large slots.
//! - **Frees**: a free of an address that is no slot's start, of a slot that is not out, or one that is
//!   taken while `open` is low changes nothing and is counted by cause.
//! - **Tracked** pools also know by `hand` that a slot was passed to the cluster. A free that is not trusted counts
//!   only for a slot that the cluster has; for one that is out but still on its way there it is refused like
//!   one of a slot that is not out. A slot may be freed from the cycle after its `hand` on. Only slots that are
//!   out may be handed on. `tb/proofs/slot_pool.sv` proves this too.
//! - **Notes**: a tracked pool can keep `note` bits of each slot that the cluster has, and gives them back when the cluster frees it.
//! - **Throughput**: one small slot, one large slot and one free a cycle.
//! - **Latency**: the next slot waits in a register. A free is checked [`PoolLayout::free_latency`] clocks
//!   after it was taken, and four clocks later the slot is at the output if no other waits before it.
//! - **Backpressure**: `free_ready` is a register, high always but in and right after reset.
//! - **Order**: slots of a class are given out in the order in which they became free.
//! - **Paths**: all outputs are registers.
//! - **Reset**: all slots are free again. Counters have a reset of their own. `open` rises as many clocks
//!   later as the larger class has slots, and three; no slot is given out before.
//! - **Counters** are 32 bits wide, wrap, and show an event two clocks after it was checked.

use super::free_list::noted;
use super::{FreeList, PoolLayout, SlotClass, delayed};
use crate::entry::ParameterError;
use crate::stream::{StreamIn, StreamOut};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Cycles from filling in the last slot until a slot is at the head of its list.
const FILL_LATENCY: usize = 3;

/// Events that are counted, by number.
const NO_START: usize = 0;
const NOT_OUT: usize = 1;
const EARLY: usize = 2;
const EVENTS: usize = 3;

/// The free slots of both classes; takes slots back by their address and refuses wrong frees.
#[module(
    layout: PoolLayout,
    tracked: bool,
    note: usize,
    error = ParameterError,
    address = layout.address_width,
)]
pub struct SlotPool {
    /// Synchronous reset, active high: all slots are free again.
    pub rst: Wire<In, bool>,
    /// Synchronous reset of the counters: they are 0.
    pub counters_rst: Wire<In, bool>,
    /// Address of the next free small slot.
    pub small: StreamOut<{ address }>,
    /// Address of the next free large slot.
    pub large: StreamOut<{ address }>,
    /// Address of a slot that is freed.
    pub free: StreamIn<{ address }>,
    /// With `free`: the free is trusted, wherever the slot is; only if slots are tracked.
    pub free_trusted: Optional<Wire<In, bool>, { tracked }>,
    /// A slot goes to the cluster in this cycle; only if slots are tracked.
    pub hand_valid: Optional<Wire<In, bool>, { tracked }>,
    /// Its address; only if slots are tracked.
    pub hand_address: Optional<Wire<In, { address }>, { tracked }>,
    /// Its note, which is kept while the cluster has the slot; this and the next two only if there is a note.
    pub hand_note: Optional<Wire<In, { note }>, { note > 0 }>,
    /// A free that is not trusted has taken place, [`PoolLayout::free_latency`] + 1 clocks after it was taken.
    pub freed: Optional<Wire<Out, bool>, { note > 0 }>,
    /// The note of its slot.
    pub freed_note: Optional<Wire<Out, { note }>, { note > 0 }>,
    /// All slots are in their lists; stays high until reset.
    pub open: Wire<Out, bool>,
    /// Frees that were refused because no slot starts at their address.
    pub refused_no_start: Wire<Out, { COUNTER_WIDTH }>,
    /// Frees that were refused because their slot was not out.
    pub refused_not_out: Wire<Out, { COUNTER_WIDTH }>,
    /// Frees that were refused because they came before all slots were in their lists.
    pub refused_early: Wire<Out, { COUNTER_WIDTH }>,
    /// Large slots that are out.
    pub large_used: Wire<Out, { COUNTER_WIDTH }>,
    /// Most large slots that were out at the same time.
    pub large_peak: Wire<Out, { COUNTER_WIDTH }>,
    /// Small slots that are out.
    pub small_used: Wire<Out, { COUNTER_WIDTH }>,
    /// Most small slots that were out at the same time.
    pub small_peak: Wire<Out, { COUNTER_WIDTH }>,
    /// Slots are being put into their lists.
    #[new(Reg::reset_to(true))]
    filling: Reg<bool>,
    fill_index: Reg<{ layout.fill_width() }, Reset>,
    /// Frees are taken: always but in and right after reset.
    accepts: Reg<bool, Reset>,
    find_large_handed:
        Optional<SlotFinder<{ layout.large() }, { address }, { layout.tree_levels() }>, { tracked }>,
    find_small_handed:
        Optional<SlotFinder<{ layout.small() }, { address }, { layout.tree_levels() }>, { tracked }>,
    find_large: SlotFinder<{ layout.large() }, { address }, { layout.tree_levels() }>,
    find_small: SlotFinder<{ layout.small() }, { address }, { layout.tree_levels() }>,
    large_list: Checked<FreeList<{ layout.large() }, { address }, { tracked }, { note }>>,
    small_list: Checked<FreeList<{ layout.small() }, { address }, { tracked }, { note }>>,
    counters: EventCounters<{ EVENTS }>,
}

#[kernel(
    SlotPool,
    suffix = noted(layout.variant(tracked), note),
)]
fn update() {
    let (fill_cycles, latency) = (layout.fill_cycles(), layout.free_latency());
    let bit = |value| reg_reset(value, false);
    /// After reset every slot is put into its list, both classes at the same time.
    if filling {
        fill_index = fill_index + 1;
        filling = fill_index != fill_cycles - 1;
    }
    /// Waits until the last slot is at the head of its list.
    let settle = delayed(!filling, FILL_LATENCY - 1, bit);
    let settled = settle[FILL_LATENCY - 2];
    open = bit(settled);

    accepts = true;
    free.ready = accepts;
    /// Frees on their way through the finders: the address, whether there is one, whether it came too early.
    let returned_address = reg(free.data);
    let returned = delayed(free.valid & accepts, latency, bit);
    let early = delayed(!open, latency, reg);
    let judged = returned[latency - 1] & !early[latency - 1];

    /// The lists let slots out one cycle before `open`, so that the first are at the outputs with it.
    for (class, list, finder, slot) in [
        (layout.large(), &large_list, &find_large, large),
        (layout.small(), &small_list, &find_small, small),
    ] {
        list.fill = if class.count < fill_cycles {
            filling & (fill_index < class.count)
        } else {
            filling
        };
        list.fill_index = fill_index.resize(class.index_width());
        list.open = settled;
        finder.address = returned_address;
        list.free = judged & finder.hit;
        list.free_index = finder.index;
        slot = list.slot;
    }

    /// Slots that go to the cluster take a parallel path, and come there first.
    if tracked {
        let trusted = delayed(*free_trusted, latency, reg);
        let handed_address = reg(*hand_address);
        let handed = delayed(*hand_valid, latency, bit);
        for (list, finder) in [
            (&large_list, &find_large_handed),
            (&small_list, &find_small_handed),
        ] {
            finder.address = handed_address;
            *list.trusted = trusted[latency - 1];
            *list.hand = handed[latency - 1] & finder.hit;
            *list.hand_index = finder.index;
        }
        if note > 0 {
            let kept = delayed(*hand_note, latency, reg)[latency - 1];
            *large_list.hand_note = kept;
            *small_list.hand_note = kept;
            *freed = reg_reset(
                (large_list.free_done | small_list.free_done) & !trusted[latency - 1],
                false,
            );
            *freed_note = reg(if large_list.free {
                *large_list.free_note
            } else {
                *small_list.free_note
            });
        }
    }

    /// Events, the one with the highest number first.
    counters.rst = counters_rst;
    counters.events = cat!(
        returned[latency - 1] & early[latency - 1],
        (large_list.free & !large_list.free_done) | (small_list.free & !small_list.free_done),
        judged & !find_large.hit & !find_small.hit
    );
    refused_no_start = counters.counts[NO_START];
    refused_not_out = counters.counts[NOT_OUT];
    refused_early = counters.counts[EARLY];
    large_used = large_list.used.resize(COUNTER_WIDTH);
    large_peak = large_list.peak.resize(COUNTER_WIDTH);
    small_used = small_list.used.resize(COUNTER_WIDTH);
    small_peak = small_list.peak.resize(COUNTER_WIDTH);
}

/// Finds the number of the slot that starts at an address, one address a cycle.
///
/// The offset from the first slot is divided by the size of a slot without a divider: it is multiplied by
/// the inverse of the size's odd part, in a tree of adders with registers between its levels. The product
/// is the number of a slot if the offset is a multiple of the size, and too large for one otherwise.
/// `index` and `hit` are those of the address of `levels` + 1 cycles ago.
#[module(no_clock, class: SlotClass, address_width: usize, levels: usize)]
pub struct SlotFinder {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Address.
    pub address: Wire<In, { address_width }>,
    /// Number of the slot that starts there.
    pub index: Wire<Out, { class.index_width() }>,
    /// A slot starts there.
    pub hit: Wire<Out, bool>,
}

/// Sums of each level of a tree of adders with registers between its levels, all levels in one row.
fn tree(terms: Vec<Sig>, levels: usize) -> Vec<Sig> {
    let width = terms[0].width();
    let add = |pair: &[Sig]| reg(sum(pair.iter().copied(), width));
    let next = |terms: &mut Vec<Sig>, _| {
        *terms = terms.chunks(2).map(add).collect();
        Some(terms.clone())
    };
    (0..levels).scan(terms, next).flatten().collect()
}

#[kernel(SlotFinder, suffix = class.name())]
fn update() {
    let (varying, unit, width) = (class.varying_bits(), class.unit_bits(), class.quotient_width());
    let above = address_width - varying;
    /// First cycle: the offset from the first slot.
    let offset = reg(address.slice(0, varying) - class.low_base());
    let prefix_fits = reg(if above > 0 {
        address.slice(varying, above) == class.prefix()
    } else {
        true
    });
    let quotient = offset.slice(unit, width);
    /// The offset is a whole number of units, at each level of the tree.
    let exact = if unit > 0 {
        delayed(prefix_fits & (offset.slice(0, unit) == 0), levels, reg)
    } else {
        delayed(prefix_fits, levels, reg)
    };
    let terms = class.inverse_terms();
    /// Sums of each level of the tree: pairs of the offset's multiples by powers of two, then pairs of the sums before
    /// them.
    let sums = tree(terms.into_iter().map(|bit| quotient << bit).collect(), levels);
    let number = sums[sums.len() - 1];
    index = number.resize(class.index_width());
    hit = if (class.count as u64) < 1 << width {
        exact[levels - 1] & (number < class.count)
    } else {
        exact[levels - 1]
    };
}
