//! Takes the data of writes into the ring.

use super::layout::{BeatFields, DataFields};
use super::{HostDmaShape, RamWriteOut, SeveralRuns};
use crate::entry::ParameterError;
use crate::stream::{ReadySlice, SkidBuffer, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Puts every beat into the next line of the ring, and tells which of its bytes are strobed.
///
/// One beat a clock; a beat is at the RAM and at `beat` one clock after it was taken. A line can be used
/// again when `freed` has passed it.
#[hardware(
    shape: HostDmaShape,
    error = ParameterError,
    bytes = shape.axi().strobes(),
    count = shape.segments,
    data: DataFields = DataFields::new(shape),
    beat: BeatFields = BeatFields::new(shape),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct WriteIntake {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Beats, as [`DataFields`] says.
    pub w: StreamIn<{ data.width }>,
    /// Position in the ring of the oldest line that is in use.
    pub freed: Wire<In, { shape.position() }>,
    /// Position after the last line whose data is in the RAM.
    pub written: Wire<Out, { shape.position() }>,
    /// To the RAM.
    pub ram: RamWriteOut<{ shape.ram() }>,
    /// Beats, as [`BeatFields`] says.
    pub beat: StreamOut<{ beat.width }>,
    slice: ReadySlice<{ data.width }>,
    runs: SeveralRuns<{ bytes }>,
    /// Position of the next line.
    fill: Reg<{ shape.position() }, Reset>,
    /// Beats for the splitter, which says late in a clock whether it takes one.
    beats: Checked<SkidBuffer<{ beat.width }>>,
    command_valid: Reg<{ count }, Reset>,
    command_address: Reg<{ count * shape.segment_address() }>,
    command_enables: Reg<{ count * shape.segment_bytes() }>,
    command_data: Reg<{ count * shape.segment_data }>,
    /// Writes that are done but belong to lines after `written`, for each segment.
    ahead: [Reg<{ shape.position() }, Reset>; count],
    written_reg: Reg<{ shape.position() }, Reset>,
    /// Bit s: segment s is one of those that the next line goes to.
    chosen: Wire<Local, { count }>,
    /// Bit s: the same for the line that is waited for.
    awaited: Wire<Local, { count }>,
    /// Bit s: segment s has done its part of it.
    arrived: Wire<Local, { count }>,
    advance: Wire<Local, bool>,
    take: Wire<Local, bool>,
    /// Bit s: the register of segment s is free, or empties in this cycle.
    free: Wire<Local, { count }>,
}

impl Logic for WriteIntake {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let (data, beat) = (self._data, self._beat);
        let (count, of_beat, group) = (shape.segments, shape.segments_of_beat(), shape.group());
        let (word, enables, address) = (shape.segment_data, shape.segment_bytes(), shape.segment_address());
        clocked!(self.clk, self.rst => self.slice, self.beats, self.fill, self.command_valid, self.ahead,
            self.written_reg);
        clocked!(self.clk => self.command_address, self.command_enables, self.command_data);
        connect!(self.w => self.slice.s);
        self.runs.strobes.next = self.slice.m.data.val().field(data.strobes);
        /// The segments that a line goes to.
        self.chosen.next = fill(true, count);
        self.awaited.next = fill(true, count);
        if group > 0 {
            for segment in 0..count {
                let turn = (segment / of_beat) as u64;
                self.chosen
                    .next
                    .set_bit(segment, self.fill.q.val().slice(0, group) == turn);
                self.awaited
                    .next
                    .set_bit(segment, self.written_reg.q.val().slice(0, group) == turn);
            }
        }
        self.free.next = !self.command_valid.q.val() | self.ram.cmd_ready.val();
        /// A beat is taken when its line is free, also of writes before, and the registers of its segments are.
        self.take.next = self.slice.m.valid.val()
            && self.fill.q.val() != (self.freed.val() ^ shape.lines() as u64)
            && self.fill.q.val() != (self.written_reg.q.val() ^ shape.lines() as u64)
            && self.beats.s.ready.val()
            && !(self.chosen.val() & !self.free.val()).any();
        self.slice.m.ready.next = self.take.val();
        self.beats.s.valid.next = self.take.val();
        self.beats.s.data.next = pack!(beat {
            strobes: self.slice.m.data.val().field(data.strobes),
            position: self.fill.q.val(),
            last: self.slice.m.data.val().flag(data.last),
            several: self.runs.several.val(),
        });
        connect!(self.beats.m => self.beat);
        self.command_valid.d.next = self.command_valid.q.val() & !self.ram.cmd_ready.val();
        if self.take.val() {
            self.fill.d.next = self.fill.q.val() + 1;
        }
        for segment in 0..count {
            let part = segment % of_beat;
            if self.take.val() && self.chosen.val().get_bit(segment) {
                self.command_valid.d.next.set_bit(segment, true);
            }
            /// A command follows the input while its register is free, whether a beat is taken or not.
            if self.free.val().get_bit(segment) {
                self.command_address.d.next.set_slice(
                    segment * address,
                    address,
                    self.fill
                        .q
                        .val()
                        .slice(group, shape.line() - group)
                        .resize(address),
                );
                self.command_enables.d.next.set_slice(
                    segment * enables,
                    enables,
                    self.slice
                        .m
                        .data
                        .val()
                        .field(data.strobes)
                        .slice(part * enables, enables),
                );
                self.command_data.d.next.set_slice(
                    segment * word,
                    word,
                    self.slice.m.data.val().field(data.data).slice(part * word, word),
                );
            }
        }
        self.ram.cmd_valid.next = self.command_valid.q.val();
        self.ram.cmd_addr.next = self.command_address.q.val();
        self.ram.cmd_be.next = self.command_enables.q.val();
        self.ram.cmd_data.next = self.command_data.q.val();
        /// A line is written when all its segments have said so; each tells in order, but some may be ahead.
        self.arrived.next = 0.into();
        for segment in 0..count {
            self.arrived.next.set_bit(
                segment,
                self.ram.done.val().get_bit(segment) || self.ahead[segment].q.val() != 0,
            );
        }
        self.advance.next = !(self.awaited.val() & !self.arrived.val()).any();
        if self.advance.val() {
            self.written_reg.d.next = self.written_reg.q.val() + 1;
        }
        for segment in 0..count {
            if self.ram.done.val().get_bit(segment) {
                if !(self.advance.val() && self.awaited.val().get_bit(segment)) {
                    self.ahead[segment].d.next = self.ahead[segment].q.val() + 1;
                }
            } else if self.advance.val() && self.awaited.val().get_bit(segment) {
                self.ahead[segment].d.next = self.ahead[segment].q.val() - 1;
            }
        }
        self.written.next = self.written_reg.q.val();
    }
}
