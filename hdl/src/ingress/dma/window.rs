//! Looks a few beats ahead.

use super::BeatFields;
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Shows the next beats of a stream, of which the first can be taken.
///
/// ```text
/// s -> ... -> entry 1 -> entry 0 -> head
/// ```
///
/// It sees `depth` beats: those in its `depth` - 1 entries, and the one at the input. So the first beat of a
/// frame that is one beat long leaves in the cycle in which it comes, and one beat a clock passes.
/// A beat that was seen stays where it is, or moves ahead when the head is taken.
/// # Parameters
/// `depth` is at least 1.
#[hardware(beat: BeatFields, depth: usize)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct Window {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: discards what it holds.
    pub rst: Wire<In, bool>,
    /// Marked beats.
    pub s: StreamIn<{ beat.width }>,
    /// The first beat, without the mark that ends a burst.
    pub head: Wire<Out, { beat.cut.at }>,
    /// Bit n: beat n is there, and so are those before it.
    pub seen: Wire<Out, { depth }>,
    /// Bit n: beat n is there and ends its frame.
    pub last: Wire<Out, { depth }>,
    /// Bit n: beat n is there and ends a burst.
    pub cut: Wire<Out, { depth }>,
    /// Takes the first beat; only when it is there.
    pub take: Wire<In, bool>,
    entries: [Reg<{ beat.width }>; depth - 1],
    used: [Reg<bool, Reset>; depth - 1],
    /// Beat n, from its entry or from the input.
    beats: [Wire<Local, { beat.width }>; depth],
    here: [Wire<Local, bool>; depth],
}

impl Logic for Window {
    #[kernel]
    fn update(&mut self) {
        let entries = self.entries.len();
        let (last, cut) = (self._beat.last.at, self._beat.cut.at);
        clocked!(self.clk, self.rst => self.used);
        clocked!(self.clk => self.entries);
        self.seen.next = 0.into();
        self.last.next = 0.into();
        self.cut.next = 0.into();
        for place in 0..entries + 1 {
            /// The input is the beat after the entries that are used.
            if place == entries {
                self.beats[place].next = self.s.data.val();
                if place == 0 {
                    self.here[place].next = self.s.valid.val();
                } else {
                    self.here[place].next = self.s.valid.val() && self.used[place - 1].q.val();
                }
            } else {
                if self.used[place].q.val() {
                    self.beats[place].next = self.entries[place].q.val();
                } else {
                    self.beats[place].next = self.s.data.val();
                }
                if place == 0 {
                    self.here[place].next = self.s.valid.val() || self.used[place].q.val();
                } else {
                    self.here[place].next =
                        self.used[place].q.val() || (self.s.valid.val() && self.used[place - 1].q.val());
                }
            }
            self.seen.next.set_bit(place, self.here[place].val());
            self.last.next.set_bit(
                place,
                self.here[place].val() && self.beats[place].val().get_bit(last),
            );
            self.cut.next.set_bit(
                place,
                self.here[place].val() && self.beats[place].val().get_bit(cut),
            );
        }
        for place in 0..entries {
            if self.take.val() {
                self.used[place].d.next = self.here[place + 1].val();
                self.entries[place].d.next = self.beats[place + 1].val();
            } else if !self.used[place].q.val() {
                self.used[place].d.next = self.here[place].val();
                self.entries[place].d.next = self.s.data.val();
            }
        }
        self.head.next = self.beats[0].val().slice(0, cut);
        if entries == 0 {
            self.s.ready.next = self.take.val();
        } else {
            self.s.ready.next = self.take.val() || !self.used[entries - 1].q.val();
        }
    }
}
