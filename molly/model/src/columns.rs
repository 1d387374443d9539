//! Whether messages go straight between the memory of fields and MPI, or are packed and unpacked.

use crate::plan::{Message, Plan};

/// What is done with messages under MPI, whose elements may lie apart in the memory of a field, as those of a column do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Columns {
    /// They are copied to a buffer before they are sent, and out of one when they have come.
    Packed,
    /// They go straight out of the field and into it, by MPI's vector types, wherever that is right.
    Vector,
    /// Those of one piece go straight, which saves a copy on each side, and all others are packed: short columns take
    /// less time so, and for long ones a step takes as long in both ways (docs/molly.md, "Columns").
    #[default]
    Chosen,
}

impl Columns {
    /// Whether messages that take so many pieces of a field's memory are to go straight.
    pub fn go_straight(self, pieces: usize) -> bool {
        match self {
            Self::Packed => false,
            Self::Vector => true,
            Self::Chosen => pieces <= 1,
        }
    }
}

impl Plan {
    /// Pieces of a rank's memory in which the elements of one of its messages are stored.
    pub fn pieces(&self, rank: usize, message: &Message) -> usize {
        let field = self.channels[message.channel].field;
        let (spans, shape) = (self.storage(rank, field), &self.sizes.shapes[field]);
        let place = |at: &[i64]| {
            let dims = spans.iter().zip(shape).zip(at);
            dims.fold(0, |place, ((span, &size), at)| {
                place * span.len + (at - span.from).rem_euclid(size.max(1))
            })
        };
        let (mut pieces, mut end) = (0, None);
        for run in self.elements(rank, message) {
            let mut last = run.first.clone();
            if let Some(at) = last.last_mut() {
                *at += run.step * (run.count - 1);
            }
            let (first, last) = (place(&run.first), place(&last));
            let is_whole = last - first == run.count - 1;
            pieces += match is_whole {
                true => usize::from(end != Some(first)),
                false => run.count as usize,
            };
            end = Some(last + 1);
        }
        pieces
    }
}
