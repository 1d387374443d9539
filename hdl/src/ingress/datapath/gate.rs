//! Lets matched frames in while there is room for them, and marks their beats.

use super::GateShape;
use crate::entry::ParameterError;
use crate::ingress::dma::BeatFields;
use crate::stream::{OutputQueue, PassFifo, StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// The gate of the matched path: what comes in is taken at once, and a frame that finds no room is dropped whole.
///
/// ```text
/// s ------> marks ---> admitted? ---> queue (no clock while empty) ---> m
///                         |
///                     verdicts (FIFO)
///                         |
/// meta_s --------------> admitted? ---> metas (FIFO) -----------------> meta_m
/// ```
///
/// The first beat of a frame decides. It needs room for the longest frame that fits a slot and one beat more,
/// which is all that ever enters of a longer one, and a place for its metadata. So frames never stop within
/// the gate, and the matching engine is never held back: unmatched frames after do not wait. With `stall` a
/// frame waits for room instead.
///
/// Metadata comes once for each frame, in order, and goes the way of its frame.
#[hardware(
    shape: GateShape,
    error = ParameterError,
    beat = shape.beat(),
    meta = shape.tag + shape.length,
    limit = shape.large_beats,
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct AdmissionGate {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Beats of matched frames: {the frame is bad, tlast, tkeep, tdata}.
    pub s: StreamIn<{ beat.last.at + 2 }>,
    /// Metadata of matched frames: {tag, length}.
    pub meta_s: StreamIn<{ meta }>,
    /// Marked beats of admitted frames.
    pub m: StreamOut<{ beat.width }>,
    /// Metadata of admitted frames.
    pub meta_m: StreamOut<{ meta }>,
    /// A frame is dropped.
    pub dropped: Wire<Out, bool>,
    queue: Checked<PassFifo<{ shape.queue(beat.width).with_margin(limit) }>>,
    verdicts: Checked<OutputQueue<1, { VERDICTS }>>,
    metas: Checked<OutputQueue<{ meta }, { shape.packets }>>,
    in_frame: Reg<bool, Reset>,
    admitted: Reg<bool>,
    /// Number of the beat within its frame; stays at the number of beats of the largest slot.
    number: Reg<{ address_width(limit + 1) }, Reset>,
    /// An earlier beat of the frame had lanes without a byte.
    partial: Reg<bool>,
    /// Of the beats after the slot, one was bad, or had bytes.
    spoiled: Reg<bool>,
    spilled: Reg<bool>,
    /// Frames between the first beat at the gate and the metadata that leaves it.
    under_way: Reg<{ address_width(shape.packets + 1) }, Reset>,
    places: Reg<bool, Reset>,
    first: Wire<Local, bool>,
    room: Wire<Local, bool>,
    verdict: Wire<Local, bool>,
    keep: Wire<Local, { beat.keep.width }>,
    last: Wire<Local, bool>,
    beyond: Wire<Local, bool>,
    gap: Wire<Local, bool>,
    bad: Wire<Local, bool>,
    over: Wire<Local, bool>,
    accept: Wire<Local, bool>,
    enters: Wire<Local, bool>,
    leaves: Wire<Local, bool>,
}

/// Frames whose verdict waits for their metadata, which comes two clocks after them at most.
const VERDICTS: usize = 8;

impl Logic for AdmissionGate {
    #[kernel]
    fn update(&mut self) {
        let beat: BeatFields = self._shape.beat();
        let limit = self._shape.large_beats as u64;
        let packets = self._shape.packets as u64;
        clocked!(self.clk, self.rst => self.queue, self.verdicts, self.metas, self.in_frame, self.number,
            self.under_way, self.places);
        clocked!(self.clk => self.admitted, self.partial, self.spoiled, self.spilled);
        self.keep.next = self.s.data.val().field(beat.keep);
        self.last.next = self.s.data.val().flag(beat.last);
        /// The first beat decides for its frame.
        self.first.next = !self.in_frame.q.val();
        self.room.next = !self.queue.almost_full.val() && self.places.q.val();
        if self.first.val() {
            self.verdict.next = self.room.val();
        } else {
            self.verdict.next = self.admitted.q.val();
        }
        if self._shape.stall {
            self.s.ready.next = self.verdicts.s.ready.val() && (self.in_frame.q.val() || self.room.val());
        } else {
            self.s.ready.next = self.verdicts.s.ready.val();
        }
        self.accept.next = self.s.valid.val() && self.s.ready.val();
        if self.accept.val() {
            self.in_frame.d.next = !self.last.val();
            self.admitted.d.next = self.verdict.val();
        }
        self.verdicts.s.data.next = word(self.verdict.val());
        self.verdicts.s.valid.next = self.accept.val() && self.first.val();
        self.dropped.next = self.accept.val() && self.first.val() && !self.verdict.val();
        /// Bytes fill the lanes from the lowest on, and only the last of them may leave lanes free.
        self.gap.next = ((self.keep.val() >> 1_u64) & !self.keep.val()).any()
            || (!self.first.val() && self.partial.q.val() && self.keep.val().any());
        self.bad.next = self.gap.val() || (self.last.val() && self.s.data.val().get_bit(beat.last.at + 1));
        /// Of the beats after the largest slot only the last of the frame enters, for all of them.
        self.beyond.next = self.number.q.val() == limit;
        self.over.next = self.beyond.val() && (self.keep.val().any() || self.spilled.q.val());
        if self.accept.val() {
            self.partial.d.next = !self.keep.val().all() || (!self.first.val() && self.partial.q.val());
            self.spoiled.d.next = self.beyond.val() && (self.bad.val() || self.spoiled.q.val());
            self.spilled.d.next = self.over.val();
            if self.last.val() {
                self.number.d.next = 0.into();
            } else if !self.beyond.val() {
                self.number.d.next = self.number.q.val() + 1;
            }
        }
        /// {cut, over, bad, beyond, last, strobes, data}
        self.queue.s.data.next = cat!(
            self.last.val() || self.number.q.val() == limit - 1,
            self.over.val(),
            self.bad.val() || (self.beyond.val() && self.spoiled.q.val()),
            self.beyond.val(),
            self.s.data.val().slice(0, beat.last.at + 1)
        );
        self.queue.s.valid.next =
            self.accept.val() && self.verdict.val() && (!self.beyond.val() || self.last.val());
        connect!(self.queue.m => self.m);
        /// Metadata of frames that are dropped ends here.
        self.meta_s.ready.next = self.verdicts.m.valid.val() && self.metas.s.ready.val();
        self.verdicts.m.ready.next = self.meta_s.valid.val() && self.metas.s.ready.val();
        self.metas.s.data.next = self.meta_s.data.val();
        self.metas.s.valid.next =
            self.meta_s.valid.val() && self.verdicts.m.valid.val() && self.verdicts.m.data.val().any();
        connect!(self.metas.m => self.meta_m);
        /// Frames inside, so that there is a place for the metadata of each.
        self.enters.next = self.accept.val() && self.first.val() && self.verdict.val();
        self.leaves.next = self.metas.m.valid.val() && self.meta_m.ready.val();
        if self.enters.val() && !self.leaves.val() {
            self.under_way.d.next = self.under_way.q.val() + 1;
            self.places.d.next = self.under_way.q.val() != packets - 1;
        } else if self.leaves.val() && !self.enters.val() {
            self.under_way.d.next = self.under_way.q.val() - 1;
            self.places.d.next = true;
        } else {
            self.places.d.next = self.under_way.q.val() != packets;
        }
    }
}
