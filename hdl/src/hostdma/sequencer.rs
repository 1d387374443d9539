//! Reads answers out of the ring.

use super::layout::{JobFields, ReplyFields};
use super::{HostDmaShape, RamReadOut};
use crate::axi::{LENGTH_BITS, OKAY, PAGE_BITS};
use crate::entry::ParameterError;
use crate::stream::{Fifo, FifoConfig, StreamIn};
use spinneret_verilog::prelude::*;

/// Beats that can be on their way from the RAM, a power of two; it hides the RAM's latency.
const BEATS: usize = 16;

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
#[hardware(
    shape: HostDmaShape,
    error = ParameterError,
    job: JobFields = JobFields::new(shape),
    reply: ReplyFields = ReplyFields::new(shape),
    count = shape.segments,
    beat = FifoConfig::distributed(reply.width, BEATS),
    word = FifoConfig::distributed(shape.segment_data, BEATS),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ReadSequencer {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Reads, as [`JobFields`] says.
    pub job: StreamIn<{ job.width }>,
    /// To the RAM.
    pub ram: RamReadOut<{ shape.ram() }>,
    /// A line was read for the last time.
    pub freed: Wire<Out, bool>,
    /// Id of the beat.
    pub id: Wire<Out, { shape.id }>,
    /// Its data.
    pub data: Wire<Out, { shape.data }>,
    /// How the read went.
    pub response: Wire<Out, 2>,
    /// It is the last of its read.
    pub last: Wire<Out, bool>,
    /// The beat is there.
    pub valid: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub ready: Wire<In, bool>,
    /// After the first beat of a read.
    in_burst: Reg<bool, Reset>,
    number: Reg<{ LENGTH_BITS }>,
    place: Reg<{ PAGE_BITS }>,
    line: Reg<{ shape.line() }>,
    command_valid: Reg<{ count }, Reset>,
    command_address: Reg<{ count * shape.segment_address() }>,
    /// The beats whose data is on its way.
    beats: Checked<Fifo<{ beat }>>,
    words: [Checked<Fifo<{ word }>>; count],
    id_reg: Reg<{ shape.id }>,
    data_reg: Reg<{ shape.data }>,
    response_reg: Reg<2>,
    last_reg: Reg<bool>,
    valid_reg: Reg<bool, Reset>,
    mask: Wire<Local, { PAGE_BITS }>,
    place_now: Wire<Local, { PAGE_BITS }>,
    place_end: Wire<Local, { PAGE_BITS }>,
    number_now: Wire<Local, { LENGTH_BITS }>,
    line_now: Wire<Local, { shape.line() }>,
    ends_line: Wire<Local, bool>,
    ends_burst: Wire<Local, bool>,
    has_data: Wire<Local, bool>,
    /// Bit s: segment s is one of those that hold the line.
    chosen: Wire<Local, { count }>,
    go: Wire<Local, bool>,
    wanted: Wire<Local, { count }>,
    there: Wire<Local, { count }>,
    gathered: Wire<Local, { shape.data }>,
    pop: Wire<Local, bool>,
}

impl Logic for ReadSequencer {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let (job, reply, lane) = (self._job, self._reply, shape.lane());
        let (count, of_beat, group) = (shape.segments, shape.segments_of_beat(), shape.group());
        let (word, address) = (shape.segment_data, shape.segment_address());
        clocked!(self.clk, self.rst => self.in_burst, self.command_valid, self.beats, self.words, self.valid_reg);
        clocked!(self.clk => self.number, self.place, self.line, self.command_address, self.id_reg, self.data_reg,
            self.response_reg, self.last_reg);
        /// The next beat: where it is in its 4 KiB, and in the ring.
        self.mask.next = 0.into();
        for bit in 0..lane {
            if self.job.data.val().field(job.size) > bit as u64 {
                self.mask.next.set_bit(bit, true);
            }
        }
        if self.in_burst.q.val() {
            self.place_now.next = self.place.q.val();
            self.number_now.next = self.number.q.val();
            self.line_now.next = self.line.q.val();
        } else {
            self.place_now.next = self.job.data.val().field(job.start);
            self.number_now.next = 0.into();
            self.line_now.next = self.job.data.val().field(job.line);
        }
        self.place_end.next = self.place_now.val() | self.mask.val();
        self.ends_line.next = self.place_end.val().slice(0, lane).all();
        self.ends_burst.next = self.number_now.val() == self.job.data.val().field(job.length);
        self.has_data.next = self.job.data.val().field(job.response) == OKAY;
        self.chosen.next = fill(true, count);
        if group > 0 {
            for segment in 0..count {
                let turn = (segment / of_beat) as u64;
                self.chosen
                    .next
                    .set_bit(segment, self.line_now.val().slice(0, group) == turn);
            }
        }
        self.go.next = self.job.valid.val()
            && self.beats.s.ready.val()
            && !(self.chosen.val() & self.command_valid.q.val() & !self.ram.cmd_ready.val()).any();
        self.job.ready.next = self.go.val() && self.ends_burst.val();
        self.command_valid.d.next = self.command_valid.q.val() & !self.ram.cmd_ready.val();
        if self.go.val() {
            self.in_burst.d.next = !self.ends_burst.val();
            self.number.d.next = self.number_now.val() + 1;
            self.place.d.next = self.place_end.val() + 1;
            if self.ends_line.val() {
                self.line.d.next = self.line_now.val() + 1;
            } else {
                self.line.d.next = self.line_now.val();
            }
            for segment in 0..count {
                if self.chosen.val().get_bit(segment) {
                    self.command_valid.d.next.set_bit(segment, self.has_data.val());
                    self.command_address.d.next.set_slice(
                        segment * address,
                        address,
                        self.line_now
                            .val()
                            .slice(group, shape.line() - group)
                            .resize(address),
                    );
                }
            }
        }
        self.ram.cmd_valid.next = self.command_valid.q.val();
        self.ram.cmd_addr.next = self.command_address.q.val();
        self.beats.s.valid.next = self.go.val();
        self.beats.s.data.next = pack!(reply {
            id: self.job.data.val().field(job.id),
            response: self.job.data.val().field(job.response),
            last: self.ends_burst.val(),
            has_data: self.has_data.val(),
            frees: self.job.data.val().flag(job.held) && (self.ends_line.val() || self.ends_burst.val()),
            group: self.line_now.val().slice(0, group),
        });
        /// Data comes back into a FIFO of its segment, which has room for it.
        self.ram.resp_ready.next = fill(true, count);
        self.wanted.next = fill(true, count);
        self.there.next = 0.into();
        self.gathered.next = 0.into();
        for segment in 0..count {
            let turn = segment / of_beat;
            let part = segment % of_beat;
            self.words[segment].s.data.next = self.ram.resp_data.val().slice(segment * word, word);
            self.words[segment].s.valid.next = self.ram.resp_valid.val().get_bit(segment);
            if group > 0 {
                self.wanted
                    .next
                    .set_bit(segment, self.beats.m.data.val().field(reply.group) == turn as u64);
            }
            self.there
                .next
                .set_bit(segment, self.words[segment].m.valid.val());
            if self.wanted.val().get_bit(segment) {
                self.gathered
                    .next
                    .set_slice(part * word, word, self.words[segment].m.data.val());
            }
        }
        self.pop.next = self.beats.m.valid.val()
            && (!self.valid_reg.q.val() || self.ready.val())
            && (!self.beats.m.data.val().flag(reply.has_data)
                || !(self.wanted.val() & !self.there.val()).any());
        self.beats.m.ready.next = self.pop.val();
        self.freed.next = self.pop.val() && self.beats.m.data.val().flag(reply.frees);
        for segment in 0..count {
            self.words[segment].m.ready.next = self.pop.val()
                && self.beats.m.data.val().flag(reply.has_data)
                && self.wanted.val().get_bit(segment);
        }
        if self.ready.val() {
            self.valid_reg.d.next = false;
        }
        if self.pop.val() {
            self.valid_reg.d.next = true;
            self.id_reg.d.next = self.beats.m.data.val().field(reply.id);
            self.response_reg.d.next = self.beats.m.data.val().field(reply.response);
            self.last_reg.d.next = self.beats.m.data.val().flag(reply.last);
            self.data_reg.d.next =
                self.gathered.val() & fill(self.beats.m.data.val().flag(reply.has_data), shape.data);
        }
        self.id.next = self.id_reg.q.val();
        self.data.next = self.data_reg.q.val();
        self.response.next = self.response_reg.q.val();
        self.last.next = self.last_reg.q.val();
        self.valid.next = self.valid_reg.q.val();
    }
}
