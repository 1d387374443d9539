//! Where the elements of a message are stored, in few words: a column is one stride, and not as many pieces as it has rows.

use std::ops::Range;

/// Pieces of neighbouring elements that all have the same length, at even distances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stride {
    /// Where the first one begins.
    pub first: usize,
    /// Elements of a piece.
    pub len: usize,
    /// From the beginning of a piece to that of the next one.
    pub step: isize,
    /// Pieces.
    pub count: usize,
}

impl Stride {
    /// Where each piece is.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Range<usize>> {
        let begin = |piece: usize| self.first.wrapping_add_signed(self.step * piece as isize);
        (0..self.count).map(move |piece| begin(piece)..begin(piece) + self.len)
    }
}

/// Pieces in their order, joined where one follows the other, as strides.
pub(crate) fn strides(pieces: impl Iterator<Item = Range<usize>>) -> Vec<Stride> {
    let mut whole: Vec<Range<usize>> = Vec::new();
    for piece in pieces {
        match whole.last_mut() {
            Some(last) if last.end == piece.start => last.end = piece.end,
            _ => whole.push(piece),
        }
    }
    let mut strides: Vec<Stride> = Vec::new();
    for piece in whole {
        if let Some(stride) = strides.last_mut()
            && stride.len == piece.len()
        {
            let last = stride
                .first
                .wrapping_add_signed(stride.step * (stride.count as isize - 1));
            let step = piece.start.wrapping_sub(last).cast_signed();
            if stride.count == 1 || stride.step == step {
                (stride.step, stride.count) = (step, stride.count + 1);
                continue;
            }
        }
        strides.push(Stride {
            first: piece.start,
            len: piece.len(),
            step: 0,
            count: 1,
        });
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_few_and_have_all_pieces_in_order() {
        let of = |pieces: &[Range<usize>]| strides(pieces.iter().cloned());
        let stride = |first, len, step, count| Stride {
            first,
            len,
            step,
            count,
        };
        assert_eq!(of(&[0..3, 3..7]), [stride(0, 7, 0, 1)]);
        assert_eq!(of(&[9..10, 6..7, 3..4, 0..1]), [stride(9, 1, -3, 4)]);
        // A row that is not as long, and a column behind it.
        let pieces = [2..4, 12..14, 22..25, 30..31, 40..41, 50..51];
        let found = of(&pieces);
        assert_eq!(
            found,
            [stride(2, 2, 10, 2), stride(22, 3, 0, 1), stride(30, 1, 10, 3)]
        );
        let again: Vec<Range<usize>> = found.iter().flat_map(Stride::pieces).collect();
        assert_eq!(again, pieces);
    }
}
