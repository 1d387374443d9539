//! The halves of the BAR, and what they share.
//!
//! ```text
//!  s_aw --> address ---+--> BarAccess --+--> r_aw, r_w   registers
//!  s_w ---> data, strobes               +--> c_aw, c_w   cluster
//!  s_b <--- response <------------------+--- r_b, c_b
//!
//!  s_ar --> address ------> BarAccess --+--> r_ar   registers
//!                                       +--> c_ar   cluster
//!  s_r <--- data, response <------------+--- r_r
//!                                       +--- lane of c_r
//! ```

use super::shape::{
    BYTE_BITS, BarShape, CLUSTER_ADDRESS_BITS, EVENTS, PROTECTION_BITS, RESPONSE_BITS, WORD_BITS, WORD_BYTES,
    reached,
};
use crate::axi::{
    AxiAddressOut, AxiReadMaster, AxiReadTarget, AxiResponseOut, AxiWriteMaster, AxiWriteTarget, BUFFERABLE,
    DECERR, INCR, OKAY, SLVERR,
};
use spinneret_verilog::prelude::*;

/// Leads the accesses of one direction to the registers or to the cluster, one after another, and answers them.
///
/// An access to the cluster is either sent or refused at once. One that is sent ends with its answer, when
/// the cluster is held in reset, or when its time is over; then its late answer is still outstanding, and no
/// other is sent before that has come.
#[module(shape: BarShape)]
pub struct BarAccess {
    /// An access starts; none is in flight.
    pub start: Wire<In, bool>,
    /// With `start`: the word of the BAR, its address without the lowest bits.
    pub word: Wire<In, { shape.address - BYTE_BITS }>,
    /// With `start`: its protection type.
    pub protection: Wire<In, { PROTECTION_BITS }>,
    /// The cluster is held in reset: nothing is in flight there.
    pub held: Wire<In, bool>,
    /// With `start`: it goes to the registers.
    pub to_registers: Wire<Out, bool>,
    /// Its address is for the registers, which have not taken it.
    pub r_valid: Wire<Out, bool>,
    /// They take it in this cycle.
    pub r_ready: Wire<In, bool>,
    /// The registers answer.
    pub r_answer: Wire<In, bool>,
    /// With `r_answer`: BRESP or RRESP.
    pub r_response: Wire<In, { RESPONSE_BITS }>,
    /// With `start`: it is sent to the cluster.
    pub to_cluster: Wire<Out, bool>,
    /// Bursts to the cluster, one word each.
    pub c: AxiAddressOut<{ shape.axi() }, { 0 }, { false }>,
    /// Something else of the last access waits for the cluster to take it.
    pub waits: Wire<In, bool>,
    /// The cluster answers.
    pub c_answer: Wire<In, bool>,
    /// With `c_answer`: BRESP or RRESP.
    pub c_response: Wire<In, { RESPONSE_BITS }>,
    /// The access ends.
    pub done: Wire<Out, bool>,
    /// With `done`: the registers have answered.
    pub from_registers: Wire<Out, bool>,
    /// With `done`: the cluster has answered with OKAY.
    pub from_cluster: Wire<Out, bool>,
    /// How it went.
    pub answer: AxiResponseOut<{ shape.host() }>,
    /// An access is in flight, or its answer waits, in the next cycle.
    pub busy_next: Wire<Out, bool>,
    /// Events of this cycle, to be counted: {error, timeout, held, outside}.
    pub events: Wire<Out, { EVENTS }>,
    busy: Reg<bool, Reset>,
    /// An address that the registers have not taken.
    register_address: Reg<bool, Reset>,
    /// The registers are to answer.
    at_registers: Reg<bool, Reset>,
    /// An address that the cluster has not taken; it may wait longer than the access takes.
    cluster_address_valid: Reg<bool, Reset>,
    cluster_address: Reg<{ CLUSTER_ADDRESS_BITS }>,
    cluster_protection: Reg<{ PROTECTION_BITS }>,
    /// An access is sent to the cluster and has not ended.
    active: Reg<bool, Reset>,
    /// The answer of an access that has ended is outstanding.
    late: Reg<bool, Reset>,
    /// Clocks that are left, minus 1.
    left: Reg<{ address_width(shape.timeout_cycles as usize) }>,
    response: Reg<{ RESPONSE_BITS }>,
    response_valid: Reg<bool, Reset>,
}

#[kernel(
    BarAccess {
        start, word, protection, held, to_registers, r_valid, r_ready, r_answer, r_response, to_cluster, c, waits,
        c_answer, c_response, done, from_registers, from_cluster, answer, busy_next, events, busy, register_address,
        at_registers, cluster_address_valid, cluster_address, cluster_protection, active, late, left, response,
        response_valid, shape
    },
    suffix = self._shape.variant()
)]
fn update() {
    /// The host takes the answer.
    let taken = response_valid && answer.ready;
    busy_next = start || (busy && !taken);
    busy = busy_next;
    /// Where it goes.
    let target = reached(word);
    let outside = start && !target.registers && !target.cluster;
    /// The registers.
    to_registers = start && target.registers;
    from_registers = at_registers && r_answer;
    register_address = to_registers || (register_address && !r_ready);
    at_registers = to_registers || (at_registers && !from_registers);
    r_valid = register_address;
    /// It is an access to the cluster.
    let asked = start && target.cluster;
    let blocked = late || waits || cluster_address_valid;
    to_cluster = asked && !held && !blocked;
    cluster_address_valid = to_cluster || (cluster_address_valid && !c.ready && !held);
    if to_cluster {
        cluster_address = target.cluster_address;
        cluster_protection = protection;
    }
    *c.id = 0;
    c.addr = cluster_address;
    *c.len = 0;
    *c.size = BYTE_BITS;
    *c.burst = INCR;
    *c.lock = false;
    *c.cache = BUFFERABLE;
    c.prot = cluster_protection;
    c.valid = cluster_address_valid;
    /// The cluster has answered in time.
    let came = active && !held && c_answer;
    /// The time is over.
    let over = active && !held && !c_answer && left == 0;
    let held_event = held && (asked || active);
    let timeout_event = over || (asked && !held && blocked);
    let error_event = came && c_response != OKAY;
    from_cluster = came && c_response == OKAY;
    /// An access to the cluster ends.
    let ended = held_event || timeout_event || came;
    if to_cluster {
        active = true;
        left = shape.timeout_cycles - 1;
    } else {
        left = left - 1;
        if ended {
            active = false;
        }
    }
    if held || c_answer {
        late = false;
    } else if over {
        late = true;
    }
    /// The answer. EXOKAY is none to an access that is not exclusive.
    if from_registers {
        response = r_response;
    } else if came && c_response != 1 {
        response = c_response;
    } else if ended {
        response = SLVERR;
    } else if outside {
        response = DECERR;
    }
    done = outside || from_registers || ended;
    response_valid = done || (response_valid && !answer.ready);
    answer.resp = response;
    answer.valid = response_valid;
    events = cat!(error_event, timeout_event, held_event, outside);
}

/// Takes one read after the other and leads it to the registers or to the cluster.
#[module(shape: BarShape)]
pub struct BarRead {
    /// The cluster is held in reset.
    pub held: Wire<In, bool>,
    /// Reads from the host.
    pub s: AxiReadTarget<{ shape.host() }>,
    /// Reads of the registers.
    pub r: AxiReadMaster<{ shape.registers() }>,
    /// Reads of the cluster, a burst of one word each.
    pub c: AxiReadMaster<{ shape.axi() }>,
    /// Events of this cycle, to be counted: {error, timeout, held, outside}.
    pub events: Wire<Out, { EVENTS }>,
    access: BarAccess<{ shape }>,
    /// An address can be taken.
    address_ready: Reg<bool, Reset>,
    address: Reg<{ shape.register_address() }>,
    protection: Reg<{ PROTECTION_BITS }>,
    data: Reg<{ WORD_BITS }>,
}

#[kernel(
    BarRead { held, s, r, c, events, access, address_ready, address, protection, data, shape },
    suffix = self._shape.variant()
)]
fn update() {
    let starts = s.ar.valid && address_ready;
    address_ready = !access.busy_next;
    s.ar.ready = address_ready;
    if starts {
        address = s.ar.addr.slice(0, shape.register_address());
        protection = s.ar.prot;
    }
    access.start = starts;
    access.word = s.ar.addr.slice(BYTE_BITS, shape.address - BYTE_BITS);
    access.protection = s.ar.prot;
    access.held = held;
    access.waits = false;
    events = access.events;
    /// The registers.
    r.ar.addr = address;
    r.ar.prot = protection;
    r.ar.valid = access.r_valid;
    access.r_ready = r.ar.ready;
    access.r_answer = r.r.valid;
    access.r_response = r.r.resp;
    r.r.ready = true;
    /// The cluster.
    c.ar = access.c;
    access.c_answer = c.r.valid;
    access.c_response = c.r.resp;
    c.r.ready = true;
    let lane = access.c.addr.slice(BYTE_BITS, shape.lane_bits());
    let word =
        c.r.data
            .at(cat!(lane, lit(0, WORD_BITS.ilog2() as usize)), WORD_BITS);
    /// The answer; the data before it is invisible.
    if access.done {
        data = if access.from_registers {
            r.r.data
        } else {
            word & access.from_cluster.repeat(WORD_BITS)
        };
    }
    s.r.data = data;
    s.r.resp = access.answer.resp;
    s.r.valid = access.answer.valid;
    access.answer.ready = s.r.ready;
}

/// Takes one write after the other and leads it to the registers or to the cluster.
#[module(shape: BarShape)]
pub struct BarWrite {
    /// The cluster is held in reset.
    pub held: Wire<In, bool>,
    /// Writes from the host.
    pub s: AxiWriteTarget<{ shape.host() }>,
    /// Writes to the registers.
    pub r: AxiWriteMaster<{ shape.registers() }>,
    /// Writes to the cluster, a burst of one word each: the word in every lane, and strobes in its own.
    pub c: AxiWriteMaster<{ shape.axi() }>,
    /// Events of this cycle, to be counted: {error, timeout, held, outside}.
    pub events: Wire<Out, { EVENTS }>,
    access: BarAccess<{ shape }>,
    /// The address or the data can be taken.
    address_ready: Reg<bool, Reset>,
    data_ready: Reg<bool, Reset>,
    /// The address or the data is there, and the other is not.
    address_held: Reg<bool, Reset>,
    data_held: Reg<bool, Reset>,
    address: Reg<{ shape.address }>,
    protection: Reg<{ PROTECTION_BITS }>,
    data: Reg<{ WORD_BITS }>,
    strobes: Reg<{ WORD_BYTES }>,
    /// Data that the registers have not taken.
    register_data: Reg<bool, Reset>,
    /// Data that the cluster has not taken; it may wait longer than the write takes.
    cluster_data_valid: Reg<bool, Reset>,
    cluster_data: Reg<{ WORD_BITS }>,
    cluster_strobes: Reg<{ shape.axi().strobes() }>,
}

#[kernel(
    BarWrite {
        held, s, r, c, events, access, address_ready, data_ready, address_held, data_held, address, protection, data,
        strobes, register_data, cluster_data_valid, cluster_data, cluster_strobes, shape
    },
    suffix = self._shape.variant()
)]
fn update() {
    let got_address = s.aw.valid && address_ready;
    let got_data = s.w.valid && data_ready;
    /// Address and data come in any order; the write begins in the clock of the later one.
    let starts = (got_address || address_held) && (got_data || data_held);
    let (address_now, protection_now) = if address_ready {
        (s.aw.addr, s.aw.prot)
    } else {
        (address, protection)
    };
    let (data_now, strobes_now) = if data_ready {
        (s.w.data, s.w.strb)
    } else {
        (data, strobes)
    };
    address = address_now;
    protection = protection_now;
    data = data_now;
    strobes = strobes_now;
    address_held = (address_held || got_address) && !starts;
    data_held = (data_held || got_data) && !starts;
    address_ready = !access.busy_next && !address_held && !got_address;
    data_ready = !access.busy_next && !data_held && !got_data;
    s.aw.ready = address_ready;
    s.w.ready = data_ready;
    access.start = starts;
    access.word = address_now.slice(BYTE_BITS, shape.address - BYTE_BITS);
    access.protection = protection_now;
    access.held = held;
    access.waits = cluster_data_valid;
    s.b = access.answer;
    events = access.events;
    /// The registers, which hold the write that came last.
    r.aw.addr = address.slice(0, shape.register_address());
    r.aw.prot = protection;
    r.aw.valid = access.r_valid;
    access.r_ready = r.aw.ready;
    register_data = access.to_registers || (register_data && !r.w.ready);
    r.w.data = data;
    r.w.strb = strobes;
    r.w.valid = register_data;
    access.r_answer = r.b.valid;
    access.r_response = r.b.resp;
    r.b.ready = true;
    /// The cluster.
    c.aw = access.c;
    cluster_data_valid = access.to_cluster || (cluster_data_valid && !c.w.ready && !held);
    if access.to_cluster {
        cluster_data = data_now;
        let lane_now = address_now.slice(BYTE_BITS, shape.lane_bits());
        for lane in 0..shape.lanes() {
            let here = shape.lanes() == 1 || lane_now == lane;
            cluster_strobes.slice(WORD_BYTES * lane, WORD_BYTES) = strobes_now & here.repeat(WORD_BYTES);
        }
    }
    for lane in 0..shape.lanes() {
        c.w.data.slice(WORD_BITS * lane, WORD_BITS) = cluster_data;
    }
    c.w.strb = cluster_strobes;
    *c.w.last = true;
    c.w.valid = cluster_data_valid;
    access.c_answer = c.b.valid;
    access.c_response = c.b.resp;
    c.b.ready = true;
}
