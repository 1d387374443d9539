//! The packet allocator: a slot of the packet buffer for every matched packet, one packet a cycle.
//!
//! ```text
//! pkt_* -> (register) -> class + address, length, tag -> register slice -> write_*
//!                              ^
//!                              | next small slot, next large slot
//!                          SlotPool <- feedback_*
//! ```
//!
//! # Contract
//! - **Behaviour**: every packet gives exactly one descriptor, in order: {address, length, tag, drop}. A
//!   packet that fits a small slot gets one, or a large one while no small one is there; others get a
//!   large one. `feedback_her_addr_i` gives a slot back; its class and number come from the address
//!   alone, size and message id are ignored.
//! - **Drops**: `write_drop_o` marks a packet without slot (the address is then 0): the receiver of the
//!   descriptor discards the packet's data. A packet longer than a large slot is always dropped; one for
//!   which no slot is there is dropped, or waits if `stall` is 1. Both causes are counted.
//! - **Frees**: a free of an address that is no slot's start, of a slot that is not out, or one that is
//!   taken before every slot is in its list changes nothing and is counted by cause.
//! - **Throughput**: one packet and one free a cycle.
//! - **Latency**: descriptor one clock after the packet (two with `stall`). A free is checked
//!   `PoolLayout::free_latency` clocks after it was taken (5 in the reference configuration), and four
//!   clocks later the slot can be given out.
//! - **Backpressure**: `pkt_ready_o` depends on registers only; it falls while `write_ready_i` is low and
//!   one descriptor waits after another, never because slots are missing (unless `stall` is 1).
//!   `feedback_ready_o` is high always but in reset.
//! - **Reset** (`rstn` low): all slots are free again, and counters are 0. Packets are
//!   taken as many clocks later as the larger class has slots, and three.
//! - **Counters** are 32 bits wide, wrap, and show an event at most three clocks after it.

mod at_most;
mod entry;
mod layout;

pub use at_most::AtMost;
pub(crate) use entry::{ENTRY, SIMULATED};
pub use layout::AllocLayout;

use crate::entry::ParameterError;
use crate::ingress::slots::SlotPool;
use crate::stream::SkidBuffer;
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Events that are counted, by number.
const DROPPED: usize = 0;
const DROPPED_OVERSIZE: usize = 1;
const DROPPED_NO_SLOT: usize = 2;
const EVENTS: usize = 3;

/// Gives every matched packet a slot of the packet buffer, and takes slots back that the cluster frees.
/// One packet and one free a cycle.
#[hardware(
    layout: AllocLayout,
    error = ParameterError,
    slots = layout.slots,
    packet = layout.tag_width + layout.length_width,
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PspinPktAlloc {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Tag of a packet.
    pub pkt_tag_i: Wire<In, { layout.tag_width }>,
    /// Its length in bytes.
    pub pkt_len_i: Wire<In, { layout.length_width }>,
    /// The packet is there.
    pub pkt_valid_i: Wire<In, bool>,
    /// The packet is taken in this cycle.
    pub pkt_ready_o: Wire<Out, bool>,
    /// The free is taken in this cycle.
    pub feedback_ready_o: Wire<Out, bool>,
    /// A free is there.
    pub feedback_valid_i: Wire<In, bool>,
    /// Address of the slot that is freed.
    pub feedback_her_addr_i: Wire<In, { slots.address_width }>,
    /// Ignored: it is the size of the transfer, not of the packet.
    pub feedback_her_size_i: Wire<In, { layout.length_width }>,
    /// Ignored.
    pub feedback_msgid_i: Wire<In, { layout.message_id_width }>,
    /// Address of the packet's slot; 0 if it is dropped.
    pub write_addr_o: Wire<Out, { slots.address_width }>,
    /// Exact length of the packet in bytes.
    pub write_len_o: Wire<Out, { layout.length_width }>,
    /// Tag of the packet.
    pub write_tag_o: Wire<Out, { layout.tag_width }>,
    /// The descriptor is there.
    pub write_valid_o: Wire<Out, bool>,
    /// The descriptor is taken in this cycle.
    pub write_ready_i: Wire<In, bool>,
    /// Packets that were dropped, whatever the cause.
    pub dropped_pkts_o: Wire<Out, { COUNTER_WIDTH }>,
    /// With the descriptor: the packet has no slot, its data must be discarded.
    pub write_drop_o: Wire<Out, bool>,
    /// Packets that were dropped because they are longer than a large slot.
    pub dropped_oversize_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Packets that were dropped because no slot was free.
    pub dropped_no_slot_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Frees that were refused because no slot starts at their address.
    pub refused_no_start_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Frees that were refused because their slot was not out.
    pub refused_not_out_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Frees that were refused because they came before all slots were in their lists.
    pub refused_early_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Large slots that are out.
    pub large_used_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Most large slots that were out at the same time.
    pub large_peak_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Small slots that are out.
    pub small_used_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Most small slots that were out at the same time.
    pub small_peak_o: Wire<Out, { COUNTER_WIDTH }>,
    reset: Wire<Local, bool>,
    slots: Checked<SlotPool<{ slots }, { false }>>,
    /// Cuts the path from length to ready; only with `stall`, where there is one.
    front: [Checked<SkidBuffer<{ packet }>>; usize::from(layout.stall)],
    packet: Wire<Local, { packet }>,
    packet_valid: Wire<Local, bool>,
    packet_ready: Wire<Local, bool>,
    length: Wire<Local, { layout.length_width }>,
    fits_small: AtMost<{ layout.length_width }, { slots.small_slot_size }>,
    fits_large: AtMost<{ layout.length_width }, { slots.large_slot_size }>,
    has_small: Wire<Local, bool>,
    has_large: Wire<Local, bool>,
    no_slot: Wire<Local, bool>,
    go: Wire<Local, bool>,
    address: Wire<Local, { slots.address_width }>,
    back: Checked<SkidBuffer<{ 1 + packet + slots.address_width }>>,
    counters: EventCounters<{ EVENTS }>,
}

impl Logic for PspinPktAlloc {
    #[kernel]
    fn update(&mut self) {
        let (tag, length) = (self._layout.tag_width, self._layout.length_width);
        let address = self._layout.slots.address_width;
        self.reset.next = !self.rstn.val();
        clocked!(self.clk, self.reset => self.slots, self.front, self.back, self.counters);
        self.slots.counters_rst.next = self.reset.val();
        self.slots.free.data.next = self.feedback_her_addr_i.val();
        self.slots.free.valid.next = self.feedback_valid_i.val();
        self.feedback_ready_o.next = self.slots.free.ready.val();

        /// Packets come in once all slots are in their lists.
        if self._layout.stall {
            self.front[0].s.data.next = cat!(self.pkt_tag_i.val(), self.pkt_len_i.val());
            self.front[0].s.valid.next = self.pkt_valid_i.val() & self.slots.open.val();
            self.packet.next = self.front[0].m.data.val();
            self.packet_valid.next = self.front[0].m.valid.val();
        } else {
            self.packet.next = cat!(self.pkt_tag_i.val(), self.pkt_len_i.val());
            self.packet_valid.next = self.pkt_valid_i.val() & self.slots.open.val();
        }

        /// A small packet takes a small slot if there is one, else a large one as all others do.
        self.length.next = self.packet.val().slice(0, length);
        self.fits_small.value.next = self.length.val();
        self.fits_large.value.next = self.length.val();
        self.has_small.next = self.fits_small.yes.val() & self.slots.small.valid.val();
        self.has_large.next =
            self.fits_large.yes.val() & !self.has_small.val() & self.slots.large.valid.val();
        self.no_slot.next = self.fits_large.yes.val() & !self.has_small.val() & !self.has_large.val();
        if self._layout.stall {
            self.back.s.valid.next = self.packet_valid.val() & !self.no_slot.val();
            self.packet_ready.next = self.back.s.ready.val() & !self.no_slot.val();
            self.front[0].m.ready.next = self.packet_ready.val();
            self.pkt_ready_o.next = self.front[0].s.ready.val() & self.slots.open.val();
        } else {
            self.back.s.valid.next = self.packet_valid.val();
            self.packet_ready.next = self.back.s.ready.val();
            self.pkt_ready_o.next = self.back.s.ready.val() & self.slots.open.val();
        }
        self.go.next = self.packet_valid.val() & self.packet_ready.val();
        self.slots.small.ready.next = self.go.val() & self.has_small.val();
        self.slots.large.ready.next = self.go.val() & self.has_large.val();
        self.address.next = (self.slots.small.data.val() & fill(self.has_small.val(), address))
            | (self.slots.large.data.val() & fill(self.has_large.val(), address));

        /// The descriptor: {drop, tag, length, address}.
        self.back.s.data.next = cat!(
            !self.has_small.val() & !self.has_large.val(),
            self.packet.val(),
            self.address.val()
        );
        self.write_addr_o.next = self.back.m.data.val().slice(0, address);
        self.write_len_o.next = self.back.m.data.val().slice(address, length);
        self.write_tag_o.next = self.back.m.data.val().slice(address + length, tag);
        self.write_drop_o.next = self.back.m.data.val().get_bit(address + length + tag);
        self.write_valid_o.next = self.back.m.valid.val();
        self.back.m.ready.next = self.write_ready_i.val();

        /// Events, the one with the highest number first.
        self.counters.events.next = cat!(
            self.go.val() & self.no_slot.val(),
            self.go.val() & !self.fits_large.yes.val(),
            self.go.val() & !self.has_small.val() & !self.has_large.val()
        );
        self.dropped_pkts_o.next = self.counters.counts[DROPPED].val();
        self.dropped_oversize_o.next = self.counters.counts[DROPPED_OVERSIZE].val();
        self.dropped_no_slot_o.next = self.counters.counts[DROPPED_NO_SLOT].val();
        self.refused_no_start_o.next = self.slots.refused_no_start.val();
        self.refused_not_out_o.next = self.slots.refused_not_out.val();
        self.refused_early_o.next = self.slots.refused_early.val();
        self.large_used_o.next = self.slots.large_used.val();
        self.large_peak_o.next = self.slots.large_peak.val();
        self.small_used_o.next = self.slots.small_used.val();
        self.small_peak_o.next = self.slots.small_peak.val();
    }
}
