//! The lines of a copy: which lines it reads, and what of them goes where.
//!
//! A copy of any alignment takes its lines in steps, one line read in each. As the source may lie higher in its line than the
//! destination, the first step may only read; as it may lie lower, the last one may only write.
//!
//! ```text
//!  source         [  abcd][efgh  ]                [abcdef][gh    ]
//!  destination    [ abcde][fgh   ]                [    ab][cdefgh]
//!  steps          read     read    write          read    read
//!                          write                  write   write
//! ```

use super::{LINE, LINE_DATA, LineRead, OFFSET, READ_CLOCKS, WORD};
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// The longest copy, in bytes, as a power of two.
pub const LONGEST: usize = 20;
/// Bits of the number of a line of the longest copy.
pub(super) const LINES: usize = LONGEST + 1 - OFFSET;

/// A copy that is asked for.
#[record(tag: usize)]
pub struct CopyFields {
    /// Address of the first byte.
    pub source: Field<{ WORD }>,
    /// Where it goes.
    pub destination: Field<{ WORD }>,
    /// Bytes.
    pub bytes: Field<{ WORD }>,
    /// Number for its end.
    pub tag: Field<{ tag }>,
}

/// The use of a step's line.
#[record(tag: usize)]
pub struct StepFields {
    /// The line that is written.
    pub to: Field<{ LINE }>,
    /// Bytes by which the line is turned up.
    pub turn: Field<{ OFFSET }>,
    /// Place of the first byte in the first line that is written.
    pub first_byte: Field<{ OFFSET }>,
    /// Place of the last byte in the last one.
    pub last_byte: Field<{ OFFSET }>,
    /// It writes a line: the upper bytes of the line of the step before, and the lower ones of its own.
    pub writes: Field<1>,
    /// That line is the first one of its copy.
    pub first: Field<1>,
    /// The step is the last one of its copy.
    pub last: Field<1>,
    /// No byte of that line is written.
    pub empty: Field<1>,
    /// Because a read failed, or the copy is too long.
    pub failed: Field<1>,
    /// Number of the copy.
    pub tag: Field<{ tag }>,
}

/// Makes the steps of copies, one a clock.
///
/// # Contract
/// - **Steps** are those of the copy; a copy of no bytes, or of more than 2^[`LONGEST`], has one that reads and writes nothing.
/// - **Failed reads:** no byte is written by the step whose read failed, nor by those after it. These read only if `drains`.
/// - **Throughput:** one step a clock, and a clock between copies.
#[module(tag: usize, drains: bool, copy: CopyFields = CopyFields::new(tag), fields: StepFields = StepFields::new(tag))]
pub struct LineSteps {
    /// Copies, as [`CopyFields`] says.
    pub s: StreamIn<{ copy.width }>,
    /// A further step may be made.
    pub room: Wire<In, bool>,
    /// The step reads: it waits until that is accepted.
    pub asks: Wire<Out, bool>,
    /// The line that it reads.
    pub line: Wire<Out, { LINE }>,
    /// The read is accepted in this clock.
    pub accepted: Wire<In, bool>,
    /// With `accepted`: it failed.
    pub failed: Wire<In, bool>,
    /// The step is done in this clock.
    pub taken: Wire<Out, bool>,
    /// It, as [`StepFields`] says.
    pub step: Wire<Out, { fields.width }>,
    /// The next copy.
    waits: Reg<bool, Reset>,
    source: Reg<{ WORD }>,
    destination: Reg<{ WORD }>,
    /// Its bytes, minus 1.
    less: Reg<{ LONGEST }>,
    is_zero: Reg<bool>,
    is_long: Reg<bool>,
    next_tag: Reg<{ tag }>,
    /// This copy.
    active: Reg<bool, Reset>,
    from: Reg<{ LINE }>,
    to: Reg<{ LINE }>,
    turn: Reg<{ OFFSET }>,
    first_byte: Reg<{ OFFSET }>,
    last_byte: Reg<{ OFFSET }>,
    /// Lines that are still to be written, minus 1.
    left: Reg<{ LINES }>,
    /// The next step only reads.
    fills: Reg<bool>,
    first: Reg<bool>,
    /// It reads nothing; why.
    nothing: Reg<bool>,
    long: Reg<bool>,
    copy_tag: Reg<{ tag }>,
    /// A read of it failed.
    broken: Reg<bool>,
    /// The step.
    present: Reg<bool, Reset>,
    reads: Reg<bool, Reset>,
    read_line: Reg<{ LINE }>,
    held: Reg<{ fields.width }>,
}

#[kernel(LineSteps, suffix = format!("{tag}{}", if drains { "_drains" } else { "" }))]
fn update() {
    let asked = copy.of(s.data);
    s.ready = !waits;
    if s.valid && !waits {
        waits = true;
        source = asked.source;
        destination = asked.destination;
        less = asked.bytes.slice(0, LONGEST) - 1;
        is_zero = !asked.bytes.any();
        is_long = asked.bytes > 1_u64 << LONGEST;
        next_tag = asked.tag;
    }
    let step_now = fields.of(held);
    taken = present && (!reads || accepted);
    let breaks = reads && accepted && failed;
    let is_broken = broken || breaks && !step_now.last;
    broken = is_broken;
    /// The step after it.
    let goes = active && room && (!present || taken);
    let ends = !fills && left == 0;
    let is_own = ends && last_byte < turn;
    if taken {
        present = false;
        reads = false;
    }
    if goes {
        present = true;
        reads = !nothing && !is_own && (drains || !is_broken);
        read_line = from;
        held = pack!(fields {
            to,
            turn,
            first_byte,
            last_byte,
            writes: !fills,
            first,
            last: ends,
            empty: nothing || is_broken,
            failed: long || is_broken,
            tag: copy_tag,
        });
        from = from + 1;
        fills = false;
        if ends {
            active = false;
        }
        if !fills {
            to = to + 1;
            left = left - 1;
            first = false;
        }
    }
    asks = reads;
    line = read_line;
    step = pack!(fields {
        to: step_now.to,
        turn: step_now.turn,
        first_byte: step_now.first_byte,
        last_byte: step_now.last_byte,
        writes: step_now.writes,
        first: step_now.first,
        last: step_now.last,
        empty: step_now.empty || breaks,
        failed: step_now.failed || breaks,
        tag: step_now.tag,
    });
    /// The next copy begins.
    let (from_place, from_line) = source.split_at(OFFSET);
    let (place, to_line) = destination.split_at(OFFSET);
    let ending = less.resize(LONGEST + 1) + place.resize(LONGEST + 1);
    let is_nothing = is_zero || is_long;
    if waits && !active {
        waits = false;
        active = true;
        (from, to) = (from_line, to_line);
        turn = place - from_place;
        first_byte = place;
        (last_byte, left) = ending.split_at(OFFSET);
        fills = place < from_place && !is_nothing;
        if is_nothing {
            left = 0;
        }
        first = true;
        (nothing, long) = (is_nothing, is_long);
        copy_tag = next_tag;
        broken = false;
    }
}

/// Reads the lines of copies: a step comes out with its line.
#[module(tag: usize, copy: CopyFields = CopyFields::new(tag), fields: StepFields = StepFields::new(tag))]
pub struct LineLoader {
    /// Copies, as [`CopyFields`] says.
    pub s: StreamIn<{ copy.width }>,
    /// Room for all steps that are under way and a further one.
    pub room: Wire<In, bool>,
    /// Reads.
    pub read: LineRead,
    /// A step comes out.
    pub valid: Wire<Out, bool>,
    /// It, as [`StepFields`] says.
    pub step: Wire<Out, { fields.width }>,
    /// Its line, if it read one.
    pub data: Wire<Out, { LINE_DATA }>,
    steps: LineSteps<{ tag }, { false }>,
}

#[kernel(LineLoader, suffix = tag)]
fn update() {
    steps.s = s;
    steps.room = room;
    read.valid = steps.asks;
    read.line = steps.line;
    steps.accepted = read.ready;
    steps.failed = read.failed;
    let taken = staged("taken", 0, steps.taken.word()).reset_to(0);
    let has_data = staged("has_data", 0, (steps.asks && read.ready && !read.failed).word()).reset_to(0);
    let step_taken = staged("step_taken", 0, steps.step);
    valid = taken.at(READ_CLOCKS)[0];
    step = step_taken.at(READ_CLOCKS);
    data = read.data;
    assume!(
        read.data_valid == has_data.at(READ_CLOCKS)[0],
        "data comes when it has to"
    );
}
