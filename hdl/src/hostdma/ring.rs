//! Reads and the ring of lines: what a read needs, the lines it gets, and the beats that come of them.

use super::layout::{
    AtomicFields, BurstFields, FoundFields, HeldFields, JobFields, PlanFields, ReadPayload, ReplyFields,
    TransferFields, TransferShape,
};
use super::{GuardIn, HostDmaShape, HostGuard, RamReadOut};
use crate::axi::{AxiReadOut, BurstCheck, DECERR, LENGTH_BITS, OKAY, PAGE_BITS, SLVERR, within_beat};
use crate::entry::ParameterError;
use crate::stream::{Fifo, FifoConfig, SkidBuffer, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Beats that can be on their way from the RAM, a power of two; it hides the RAM's latency.
const BEATS: usize = 16;

/// Finds the bytes of a read, and whether it can and may be done: two clocks, one read a clock.
///
/// Data that atomic operations want goes the same way as reads that cannot be done, and before them.
#[module(shape: HostDmaShape, error = ParameterError, found_fields: FoundFields = FoundFields::new(shape))]
pub struct ReadPlanner {
    /// Reads, as [`BurstFields`] says.
    pub burst: StreamIn<{ BurstFields::new(shape, false).width }>,
    /// Atomic operations, as [`AtomicFields`] says.
    pub atomic: Optional<StreamIn<{ AtomicFields::new(shape).width }>, { shape.atomics }>,
    /// The windows.
    pub windows: Optional<GuardIn<{ shape.guard_shape() }>, { shape.guard }>,
    /// Plans, as [`PlanFields`] says.
    pub plan: StreamOut<{ PlanFields::new(shape).width }>,
    check: BurstCheck<{ shape.axi() }>,
    guard: Optional<HostGuard<{ shape.guard_shape() }>, { shape.guard }>,
    found: Reg<{ found_fields.width }>,
    /// The context that asks.
    found_context: Optional<Reg<{ shape.context() }>, { shape.guard }>,
    found_valid: Reg<bool, Reset>,
    planned: Checked<SkidBuffer<{ PlanFields::new(shape).width }>>,
}

#[kernel(
    ReadPlanner {
        burst, atomic, windows, plan, check, guard, found, found_context, found_valid, planned, shape, found_fields
    },
)]
fn update() {
    let read = BurstFields::new(shape, false).of(burst.data);
    let take = !found_valid || planned.s.ready;
    let (start, page) = read.address.split_at(PAGE_BITS);
    /// First: which bytes, and can it be done?
    check.start = start;
    check.length = read.length;
    check.size = read.size;
    check.kind = read.kind;
    let (id, length, refused, valid) = if shape.atomics {
        let wanted = AtomicFields::new(shape).of(atomic.data);
        let (id, length) = if atomic.valid {
            (wanted.id, wanted.length)
        } else {
            (read.id, read.length)
        };
        atomic.ready = take;
        burst.ready = take && !atomic.valid;
        (
            id,
            length,
            atomic.valid || check.refused,
            atomic.valid || burst.valid,
        )
    } else {
        burst.ready = take;
        (read.id, read.length, check.refused, burst.valid)
    };
    if take {
        found_valid = valid;
        found = pack!(found_fields {
            start,
            page,
            refused,
            length,
            size: read.size,
            id,
            stop: check.last_byte
        });
    }
    let now = found_fields.of(found);
    let outside = if shape.guard {
        if take {
            *found_context = read.asker;
        }
        guard.windows = windows;
        guard.asker = *found_context;
        guard.first = cat!(now.page, now.start);
        guard.last = cat!(now.page, now.stop);
        !guard.allowed && !now.refused
    } else {
        false
    };
    let (stop_lane, stop_line) = now.stop.split_at(shape.lane());
    let plan_fields = PlanFields::new(shape);
    /// Then: may it be done, and what does it need?
    planned.s.valid = found_valid;
    planned.s.data = pack!(plan_fields {
        start: now.start,
        page: now.page,
        refused: now.refused,
        length: now.length,
        size: now.size,
        id: now.id,
        outside,
        last_lane: stop_lane,
        bytes: now.stop - now.start,
        lines: stop_line - now.start.slice(shape.lane(), shape.row()),
    });
    plan = planned.m;
}

/// Reserves lines for a read and makes its transfers: one, or two if the ring's end lies within. A read that is
/// refused needs no lines, and becomes a transfer without bytes.
///
/// A read is at `transfer` one clock after it was taken.
#[module(
    shape: HostDmaShape,
    planned: PlanFields = PlanFields::new(shape),
    reserved: HeldFields = HeldFields::new(shape),
    given: TransferFields = TransferFields::new(shape.address, transfers(shape)),
)]
pub struct LineReserve {
    /// Plans, as [`PlanFields`] says.
    pub plan: StreamIn<{ planned.width }>,
    /// Transfers, as [`TransferFields`] says, with [`ReadPayload`].
    pub transfer: StreamOut<{ given.width }>,
    /// A line is free again.
    pub freed: Wire<In, bool>,
    /// The next line.
    fill: Reg<{ shape.line() }, Reset>,
    /// Lines that are free.
    #[new(Reg::reset_to(lit(shape.lines() as u64, shape.position())))]
    space: Reg,
    /// A read that has its lines.
    held: Reg<{ reserved.width }>,
    held_valid: Reg<bool, Reset>,
    /// The ring ends within it.
    wraps: Reg<bool>,
    /// Its first part is in flight.
    second: Reg<bool, Reset>,
}

/// Words that pass through the transfers of reads.
pub(super) fn transfers(shape: HostDmaShape) -> TransferShape {
    TransferShape::new(shape, shape.reads, ReadPayload::new(shape))
}

#[kernel(
    LineReserve { plan, transfer, freed, fill, space, held, held_valid, wraps, second, shape, planned, reserved, given },
)]
fn update() {
    let (payload, job) = (ReadPayload::new(shape), JobFields::new(shape));
    let (lane, row, position) = (shape.lane(), shape.row(), shape.position());
    /// The first of its lines.
    let line = reserved.of(held).line;
    let read = planned.of(reserved.of(held).plan);
    let moves = !read.refused && !read.outside;
    let last = !wraps || second;
    /// Bytes up to the ring's end, minus 1.
    let to_end = cat!((!line).resize(row), !read.start.slice(0, lane));
    /// First byte of the part, its bytes minus 1, and its line. If the ring ends within the read, a second part has the rest.
    let (first_byte, bytes, line_now) = if second {
        (
            cat!(read.start.slice(lane, row) - line.slice(0, row), lit(0, lane)),
            cat!(read.lines + line.slice(0, row), read.last_lane),
            constant(lit(0, shape.line())),
        )
    } else if wraps {
        (read.start, to_end, line)
    } else {
        (read.start, read.bytes, line)
    };
    let response = wire(2);
    response = if read.outside {
        DECERR
    } else if read.refused {
        SLVERR
    } else {
        OKAY
    };
    transfer.valid = held_valid;
    transfer.data = pack!(given {
        host_address: cat!(read.page, first_byte),
        ram_address: cat!(line_now, first_byte.slice(0, lane)),
        length: bytes.resize(PAGE_BITS + 1) + 1,
        moves,
        payload: pack!(payload {
            job: pack!(job {
                line,
                start: read.start,
                length: read.length,
                size: read.size,
                id: read.id,
                response,
                held: moves,
            }),
            last,
        }),
    });
    /// The next read: it gets lines, if they are needed and free.
    let next = planned.of(plan.data);
    let needs = !next.refused && !next.outside;
    /// Lines that are needed, minus 1.
    let needed = next.lines.resize(position);
    /// The carry says whether more lines are free than `needed`, which is one less than is needed.
    let fits = (space.resize(position + 1) + (!needed).resize(position + 1))[position];
    let move_on = !held_valid || (transfer.ready && last);
    plan.ready = move_on && (fits || !needs);
    let reserve = plan.valid && move_on && fits && needs;
    if move_on {
        held_valid = plan.valid && plan.ready;
        held = pack!(reserved {
            plan: plan.data,
            line: fill
        });
        wraps = needs && needed > (!fill).resize(position);
    }
    if reserve {
        fill = fill + needed.slice(0, shape.line()) + 1;
    }
    /// Adding the complement takes one more away than subtracting.
    space = space + (!needed & reserve.repeat(position)) + freed.word().resize(position);
    if held_valid && transfer.ready {
        second = !last;
    }
}

/// Turns a read that is done into beats: one a clock, from read to read too.
///
/// ```text
/// job --> counter --> ram_rd_cmd ... ram_rd_resp --> FIFO of each segment --+
///            |                                                              v
///            +------> what the beat is (FIFO) ------------------------> register -> r
/// ```
///
/// A command is only given when there is room for its data, so the RAM never waits. A beat in the
/// same line as the one before reads it again. A read that failed reads nothing, and has zeros for data.
#[module(
    shape: HostDmaShape,
    error = ParameterError,
    reply_fields: ReplyFields = ReplyFields::new(shape),
    count: usize = shape.segments,
)]
pub struct ReadSequencer {
    /// Reads, as [`JobFields`] says.
    pub job: StreamIn<{ JobFields::new(shape).width }>,
    /// To the RAM.
    pub ram: RamReadOut<{ shape.ram() }>,
    /// A line was read for the last time.
    pub freed: Wire<Out, bool>,
    /// Beats.
    pub r: AxiReadOut<{ shape.axi() }>,
    /// After the first beat of a read.
    in_burst: Reg<bool, Reset>,
    number: Reg<{ LENGTH_BITS }>,
    place: Reg<{ PAGE_BITS }>,
    line: Reg<{ shape.line() }>,
    command_valid: Reg<{ count }, Reset>,
    command_address: Reg<{ count * shape.segment_address() }>,
    /// The beats whose data is on its way.
    beats: Checked<Fifo<{ FifoConfig::distributed(reply_fields.width, BEATS) }>>,
    words: [Checked<Fifo<{ FifoConfig::distributed(shape.segment_data, BEATS) }>>; count],
    id_reg: Reg<{ shape.id }>,
    data_reg: Reg<{ shape.data }>,
    response_reg: Reg<2>,
    last_reg: Reg<bool>,
    valid_reg: Reg<bool, Reset>,
}

/// Bit s: segment s is one of those that hold a line, whose number or the lowest bits of it are known.
#[kernel]
pub(super) fn segments_of(line: Sig, shape: HostDmaShape) -> Sig {
    let group = shape.group();
    if group > 0 {
        word_of((0..shape.segments).map(|segment| line.slice(0, group) == segment / shape.segments_of_beat()))
    } else {
        constant(Word::ones(shape.segments))
    }
}

#[kernel(
    ReadSequencer {
        job, ram, freed, r, in_burst, number, place, line, command_valid,
        command_address, beats, words, id_reg, data_reg, response_reg, last_reg, valid_reg, shape, reply_fields, count
    },
)]
fn update() {
    let (word, address) = (shape.segment_data, shape.segment_address());
    let read = JobFields::new(shape).of(job.data);
    /// The next beat: where it is in its 4 KiB, and in the ring.
    let (place_now, number_now, line_now) = if in_burst {
        (place, number, line)
    } else {
        (read.start, constant(lit(0, LENGTH_BITS)), read.line)
    };
    let place_end = place_now | within_beat(read.size, shape.lane());
    let ends_line = place_end.slice(0, shape.lane()).all();
    let ends_burst = number_now == read.length;
    let has_data = read.response == OKAY;
    let (group, row) = line_now.split_at(shape.group());
    /// Bit s: segment s is one of those that hold the line.
    let chosen = segments_of(line_now, shape);
    let unsent = command_valid & !ram.cmd_ready;
    let go = job.valid && beats.s.ready && !(chosen & unsent).any();
    job.ready = go && ends_burst;
    command_valid = unsent;
    if go {
        in_burst = !ends_burst;
        number = number_now + 1;
        place = place_end + 1;
        line = if ends_line { line_now + 1 } else { line_now };
        for segment in 0..count {
            if chosen[segment] {
                command_valid[segment] = has_data;
                command_address.slice(segment * address, address) = row.resize(address);
            }
        }
    }
    ram.cmd_valid = command_valid;
    ram.cmd_addr = command_address;
    beats.s.valid = go;
    beats.s.data = pack!(reply_fields {
        id: read.id,
        response: read.response,
        last: ends_burst,
        has_data,
        frees: read.held && (ends_line || ends_burst),
        group,
    });
    /// Data comes back into a FIFO of its segment, which has room for it.
    ram.resp_ready = Word::ones(count);
    let reply = reply_fields.of(beats.m.data);
    let wanted = segments_of(reply.group, shape);
    let there = word_of(words.iter().map(|words| words.m.valid));
    let pop = beats.m.valid && (!valid_reg || r.ready) && (!reply.has_data || (there | !wanted).all());
    beats.m.ready = pop;
    freed = pop && reply.frees;
    /// The words of all segments, side by side.
    let all = cat_all(&words.iter().rev().map(|words| words.m.data).collect::<Vec<_>>());
    let gathered = if shape.group() > 0 {
        all.at(cat!(reply.group, lit(0, shape.data.ilog2() as usize)), shape.data)
    } else {
        all
    };
    for (segment, words) in words.iter().enumerate() {
        words.s.data = ram.resp_data.slice(segment * word, word);
        words.s.valid = ram.resp_valid[segment];
        words.m.ready = pop && reply.has_data && wanted[segment];
    }
    if r.ready {
        valid_reg = false;
    }
    if pop {
        valid_reg = true;
        id_reg = reply.id;
        response_reg = reply.response;
        last_reg = reply.last;
        data_reg = gathered & reply.has_data.repeat(shape.data);
    }
    *r.id = id_reg;
    r.data = data_reg;
    r.resp = response_reg;
    *r.last = last_reg;
    *r.user = 0;
    r.valid = valid_reg;
}
