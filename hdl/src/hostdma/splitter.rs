//! Joins beats with the burst they belong to, and takes them apart into runs of strobed bytes.

use super::layout::{AtomicFields, BeatFields, BurstFields, RunFields};
use super::{HostDmaShape, LowestOne};
use crate::axi::{ATOP_BITS, BurstCheck, LENGTH_BITS, PAGE_BITS};
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// AWATOP of an atomic comparison.
const COMPARE: u64 = 0b11_0001;

/// Gives one item a clock: a run of strobed bytes, or that a beat has no run (any more).
///
/// A beat with one run or none is one item; a beat with n runs gives n items and one without run.
/// AWLEN alone says where a burst ends: a WLAST elsewhere is marked as a fault of the burst.
#[hardware(
    shape: HostDmaShape,
    bytes = shape.axi().strobes(),
    burst: BurstFields = BurstFields::new(shape, shape.atomics),
    beat: BeatFields = BeatFields::new(shape),
    run: RunFields = RunFields::new(shape),
    atomic: AtomicFields = AtomicFields::new(shape),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct RunSplitter {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Bursts, as [`BurstFields`] says.
    pub burst: StreamIn<{ burst.width }>,
    /// Beats, as [`BeatFields`] says.
    pub beat: StreamIn<{ beat.width }>,
    /// Items, as [`RunFields`] says.
    pub run: StreamOut<{ run.width }>,
    /// Atomic operations that want data, as [`AtomicFields`] says; a comparison wants half of AWLEN.
    pub atomic: Optional<StreamOut<{ atomic.width }>, { shape.atomics }>,
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
    item: Reg<{ run.width }>,
    item_valid: Reg<bool, Reset>,
    strobes: Wire<Local, { bytes }>,
    starts: Wire<Local, { bytes }>,
    ends: Wire<Local, { bytes }>,
    first_lane: LowestOne<{ bytes }>,
    last_lane: LowestOne<{ bytes }>,
    left: Wire<Local, bool>,
    found: Wire<Local, bool>,
    several: Wire<Local, bool>,
    whole: Wire<Local, bool>,
    place_now: Wire<Local, { PAGE_BITS }>,
    number_now: Wire<Local, { LENGTH_BITS }>,
    mask: Wire<Local, { PAGE_BITS }>,
    last: Wire<Local, bool>,
    fault: Wire<Local, bool>,
    room: Wire<Local, bool>,
    there: Wire<Local, bool>,
    wants_data: Optional<Wire<Local, bool>, { shape.atomics }>,
    go: Wire<Local, bool>,
}

impl Logic for RunSplitter {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let lane = shape.lane();
        let (burst, beat, run, atomic) = (self._burst, self._beat, self._run, self._atomic);
        clocked!(self.clk, self.rst => self.again, self.in_burst, self.item_valid);
        clocked!(self.clk => self.starts_left, self.ends_left, self.number, self.place, self.item);
        /// The burst.
        self.check.start.next = self.burst.data.val().field(burst.address).slice(0, PAGE_BITS);
        self.check.length.next = self.burst.data.val().field(burst.length);
        self.check.size.next = self.burst.data.val().field(burst.size);
        self.check.kind.next = self.burst.data.val().field(burst.kind);
        /// Where the beat is, and whether it is the last.
        self.mask.next = 0.into();
        for bit in 0..lane {
            if self.check.size.val() > bit as u64 {
                self.mask.next.set_bit(bit, true);
            }
        }
        if self.in_burst.q.val() {
            self.place_now.next = self.place.q.val();
            self.number_now.next = self.number.q.val();
        } else {
            self.place_now.next = self.check.start.val();
            self.number_now.next = 0.into();
        }
        self.last.next = self.number_now.val() == self.check.length.val();
        self.fault.next = self.last.val() != self.beat.data.val().flag(beat.last);
        /// The next run of the beat.
        self.strobes.next = self.beat.data.val().field(beat.strobes);
        self.left.next = self.starts_left.q.val().any();
        if self.again.q.val() {
            self.starts.next = self.starts_left.q.val();
            self.ends.next = self.ends_left.q.val();
        } else {
            self.starts.next = self.strobes.val() & !(self.strobes.val() << 1);
            self.ends.next = self.strobes.val() & !(self.strobes.val() >> 1);
        }
        self.several.next = self.beat.data.val().flag(beat.several);
        self.whole.next = !self.several.val() || (self.again.q.val() && !self.left.val());
        self.first_lane.word.next = self.starts.val();
        self.found.next = self.first_lane.found.val();
        self.last_lane.word.next = self.ends.val();
        /// One item a clock.
        self.room.next = !self.item_valid.q.val() || self.run.ready.val();
        self.there.next = self.room.val() && self.burst.valid.val() && self.beat.valid.val();
        self.go.next = self.there.val();
        if shape.atomics {
            /// Loads, swaps and comparisons give data; a comparison as much as it compares, half of AWLEN.
            self.wants_data.next = self.burst.data.val().field(burst.atop).get_bit(ATOP_BITS - 1)
                && self.whole.val()
                && self.last.val();
            self.go.next = self.there.val() && (!self.wants_data.val() || self.atomic.ready.val());
            self.atomic.valid.next = self.there.val() && self.wants_data.val();
            self.atomic.data.next = pack!(atomic {
                id: self.burst.data.val().field(burst.id),
                length: self.check.length.val(),
            });
            if self.burst.data.val().field(burst.atop) == COMPARE {
                self.atomic
                    .data
                    .next
                    .set_field(atomic.length, self.check.length.val() >> 1);
            }
        }
        self.beat.ready.next = self.go.val() && self.whole.val();
        self.burst.ready.next = self.go.val() && self.whole.val() && self.last.val();
        if self.room.val() {
            self.item_valid.d.next = self.go.val();
            self.item.d.next = pack!(run {
                place: self.place_now.val(),
                lane_end: (self.place_now.val() | self.mask.val()).slice(0, lane),
                start: self.first_lane.number.val(),
                stop: self.last_lane.number.val(),
                found: self.found.val(),
                refused: self.check.refused.val(),
                whole: self.whole.val(),
                last: self.whole.val() && self.last.val(),
                fault: self.fault.val(),
                follows: self.starts.val().get_bit(0)
                    && self
                        .beat
                        .data
                        .val()
                        .field(beat.position)
                        .slice(0, shape.line() - 1)
                        .any(),
                position: self.beat.data.val().field(beat.position),
                page: self
                    .burst
                    .data
                    .val()
                    .field(burst.address)
                    .slice(PAGE_BITS, shape.page()),
                id: self.burst.data.val().field(burst.id),
                asker: self.burst.data.val().field(burst.asker),
            });
        }
        if self.go.val() {
            self.again.d.next = !self.whole.val();
            self.starts_left.d.next = self.starts.val() & (self.starts.val() - 1);
            self.ends_left.d.next = self.ends.val() & (self.ends.val() - 1);
            if self.whole.val() {
                self.in_burst.d.next = !self.last.val();
                self.number.d.next = self.number_now.val() + 1;
                self.place.d.next = (self.place_now.val() | self.mask.val()) + 1;
            }
        }
        self.run.data.next = self.item.q.val();
        self.run.valid.next = self.item_valid.q.val();
    }
}
