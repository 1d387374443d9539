//! Gives reads their lines of the ring.

use super::HostDmaShape;
use super::layout::{HeldFields, JobFields, PlanFields, ReadPayload, TransferFields, TransferShape};
use crate::axi::{DECERR, OKAY, PAGE_BITS, SLVERR};
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

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
