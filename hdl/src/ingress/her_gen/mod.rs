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
//! - **Contexts** (`conf_*`) are taken, all together, at the end of every cycle with `conf_valid` 1, and held
//!   while it is 0. A HER is made of the contexts that are in force in the cycle before it becomes valid, and
//!   does not change any more. After reset no context is enabled.
//! - **Disabled contexts**: a packet of a context that is disabled or does not exist is served by context 0.
//!   If that is disabled too, the packet is dropped: its address leaves at `m_free`, and it is counted.
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

mod contexts;
mod entry;
mod ports;
mod shape;

pub use contexts::ContextTable;
pub(crate) use entry::{ENTRY, SIMULATED};
pub use ports::{ContextsIn, ContextsOut, FeedbackIn, FeedbackOut, HerIn, HerOut};
pub use shape::HerShape;
use shape::PacketFields;

use crate::COUNTER_WIDTH;
use crate::stream::ReadySlice;
use spinneret_verilog::prelude::*;

/// Tells the cluster of every packet, with its execution context. One packet a clock.
#[hardware(shape: HerShape, packet: PacketFields = PacketFields::new(shape))]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    reset: Wire<Local, bool>,
    front: ReadySlice<{ packet.width }>,
    table: ContextTable<{ shape }>,
    /// The packet that is looked up.
    address: Wire<Local, { shape.address }>,
    length: Wire<Local, { shape.length }>,
    message_id: Wire<Local, { shape.her_id_bits() }>,
    /// The output that it goes to is free, or empties in this cycle.
    her_free: Wire<Local, bool>,
    free_free: Wire<Local, bool>,
    /// It goes there in this cycle.
    to_her: Wire<Local, bool>,
    to_free: Wire<Local, bool>,
    her_held: Reg<bool, Reset>,
    her_message_id: Reg<{ shape.message_id }>,
    her_end: Reg<bool>,
    her_address: Reg<{ shape.address }>,
    her_length: Reg<{ shape.length }>,
    /// Bytes to copy to L1; only if there is a limit, else it is the length.
    her_transfer: [Reg<{ shape.length }>; usize::from(shape.transfer_limit().is_some())],
    her_context: Reg<{ shape.context_width() }>,
    free_held: Reg<bool, Reset>,
    free_address: Reg<{ shape.address }>,
    her_count: Reg<{ COUNTER_WIDTH }, Reset>,
    drop_count: Reg<{ COUNTER_WIDTH }, Reset>,
}

impl Logic for PspinHerGen {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let packet = self._packet;
        let limit = shape.transfer_limit().unwrap_or(u64::MAX);
        self.reset.next = !self.rstn.val();
        clocked!(self.clk, self.reset => self.front, self.table, self.her_held, self.free_held, self.her_count,
            self.drop_count);
        clocked!(self.clk => self.her_message_id, self.her_end, self.her_address, self.her_length,
            self.her_transfer, self.her_context, self.free_address);
        /// A packet's tag has its context lowest, then the end of its message, then its message.
        self.front.s.data.next = cat!(
            self.gen_tag.val().slice(0, shape.tag_bits()),
            self.gen_len.val(),
            self.gen_addr.val()
        );
        self.front.s.valid.next = self.gen_valid.val();
        self.gen_ready.next = self.front.s.ready.val();
        self.address.next = self.front.m.data.val().field(packet.address);
        self.length.next = self.front.m.data.val().field(packet.length);
        self.message_id.next = self
            .front
            .m
            .data
            .val()
            .field(packet.message_id)
            .resize(shape.her_id_bits());
        /// The context that serves the packet decides where it goes.
        connect!(self.conf => self.table.conf);
        self.table.load.next = self.conf_valid.val();
        self.table.ctx_enabled.next = self.conf_ctx_enabled.val();
        self.table.wanted.next = self.front.m.data.val().field(packet.context_number);
        self.her_free.next = !self.her_held.q.val() || self.her.ready.val();
        self.free_free.next = !self.free_held.q.val() || self.m_free_ready.val();
        self.to_her.next = self.front.m.valid.val() && self.table.found.val() && self.her_free.val();
        self.to_free.next = self.front.m.valid.val() && !self.table.found.val() && self.free_free.val();
        self.front.m.ready.next = self.to_her.val() || self.to_free.val();
        /// The registers follow the packet while they are free, whether it goes there or not.
        if self.her_free.val() {
            self.her_held.d.next = self.to_her.val();
            self.her_end.d.next = self.front.m.data.val().flag(packet.is_last);
            self.her_address.d.next = self.address.val();
            self.her_length.d.next = self.length.val();
            if shape.transfer_limit().is_some() {
                if self.length.val() > limit {
                    self.her_transfer[0].d.next = limit.into();
                } else {
                    self.her_transfer[0].d.next = self.length.val();
                }
            }
            self.her_context.d.next = self.table.chosen.val();
            if shape.context_in_message_id && shape.her_id_bits() > HerShape::LOW_ID_BITS {
                self.her_message_id.d.next = cat!(
                    self.message_id
                        .val()
                        .slice(HerShape::LOW_ID_BITS, shape.her_id_bits() - HerShape::LOW_ID_BITS),
                    self.table.used.val(),
                    self.message_id.val().slice(0, HerShape::LOW_ID_BITS)
                );
            } else if shape.context_in_message_id {
                self.her_message_id.d.next = cat!(self.table.used.val(), self.message_id.val());
            } else {
                self.her_message_id.d.next = self.message_id.val();
            }
        }
        if self.free_free.val() {
            self.free_held.d.next = self.to_free.val();
            self.free_address.d.next = self.address.val();
        }
        if self.her_held.q.val() && self.her.ready.val() {
            self.her_count.d.next = self.her_count.q.val() + 1;
        }
        if self.to_free.val() {
            self.drop_count.d.next = self.drop_count.q.val() + 1;
        }
        /// Outputs.
        self.her.valid.next = self.her_held.q.val();
        self.her.msgid.next = self.her_message_id.q.val();
        self.her.is_eom.next = self.her_end.q.val();
        self.her.addr.next = self.her_address.q.val();
        self.her.size.next = self.her_length.q.val().resize(shape.address);
        if shape.transfer_limit().is_some() {
            self.her.xfer_size.next = self.her_transfer[0].q.val().resize(shape.address);
        } else {
            self.her.xfer_size.next = self.her_length.q.val().resize(shape.address);
        }
        self.her.meta.unpack(self.her_context.q.val());
        self.m_free_addr.next = self.free_address.q.val();
        self.m_free_valid.next = self.free_held.q.val();
        self.her_pkts_o.next = self.her_count.q.val();
        self.dropped_no_context_o.next = self.drop_count.q.val();
    }
}
