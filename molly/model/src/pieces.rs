//! In how many pieces of memory messages are stored.

use crate::plan::{Message, Plan};

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
