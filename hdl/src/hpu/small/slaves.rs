//! AXI slaves of 64 bits in front of the memories of a small complex.
//!
//! # Contract
//! - **Bursts** are incrementing, of beats of 8 bytes: others end with SLVERR and access nothing. The first beat may be anywhere
//!   in its word. One burst after another; the next one is taken when the one before is answered, or its last beat is read.
//! - **Throughput:** one beat a clock in a burst, as far as memory takes it.
//! - **Responses:** DECERR if a beat of a write, or the beat of a read, has no memory. Ids are returned.
//! - **Ignored:** locks, protection and memory type. WLAST ends a burst.
//! - **Paths:** `w_ready` follows `w_valid` through memory; other outputs are registers, or follow a few.
//! - **Reset** discards all bursts.

use super::{DATA, PLACE, SMALL_READ_CLOCKS, SMALL_SLAVE, SmallRead, SmallWrite, WITHIN};
use crate::axi::{
    AxiAddressIn, AxiAddressInHandles, AxiDataIn, AxiReadOut, AxiResponseOut, DECERR, INCR, LENGTH_BITS,
    OKAY, SLVERR,
};
use crate::entry::ParameterError;
use crate::stream::OutputQueue;
use spinneret_verilog::prelude::*;

/// Words that can wait at the reader's output.
const ROOM: usize = 8;

/// How a beat is answered.
#[kernel]
fn response_of(refused: Sig<bool>, failed: Sig<bool>) -> Sig {
    if refused {
        lit(SLVERR, 2)
    } else if failed {
        lit(DECERR, 2)
    } else {
        constant(lit(OKAY, 2))
    }
}

/// A burst that is not done.
#[kernel]
fn is_refused(a: &AxiAddressInHandles) -> Sig<bool> {
    *a.burst != INCR || *a.size != WITHIN
}

/// The write channels of a slave.
#[module]
pub struct SmallWriter {
    /// Bursts.
    pub aw: AxiAddressIn<{ SMALL_SLAVE }, 0, { false }>,
    /// Their beats.
    pub w: AxiDataIn<{ SMALL_SLAVE }>,
    /// How they went.
    pub b: AxiResponseOut<{ SMALL_SLAVE }>,
    /// Writes of memory.
    pub write: SmallWrite,
    busy: Reg<bool, Reset>,
    answers: Reg<bool, Reset>,
    place: Reg<{ PLACE }>,
    id: Reg<{ SMALL_SLAVE.id }>,
    refused: Reg<bool>,
    failed: Reg<bool>,
}

#[kernel(SmallWriter)]
fn update() {
    aw.ready = !busy && !answers;
    write.valid = busy && w.valid && !refused;
    write.place = place;
    write.strobe = w.strb;
    write.data = w.data;
    w.ready = busy && (refused || write.ready);
    if aw.valid && aw.ready {
        busy = true;
        place = aw.addr.slice(WITHIN, PLACE);
        id = *aw.id;
        refused = is_refused(&aw);
        failed = false;
    } else if w.valid && w.ready {
        place = place + 1;
        failed = failed || write.failed;
        if *w.last {
            busy = false;
            answers = true;
        }
    } else if b.ready {
        answers = false;
    }
    b.valid = answers;
    *b.id = id;
    b.resp = response_of(refused, failed);
}

/// The read channels of a slave.
#[module(error = ParameterError)]
pub struct SmallReader {
    /// Bursts.
    pub ar: AxiAddressIn<{ SMALL_SLAVE }, 0, { false }>,
    /// Their beats.
    pub r: AxiReadOut<{ SMALL_SLAVE }>,
    /// Reads of memory.
    pub read: SmallRead,
    busy: Reg<bool, Reset>,
    place: Reg<{ PLACE }>,
    left: Reg<{ LENGTH_BITS }>,
    id: Reg<{ SMALL_SLAVE.id }>,
    refused: Reg<bool>,
    queue: Checked<OutputQueue<{ DATA + SMALL_SLAVE.id + 3 }, { ROOM }, { SMALL_READ_CLOCKS }>>,
}

#[kernel(SmallReader)]
fn update() {
    ar.ready = !busy;
    let may_ask = busy && !queue.almost_full;
    read.valid = may_ask && !refused;
    read.place = place;
    let step = may_ask && (refused || read.ready);
    let is_last = left == 0;
    if ar.valid && ar.ready {
        busy = true;
        place = ar.addr.slice(WITHIN, PLACE);
        left = *ar.len;
        id = *ar.id;
        refused = is_refused(&ar);
    } else if step {
        place = place + 1;
        left = left - 1;
        busy = !is_last;
    }
    let response = response_of(refused, read.failed);
    let asked = staged("asked", 0, step).reset_to(false).at(SMALL_READ_CLOCKS);
    let about = staged("about", 0, cat!(is_last, response, id)).at(SMALL_READ_CLOCKS);
    let is_fine = about.slice(SMALL_SLAVE.id, 2) == OKAY;
    queue.s.data = cat!(about, read.data & is_fine.repeat(DATA));
    queue.s.valid = asked;
    let (data, about) = queue.m.data.split_at(DATA);
    r.data = data;
    *r.id = about.slice(0, SMALL_SLAVE.id);
    r.resp = about.slice(SMALL_SLAVE.id, 2);
    *r.last = about[SMALL_SLAVE.id + 2];
    r.valid = queue.m.valid;
    queue.m.ready = r.ready;
}
