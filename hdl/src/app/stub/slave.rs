//! The slaves of the stand-in: bursts become accesses to the memory.

use super::shape::{ADDRESS, DATA, ID, OFFSET, PLACE, STROBES, StubShape, USER};
use crate::axi::{
    AxiAddressIn, AxiDataIn, AxiExtras, AxiReadOut, AxiResponseOut, DECERR, INCR, LENGTH_BITS, OKAY,
    PAGE_BITS, SIZE_BITS, SLVERR,
};
use crate::entry::ParameterError;
use crate::stream::{OutputQueue, SkidBuffer, StreamOut};
use spinneret_regmap::pspin;
use spinneret_verilog::prelude::*;

/// Handler and packet memory, one after the other.
const HANDLER_AND_PACKET: u64 = pspin::HANDLER_BASE as u64;
/// Program memory.
const PROGRAM: u64 = pspin::PROGRAM_BASE as u64;
/// The bit of an address that tells the program memory from the other windows.
const PROGRAM_BIT: usize = (HANDLER_AND_PACKET ^ PROGRAM).trailing_zeros() as usize;
/// Bits of an address within the program memory.
const PROGRAM_BITS: usize = pspin::PROGRAM_BYTES.ilog2() as usize;
/// Bits of an address within the quarter of the memory that the program memory is part of.
const QUARTER_BITS: usize = PLACE - 2;

/// Beats of a read that wait to be taken.
const BEATS: usize = 4;
/// Beats that are asked for before it is seen that there is no more room.
const MARGIN: usize = 2;

/// The line of the memory at an address. The program memory is in the last quarter, which the other windows leave free.
#[kernel]
pub(super) fn line_of(shape: StubShape, address: Sig) -> Sig {
    let line = address.slice(OFFSET, shape.line());
    let quarter = QUARTER_BITS - OFFSET;
    if shape.line() <= quarter {
        line
    } else {
        let program = cat!(fill(true, shape.line() - quarter), line.slice(0, quarter));
        if address[PROGRAM_BIT] { program } else { line }
    }
}

/// How a burst is answered.
#[kernel]
fn response_of(address: Sig, size: Sig, kind: Sig) -> Sig {
    let (place, window) = address.split_at(PLACE);
    let is_mapped = (window == HANDLER_AND_PACKET >> PLACE && place.slice(QUARTER_BITS, 2) != 3)
        || address.slice(PROGRAM_BITS, ADDRESS - PROGRAM_BITS) == PROGRAM >> PROGRAM_BITS;
    if kind != INCR || size > OFFSET {
        lit(SLVERR, 2)
    } else if is_mapped {
        constant(lit(OKAY, 2))
    } else {
        constant(lit(DECERR, 2))
    }
}

/// Takes one burst after the other, and says where its beats are and how it is answered.
///
/// The first beat may be anywhere in its line, the others are at multiples of their size. Beats beyond the end of 4 KiB,
/// which no burst has, continue at its start.
#[module(shape: StubShape)]
pub struct StubBurst {
    /// Bursts.
    pub a: AxiAddressIn<{ StubShape::slave().with(AxiExtras::NONE) }, 0, { false }>,
    /// Another burst may be taken in the next clock.
    pub may_start: Wire<In, bool>,
    /// A burst is under way.
    pub active: Wire<Out, bool>,
    /// Its id.
    pub id: Wire<Out, { ID }>,
    /// How it is answered.
    pub response: Wire<Out, 2>,
    /// Line of its beat in the memory.
    pub line: Wire<Out, { shape.line() }>,
    /// The beat is its last.
    pub last: Wire<Out, bool>,
    /// The beat is done in this cycle.
    pub step: Wire<In, bool>,
    /// A burst can be taken.
    open: Reg<bool, Reset>,
    busy: Reg<bool, Reset>,
    address: Reg<{ ADDRESS }>,
    size: Reg<{ SIZE_BITS }>,
    left: Reg<{ LENGTH_BITS }>,
    own_id: Reg<{ ID }>,
    answer: Reg<2>,
}

#[kernel(StubBurst, suffix = shape.lines())]
fn update() {
    let got = a.valid && open;
    open = may_start && !got && !busy;
    /// The bits of an address within a beat.
    let within = word_of((0..OFFSET).map(|bit| size > bit));
    let (low, high) = address.split_at(PAGE_BITS);
    if got {
        busy = true;
        address = a.addr;
        size = *a.size;
        left = *a.len;
        own_id = *a.id;
        answer = response_of(a.addr, *a.size, *a.burst);
    } else if step {
        address = cat!(high, (low | within.resize(PAGE_BITS)) + 1);
        left = left - 1;
        busy = left != 0;
    }
    a.ready = open;
    active = busy;
    id = own_id;
    response = answer;
    line = line_of(shape, address);
    last = left == 0;
}

/// The write channels: one burst after the other, one beat a clock when it is its turn.
#[module(shape: StubShape, error = ParameterError)]
pub struct StubWritePort {
    /// Bursts.
    pub aw: AxiAddressIn<{ StubShape::slave() }, { USER }, { true }>,
    /// Their beats.
    pub w: AxiDataIn<{ StubShape::slave() }>,
    /// How they went.
    pub b: AxiResponseOut<{ StubShape::slave() }>,
    /// Writes to the memory: {line, strobes, data}.
    pub write: StreamOut<{ shape.write() }>,
    burst: StubBurst<{ shape }>,
    beats: Checked<SkidBuffer<{ STROBES + DATA }>>,
    answers: Reg<bool, Reset>,
}

#[kernel(StubWritePort, suffix = shape.lines())]
fn update() {
    burst.a = aw;
    burst.may_start = !answers;
    beats.s.data = cat!(w.strb, w.data);
    beats.s.valid = w.valid;
    w.ready = beats.s.ready;
    let (data, strobes) = beats.m.data.split_at(DATA);
    /// Nothing of a burst that fails is written.
    let written = strobes & (burst.response == OKAY).repeat(STROBES);
    write.data = cat!(burst.line, written, data);
    write.valid = burst.active && beats.m.valid;
    beats.m.ready = burst.active && write.ready;
    burst.step = write.valid && write.ready;
    if burst.step && burst.last {
        answers = true;
    } else if b.ready {
        answers = false;
    }
    b.resp = burst.response;
    *b.id = burst.id;
    *b.user = 0;
    b.valid = answers;
}

/// The read channels: one burst after the other, one beat a clock when it is its turn.
#[module(shape: StubShape, error = ParameterError)]
pub struct StubReadPort {
    /// Bursts.
    pub ar: AxiAddressIn<{ StubShape::slave() }, { USER }, { false }>,
    /// Their beats; 0 if the burst failed.
    pub r: AxiReadOut<{ StubShape::slave() }>,
    /// Reads of the memory: line.
    pub read: StreamOut<{ shape.line() }>,
    /// The line that was asked for in the clock before.
    pub memory_data: Wire<In, { DATA }>,
    burst: StubBurst<{ shape }>,
    queue: Checked<OutputQueue<{ DATA + ID + 3 }, { BEATS }, { MARGIN }>>,
}

#[kernel(StubReadPort, suffix = shape.lines())]
fn update() {
    burst.a = ar;
    burst.may_start = true;
    read.data = burst.line;
    read.valid = burst.active && !queue.almost_full;
    let granted = read.valid && read.ready;
    burst.step = granted;
    /// The beat that comes in this clock, and what belongs to it.
    let asked = reg_reset(granted, false);
    let (asked_last, asked_response, asked_id) = (reg(burst.last), reg(burst.response), reg(burst.id));
    let asked_data = memory_data & (asked_response == OKAY).repeat(DATA);
    queue.s.data = cat!(asked_last, asked_response, asked_id, asked_data);
    queue.s.valid = asked;
    let (data, rest) = queue.m.data.split_at(DATA);
    r.data = data;
    *r.id = rest.slice(0, ID);
    r.resp = rest.slice(ID, 2);
    *r.last = rest[ID + 2];
    *r.user = 0;
    r.valid = queue.m.valid;
    queue.m.ready = r.ready;
}
