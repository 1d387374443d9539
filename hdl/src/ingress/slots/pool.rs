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
//! - **Throughput**: one small slot, one large slot and one free a cycle.
//! - **Latency**: the next slot waits in a register. A free is checked [`PoolLayout::free_latency`] clocks
//!   after it was taken, and four clocks later the slot is at the output if no other waits before it.
//! - **Backpressure**: `free_ready` is a register, high always but in and right after reset.
//! - **Order**: slots of a class are given out in the order in which they became free.
//! - **Paths**: all outputs are registers.
//! - **Reset**: all slots are free again. Counters have a reset of their own. `open` rises as many clocks
//!   later as the larger class has slots, and three; no slot is given out before.
//! - **Counters** are 32 bits wide, wrap, and show an event two clocks after it was checked.

use super::{FreeList, PoolLayout, SlotFinder};
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
#[hardware(
    layout: PoolLayout,
    tracked: bool,
    error = ParameterError,
    address = layout.address_width,
    stages = if tracked { layout.free_latency() } else { 0 },
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct SlotPool {
    /// Clock.
    pub clk: Signal<In, Clock>,
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
    /// Waits until the last slot is at the head of its list.
    settle: [Reg<bool, Reset>; FILL_LATENCY - 1],
    opened: Reg<bool, Reset>,
    /// Frees are taken: always but in and right after reset.
    accepts: Reg<bool, Reset>,
    /// Frees on their way through the finders: the address, whether there is one, whether it came too early.
    returned_address: Reg<{ address }>,
    returned: [Reg<bool, Reset>; layout.free_latency()],
    early: [Reg<bool>; layout.free_latency()],
    judged: Wire<Local, bool>,
    /// Only if slots are tracked: whether each free is trusted, and slots on their way through finders of their own.
    trusted: [Reg<bool>; stages],
    handed_address: Optional<Reg<{ address }>, { tracked }>,
    handed: [Reg<bool, Reset>; stages],
    find_large_handed:
        Optional<SlotFinder<{ layout.large() }, { address }, { layout.tree_levels() }>, { tracked }>,
    find_small_handed:
        Optional<SlotFinder<{ layout.small() }, { address }, { layout.tree_levels() }>, { tracked }>,
    find_large: SlotFinder<{ layout.large() }, { address }, { layout.tree_levels() }>,
    find_small: SlotFinder<{ layout.small() }, { address }, { layout.tree_levels() }>,
    large_list: Checked<FreeList<{ layout.large() }, { address }, { tracked }>>,
    small_list: Checked<FreeList<{ layout.small() }, { address }, { tracked }>>,
    counters: EventCounters<{ EVENTS }>,
}

impl Logic for SlotPool {
    #[kernel(suffix = self._layout.variant(self._tracked))]
    fn update(&mut self) {
        let (large, small) = (self._layout.large(), self._layout.small());
        let fill_cycles = self._layout.fill_cycles();
        let last = self._layout.free_latency() - 1;
        clocked!(self.clk, self.rst => self.filling, self.fill_index, self.settle, self.opened, self.accepts,
            self.returned, self.handed, self.large_list, self.small_list);
        clocked!(self.clk, self.counters_rst => self.counters);
        clocked!(self.clk => self.returned_address, self.early, self.trusted, self.handed_address);
        clocked!(self.clk => self.find_large, self.find_small, self.find_large_handed, self.find_small_handed);

        /// After reset every slot is put into its list, both classes at the same time.
        if self.filling.q.val() {
            self.fill_index.d.next = self.fill_index.q.val() + 1;
            self.filling.d.next = self.fill_index.q.val() != (fill_cycles - 1) as u64;
        }
        if large.count < fill_cycles {
            self.large_list.fill.next = self.filling.q.val() & (self.fill_index.q.val() < large.count as u64);
        } else {
            self.large_list.fill.next = self.filling.q.val();
        }
        if small.count < fill_cycles {
            self.small_list.fill.next = self.filling.q.val() & (self.fill_index.q.val() < small.count as u64);
        } else {
            self.small_list.fill.next = self.filling.q.val();
        }
        self.large_list.fill_index.next = self.fill_index.q.val().resize(large.index_width());
        self.small_list.fill_index.next = self.fill_index.q.val().resize(small.index_width());
        self.settle[0].d.next = !self.filling.q.val();
        for stage in 1..FILL_LATENCY - 1 {
            self.settle[stage].d.next = self.settle[stage - 1].q.val();
        }
        /// The lists let slots out one cycle earlier, so that the first are at the outputs with `open`.
        self.large_list.open.next = self.settle[FILL_LATENCY - 2].q.val();
        self.small_list.open.next = self.settle[FILL_LATENCY - 2].q.val();
        self.opened.d.next = self.settle[FILL_LATENCY - 2].q.val();
        self.open.next = self.opened.q.val();

        /// Frees: a register, the finders, then both lists check.
        self.accepts.d.next = true;
        self.free.ready.next = self.accepts.q.val();
        self.returned_address.d.next = self.free.data.val();
        self.returned[0].d.next = self.free.valid.val() & self.accepts.q.val();
        self.early[0].d.next = !self.opened.q.val();
        for stage in 1..last + 1 {
            self.returned[stage].d.next = self.returned[stage - 1].q.val();
            self.early[stage].d.next = self.early[stage - 1].q.val();
        }
        self.judged.next = self.returned[last].q.val() & !self.early[last].q.val();
        self.find_large.address.next = self.returned_address.q.val();
        self.find_small.address.next = self.returned_address.q.val();
        self.large_list.free.next = self.judged.val() & self.find_large.hit.val();
        self.large_list.free_index.next = self.find_large.index.val();
        self.small_list.free.next = self.judged.val() & self.find_small.hit.val();
        self.small_list.free_index.next = self.find_small.index.val();

        /// Slots that go to the cluster take a parallel path, and come there first.
        if self._tracked {
            self.trusted[0].d.next = self.free_trusted.val();
            self.handed_address.d.next = self.hand_address.val();
            self.handed[0].d.next = self.hand_valid.val();
            for stage in 1..last + 1 {
                self.trusted[stage].d.next = self.trusted[stage - 1].q.val();
                self.handed[stage].d.next = self.handed[stage - 1].q.val();
            }
            self.find_large_handed.address.next = self.handed_address.q.val();
            self.find_small_handed.address.next = self.handed_address.q.val();
            self.large_list.trusted.next = self.trusted[last].q.val();
            self.large_list.hand.next = self.handed[last].q.val() & self.find_large_handed.hit.val();
            self.large_list.hand_index.next = self.find_large_handed.index.val();
            self.small_list.trusted.next = self.trusted[last].q.val();
            self.small_list.hand.next = self.handed[last].q.val() & self.find_small_handed.hit.val();
            self.small_list.hand_index.next = self.find_small_handed.index.val();
        }

        connect!(self.large_list.slot => self.large; data, valid, ready);
        connect!(self.small_list.slot => self.small; data, valid, ready);

        /// Events, the one with the highest number first.
        self.counters.events.next = cat!(
            self.returned[last].q.val() & self.early[last].q.val(),
            (self.large_list.free.val() & !self.large_list.free_done.val())
                | (self.small_list.free.val() & !self.small_list.free_done.val()),
            self.judged.val() & !self.find_large.hit.val() & !self.find_small.hit.val()
        );
        self.refused_no_start.next = self.counters.counts[NO_START].val();
        self.refused_not_out.next = self.counters.counts[NOT_OUT].val();
        self.refused_early.next = self.counters.counts[EARLY].val();
        self.large_used.next = self.large_list.used.val().resize(COUNTER_WIDTH);
        self.large_peak.next = self.large_list.peak.val().resize(COUNTER_WIDTH);
        self.small_used.next = self.small_list.used.val().resize(COUNTER_WIDTH);
        self.small_peak.next = self.small_list.peak.val().resize(COUNTER_WIDTH);
    }
}
