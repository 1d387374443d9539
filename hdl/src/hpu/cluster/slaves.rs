//! AXI slaves in front of a memory of lines: bursts become accesses to lines.
//!
//! ```text
//!  aw, ar ==> LineBurst ==> line of each beat
//!  w ==> SkidBuffer ======> LineWrite --> b
//!                           LineRead ===> queue ==> r
//! ```
//!
//! # Contract
//! - **Bursts** are incrementing, of beats up to the port's width: others end with SLVERR and access nothing. The first beat may
//!   be anywhere in its line, the others are at multiples of their size. Each beat is an access of its own. Beats beyond the
//!   end of 4 KiB, which no burst has, continue at its start.
//! - **Throughput:** one beat a clock, from burst to burst too.
//! - **Responses:** DECERR where the access to the line `failed`. Memories begin and end at multiples of 4 KiB, so all
//!   beats of a burst have the same response. Ids are returned, user signals are 0; bursts are done one after another, and
//!   the next one waits inside. A write is answered when its last line was accepted.
//! - **Failed reads** have all their beats; their data is 0 if `data` is 0 without `data_valid`.
//! - **Backpressure:** a line is read only if the queue has room for it.
//! - **Ignored:** AWATOP, locks, protection, region, memory type and quality of service, WLAST.
//! - **Paths:** all outputs on the side of AXI are registers; `write_valid` and `read_valid` join a few, and the former follows `b_ready`.
//! - **Reset** discards all bursts.

use super::{LINE, LINE_BYTES, LINE_DATA, LineRead, LineWrite, OFFSET, READ_CLOCKS, SLAVE, WORD};
use crate::axi::{
    AxiAddressIn, AxiDataIn, AxiExtras, AxiReadOut, AxiResponseOut, DECERR, INCR, LENGTH_BITS, OKAY,
    PAGE_BITS, SIZE_BITS, SLVERR, within_beat,
};
use crate::entry::{Entry, ParameterError};
use crate::limits::Limit;
use crate::stream::{OutputQueue, SkidBuffer};
use spinneret_verilog::prelude::*;

/// Takes one burst after the other, and says where its beats are.
#[module]
pub struct LineBurst {
    /// Bursts.
    pub a: AxiAddressIn<{ SLAVE.with(AxiExtras::NONE) }, 0, { false }>,
    /// A burst is under way.
    pub active: Wire<Out, bool>,
    /// Its id.
    pub id: Wire<Out, { SLAVE.id }>,
    /// It is one that is not done.
    pub refused: Wire<Out, bool>,
    /// Line of its beat.
    pub line: Wire<Out, { LINE }>,
    /// The beat is its last.
    pub last: Wire<Out, bool>,
    /// The beat is done in this cycle.
    pub step: Wire<In, bool>,
    /// A burst can be taken.
    open: Reg<bool, Reset>,
    busy: Reg<bool, Reset>,
    address: Reg<{ WORD }>,
    size: Reg<{ SIZE_BITS }>,
    left: Reg<{ LENGTH_BITS }>,
    own_id: Reg<{ SLAVE.id }>,
    is_refused: Reg<bool>,
    /// The burst after it.
    has_next: Reg<bool, Reset>,
    next_address: Reg<{ WORD }>,
    next_size: Reg<{ SIZE_BITS }>,
    next_left: Reg<{ LENGTH_BITS }>,
    next_id: Reg<{ SLAVE.id }>,
    next_refused: Reg<bool>,
}

#[kernel(LineBurst)]
fn update() {
    /// A burst that comes begins at once, or waits for the end of the one before.
    let got = a.valid && open;
    let came_refused = *a.burst != INCR || *a.size > OFFSET;
    let free = !busy || step && left == 0;
    let waits = if free { false } else { has_next || got };
    has_next = waits;
    open = !waits;
    if got {
        (next_address, next_size, next_left) = (a.addr, *a.size, *a.len);
        (next_id, next_refused) = (*a.id, came_refused);
    }
    /// The bits of an address within a beat.
    let within = within_beat(size, OFFSET);
    let (low, high) = address.split_at(PAGE_BITS);
    if free {
        busy = has_next || got;
        address = if has_next { next_address } else { a.addr };
        size = if has_next { next_size } else { *a.size };
        left = if has_next { next_left } else { *a.len };
        own_id = if has_next { next_id } else { *a.id };
        is_refused = if has_next { next_refused } else { came_refused };
    } else if step {
        address = cat!(high, (low | within) + 1);
        left = left - 1;
    }
    a.ready = open;
    active = busy;
    id = own_id;
    refused = is_refused;
    line = address.slice(OFFSET, LINE);
    last = left == 0;
}

/// The write channels of a slave.
#[module(error = ParameterError)]
pub struct LineWriter {
    /// Bursts.
    pub aw: AxiAddressIn<{ SLAVE }, { SLAVE.extras.user.aw }, { true }>,
    /// Their beats.
    pub w: AxiDataIn<{ SLAVE }>,
    /// How they went.
    pub b: AxiResponseOut<{ SLAVE }>,
    /// Writes of lines.
    pub write: LineWrite,
    burst: LineBurst,
    beats: Checked<SkidBuffer<{ LINE_BYTES + LINE_DATA }>>,
    answers: Reg<bool, Reset>,
    answer: Reg<2>,
    answer_id: Reg<{ SLAVE.id }>,
}

#[kernel(LineWriter)]
fn update() {
    burst.a = aw;
    beats.s.data = cat!(w.strb, w.data);
    beats.s.valid = w.valid;
    w.ready = beats.s.ready;
    (write.data, write.strobe) = beats.m.data.split_at(LINE_DATA);
    write.line = burst.line;
    /// The last beat waits for room for its answer.
    let may_write = burst.active && !(burst.last && answers && !b.ready);
    write.valid = may_write && beats.m.valid && !burst.refused;
    beats.m.ready = may_write && (burst.refused || write.ready);
    burst.step = beats.m.valid && beats.m.ready;
    if burst.step && burst.last {
        answers = true;
        answer = response_of(burst.refused, write.failed);
        answer_id = burst.id;
    } else if b.ready {
        answers = false;
    }
    b.resp = answer;
    *b.id = answer_id;
    *b.user = 0;
    b.valid = answers;
}

/// How a beat is answered.
#[kernel]
pub(in crate::hpu) fn response_of(refused: Sig<bool>, failed: Sig<bool>) -> Sig {
    if refused {
        lit(SLVERR, 2)
    } else if failed {
        lit(DECERR, 2)
    } else {
        constant(lit(OKAY, 2))
    }
}

/// Lines that can wait: those that are asked for before it is seen that no more fit, and as many again, so that a reader that
/// continues has no gap.
fn room(clocks: usize) -> usize {
    (2 * clocks + 2).next_power_of_two()
}

/// The read channels of a slave, whose lines come `clocks` after their acceptance.
#[module(clocks: usize, error = ParameterError)]
pub struct LineReader {
    /// Bursts.
    pub ar: AxiAddressIn<{ SLAVE }, { SLAVE.extras.user.ar }, { false }>,
    /// Their beats.
    pub r: AxiReadOut<{ SLAVE }>,
    /// Reads of lines.
    pub read: LineRead,
    burst: LineBurst,
    queue: Checked<OutputQueue<{ LINE_DATA + SLAVE.id + 3 }, { room(clocks) }, { clocks }>>,
}

#[kernel(LineReader, suffix = clocks)]
fn update() {
    burst.a = ar;
    read.line = burst.line;
    let may_ask = burst.active && !queue.almost_full;
    read.valid = may_ask && !burst.refused;
    burst.step = may_ask && (burst.refused || read.ready);
    /// Bits that belong to the line that comes.
    let response = response_of(burst.refused, read.failed);
    let asked = staged("asked", 0, burst.step).reset_to(false).at(clocks);
    let about = staged("about", 0, cat!(burst.last, response, burst.id)).at(clocks);
    assert!(
        read.data_valid == (asked && about.slice(SLAVE.id, 2) == OKAY),
        "a line comes at its time"
    );
    queue.s.data = cat!(about, read.data);
    queue.s.valid = asked;
    let (data, about) = queue.m.data.split_at(LINE_DATA);
    r.data = data;
    *r.id = about.slice(0, SLAVE.id);
    r.resp = about.slice(SLAVE.id, 2);
    *r.last = about[SLAVE.id + 2];
    *r.user = 0;
    r.valid = queue.m.valid;
    queue.m.ready = r.ready;
}

/// Clocks from the acceptance of a read to its data.
const CLOCKS: Limit = Limit::number(
    "clocks",
    [1, 64],
    "clocks from the acceptance of a read to its data",
);

/// [`LineWriter`].
pub(crate) const WRITER: Entry = Entry::part(
    "line_writer",
    "write channels of an AXI slave in front of a memory of lines",
    |_| Vec::new(),
    |_| Ok(Box::new(LineWriter::new()?)),
);

/// [`LineReader`].
pub(crate) const READER: Entry = Entry::part(
    "line_reader",
    "read channels of an AXI slave in front of a memory of lines",
    |_| vec![CLOCKS.parameter(READ_CLOCKS as u64)],
    |values| {
        let clocks = CLOCKS.check("line_reader", CLOCKS.of(values))?;
        Ok(Box::new(LineReader::new(clocks)?))
    },
);
