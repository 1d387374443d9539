//! The HER generator: tells the cluster of every packet that is written, with the execution context that it
//! belongs to.
//!
//! ```text
//!                          +-- context and its fields --+
//!                          |                            v
//! conf -> ContextTable <---+                     +-> register -> her
//!                          | context id          |
//! gen --> ReadySlice ------+---------------------+
//!                                no context      +-> register -> m_free
//! ```
//!
//! # Contract
//! - **Behaviour**: a packet {address, length, tag} becomes a handler execution request (HER). The tag is
//!   {message id, end of message, context id (2 bits)}. `her_size` is the length, `her_xfer_size` the length or
//!   `transfer_limit`, whichever is less. `her_msgid` is the lowest bits of the message id; with
//!   `context_in_message_id` it is {further bits of the message id, context that is used (2 bits), its 2 lowest bits}.
//! - **Sum** (option `payload_sum`): `her_size` is {`gen_sum`, the length in 15 bits}; nothing else changes.
//! - **Contexts** (`conf_*`) are taken, all together, at the end of every cycle with `conf_valid` 1, and held
//!   while it is 0. A HER is made of the contexts that are in force in the cycle before it becomes valid, and
//!   does not change any more. After reset no context is enabled.
//! - **Disabled contexts**: a packet of a context that is disabled or does not exist is served by context 0.
//!   If that is disabled too, the packet is dropped: its address leaves at `m_free`, and it is counted.
//! - **Bounds**: with `slot_bounds`, a packet whose context is `full` is dropped: its address leaves at `m_free` with a bit of
//!   `m_free_full`. It is not counted here. `enters` tells the context of each packet that becomes a HER, one clock before the HER is there.
//! - **Throughput**: one packet a clock.
//! - **Latency**: packet to `her_valid` or `m_free_valid` 1 clock.
//! - **Backpressure**: `her` and `m_free` hold one element each. A packet waits while the one that it goes to
//!   is occupied, and those after it wait too; the other output continues.
//! - **Order**: packets keep their order at each output.
//! - **Registers**: all outputs are registers, `gen_ready` too.
//! - **Reset** (`rstn` low) discards the packets inside and the contexts, and sets the counters to 0.
//! - **Bad input**: every packet is served or dropped whatever its tag, address and length are; bits of the
//!   tag above the message id are ignored.
//!
//! Source: the public FPsPIN design (ports), and the HER of PsPIN.

mod ports;
mod shape;

pub use ports::{ContextsIn, ContextsOut, FeedbackIn, FeedbackOut, HerIn, HerOut};
pub use shape::HerShape;
use shape::PacketFields;
pub(crate) use shape::{ENTRY, SIMULATED};

use crate::COUNTER_WIDTH;
use crate::stream::ReadySlice;
use spinneret_regmap::pspin::packet_size::{SIZE_BITS, SUM_BITS};
use spinneret_verilog::prelude::*;

/// Tells the cluster of every packet, with its execution context. One packet a clock.
#[module(shape: HerShape, packet: PacketFields = PacketFields::new(shape))]
pub struct PspinHerGen {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// To the cluster.
    pub her: HerOut<{ shape.address }, { shape.host_address }, { shape.message_id }>,
    /// The contexts, context 0 in the lowest bits of each field.
    pub conf: ContextsIn<{ shape.contexts }, { shape.host_address }>,
    /// 1: contexts are taken, 0: those taken last stay in force.
    pub conf_valid: Wire<In, bool>,
    /// Bit n: context n is enabled.
    pub conf_ctx_enabled: Wire<In, { shape.contexts }>,
    /// Address of a packet in L2.
    pub gen_addr: Wire<In, { shape.address }>,
    /// Its length in bytes.
    pub gen_len: Wire<In, { shape.length }>,
    /// Its tag: {message id, end of message, context (2 bits)}.
    pub gen_tag: Wire<In, { shape.tag }>,
    /// The packet is there.
    pub gen_valid: Wire<In, bool>,
    /// The packet is taken in this cycle.
    pub gen_ready: Wire<Out, bool>,
    /// Address of a packet that is dropped; beyond the public design.
    pub m_free_addr: Wire<Out, { shape.address }>,
    /// Its slot is free.
    pub m_free_valid: Wire<Out, bool>,
    /// The allocator takes it in this cycle; tie it to 1 if it is unused.
    pub m_free_ready: Wire<In, bool>,
    /// HERs that the cluster took, modulo 2^32; beyond the public design.
    pub her_pkts_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Packets dropped because no context served them, modulo 2^32; beyond the public design.
    pub dropped_no_context_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Sum of the packet's IP payload; only with `payload_sum`.
    pub gen_sum: Optional<Wire<In, { shape.sum_width() }>, { shape.payload_sum }>,
    /// Bit n: context n gets no packets; this and all below only with `slot_bounds`.
    pub full: Optional<Wire<In, { shape.contexts }>, { shape.slot_bounds }>,
    /// Bit n: a packet of context n becomes a HER.
    pub enters: Optional<Wire<Out, { shape.contexts }>, { shape.slot_bounds }>,
    /// Context of the HER that is there.
    pub her_owner: Optional<Wire<Out, { HerShape::CONTEXT_BITS }>, { shape.slot_bounds }>,
    /// Bit n: the packet at `m_free` is of context n, which was full; 0: no context serves it.
    pub m_free_full: Optional<Wire<Out, { shape.contexts }>, { shape.slot_bounds }>,
    front: ReadySlice<{ packet.width + shape.sum_width() }>,
    table: ContextTable<{ shape }>,
    her_held: Reg<bool, Reset>,
    her_message_id: Reg<{ shape.message_id }>,
    her_end: Reg<bool>,
    her_address: Reg<{ shape.address }>,
    her_length: Reg<{ shape.length }>,
    /// Bytes to copy to L1; only if there is a limit, else it is the length.
    her_transfer: Optional<Reg<{ shape.length }>, { shape.transfer_limit().is_some() }>,
    her_sum: Optional<Reg<{ shape.sum_width() }>, { shape.payload_sum }>,
    her_context: Reg<{ shape.context_width() }>,
    her_used: Optional<Reg<{ HerShape::CONTEXT_BITS }>, { shape.slot_bounds }>,
    free_held: Reg<bool, Reset>,
    free_address: Reg<{ shape.address }>,
    free_full: Optional<Reg<{ shape.contexts }>, { shape.slot_bounds }>,
    her_count: Reg<{ COUNTER_WIDTH }, Reset>,
    drop_count: Reg<{ COUNTER_WIDTH }, Reset>,
}

/// A bit for each context: that of one of them, if there is one.
#[kernel]
fn contexts_of(number: Sig, exists: Sig<bool>, contexts: usize) -> Sig {
    word_of((0..contexts).map(|context| exists && number == context))
}

#[kernel(PspinHerGen)]
fn update() {
    /// A packet's tag has its context lowest, then the end of its message, then its message.
    let described = cat!(gen_tag.slice(0, shape.tag_bits()), gen_len, gen_addr);
    front.s.data = if shape.payload_sum {
        cat!(*gen_sum, described)
    } else {
        described
    };
    front.s.valid = gen_valid;
    gen_ready = front.s.ready;
    /// The packet that is looked up.
    let address = front.m.data.field(packet.address);
    let length = front.m.data.field(packet.length);
    let message_id = front.m.data.field(packet.message_id).resize(shape.her_id_bits());
    /// The context that serves the packet decides where it goes.
    table.conf = conf;
    table.load = conf_valid;
    table.ctx_enabled = conf_ctx_enabled;
    table.wanted = front.m.data.field(packet.context_number);
    let mut serves = table.found;
    if shape.slot_bounds {
        serves = table.found && !full.resize(1 << HerShape::CONTEXT_BITS)[table.used];
    }
    /// The output that it goes to is free, or empties in this cycle.
    let her_free = !her_held || her.ready;
    let free_free = !free_held || m_free_ready;
    /// It goes there in this cycle.
    let to_her = front.m.valid && serves && her_free;
    let to_free = front.m.valid && !serves && free_free;
    front.m.ready = to_her || to_free;
    /// The registers follow the packet while they are free, whether it goes there or not.
    if her_free {
        her_held = to_her;
        her_end = front.m.data.flag(packet.is_last);
        her_address = address;
        her_length = length;
        if let Some(limit) = shape.transfer_limit() {
            *her_transfer = if length > limit { limit } else { length };
        }
        if shape.payload_sum {
            *her_sum = front.m.data.slice(packet.width, SUM_BITS);
        }
        her_context = table.chosen;
        if shape.slot_bounds {
            *her_used = table.used;
        }
        her_message_id = if shape.context_in_message_id {
            let low = HerShape::LOW_ID_BITS;
            let above = shape.her_id_bits() - low;
            cat!(message_id.slice(low, above), table.used, message_id.slice(0, low))
        } else {
            message_id
        };
    }
    if free_free {
        free_held = to_free;
        free_address = address;
        if shape.slot_bounds {
            *free_full = contexts_of(table.used, table.found, shape.contexts);
        }
    }
    if her_held && her.ready {
        her_count = her_count + 1;
    }
    let mut unserved = to_free;
    if shape.slot_bounds {
        unserved = to_free && !table.found;
        *enters = contexts_of(table.used, to_her, shape.contexts);
        *m_free_full = *free_full;
        *her_owner = *her_used;
    }
    if unserved {
        drop_count = drop_count + 1;
    }
    /// Outputs.
    her.valid = her_held;
    her.msgid = her_message_id;
    her.is_eom = her_end;
    her.addr = her_address;
    her.size = if shape.payload_sum {
        cat!(*her_sum, her_length.resize(SIZE_BITS)).resize(shape.address)
    } else {
        her_length.resize(shape.address)
    };
    let transfer = if shape.transfer_limit().is_some() {
        *her_transfer
    } else {
        her_length
    };
    her.xfer_size = transfer.resize(shape.address);
    her.meta.unpack(her_context);
    m_free_addr = free_address;
    m_free_valid = free_held;
    her_pkts_o = her_count;
    dropped_no_context_o = drop_count;
}

/// Context that serves packets whose own context is disabled.
const FALLBACK: usize = 0;

/// Holds the execution contexts that are in force, and finds the one that serves a packet.
///
/// All contexts are taken together at the end of a cycle with `load`, and looked up without a clock of
/// latency, so what is looked up in one cycle is of one configuration. After reset no context is enabled.
#[module(shape: HerShape)]
pub struct ContextTable {
    /// Synchronous reset: disables all contexts.
    pub rst: Wire<In, bool>,
    /// Takes all contexts from the two ports below.
    pub load: Wire<In, bool>,
    /// The contexts.
    pub conf: ContextsIn<{ shape.contexts }, { shape.host_address }>,
    /// Bit n: context n is enabled.
    pub ctx_enabled: Wire<In, { shape.contexts }>,
    /// Context of the packet, 0 to 3; one that does not exist is disabled.
    pub wanted: Wire<In, { HerShape::CONTEXT_BITS }>,
    /// A context serves the packet.
    pub found: Wire<Out, bool>,
    /// Its number: the wanted one, or 0 if that is disabled.
    pub used: Wire<Out, { HerShape::CONTEXT_BITS }>,
    /// The context of that number, packed.
    pub chosen: Wire<Out, { shape.context_width() }>,
    enabled: Reg<{ shape.contexts }, Reset>,
    contexts: [Reg<{ shape.context_width() }>; shape.contexts],
}

#[kernel(ContextTable)]
fn update() {
    if load {
        enabled = ctx_enabled;
        for (n, context) in contexts.iter().enumerate() {
            *context = conf.pack_part(n, shape.contexts);
        }
    }
    /// Contexts that do not exist are disabled.
    let all_enabled = enabled.resize(1 << HerShape::CONTEXT_BITS);
    let wanted_enabled = all_enabled[wanted];
    found = wanted_enabled || enabled[FALLBACK];
    used = wanted & wanted_enabled.repeat(HerShape::CONTEXT_BITS);
    chosen = contexts[FALLBACK];
    for n in 1..shape.contexts {
        if used == n {
            chosen = contexts[n];
        }
    }
}
