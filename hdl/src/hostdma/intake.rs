//! Takes the data of writes into the ring.

use super::layout::{BeatFields, DataFields};
use super::transfers::count;
use super::{HostDmaShape, RamWriteOut};
use crate::entry::ParameterError;
use crate::stream::{ReadySlice, SkidBuffer, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Bytes that the first level of the search takes at once.
const LANES_AT_ONCE: usize = 4;
/// Groups that later levels take at once, so that a function has at most six inputs.
const GROUPS_AT_ONCE: usize = 3;

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
    // Bit s: segment s is one of those that a line goes to.
    let segments_of = |line: Sig| {
        word_of((0..segments).map(|segment| group == 0 || line.slice(0, group) == segment / of_beat))
    };
    slice.s = w;
    let arriving = data.of(slice.m.data);
    /// Bit s: segment s is one of those that the next line goes to.
    let chosen = segments_of(fill);
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
    let awaited = segments_of(written_reg);
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
