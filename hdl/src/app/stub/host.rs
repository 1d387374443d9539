//! The host's memory: a line is read from it, and packets are copied to it.

use super::shape::{ADDRESS, DATA, HOST_ADDRESS, OFFSET, STROBES, StubShape};
use crate::axi::{AxiDataOut, AxiExtras, LENGTH_BITS, OKAY, PAGE_BITS};
use crate::stream::StreamOut;
use spinneret_verilog::prelude::*;

/// How far after the start of the host's memory the line that is read lies, in lines.
const DISTANCE_LINES: u64 = 4096 / STROBES as u64;
/// Bits of the number of a line of the host.
pub(super) const HOST_LINE: usize = HOST_ADDRESS - OFFSET;
/// Bits of the number of a line within 4 KiB.
const PAGE_LINE: usize = PAGE_BITS - OFFSET;
/// Bits of the number of a line of the longest packet.
const COUNT: usize = ADDRESS - OFFSET + 1;

/// Reads a line from the host and writes it to the memory, unless the host says that it failed.
#[module(shape: StubShape)]
pub struct HostFetch {
    /// It begins; nothing is in flight.
    pub start: Wire<In, bool>,
    /// With `start`: line of the host in which its memory starts.
    pub host_line: Wire<In, { HOST_LINE }>,
    /// While it is in flight: line of the memory.
    pub line: Wire<In, { shape.line() }>,
    /// It ends.
    pub done: Wire<Out, bool>,
    /// With `done`: the host's response is not OKAY.
    pub failed: Wire<Out, bool>,
    /// With `failed`: the response.
    pub code: Wire<Out, 2>,
    /// Line of the host to be read.
    pub ar: StreamOut<{ HOST_LINE }>,
    /// The data.
    pub r_data: Wire<In, { DATA }>,
    /// How the read went.
    pub r_resp: Wire<In, 2>,
    /// It is there; it is always taken.
    pub r_valid: Wire<In, bool>,
    /// Writes to the memory: {line, strobes, data}.
    pub write: StreamOut<{ shape.write() }>,
    asked_line: Reg<{ HOST_LINE }>,
    asks: Reg<bool, Reset>,
    waits: Reg<bool, Reset>,
    writes: Reg<bool, Reset>,
    data: Reg<{ DATA }>,
}

#[kernel(HostFetch, suffix = shape.lines())]
fn update() {
    if ar.ready {
        asks = false;
    }
    if start {
        asks = true;
        waits = true;
        asked_line = host_line + DISTANCE_LINES;
    }
    ar.data = asked_line;
    ar.valid = asks;
    let answered = waits && r_valid;
    let is_okay = r_resp == OKAY;
    if answered {
        waits = false;
        writes = is_okay;
        data = r_data;
    }
    write.data = cat!(line, fill(true, STROBES), data);
    write.valid = writes;
    let written = writes && write.ready;
    if written {
        writes = false;
    }
    failed = answered && !is_okay;
    code = r_resp;
    done = written || failed;
}

/// Copies a packet to the host, whatever its alignment there: full lines in bursts that end at 4 KiB, one burst after the
/// other.
///
/// ```text
///  line of the memory -> turn by (host - source) bytes -+-> lanes from there on ---+-> beat
///                                                       +-> previous -> lanes below +
/// ```
#[module(shape: StubShape)]
pub struct HostCopy {
    /// It begins; nothing is in flight.
    pub start: Wire<In, bool>,
    /// With `start`: place of the first byte in its line of the memory.
    pub source: Wire<In, { OFFSET }>,
    /// With `start`: its line.
    pub source_line: Wire<In, { shape.line() }>,
    /// With `start`: bytes of the packet, at least 1.
    pub size: Wire<In, { ADDRESS }>,
    /// With `start`: address in the host.
    pub host: Wire<In, { HOST_ADDRESS }>,
    /// It ends.
    pub done: Wire<Out, bool>,
    /// A burst ends with a response that is not OKAY.
    pub failed: Wire<Out, bool>,
    /// With `failed`: the response.
    pub code: Wire<Out, 2>,
    /// First line of a burst in the host.
    pub aw_line: Wire<Out, { HOST_LINE }>,
    /// Its beats, minus 1.
    pub aw_len: Wire<Out, { LENGTH_BITS }>,
    /// It is there.
    pub aw_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub aw_ready: Wire<In, bool>,
    /// Beats, with strobes for the bytes of the packet.
    pub w: AxiDataOut<{ StubShape::master().with(AxiExtras::NONE) }>,
    /// How a burst went.
    pub b_resp: Wire<In, 2>,
    /// The response is there; it is always taken.
    pub b_valid: Wire<In, bool>,
    /// Reads of the memory: line.
    pub read: StreamOut<{ shape.line() }>,
    /// The line that was asked for in the clock before.
    pub memory_data: Wire<In, { DATA }>,
    /// Bytes by which lines are turned.
    turn: Reg<{ OFFSET }>,
    /// Place of the first byte in its line of the host, and of the last one.
    first_byte: Reg<{ OFFSET }>,
    last_byte: Reg<{ OFFSET }>,
    /// The line of the memory that is read next.
    from: Reg<{ shape.line() }>,
    /// The line of the host that is written next, and lines that are left, minus 1.
    to: Reg<{ HOST_LINE }>,
    left: Reg<{ COUNT }>,
    /// The next beat is the first of the packet.
    first: Reg<bool>,
    /// The last beat of the packet is made.
    ended: Reg<bool>,
    /// A line of the memory is requested; it is not a beat of its own.
    asks: Reg<bool, Reset>,
    filling: Reg<bool>,
    /// A burst must be opened, or waits for its response.
    opens: Reg<bool, Reset>,
    closes: Reg<bool, Reset>,
    burst_line: Reg<{ HOST_LINE }>,
    burst_length: Reg<{ PAGE_LINE }>,
    burst_valid: Reg<bool, Reset>,
    /// Beats of the burst that are left, minus 1.
    burst_left: Reg<{ PAGE_LINE }>,
    previous: Reg<{ DATA - 8 }>,
    beat: Reg<{ DATA }>,
    strobes: Reg<{ STROBES }>,
    beat_last: Reg<bool>,
    beat_valid: Reg<bool, Reset>,
}

#[kernel(HostCopy, suffix = shape.lines())]
fn update() {
    /// The answer to a burst opens the next one, unless it was the last.
    let answered = closes && b_valid;
    if answered {
        closes = false;
        opens = !ended;
    }
    failed = answered && b_resp != OKAY;
    code = b_resp;
    done = answered && ended;
    /// A burst ends with the packet or with its 4 KiB.
    let room = !to.slice(0, PAGE_LINE);
    let length = if left < room.resize(COUNT) {
        left.slice(0, PAGE_LINE)
    } else {
        room
    };
    if aw_ready {
        burst_valid = false;
    }
    if opens {
        opens = false;
        burst_line = to;
        burst_length = length;
        burst_left = length;
        burst_valid = true;
        asks = true;
    }
    aw_line = burst_line;
    aw_len = burst_length.resize(LENGTH_BITS);
    aw_valid = burst_valid;
    /// Every beat needs one more line of the memory, which comes in the clock after it was granted.
    read.data = from;
    read.valid = asks;
    let granted = asks && read.ready;
    let comes = reg_reset(granted, false);
    if granted {
        asks = false;
        from = from + 1;
    }
    if beat_valid && w.ready {
        beat_valid = false;
        burst_left = burst_left - 1;
        if beat_last {
            closes = true;
        } else {
            asks = true;
        }
    }
    let twice = cat!(memory_data, memory_data);
    let turned = twice.at(
        cat!(
            constant(lit(STROBES as u64, OFFSET + 1)) - turn.resize(OFFSET + 1),
            lit(0, 3)
        ),
        DATA,
    );
    if comes {
        previous = turned.slice(0, DATA - 8);
        filling = false;
        if filling {
            opens = true;
        } else {
            beat_valid = true;
            beat_last = burst_left == 0;
            first = false;
            ended = left == 0;
            left = left - 1;
            to = to + 1;
            /// Lines are turned by 63 bytes at most, so the last lane never comes from the line before.
            beat = turned;
            for lane in 0..STROBES - 1 {
                if turn > lane {
                    beat.slice(8 * lane, 8) = previous.slice(8 * lane, 8);
                }
            }
            for lane in 0..STROBES {
                strobes[lane] = (!first || first_byte <= lane) && (left != 0 || last_byte >= lane);
            }
        }
    }
    w.data = beat;
    w.strb = strobes;
    *w.last = beat_last;
    w.valid = beat_valid;
    let (place, line) = host.split_at(OFFSET);
    /// The first line of the host needs bytes of two lines of the memory, as the packet starts later in its line.
    let fills = place < source;
    let ending = place.resize(ADDRESS + 1) + size.resize(ADDRESS + 1) - 1;
    if start {
        turn = place - source;
        first_byte = place;
        last_byte = ending.slice(0, OFFSET);
        from = source_line;
        to = line;
        left = ending.slice(OFFSET, COUNT);
        first = true;
        filling = fills;
        asks = fills;
        opens = !fills;
    }
}
