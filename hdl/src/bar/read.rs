//! The read half of the BAR.
//!
//! ```text
//!  s_ar --> address --> WindowDecoder --+--> r_ar   registers
//!                                       +--> c_ar   cluster, ClusterAccess
//!  s_r <--- data, response <-----------+--- r_r
//!                                      +--- lane of c_r
//! ```

use super::cluster_access::{ClusterAccess, RESPONSE_BITS};
use super::shape::{BarShape, EVENTS, PROTECTION_BITS, WORD_BITS};
use super::window::{BYTE_BITS, CLUSTER_ADDRESS_BITS, WindowDecoder};
use crate::axi::{AMBA_CHANNEL, AxiAddressOut, AxiReadTarget, DECERR};
use spinneret_verilog::prelude::*;

/// Takes one read after the other and leads it to the registers or to the cluster.
#[hardware(shape: BarShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct BarRead {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// The cluster is held in reset.
    pub held: Wire<In, bool>,
    /// Reads from the host.
    pub s: AxiReadTarget<{ shape.host() }>,
    /// Reads of the registers.
    pub r_ar: Called<AxiAddressOut<{ shape.registers() }, { 0 }, { false }>, { AMBA_CHANNEL }>,
    /// The data.
    pub r_rdata: Wire<In, { WORD_BITS }>,
    /// How it went.
    pub r_rresp: Wire<In, { RESPONSE_BITS }>,
    /// The data is there; it is always taken.
    pub r_rvalid: Wire<In, bool>,
    /// Reads of the cluster.
    pub c_ar: Called<AxiAddressOut<{ shape.access() }, { 0 }, { false }>, { AMBA_CHANNEL }>,
    /// All lanes of what was read.
    pub c_rdata: Wire<In, { shape.data }>,
    /// How it went.
    pub c_rresp: Wire<In, { RESPONSE_BITS }>,
    /// The data is there; it is always taken.
    pub c_rvalid: Wire<In, bool>,
    /// Events of this cycle, to be counted: {error, timeout, held, outside}.
    pub events: Wire<Out, { EVENTS }>,
    decoder: WindowDecoder<{ shape.address }>,
    access: ClusterAccess<{ shape.timeout_cycles }>,
    /// An address can be taken.
    address_ready: Reg<bool, Reset>,
    /// A read is in flight, or its data waits.
    busy: Reg<bool, Reset>,
    address: Reg<{ shape.register_address() }>,
    protection: Reg<{ PROTECTION_BITS }>,
    /// A read that the registers have not taken.
    register_address: Reg<bool, Reset>,
    /// The registers are to answer.
    at_registers: Reg<bool, Reset>,
    /// A read that the cluster has not taken; it may wait longer than the read takes.
    cluster_address_valid: Reg<bool, Reset>,
    cluster_address: Reg<{ CLUSTER_ADDRESS_BITS }>,
    cluster_protection: Reg<{ PROTECTION_BITS }>,
    data: Reg<{ WORD_BITS }>,
    response: Reg<{ RESPONSE_BITS }>,
    response_valid: Reg<bool, Reset>,
    /// An address is taken.
    starts: Wire<Local, bool>,
    outside: Wire<Local, bool>,
    registers_answer: Wire<Local, bool>,
    /// The response is known.
    finish: Wire<Local, bool>,
    /// The host takes the data.
    taken: Wire<Local, bool>,
    /// The half of the lanes that contains the word, again and again, down to the word.
    #[new((0..=shape.lane_bits()) .map(|cut| Wire::word(shape.data >> cut)) .collect())]
    halves: Vec<Wire<Local>>,
}

impl Logic for BarRead {
    #[kernel(suffix = self._shape.variant())]
    fn update(&mut self) {
        let cuts = self._shape.lane_bits();
        let width = self._shape.address;
        clocked!(self.clk, self.rst => self.address_ready, self.busy, self.register_address, self.at_registers,
            self.cluster_address_valid, self.response_valid, self.access);
        clocked!(self.clk => self.address, self.protection, self.cluster_address, self.cluster_protection,
            self.data, self.response);
        self.starts.next = self.s.ar.valid.val() && self.address_ready.q.val();
        self.taken.next = self.response_valid.q.val() && self.s.r.ready.val();
        self.busy.d.next = self.starts.val() || (self.busy.q.val() && !self.taken.val());
        self.address_ready.d.next = !self.busy.d.val();
        self.s.ar.ready.next = self.address_ready.q.val();
        if self.starts.val() {
            self.address.d.next = self.s.ar.addr.val().slice(0, self._shape.register_address());
            self.protection.d.next = self.s.ar.prot.val();
        }
        /// Where it goes.
        self.decoder.word.next = self.s.ar.addr.val().slice(BYTE_BITS, width - BYTE_BITS);
        self.outside.next =
            self.starts.val() && !self.decoder.to_registers.val() && !self.decoder.to_cluster.val();
        /// The registers.
        if self.r_ar.ready.val() {
            self.register_address.d.next = false;
        }
        self.registers_answer.next = self.at_registers.q.val() && self.r_rvalid.val();
        if self.registers_answer.val() {
            self.at_registers.d.next = false;
        }
        if self.starts.val() && self.decoder.to_registers.val() {
            self.register_address.d.next = true;
            self.at_registers.d.next = true;
        }
        self.r_ar.addr.next = self.address.q.val();
        self.r_ar.prot.next = self.protection.q.val();
        self.r_ar.valid.next = self.register_address.q.val();
        /// The cluster.
        self.access.start.next = self.starts.val() && self.decoder.to_cluster.val();
        self.access.held.next = self.held.val();
        self.access.waits.next = self.cluster_address_valid.q.val();
        self.access.answer.next = self.c_rvalid.val();
        self.access.answer_code.next = self.c_rresp.val();
        if self.c_ar.ready.val() || self.held.val() {
            self.cluster_address_valid.d.next = false;
        }
        if self.access.send.val() {
            self.cluster_address_valid.d.next = true;
            self.cluster_address.d.next = self.decoder.cluster_address.val();
            self.cluster_protection.d.next = self.s.ar.prot.val();
        }
        self.c_ar.addr.next = self.cluster_address.q.val();
        self.c_ar.prot.next = self.cluster_protection.q.val();
        self.c_ar.valid.next = self.cluster_address_valid.q.val();
        /// The lane of the word.
        self.halves[0].next = self.c_rdata.val();
        for cut in 0..cuts {
            let width = self._shape.data >> (cut + 1);
            if self.cluster_address.q.val().get_bit(BYTE_BITS + cuts - 1 - cut) {
                self.halves[cut + 1].next = self.halves[cut].val().slice(width, width);
            } else {
                self.halves[cut + 1].next = self.halves[cut].val().slice(0, width);
            }
        }
        /// The answer; the data before it is invisible.
        self.finish.next = self.outside.val() || self.registers_answer.val() || self.access.done.val();
        if self.registers_answer.val() {
            self.response.d.next = self.r_rresp.val();
            self.data.d.next = self.r_rdata.val();
        } else if self.access.done.val() {
            self.response.d.next = self.access.response.val();
            self.data.d.next = 0.into();
            if self.access.good.val() {
                self.data.d.next = self.halves[cuts].val();
            }
        } else if self.outside.val() {
            self.response.d.next = DECERR.into();
            self.data.d.next = 0.into();
        }
        self.response_valid.d.next =
            self.finish.val() || (self.response_valid.q.val() && !self.s.r.ready.val());
        self.s.r.data.next = self.data.q.val();
        self.s.r.resp.next = self.response.q.val();
        self.s.r.valid.next = self.response_valid.q.val();
        self.events.next = cat!(
            self.access.error_event.val(),
            self.access.timeout_event.val(),
            self.access.held_event.val(),
            self.outside.val()
        );
    }
}
