//! Where a rank stores the elements of a field, for the code that `#[molly::scop]` writes.

use spinneret_molly_model::Span;

/// Where elements are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout<const D: usize> {
    from: [i64; D],
    strides: [i64; D],
    shape: [i64; D],
    wraps: bool,
}

impl<const D: usize> Layout<D> {
    pub(crate) fn new(shape: [i64; D], stored: [Span; D]) -> Self {
        let mut strides = [1; D];
        for dim in (1..D).rev() {
            strides[dim - 1] = strides[dim] * stored[dim].len;
        }
        Self {
            from: stored.map(|span| span.from),
            strides,
            shape,
            wraps: (0..D).any(|dim| stored[dim].from + stored[dim].len > shape[dim]),
        }
    }

    /// The size in a dimension.
    #[inline(always)]
    pub fn len(&self, dim: usize) -> i64 {
        self.shape[dim]
    }

    /// Whether there are no elements at all.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Whether what is stored goes over the end of the field in some dimension.
    pub fn wraps(&self) -> bool {
        self.wraps
    }

    /// The place of an element. Unless `WRAPS`, what is stored must not go over the end of the field. An element that is not
    /// stored has some place, which is another one's or beyond all.
    #[inline(always)]
    pub fn place<const WRAPS: bool>(&self, index: [i64; D]) -> usize {
        let mut place = 0;
        for (dim, at) in index.into_iter().enumerate() {
            let mut at = at - self.from[dim];
            if WRAPS && at < 0 {
                at += self.shape[dim];
            }
            place += at * self.strides[dim];
        }
        place as usize
    }
}
