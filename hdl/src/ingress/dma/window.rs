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
#[module(beat: BeatFields, depth: usize)]
pub struct Window {
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
}

#[kernel(Window)]
fn update() {
    let behind = depth - 1;
    /// The input is the beat after the entries that are used.
    let comes = |place: usize| {
        if place == 0 {
            s.valid
        } else {
            s.valid && used[place - 1]
        }
    };
    let here: Vec<_> = (0..depth)
        .map(|place| {
            if place == behind {
                comes(place)
            } else {
                used[place] || comes(place)
            }
        })
        .collect();
    let stored = entries
        .iter()
        .zip(&used)
        .map(|(entry, used)| if *used { *entry } else { s.data });
    /// Beat n, from its entry or from the input.
    let beats: Vec<_> = stored.chain([s.data]).collect();
    for place in 0..depth {
        seen[place] = here[place];
        last[place] = here[place] && beats[place][beat.last.at];
        cut[place] = here[place] && beats[place][beat.cut.at];
    }
    for place in 0..behind {
        if take {
            used[place] = here[place + 1];
            entries[place] = beats[place + 1];
        } else if !used[place] {
            used[place] = here[place];
            entries[place] = s.data;
        }
    }
    head = beats[0].slice(0, beat.cut.at);
    s.ready = if behind == 0 {
        take
    } else {
        take || !used[behind - 1]
    };
}
