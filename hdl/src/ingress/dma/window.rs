//! Looks a few beats ahead.

use super::BeatShape;
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
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct Window {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: forgets what it holds.
    pub rst: Wire<In, bool>,
    /// Marked beats.
    pub s: StreamIn,
    /// The first beat, without the mark that ends a burst.
    pub head: Wire<Out>,
    /// Bit n: beat n is there, and so are those before it.
    pub seen: Wire<Out>,
    /// Bit n: beat n is there and ends its frame.
    pub last: Wire<Out>,
    /// Bit n: beat n is there and ends a burst.
    pub cut: Wire<Out>,
    /// Takes the first beat; only when it is there.
    pub take: Wire<In, bool>,
    entries: Vec<Reg>,
    used: Vec<Reg<bool>>,
    /// Beat n, from its entry or from the input.
    beats: Vec<Wire<Local>>,
    here: Vec<Wire<Local, bool>>,
    _beat: BeatShape,
}

impl Window {
    /// A window that sees `depth` beats, at least 1.
    pub fn new(beat: BeatShape, depth: usize) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            s: StreamIn::new(beat.width()),
            head: Wire::word(beat.cut_at()),
            seen: Wire::word(depth),
            last: Wire::word(depth),
            cut: Wire::word(depth),
            take: Wire::bit(),
            entries: vec![Reg::word(beat.width()); depth - 1],
            used: vec![Reg::bit_reset(); depth - 1],
            beats: vec![Wire::word(beat.width()); depth],
            here: vec![Wire::bit(); depth],
            _beat: beat,
        }
    }
}

impl Logic for Window {
    #[kernel]
    fn update(&mut self) {
        let entries = self.entries.len();
        let (last, cut) = (self._beat.last_at(), self._beat.cut_at());
        clocked!(self.clk, self.rst => self.used);
        clocked!(self.clk => self.entries);
        self.seen.next = 0.into();
        self.last.next = 0.into();
        self.cut.next = 0.into();
        for place in 0..entries + 1 {
            /// The input is the beat behind the entries that are used.
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
