//! Fields: arrays of which each rank stores a part, indexed as if it had all.

use bytemuck::Pod;
use spinneret_molly_model::{Geometry, Run, Span};
use std::cell::Cell;
use std::ops::{Index, IndexMut};

/// A field of `D` dimensions. Elements are plain old data, as they travel between ranks as bytes.
///
/// A whole field, made by [`Field::new`], has all its elements here. Of one that [`Rank::field`](crate::Rank::field) made, the
/// rank owns a block, and stores more as long as a function needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct Field<T, const D: usize> {
    shape: [i64; D],
    /// What the rank owns: the first index and the size in each dimension.
    home: ([i64; D], [i64; D]),
    /// Who owns it: the grid and the rank.
    owner: Option<(Geometry, usize)>,
    stored: [Span; D],
    data: Vec<T>,
}

impl<T: Pod, const D: usize> Field<T, D> {
    /// A whole field, as the serial function uses it.
    ///
    /// # Panics
    /// If a size is negative.
    pub fn new(shape: [i64; D], fill: impl FnMut([i64; D]) -> T) -> Self {
        Self::with_home(shape, ([0; D], shape), None, fill)
    }

    /// The block of a field that a rank owns.
    pub(crate) fn block(
        shape: [i64; D],
        geometry: &Geometry,
        rank: usize,
        fill: impl FnMut([i64; D]) -> T,
    ) -> Self {
        let (from, len) = geometry.block(&shape, rank);
        let home = (
            std::array::from_fn(|dim| from[dim]),
            std::array::from_fn(|dim| len[dim]),
        );
        Self::with_home(shape, home, Some((geometry.clone(), rank)), fill)
    }

    fn with_home(
        shape: [i64; D],
        home: ([i64; D], [i64; D]),
        owner: Option<(Geometry, usize)>,
        mut fill: impl FnMut([i64; D]) -> T,
    ) -> Self {
        assert!(
            shape.iter().all(|&size| size >= 0),
            "a field cannot have the sizes {shape:?}"
        );
        let stored = std::array::from_fn(|dim| Span {
            from: home.0[dim],
            len: home.1[dim],
        });
        let mut data = Vec::with_capacity(home.1.iter().product::<i64>() as usize);
        each(home, |at| data.push(fill(at)));
        Self {
            shape,
            home,
            owner,
            stored,
            data,
        }
    }

    /// The size in a dimension.
    ///
    /// # Panics
    /// If there is no such dimension.
    pub fn len(&self, dim: usize) -> i64 {
        self.shape[dim]
    }

    /// Whether there are no elements at all.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The sizes.
    pub fn shape(&self) -> [i64; D] {
        self.shape
    }

    /// What this rank owns: the first index and the size in each dimension.
    pub fn home(&self) -> ([i64; D], [i64; D]) {
        self.home
    }

    /// What this rank owns, in the order of the indices.
    pub fn owned(&self) -> Vec<T> {
        let mut owned = Vec::new();
        each(self.home, |at| owned.push(self[at]));
        owned
    }

    /// Sets what this rank owns.
    pub fn fill(&mut self, mut fill: impl FnMut([i64; D]) -> T) {
        each(self.home, |at| self[at] = fill(at));
    }

    /// Elements that are stored here.
    pub fn stored(&self) -> usize {
        self.data.len()
    }

    /// Whether it belongs to this rank of this grid.
    pub(crate) fn belongs_to(&self, geometry: &Geometry, rank: usize) -> bool {
        self.owner
            .as_ref()
            .is_some_and(|owner| (&owner.0, owner.1) == (geometry, rank))
    }

    /// Stores these spans, and what the rank owns in them as it is.
    pub(crate) fn cover(&mut self, spans: &[Span]) {
        let stored = std::array::from_fn(|dim| spans[dim]);
        if self.stored == stored {
            return;
        }
        let len = stored.iter().map(|span| span.len).product::<i64>() as usize;
        let old = Self {
            data: std::mem::replace(&mut self.data, vec![T::zeroed(); len]),
            ..self.clone()
        };
        self.stored = stored;
        each(self.home, |at| self[at] = old[at]);
    }

    /// All elements that are stored, for the bodies of a function.
    pub fn view(&mut self) -> View<'_, T, D> {
        let mut strides = [1; D];
        for dim in (1..D).rev() {
            strides[dim - 1] = strides[dim] * self.stored[dim].len;
        }
        View {
            from: self.stored.map(|span| span.from),
            strides,
            shape: self.shape,
            wraps: (0..D).any(|dim| self.stored[dim].from + self.stored[dim].len > self.shape[dim]),
            cells: Cell::from_mut(&mut self.data[..]).as_slice_of_cells(),
        }
    }

    /// Where an element is stored.
    fn place(&self, index: [i64; D]) -> usize {
        let mut place = 0;
        for (dim, span) in self.stored.iter().enumerate() {
            let inside = (0..self.shape[dim]).contains(&index[dim]);
            let at = (index[dim] - span.from).rem_euclid(self.shape[dim].max(1));
            assert!(
                inside && at < span.len,
                "element {index:?} is not stored here, of a field of {:?}",
                self.shape
            );
            place = place * span.len + at;
        }
        place as usize
    }
}

/// Visits all indices of a block in order.
fn each<const D: usize>((from, len): ([i64; D], [i64; D]), mut visit: impl FnMut([i64; D])) {
    if len.iter().any(|&len| len <= 0) {
        return;
    }
    let mut at = from;
    loop {
        visit(at);
        let Some(dim) = (0..D).rev().find(|&dim| at[dim] + 1 < from[dim] + len[dim]) else {
            return;
        };
        at[dim] += 1;
        at[dim + 1..].copy_from_slice(&from[dim + 1..]);
    }
}

impl<T: Pod, const D: usize> Index<[i64; D]> for Field<T, D> {
    type Output = T;
    /// # Panics
    /// If the element is not stored here.
    fn index(&self, index: [i64; D]) -> &T {
        &self.data[self.place(index)]
    }
}

impl<T: Pod, const D: usize> IndexMut<[i64; D]> for Field<T, D> {
    /// # Panics
    /// If the element is not stored here.
    fn index_mut(&mut self, index: [i64; D]) -> &mut T {
        let place = self.place(index);
        &mut self.data[place]
    }
}

/// The elements of a field that a rank stores, for the code that `#[molly::scop]` writes.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, T: Copy, const D: usize> {
    cells: &'a [Cell<T>],
    from: [i64; D],
    strides: [i64; D],
    shape: [i64; D],
    wraps: bool,
}

impl<T: Copy, const D: usize> View<'_, T, D> {
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

    #[inline(always)]
    fn place<const WRAPS: bool>(&self, index: [i64; D]) -> usize {
        let mut place = 0;
        for (dim, at) in index.into_iter().enumerate() {
            let mut at = at - self.from[dim];
            if WRAPS && at < 0 {
                at += self.shape[dim];
            }
            place += at * self.strides[dim];
        }
        debug_assert!(
            (0..self.cells.len() as i64).contains(&place),
            "{index:?} is not stored here"
        );
        place as usize
    }

    /// An element. Unless `WRAPS`, what is stored must not go over the end of the field.
    ///
    /// # Panics
    /// If the element's place is beyond what is stored here.
    #[inline(always)]
    pub fn get<const WRAPS: bool>(&self, index: [i64; D]) -> T {
        self.cells[self.place::<WRAPS>(index)].get()
    }

    /// Writes an element. Unless `WRAPS`, what is stored must not go over the end of the field.
    ///
    /// # Panics
    /// As [`get`](Self::get).
    #[inline(always)]
    pub fn set<const WRAPS: bool>(&self, index: [i64; D], value: T) {
        self.cells[self.place::<WRAPS>(index)].set(value);
    }
}

/// A field's elements as bytes, for messages.
pub trait Storage {
    /// Bytes of an element.
    fn element_bytes(&self) -> usize;

    /// Puts the elements of a run into the front of `bytes`, where there is room for them, and gives the rest.
    fn pack<'b>(&self, run: &Run, bytes: &'b mut [u8]) -> &'b mut [u8];

    /// Takes the elements of a run out of the front of `bytes`, of which there are enough, and gives the rest.
    fn unpack<'b>(&self, run: &Run, bytes: &'b [u8]) -> &'b [u8];
}

impl<T: Pod, const D: usize> View<'_, T, D> {
    /// Visits the cells of a run.
    fn cells(&self, run: &Run, mut visit: impl FnMut(&Cell<T>)) {
        let mut index: [i64; D] = std::array::from_fn(|dim| run.first[dim]);
        for _ in 0..run.count {
            visit(&self.cells[self.place::<true>(index)]);
            index[D - 1] += run.step;
        }
    }
}

impl<T: Pod, const D: usize> Storage for View<'_, T, D> {
    fn element_bytes(&self) -> usize {
        size_of::<T>()
    }

    fn pack<'b>(&self, run: &Run, bytes: &'b mut [u8]) -> &'b mut [u8] {
        let (packed, rest) = bytes.split_at_mut(run.count as usize * size_of::<T>());
        let mut elements = packed.chunks_exact_mut(size_of::<T>().max(1));
        self.cells(run, |cell| {
            if let Some(element) = elements.next() {
                element.copy_from_slice(bytemuck::bytes_of(&cell.get()));
            }
        });
        rest
    }

    fn unpack<'b>(&self, run: &Run, mut bytes: &'b [u8]) -> &'b [u8] {
        self.cells(run, |cell| {
            let (element, rest) = bytes.split_at(size_of::<T>());
            cell.set(bytemuck::pod_read_unaligned(element));
            bytes = rest;
        });
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_over_the_end_keeps_what_is_owned() {
        let grid = Geometry::new([2, 1]).unwrap();
        let mut field = Field::<i32, 2>::block([6, 3], &grid, 0, |[x, y]| (10 * x + y) as i32);
        assert_eq!(field.home(), ([0, 0], [3, 3]));
        field.cover(&[Span { from: 5, len: 5 }, Span { from: 0, len: 3 }]);
        assert_eq!(field[[2, 1]], 21);
        let view = field.view();
        assert!(view.wraps());
        view.unpack(
            &Run {
                first: vec![5, 0],
                step: 1,
                count: 3,
            },
            bytemuck::cast_slice(&[50, 51, 52]),
        );
        assert_eq!([field[[5, 2]], field[[0, 0]], field[[2, 2]]], [52, 0, 22]);
        assert_eq!(field.owned(), [0, 1, 2, 10, 11, 12, 20, 21, 22]);
    }

    #[test]
    #[should_panic(expected = "element [3, 0] is not stored here")]
    fn what_others_own_is_not_here() {
        let grid = Geometry::new([2]).unwrap();
        let _ = Field::<i32, 2>::block([6, 3], &grid, 0, |_| 0)[[3, 0]];
    }
}
