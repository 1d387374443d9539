//! The write half of the BAR.
//!
//! ```text
//!  s_aw --> address ---+--> WindowDecoder --+--> r_aw, r_w   registers
//!  s_w ---> data, strobes                   +--> c_aw, c_w   cluster, ClusterAccess
//!  s_b <--- response <-----------------------+-- r_b, c_b
//! ```

use super::cluster_access::{ClusterAccess, RESPONSE_BITS};
use super::shape::{BarShape, EVENTS, PROTECTION_BITS, WORD_BITS, WORD_BYTES};
use super::window::{BYTE_BITS, CLUSTER_ADDRESS_BITS, WindowDecoder};
use crate::axi::{AMBA_CHANNEL, AxiAddressOut, AxiDataOut, AxiWriteTarget, DECERR};
use spinneret_verilog::prelude::*;

/// Takes one write after the other and leads it to the registers or to the cluster.
#[hardware(shape: BarShape, strobes = shape.axi().strobes())]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct BarWrite {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// The cluster is held in reset.
    pub held: Wire<In, bool>,
    /// Writes from the host.
    pub s: AxiWriteTarget<{ shape.host() }>,
    /// Writes to the registers.
    pub r_aw: Called<AxiAddressOut<{ shape.registers() }, { 0 }, { false }>, { AMBA_CHANNEL }>,
    /// Their data.
    pub r_w: Called<AxiDataOut<{ shape.registers() }>, { AMBA_CHANNEL }>,
    /// How it went.
    pub r_bresp: Wire<In, { RESPONSE_BITS }>,
    /// The response is there; it is always taken.
    pub r_bvalid: Wire<In, bool>,
    /// Writes to the cluster.
    pub c_aw: Called<AxiAddressOut<{ shape.access() }, { 0 }, { false }>, { AMBA_CHANNEL }>,
    /// Data of a write to the cluster, for every lane.
    pub c_wdata: Wire<Out, { WORD_BITS }>,
    /// Bytes of all lanes that are written.
    pub c_wstrb: Wire<Out, { strobes }>,
    /// It is there.
    pub c_wvalid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub c_wready: Wire<In, bool>,
    /// How it went.
    pub c_bresp: Wire<In, { RESPONSE_BITS }>,
    /// The response is there; it is always taken.
    pub c_bvalid: Wire<In, bool>,
    /// Events of this cycle, to be counted: {error, timeout, held, outside}.
    pub events: Wire<Out, { EVENTS }>,
    decoder: WindowDecoder<{ shape.address }>,
    access: ClusterAccess<{ shape.timeout_cycles }>,
    /// The address or the data can be taken.
    address_ready: Reg<bool, Reset>,
    data_ready: Reg<bool, Reset>,
    /// The address or the data is there, and the other is not.
    address_held: Reg<bool, Reset>,
    data_held: Reg<bool, Reset>,
    /// A write is in flight, or its response waits.
    busy: Reg<bool, Reset>,
    address: Reg<{ shape.address }>,
    protection: Reg<{ PROTECTION_BITS }>,
    data: Reg<{ WORD_BITS }>,
    strobes: Reg<{ WORD_BYTES }>,
    /// Parts of a write that the registers have not taken.
    register_address: Reg<bool, Reset>,
    register_data: Reg<bool, Reset>,
    /// The registers are to answer.
    at_registers: Reg<bool, Reset>,
    /// Parts of a write that the cluster has not taken; they may wait longer than the write takes.
    cluster_address_valid: Reg<bool, Reset>,
    cluster_data_valid: Reg<bool, Reset>,
    cluster_address: Reg<{ CLUSTER_ADDRESS_BITS }>,
    cluster_protection: Reg<{ PROTECTION_BITS }>,
    cluster_data: Reg<{ WORD_BITS }>,
    cluster_strobes: Reg<{ strobes }>,
    response: Reg<{ RESPONSE_BITS }>,
    response_valid: Reg<bool, Reset>,
    got_address: Wire<Local, bool>,
    got_data: Wire<Local, bool>,
    address_now: Wire<Local, { shape.address }>,
    protection_now: Wire<Local, { PROTECTION_BITS }>,
    data_now: Wire<Local, { WORD_BITS }>,
    strobes_now: Wire<Local, { WORD_BYTES }>,
    /// Address and data are both there.
    starts: Wire<Local, bool>,
    outside: Wire<Local, bool>,
    registers_answer: Wire<Local, bool>,
    /// The response is known.
    finish: Wire<Local, bool>,
    /// The host takes the response.
    taken: Wire<Local, bool>,
}

impl Logic for BarWrite {
    #[kernel(suffix = self._shape.variant())]
    fn update(&mut self) {
        let width = self._shape.address;
        clocked!(self.clk, self.rst => self.address_ready, self.data_ready, self.address_held, self.data_held,
            self.busy, self.register_address, self.register_data, self.at_registers, self.cluster_address_valid,
            self.cluster_data_valid, self.response_valid, self.access);
        clocked!(self.clk => self.address, self.protection, self.data, self.strobes, self.cluster_address,
            self.cluster_protection, self.cluster_data, self.cluster_strobes, self.response);
        /// Address and data come in any order; the write begins in the clock of the later one.
        self.got_address.next = self.s.aw.valid.val() && self.address_ready.q.val();
        self.got_data.next = self.s.w.valid.val() && self.data_ready.q.val();
        self.starts.next = (self.got_address.val() || self.address_held.q.val())
            && (self.got_data.val() || self.data_held.q.val());
        self.address_now.next = self.address.q.val();
        self.protection_now.next = self.protection.q.val();
        if self.address_ready.q.val() {
            self.address_now.next = self.s.aw.addr.val();
            self.protection_now.next = self.s.aw.prot.val();
        }
        self.data_now.next = self.data.q.val();
        self.strobes_now.next = self.strobes.q.val();
        if self.data_ready.q.val() {
            self.data_now.next = self.s.w.data.val();
            self.strobes_now.next = self.s.w.strb.val();
        }
        self.address.d.next = self.address_now.val();
        self.protection.d.next = self.protection_now.val();
        self.data.d.next = self.data_now.val();
        self.strobes.d.next = self.strobes_now.val();
        self.address_held.d.next =
            (self.address_held.q.val() || self.got_address.val()) && !self.starts.val();
        self.data_held.d.next = (self.data_held.q.val() || self.got_data.val()) && !self.starts.val();
        self.taken.next = self.response_valid.q.val() && self.s.b.ready.val();
        self.busy.d.next = self.starts.val() || (self.busy.q.val() && !self.taken.val());
        self.address_ready.d.next =
            !self.busy.d.val() && !self.address_held.q.val() && !self.got_address.val();
        self.data_ready.d.next = !self.busy.d.val() && !self.data_held.q.val() && !self.got_data.val();
        self.s.aw.ready.next = self.address_ready.q.val();
        self.s.w.ready.next = self.data_ready.q.val();
        /// Where it goes.
        self.decoder.word.next = self.address_now.val().slice(BYTE_BITS, width - BYTE_BITS);
        self.outside.next =
            self.starts.val() && !self.decoder.to_registers.val() && !self.decoder.to_cluster.val();
        /// The registers, which hold the write that came last.
        if self.r_aw.ready.val() {
            self.register_address.d.next = false;
        }
        if self.r_w.ready.val() {
            self.register_data.d.next = false;
        }
        self.registers_answer.next = self.at_registers.q.val() && self.r_bvalid.val();
        if self.registers_answer.val() {
            self.at_registers.d.next = false;
        }
        if self.starts.val() && self.decoder.to_registers.val() {
            self.register_address.d.next = true;
            self.register_data.d.next = true;
            self.at_registers.d.next = true;
        }
        self.r_aw.addr.next = self.address.q.val().slice(0, self.r_aw.addr.width());
        self.r_aw.prot.next = self.protection.q.val();
        self.r_aw.valid.next = self.register_address.q.val();
        self.r_w.data.next = self.data.q.val();
        self.r_w.strb.next = self.strobes.q.val();
        self.r_w.valid.next = self.register_data.q.val();
        /// The cluster.
        self.access.start.next = self.starts.val() && self.decoder.to_cluster.val();
        self.access.held.next = self.held.val();
        self.access.waits.next = self.cluster_address_valid.q.val() || self.cluster_data_valid.q.val();
        self.access.answer.next = self.c_bvalid.val();
        self.access.answer_code.next = self.c_bresp.val();
        if self.c_aw.ready.val() || self.held.val() {
            self.cluster_address_valid.d.next = false;
        }
        if self.c_wready.val() || self.held.val() {
            self.cluster_data_valid.d.next = false;
        }
        if self.access.send.val() {
            self.cluster_address_valid.d.next = true;
            self.cluster_data_valid.d.next = true;
            self.cluster_address.d.next = self.decoder.cluster_address.val();
            self.cluster_protection.d.next = self.protection_now.val();
            self.cluster_data.d.next = self.data_now.val();
            for lane in 0..self._shape.lanes() {
                self.cluster_strobes
                    .d
                    .next
                    .set_slice(WORD_BYTES * lane, WORD_BYTES, lit(0, WORD_BYTES));
                if self._shape.lane_bits() == 0
                    || self
                        .address_now
                        .val()
                        .slice(BYTE_BITS, self._shape.lane_bits().max(1))
                        == lane as u64
                {
                    self.cluster_strobes.d.next.set_slice(
                        WORD_BYTES * lane,
                        WORD_BYTES,
                        self.strobes_now.val(),
                    );
                }
            }
        }
        self.c_aw.addr.next = self.cluster_address.q.val();
        self.c_aw.prot.next = self.cluster_protection.q.val();
        self.c_aw.valid.next = self.cluster_address_valid.q.val();
        self.c_wdata.next = self.cluster_data.q.val();
        self.c_wstrb.next = self.cluster_strobes.q.val();
        self.c_wvalid.next = self.cluster_data_valid.q.val();
        /// The response.
        self.finish.next = self.outside.val() || self.registers_answer.val() || self.access.done.val();
        if self.registers_answer.val() {
            self.response.d.next = self.r_bresp.val();
        } else if self.access.done.val() {
            self.response.d.next = self.access.response.val();
        } else if self.outside.val() {
            self.response.d.next = DECERR.into();
        }
        self.response_valid.d.next =
            self.finish.val() || (self.response_valid.q.val() && !self.s.b.ready.val());
        self.s.b.resp.next = self.response.q.val();
        self.s.b.valid.next = self.response_valid.q.val();
        self.events.next = cat!(
            self.access.error_event.val(),
            self.access.timeout_event.val(),
            self.access.held_event.val(),
            self.outside.val()
        );
    }
}
