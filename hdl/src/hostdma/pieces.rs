//! The way of write data: from beats into the ring, and from runs of strobed bytes to pieces of host memory.
//!
//! ```text
//! w --> WriteIntake --> beats --> RunSplitter --> runs --> PieceAssembler --> pieces
//!            |                        ^
//!            v ram                    | burst
//! ```

use super::layout::{AtomicFields, BeatFields, BurstFields, DataFields, PieceFields, RunFields};
use super::ring::segments_of;
use super::transfers::count;
use super::{HostDmaShape, RamWriteOut};
use crate::axi::{ATOP_BITS, BurstCheck, LENGTH_BITS, PAGE_BITS, within_beat};
use crate::entry::ParameterError;
use crate::stream::{ReadySlice, SkidBuffer, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Bytes that the first level of the search takes at once.
const LANES_AT_ONCE: usize = 4;
/// Groups that later levels take at once, so that a function has at most six inputs.
const GROUPS_AT_ONCE: usize = 3;

/// AWATOP of an atomic comparison.
const COMPARE: u64 = 0b11_0001;

/// Puts every beat into the next line of the ring, and tells which of its bytes are strobed.
///
/// One beat a clock; a beat is at the RAM and at `beat` one clock after it was taken. A line can be used
/// again when `freed` has passed it.
#[module(
    shape: HostDmaShape,
    error = ParameterError,
    count = shape.segments,
    data: DataFields = DataFields::new(shape),
    item: BeatFields = BeatFields::new(shape),
)]
pub struct WriteIntake {
    /// Beats, as [`DataFields`] says.
    pub w: StreamIn<{ data.width }>,
    /// Position in the ring of the oldest line that is in use.
    pub freed: Wire<In, { shape.position() }>,
    /// Position after the last line whose data is in the RAM.
    pub written: Wire<Out, { shape.position() }>,
    /// To the RAM.
    pub ram: RamWriteOut<{ shape.ram() }>,
    /// Beats, as [`BeatFields`] says.
    pub beat: StreamOut<{ item.width }>,
    slice: ReadySlice<{ data.width }>,
    /// Position of the next line.
    fill: Reg<{ shape.position() }, Reset>,
    /// Beats for the splitter, which says late in a clock whether it takes one.
    beats: Checked<SkidBuffer<{ item.width }>>,
    command_valid: Reg<{ count }, Reset>,
    command_address: Reg<{ count * shape.segment_address() }>,
    command_enables: Reg<{ count * shape.segment_bytes() }>,
    command_data: Reg<{ count * shape.segment_data }>,
    /// Writes that are done but belong to lines after `written`, for each segment.
    ahead: [Reg<{ shape.position() }, Reset>; count],
    written_reg: Reg<{ shape.position() }, Reset>,
}

/// Says whether the strobed bytes are several runs.
#[kernel]
fn several_runs(strobes: Sig) -> Sig<bool> {
    /// Bit n: a run starts at byte n.
    let rise = strobes & !(strobes << 1_usize);
    several(rise, constant(lit(0, rise.width())), LANES_AT_ONCE)
}

/// Says whether several of some groups have a one, or one of them has several: a shallow tree.
#[kernel]
fn several(any: Sig, many: Sig, at_once: usize) -> Sig<bool> {
    let groups = any.width().div_ceil(at_once);
    if groups == any.width() {
        return many[0];
    }
    // The groups that are one group of the next level.
    let part = |word: Sig, group: usize| {
        let start = group * at_once;
        word.slice(start, at_once.min(word.width() - start))
    };
    let has_several = |any: Sig, many: Sig| {
        (1..any.width()).fold(many.any(), |several, n| {
            several || (any[n] && any.slice(0, n).any())
        })
    };
    let many = word_of((0..groups).map(|group| has_several(part(any, group), part(many, group))));
    let any = word_of((0..groups).map(|group| part(any, group).any()));
    several(any, many, GROUPS_AT_ONCE)
}

#[kernel(
    WriteIntake {
        w, freed, written, ram, beat, slice, fill, beats, command_valid, command_address, command_enables,
        command_data, ahead, written_reg, shape, data, item
    },
)]
fn update() {
    let (segments, of_beat, group) = (shape.segments, shape.segments_of_beat(), shape.group());
    slice.s = w;
    let arriving = data.of(slice.m.data);
    /// Bit s: segment s is one of those that the next line goes to.
    let chosen = segments_of(fill, shape);
    /// Bit s: the register of segment s is free, or empties in this cycle.
    let free = !command_valid | ram.cmd_ready;
    /// A beat is taken when its line is free, also of writes before, and the registers of its segments are.
    let take = slice.m.valid
        && fill != (freed ^ shape.lines())
        && fill != (written_reg ^ shape.lines())
        && beats.s.ready
        && !(chosen & !free).any();
    slice.m.ready = take;
    beats.s.valid = take;
    beats.s.data = pack!(item {
        strobes: arriving.strobes,
        position: fill,
        last: arriving.last,
        several: several_runs(arriving.strobes),
    });
    beat = beats.m;
    command_valid = command_valid & !ram.cmd_ready;
    if take {
        fill = fill + 1;
    }
    let line = fill
        .slice(group, shape.line() - group)
        .resize(shape.segment_address());
    for segment in 0..segments {
        // Assigns the part of a register that belongs to the segment.
        let part = |register: Sig, value: Sig| register.slice(segment * value.width(), value.width()) = value;
        // The part of the beat that goes to the segment.
        let of_segment = |word: Sig, width: usize| word.slice(segment % of_beat * width, width);
        if take && chosen[segment] {
            command_valid[segment] = true;
        }
        /// A command follows the input while its register is free, whether a beat is taken or not.
        if free[segment] {
            part(command_address, line);
            part(
                command_enables,
                of_segment(arriving.strobes, shape.segment_bytes()),
            );
            part(command_data, of_segment(arriving.data, shape.segment_data));
        }
    }
    ram.cmd_valid = command_valid;
    ram.cmd_addr = command_address;
    ram.cmd_be = command_enables;
    ram.cmd_data = command_data;
    /// Bit s: the same for the line that is waited for.
    let awaited = segments_of(written_reg, shape);
    /// Bit s: segment s has done its part of it. Each tells in order, but some may be ahead.
    let arrived = word_of((0..segments).map(|segment| ram.done[segment] || ahead[segment] != 0));
    /// A line is written when all its segments have said so.
    let advance = !(awaited & !arrived).any();
    if advance {
        written_reg = written_reg + 1;
    }
    for (segment, ahead) in ahead.iter().enumerate() {
        count(*ahead, ram.done[segment], advance && awaited[segment]);
    }
    written = written_reg;
}

/// Gives one item a clock: a run of strobed bytes, or that a beat has no run (any more).
///
/// A beat with one run or none is one item; a beat with n runs gives n items and one without run.
/// AWLEN alone says where a burst ends: a WLAST elsewhere is marked as a fault of the burst.
#[module(
    shape: HostDmaShape,
    bytes = shape.axi().strobes(),
    bursts: BurstFields = BurstFields::new(shape, shape.atomics),
    beats: BeatFields = BeatFields::new(shape),
    items: RunFields = RunFields::new(shape),
    wanted: AtomicFields = AtomicFields::new(shape),
)]
pub struct RunSplitter {
    /// Bursts, as [`BurstFields`] says.
    pub burst: StreamIn<{ bursts.width }>,
    /// Beats, as [`BeatFields`] says.
    pub beat: StreamIn<{ beats.width }>,
    /// Items, as [`RunFields`] says.
    pub run: StreamOut<{ items.width }>,
    /// Atomic operations that want data, as [`AtomicFields`] says; a comparison wants half of AWLEN.
    pub atomic: Optional<StreamOut<{ wanted.width }>, { shape.atomics }>,
    check: BurstCheck<{ shape.axi() }>,
    /// After the first item of a beat with several runs.
    again: Reg<bool, Reset>,
    starts_left: Reg<{ bytes }>,
    ends_left: Reg<{ bytes }>,
    /// After the first beat of a burst.
    in_burst: Reg<bool, Reset>,
    /// Number of the beat in its burst.
    number: Reg<{ LENGTH_BITS }>,
    /// Place of the beat in its 4 KiB.
    place: Reg<{ PAGE_BITS }>,
    item: Reg<{ items.width }>,
    item_valid: Reg<bool, Reset>,
    first_lane: LowestOne<{ bytes }>,
    last_lane: LowestOne<{ bytes }>,
}

#[kernel(
    RunSplitter {
        burst, beat, run, atomic, check, again, starts_left, ends_left, in_burst, number, place, item, item_valid,
        first_lane, last_lane, shape, bursts, beats, items, wanted
    },
)]
fn update() {
    let lane = shape.lane();
    let (of_burst, of_beat) = (bursts.of(burst.data), beats.of(beat.data));
    let start = of_burst.address.slice(0, PAGE_BITS);
    check.start = start;
    check.length = of_burst.length;
    check.size = of_burst.size;
    check.kind = of_burst.kind;
    /// Place and number of the beat.
    let (place_now, number_now) = if in_burst {
        (place, number)
    } else {
        (start, constant(lit(0, LENGTH_BITS)))
    };
    let mask = within_beat(of_burst.size, lane);
    /// Place of its last byte.
    let beat_end = place_now | mask;
    let last = number_now == of_burst.length;
    let fault = last != of_beat.last;
    let strobes = of_beat.strobes;
    /// Where the runs of the beat that are left start, and where they end.
    let (starts, ends) = if again {
        (starts_left, ends_left)
    } else {
        (strobes & !(strobes << 1_usize), strobes & !(strobes >> 1_usize))
    };
    first_lane.word = starts;
    last_lane.word = ends;
    /// The item is the last of its beat.
    let whole = !of_beat.several || (again && !starts_left.any());
    /// The register of the item is free, or empties in this cycle.
    let room = !item_valid || run.ready;
    let there = room && burst.valid && beat.valid;
    let go = if shape.atomics {
        /// Loads, swaps and comparisons give data; a comparison as much as it compares, half of AWLEN.
        let wants_data = of_burst.atop[ATOP_BITS - 1] && whole && last;
        atomic.valid = there && wants_data;
        let compares = of_burst.atop == COMPARE;
        atomic.data = pack!(wanted {
            id: of_burst.id,
            length: if compares {
                of_burst.length >> 1_usize
            } else {
                of_burst.length
            },
        });
        there && (!wants_data || atomic.ready)
    } else {
        there
    };
    beat.ready = go && whole;
    burst.ready = go && whole && last;
    if room {
        item_valid = go;
        item = pack!(items {
            place: place_now,
            lane_end: beat_end.slice(0, lane),
            start: first_lane.number,
            stop: last_lane.number,
            found: first_lane.found,
            refused: check.refused,
            whole,
            last: whole && last,
            fault,
            follows: starts[0] && of_beat.position.slice(0, shape.line() - 1).any(),
            position: of_beat.position,
            page: of_burst.address.slice(PAGE_BITS, shape.page()),
            id: of_burst.id,
            asker: of_burst.asker,
        });
    }
    if go {
        again = !whole;
        starts_left = starts & (starts - 1);
        ends_left = ends & (ends - 1);
        if whole {
            in_burst = !last;
            number = number_now + 1;
            place = beat_end + 1;
        }
    }
    run.data = item;
    run.valid = item_valid;
}

/// Says at which bit the lowest one of a word is.
///
/// Combinational: a tree of pairs of groups, of which the lower one counts if it has a one.
/// # Parameters
/// `width` is a power of two from 2.
#[module(no_clock, width: usize)]
pub struct LowestOne {
    /// The word.
    pub word: Wire<In, { width }>,
    /// There is a one.
    pub found: Wire<Out, bool>,
    /// At this bit; of no meaning if there is none.
    pub number: Wire<Out, { address_width(width) }>,
}

#[kernel(LowestOne { word, found, number, width }, suffix = self._width)]
fn update() {
    // Which groups of 1, 2, 4 ... bits have a one, and at which of their bits each has its lowest one, side by side.
    let (mut ones, mut numbers) = (word, word.slice(0, 0));
    for bits in 0..address_width(width) {
        let groups = width >> (bits + 1);
        let lowest = wire(groups * (bits + 1));
        for group in 0..groups {
            let (lower, upper) = numbers.slice(2 * group * bits, 2 * bits).split_at(bits);
            lowest.slice(group * (bits + 1), bits + 1) = if ones[2 * group] {
                cat!(false, lower)
            } else {
                cat!(true, upper)
            };
        }
        let has_one = word_of((0..groups).map(|group| ones.slice(2 * group, 2).any()));
        ones = has_one;
        numbers = lowest;
    }
    found = ones[0];
    number = numbers;
}

/// Runs that follow one another in host memory and in the ring become one piece.
///
/// A run continues with the next when it reaches the last lane of its beat, and the next one starts at lane 0; it is
/// cut at half of the ring and at its end, so that no piece goes around the ring or needs most of it. A beat
/// without run ends the piece before it, or becomes a piece without bytes, so that its line is free again.
///
/// One item a clock, but two for the last of a burst that does not continue with the run before. An item
/// leaves in the clock in which it is taken. How long an item takes follows from a few flags, and not from its strobes:
/// all in front waits for that.
#[module(
    shape: HostDmaShape,
    items: RunFields = RunFields::new(shape),
    pieces: PieceFields = PieceFields::new(shape),
)]
pub struct PieceAssembler {
    /// Items, as [`RunFields`] says.
    pub run: StreamIn<{ items.width }>,
    /// Pieces, as [`PieceFields`] says; there is always room when `room` is high.
    pub piece: Wire<Out, { pieces.width }>,
    /// The piece is there.
    pub piece_valid: Wire<Out, bool>,
    /// A piece finds room.
    pub room: Wire<In, bool>,
    /// There is a run before this item that has not left.
    open: Reg<bool, Reset>,
    /// It reaches the last lane of the beat before.
    goes_on: Reg<bool>,
    open_start: Reg<{ PAGE_BITS }>,
    open_end: Reg<{ PAGE_BITS }>,
    open_line: Reg<{ shape.line() }>,
    /// The run of the last item of the burst is open already.
    absorbed: Reg<bool, Reset>,
    /// The burst was at fault since the last piece.
    fault: Reg<bool, Reset>,
}

#[kernel(
    PieceAssembler {
        run, piece, piece_valid, room, open, goes_on, open_start, open_end, open_line, absorbed, fault, shape, items, pieces
    },
)]
fn update() {
    let item = items.of(run.data);
    let (lane_start, row) = item.place.split_at(shape.lane());
    /// Where the run is in its 4 KiB, and in the ring.
    let (run_start, run_end) = (cat!(row, item.start), cat!(row, item.stop));
    let run_line = item.position.slice(0, shape.line());
    /// Strobes of bytes that the beat does not address are a fault, and are not written.
    let stray = item.found && (item.start < lane_start || item.stop > item.lane_end);
    /// There is a run that is not open already.
    let fresh = item.found && !item.refused && !absorbed;
    /// It can be written.
    let usable = fresh && !stray;
    let fault_now = fault || stray || item.refused || item.fault;
    /// It continues with what is open.
    let joins = open && goes_on && item.follows;
    let conflict = fresh && open && !joins;
    let leave = run.valid && (conflict || !usable || item.last);
    piece_valid = leave && room;
    run.ready = room && !(conflict && item.last);
    let (first_byte, line) = if joins || !usable || conflict {
        (open_start, open_line)
    } else {
        (run_start, run_line)
    };
    let last_byte = if usable && !conflict { run_end } else { open_end };
    piece = pack!(pieces {
        start: first_byte,
        stop: last_byte,
        line,
        moves: usable || open,
        whole: item.whole && !conflict,
        last: item.last && !conflict,
        fault: fault_now,
        position: item.position,
        page: item.page,
        id: item.id,
        asker: item.asker,
    });
    if run.valid && room {
        fault = fault_now && !leave;
        absorbed = conflict && item.last;
        goes_on = item.whole && item.stop.all();
        open = usable && (conflict || !item.last);
        if usable {
            open_end = run_end;
            if !joins {
                open_start = run_start;
                open_line = run_line;
            }
        }
    }
}
