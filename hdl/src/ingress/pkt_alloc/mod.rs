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

mod layout;

pub use layout::AllocLayout;
pub(crate) use layout::{ENTRY, SIMULATED};

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
#[module(
    layout: AllocLayout,
    error = ParameterError,
    slots = layout.slots,
    packet = layout.tag_width + layout.length_width,
)]
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
    slots: Checked<SlotPool<{ slots }, { false }, { 0 }>>,
    /// Cuts the path from length to ready; only with `stall`, where there is one.
    front: Optional<Checked<SkidBuffer<{ packet }>>, { layout.stall }>,
    back: Checked<SkidBuffer<{ 1 + packet + slots.address_width }>>,
    counters: EventCounters<{ EVENTS }>,
}

/// Tells whether a number is at most a constant, which is at least 1 and fits it.
///
/// A comparison of the whole number is a chain of carries. The bits below the lowest and above the
/// highest one of the constant need none: they only must be zero or not.
#[kernel]
fn is_at_most(number: Sig, limit: u64) -> Sig<bool> {
    let (low, high) = (
        limit.trailing_zeros() as usize,
        (u64::BITS - limit.leading_zeros()) as usize,
    );
    let is_zero = |from: usize, to: usize| {
        if from < to {
            number.slice(from, to - from) == 0
        } else {
            true
        }
    };
    let middle = number.slice(low, high - low);
    let odd = limit >> low;
    is_zero(high, number.width()) & ((middle < odd) | ((middle == odd) & is_zero(0, low)))
}

#[kernel(PspinPktAlloc)]
fn update() {
    let (tag_width, length_width, address_width) =
        (layout.tag_width, layout.length_width, layout.slots.address_width);
    slots.counters_rst = !rstn;
    slots.free.data = feedback_her_addr_i;
    slots.free.valid = feedback_valid_i;
    feedback_ready_o = slots.free.ready;

    /// Packets come in once all slots are in their lists.
    let comes = pkt_valid_i & slots.open;
    let (packet, packet_valid) = if layout.stall {
        front.s.data = cat!(pkt_tag_i, pkt_len_i);
        front.s.valid = comes;
        (front.m.data, front.m.valid)
    } else {
        (cat!(pkt_tag_i, pkt_len_i), comes)
    };

    let length = packet.slice(0, length_width);
    let fits_small = is_at_most(length, layout.slots.small_slot_size);
    let fits_large = is_at_most(length, layout.slots.large_slot_size);
    /// A small packet takes a small slot if there is one, else a large one as all others do.
    let has_small = fits_small & slots.small.valid;
    let has_large = fits_large & !has_small & slots.large.valid;
    let no_slot = fits_large & !has_small & !has_large;
    /// With `stall` a packet waits for a slot.
    let may_go = if layout.stall { !no_slot } else { true };
    let packet_ready = back.s.ready & may_go;
    back.s.valid = packet_valid & may_go;
    if layout.stall {
        front.m.ready = packet_ready;
    }
    pkt_ready_o = slots.open & if layout.stall { front.s.ready } else { back.s.ready };
    let go = packet_valid & packet_ready;
    slots.small.ready = go & has_small;
    slots.large.ready = go & has_large;
    let address = (slots.small.data & has_small.repeat(address_width))
        | (slots.large.data & has_large.repeat(address_width));

    /// The descriptor: {drop, tag, length, address}.
    back.s.data = cat!(!has_small & !has_large, packet, address);
    write_addr_o = back.m.data.slice(0, address_width);
    write_len_o = back.m.data.slice(address_width, length_width);
    write_tag_o = back.m.data.slice(address_width + length_width, tag_width);
    write_drop_o = back.m.data[address_width + length_width + tag_width];
    write_valid_o = back.m.valid;
    back.m.ready = write_ready_i;

    /// Events, the one with the highest number first.
    counters.events = cat!(go & no_slot, go & !fits_large, go & !has_small & !has_large);
    dropped_pkts_o = counters.counts[DROPPED];
    dropped_oversize_o = counters.counts[DROPPED_OVERSIZE];
    dropped_no_slot_o = counters.counts[DROPPED_NO_SLOT];
    refused_no_start_o = slots.refused_no_start;
    refused_not_out_o = slots.refused_not_out;
    refused_early_o = slots.refused_early;
    large_used_o = slots.large_used;
    large_peak_o = slots.large_peak;
    small_used_o = slots.small_used;
    small_peak_o = slots.small_peak;
}
