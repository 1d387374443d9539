//! The halves of the BAR, and the accesses to the cluster.
//!
//! ```text
//!  s_aw --> address ---+--> window --+--> r_aw, r_w   registers
//!  s_w ---> data, strobes            +--> c_aw, c_w   cluster, ClusterAccess
//!  s_b <--- response <----------------+-- r_b, c_b
//!
//!  s_ar --> address -----> window --+--> r_ar   registers
//!                                   +--> c_ar   cluster, ClusterAccess
//!  s_r <--- data, response <-------+--- r_r
//!                                  +--- lane of c_r
//! ```

use super::shape::{
    BYTE_BITS, BarShape, CLUSTER_ADDRESS_BITS, EVENTS, PROTECTION_BITS, RESPONSE_BITS, WORD_BITS, WORD_BYTES,
    reached,
};
use crate::axi::{
    AMBA_CHANNEL, AxiAddressOut, AxiDataOut, AxiReadTarget, AxiWriteTarget, DECERR, OKAY, SLVERR,
};
use spinneret_verilog::prelude::*;

/// Follows the accesses of one direction to the cluster, one after another.
///
/// An access that is started is either sent or refused at once. One that is sent ends with its answer, when
/// the cluster is held in reset, or when its time is over; then its late answer is still outstanding, and no
/// other is sent before that has come.
/// # Parameters
/// `timeout_cycles` is at least 2, as the soonest answer comes in the second clock.
#[module(timeout_cycles: u64)]
pub struct ClusterAccess {
    /// An access starts; none is in flight.
    pub start: Wire<In, bool>,
    /// The cluster is held in reset: nothing is in flight there.
    pub held: Wire<In, bool>,
    /// Something of the last access waits for the cluster to take it.
    pub waits: Wire<In, bool>,
    /// The cluster answers.
    pub answer: Wire<In, bool>,
    /// With `answer`: BRESP or RRESP.
    pub answer_code: Wire<In, { RESPONSE_BITS }>,
    /// With `start`: the access is sent.
    pub send: Wire<Out, bool>,
    /// The access ends.
    pub done: Wire<Out, bool>,
    /// With `done`: how it went.
    pub response: Wire<Out, { RESPONSE_BITS }>,
    /// With `done`: the cluster has answered with OKAY.
    pub good: Wire<Out, bool>,
    /// It ends because the cluster is held in reset.
    pub held_event: Wire<Out, bool>,
    /// It ends because its time is over, or that of one before whose answer is outstanding.
    pub timeout_event: Wire<Out, bool>,
    /// It ends with an answer that is not OKAY.
    pub error_event: Wire<Out, bool>,
    /// An access is sent and has not ended.
    active: Reg<bool, Reset>,
    /// The answer of an access that has ended is outstanding.
    late: Reg<bool, Reset>,
    /// Clocks that are left, minus 1.
    left: Reg<{ address_width(timeout_cycles as usize) }>,
}

#[kernel(
    ClusterAccess {
        start, held, waits, answer, answer_code, send, done, response, good, held_event, timeout_event, error_event, active,
        late, left, timeout_cycles
    },
    suffix = self._timeout_cycles
)]
fn update() {
    let blocked = late || waits;
    send = start && !held && !blocked;
    let came = active && !held && answer;
    let over = active && !held && !answer && left == 0;
    /// How it ends.
    held_event = held && (start || active);
    timeout_event = over || (start && !held && blocked);
    error_event = came && answer_code != OKAY;
    good = came && answer_code == OKAY;
    done = held_event || timeout_event || came;
    /// EXOKAY is no answer to an access that is not exclusive.
    response = if came && answer_code != 1 {
        answer_code
    } else {
        SLVERR
    };
    if send {
        active = true;
        left = timeout_cycles - 1;
    } else {
        left = left - 1;
        if done {
            active = false;
        }
    }
    if held || answer {
        late = false;
    } else if over {
        late = true;
    }
}

/// The events of an access, to be counted.
#[kernel]
fn events_of(access: ClusterAccessHandles, outside: Sig<bool>) -> Sig {
    cat!(
        access.error_event,
        access.timeout_event,
        access.held_event,
        outside
    )
}

/// Takes one read after the other and leads it to the registers or to the cluster.
#[module(shape: BarShape)]
pub struct BarRead {
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
}

#[kernel(
    BarRead {
        held, s, r_ar, r_rdata, r_rresp, r_rvalid, c_ar, c_rdata, c_rresp, c_rvalid, events, access, address_ready, busy,
        address, protection, register_address, at_registers, cluster_address_valid, cluster_address, cluster_protection,
        data, response, response_valid, shape
    },
    suffix = self._shape.variant()
)]
fn update() {
    /// An address is taken.
    let starts = s.ar.valid && address_ready;
    /// The host takes the data.
    let taken = response_valid && s.r.ready;
    let busy_next = starts || (busy && !taken);
    busy = busy_next;
    address_ready = !busy_next;
    s.ar.ready = address_ready;
    if starts {
        address = s.ar.addr.slice(0, shape.register_address());
        protection = s.ar.prot;
    }
    /// Where it goes.
    let target = reached(s.ar.addr);
    let outside = starts && !target.to_registers && !target.to_cluster;
    let registers_start = starts && target.to_registers;
    let registers_answer = at_registers && r_rvalid;
    /// The registers.
    register_address = registers_start || (register_address && !r_ar.ready);
    at_registers = registers_start || (at_registers && !registers_answer);
    r_ar.addr = address;
    r_ar.prot = protection;
    r_ar.valid = register_address;
    /// The cluster.
    access.start = starts && target.to_cluster;
    access.held = held;
    access.waits = cluster_address_valid;
    access.answer = c_rvalid;
    access.answer_code = c_rresp;
    cluster_address_valid = access.send || (cluster_address_valid && !c_ar.ready && !held);
    if access.send {
        cluster_address = target.cluster_address;
        cluster_protection = s.ar.prot;
    }
    c_ar.addr = cluster_address;
    c_ar.prot = cluster_protection;
    c_ar.valid = cluster_address_valid;
    let lane = cluster_address.slice(BYTE_BITS, shape.lane_bits());
    let word = c_rdata.at(cat!(lane, lit(0, WORD_BITS.ilog2() as usize)), WORD_BITS);
    /// The answer; the data before it is invisible.
    if registers_answer {
        response = r_rresp;
        data = r_rdata;
    } else if access.done {
        response = access.response;
        data = word & access.good.repeat(WORD_BITS);
    } else if outside {
        response = DECERR;
        data = 0;
    }
    /// The response is known.
    let finish = outside || registers_answer || access.done;
    response_valid = finish || (response_valid && !s.r.ready);
    s.r.data = data;
    s.r.resp = response;
    s.r.valid = response_valid;
    events = events_of(access, outside);
}

/// Takes one write after the other and leads it to the registers or to the cluster.
#[module(shape: BarShape)]
pub struct BarWrite {
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
    pub c_wstrb: Wire<Out, { shape.axi().strobes() }>,
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
    cluster_strobes: Reg<{ shape.axi().strobes() }>,
    response: Reg<{ RESPONSE_BITS }>,
    response_valid: Reg<bool, Reset>,
}

#[kernel(
    BarWrite {
        held, s, r_aw, r_w, r_bresp, r_bvalid, c_aw, c_wdata, c_wstrb, c_wvalid, c_wready, c_bresp, c_bvalid, events, access,
        address_ready, data_ready, address_held, data_held, busy, address, protection, data, strobes, register_address,
        register_data, at_registers, cluster_address_valid, cluster_data_valid, cluster_address, cluster_protection,
        cluster_data, cluster_strobes, response, response_valid, shape
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
    /// The host takes the response.
    let taken = response_valid && s.b.ready;
    let busy_next = starts || (busy && !taken);
    busy = busy_next;
    address_ready = !busy_next && !address_held && !got_address;
    data_ready = !busy_next && !data_held && !got_data;
    s.aw.ready = address_ready;
    s.w.ready = data_ready;
    /// Where it goes.
    let target = reached(address_now);
    let outside = starts && !target.to_registers && !target.to_cluster;
    let registers_start = starts && target.to_registers;
    let registers_answer = at_registers && r_bvalid;
    /// The registers, which hold the write that came last.
    register_address = registers_start || (register_address && !r_aw.ready);
    register_data = registers_start || (register_data && !r_w.ready);
    at_registers = registers_start || (at_registers && !registers_answer);
    r_aw.addr = address.slice(0, shape.register_address());
    r_aw.prot = protection;
    r_aw.valid = register_address;
    r_w.data = data;
    r_w.strb = strobes;
    r_w.valid = register_data;
    /// The cluster.
    access.start = starts && target.to_cluster;
    access.held = held;
    access.waits = cluster_address_valid || cluster_data_valid;
    access.answer = c_bvalid;
    access.answer_code = c_bresp;
    cluster_address_valid = access.send || (cluster_address_valid && !c_aw.ready && !held);
    cluster_data_valid = access.send || (cluster_data_valid && !c_wready && !held);
    if access.send {
        cluster_address = target.cluster_address;
        cluster_protection = protection_now;
        cluster_data = data_now;
        let lane_now = address_now.slice(BYTE_BITS, shape.lane_bits());
        for lane in 0..shape.lanes() {
            let here = shape.lanes() == 1 || lane_now == lane;
            cluster_strobes.slice(WORD_BYTES * lane, WORD_BYTES) = strobes_now & here.repeat(WORD_BYTES);
        }
    }
    c_aw.addr = cluster_address;
    c_aw.prot = cluster_protection;
    c_aw.valid = cluster_address_valid;
    c_wdata = cluster_data;
    c_wstrb = cluster_strobes;
    c_wvalid = cluster_data_valid;
    /// The response.
    if registers_answer {
        response = r_bresp;
    } else if access.done {
        response = access.response;
    } else if outside {
        response = DECERR;
    }
    /// The response is known.
    let finish = outside || registers_answer || access.done;
    response_valid = finish || (response_valid && !s.b.ready);
    s.b.resp = response;
    s.b.valid = response_valid;
    events = events_of(access, outside);
}
