//! Fields: arrays of which each rank stores a part, indexed as if it had all.

use crate::error::Result;
use crate::memory::{Element, Elements, Layout, Sealed, Stride, strides};
use crate::transport::{Place, Placing};
use spinneret_molly_model::{Geometry, Run, Span};
use std::cell::Cell;
use std::convert::Infallible;
use std::ops::{Index, IndexMut, Range};
use std::panic::Location;

/// A field of `D` dimensions. Elements are plain old data, as they travel between ranks as bytes.
///
/// A whole field, made by [`Field::new`], has all its elements here. Of one that [`Rank::field`](crate::Rank::field) made, the
/// rank owns a block, and stores more as long as a function needs it.
#[derive(Debug, Clone)]
pub struct Field<T, const D: usize> {
    shape: [i64; D],
    /// The elements that the rank owns: the first index and the size in each dimension.
    home: ([i64; D], [i64; D]),
    /// The owner: the grid and the rank.
    owner: Option<(Geometry, usize)>,
    stored: [Span; D],
    data: Elements<T>,
    /// Where in the source it was made.
    made: &'static Location<'static>,
}

/// Fields are equal if their elements and the parts that are stored are, wherever they were made.
impl<T: PartialEq, const D: usize> PartialEq for Field<T, D> {
    fn eq(&self, other: &Self) -> bool {
        (self.shape, self.home, self.stored) == (other.shape, other.home, other.stored)
            && self.owner == other.owner
            && self.data == other.data
    }
}

impl<T, const D: usize> Field<T, D> {
    /// A whole field, as the serial function uses it.
    ///
    /// # Panics
    /// If a size is negative, or the elements do not fit into memory.
    #[track_caller]
    pub fn new(shape: [i64; D], fill: impl FnMut([i64; D]) -> T) -> Self {
        Self::with_home(shape, ([0; D], shape), None, fill)
    }

    /// The block of a field that a rank owns.
    #[track_caller]
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

    #[track_caller]
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
        let mut data = Vec::new();
        let elements = home
            .1
            .iter()
            .try_fold(1usize, |all, &len| all.checked_mul(len as usize));
        assert!(
            elements.is_some_and(|elements| data.try_reserve_exact(elements).is_ok()),
            "there is no memory for {:?} elements of a field of the sizes {shape:?}",
            home.1
        );
        each(home, |at| data.push(fill(at)));
        Self {
            shape,
            home,
            owner,
            stored,
            data: Elements::Own(data, 0),
            made: Location::caller(),
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

    /// The elements that this rank owns: the first index and the size in each dimension.
    pub fn home(&self) -> ([i64; D], [i64; D]) {
        self.home
    }

    /// The elements that this rank owns, in the order of the indices.
    pub fn owned(&self) -> Vec<T>
    where
        T: Element,
    {
        let mut owned = Vec::new();
        each(self.home, |at| {
            owned.push(T::of(T::bytes(std::slice::from_ref(&self[at]), Sealed), Sealed));
        });
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

    /// Where in the source it was made, and for which rank, in words.
    pub(crate) fn made(&self) -> String {
        let (file, line, column) = (self.made.file(), self.made.line(), self.made.column());
        match &self.owner {
            Some((geometry, rank)) => {
                format!("{file}:{line}:{column} for rank {rank} of the grid {geometry}")
            }
            None => format!("{file}:{line}:{column} as a whole"),
        }
    }

    /// Stores these spans, in memory of a transport that puts messages there, and what the rank owns in them as it is. In
    /// other memory a line of caches begins where rows do.
    pub(crate) fn cover(
        &mut self,
        spans: &[Span],
        rows: Option<Vec<i64>>,
        placing: Option<&mut dyn Placing>,
    ) -> Result<()>
    where
        T: Element,
    {
        let stored = std::array::from_fn(|dim| spans[dim]);
        let begin = rows.map_or(0, |rows| {
            Layout::new(self.shape, stored).place::<true>(std::array::from_fn(|dim| rows[dim]))
        });
        let is_there = match (&placing, self.data.memory()) {
            (Some(placing), Some(memory)) => placing.owns(memory),
            (Some(_), None) => false,
            (None, _) => self.data.begins_line(begin),
        };
        if self.stored == stored && is_there {
            return Ok(());
        }
        let len = stored.iter().map(|span| span.len).product::<i64>() as usize;
        let memory = placing
            .map(|placing| placing.memory(len * size_of::<T>(), begin * size_of::<T>()))
            .transpose()?;
        let mut old = Self {
            shape: self.shape,
            home: self.home,
            owner: None,
            stored: self.stored,
            data: std::mem::replace(&mut self.data, Elements::zeros(len, begin, memory)),
            made: self.made,
        };
        self.stored = stored;
        each(self.home, |at| std::mem::swap(&mut self[at], &mut old[at]));
        Ok(())
    }

    /// Where elements are stored, for the bodies of a function.
    pub fn layout(&self) -> Layout<D> {
        Layout::new(self.shape, self.stored)
    }

    /// All elements that are stored.
    pub fn elements(&self) -> &[T] {
        &self.data
    }

    /// All elements that are stored, to be read and written in any order.
    pub fn cells(&mut self) -> &[Cell<T>] {
        Cell::from_mut(&mut self.data[..]).as_slice_of_cells()
    }

    /// Exchanges what is stored with another field of the same sizes, of which the same part is stored.
    pub fn exchange(&mut self, other: &mut Self) {
        debug_assert_eq!((self.shape, self.stored), (other.shape, other.stored));
        std::mem::swap(&mut self.data, &mut other.data);
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

impl<T, const D: usize> Index<[i64; D]> for Field<T, D> {
    type Output = T;
    /// # Panics
    /// If the element is not stored here.
    fn index(&self, index: [i64; D]) -> &T {
        &self.data[self.place(index)]
    }
}

impl<T, const D: usize> IndexMut<[i64; D]> for Field<T, D> {
    /// # Panics
    /// If the element is not stored here.
    fn index_mut(&mut self, index: [i64; D]) -> &mut T {
        let place = self.place(index);
        &mut self.data[place]
    }
}

/// A field's elements as bytes, for messages.
pub trait Storage {
    /// Bytes of an element.
    fn element_bytes(&self) -> usize;

    /// Where the elements of a message that consists of runs are stored. It stays so as long as the same part is stored.
    fn strides(&self, runs: &[Run]) -> Vec<Stride>;

    /// Copies the stored elements to `bytes`, one after the other; `bytes` is long enough.
    fn pack(&self, strides: &[Stride], bytes: &mut [u8]);

    /// Stores there what is in `bytes`, as [`Storage::pack`] has put it there.
    fn unpack(&mut self, strides: &[Stride], bytes: &[u8]);

    /// The place of a message that consists of runs, if a transport can put it there.
    fn place_of(&self, runs: &[Run]) -> Option<Place>;

    /// Leaves memory of a transport that may still put messages there, or read there.
    fn leave(&mut self);

    /// Places of all stored elements that are in some runs, and of those that are in none.
    fn split(&self, runs: &[Run]) -> [Vec<Range<usize>>; 2];

    /// Appends what is at places.
    fn keep(&self, places: &[Range<usize>], bytes: &mut Vec<u8>);

    /// Stores at places what [`Storage::keep`] took from as many.
    fn put(&mut self, places: &[Range<usize>], bytes: &[u8]);
}

impl<T: Element, const D: usize> Field<T, D> {
    /// Where the elements of runs are stored, in pieces and in their order.
    fn pieces(&self, runs: &[Run]) -> Vec<Range<usize>> {
        let mut pieces = Vec::new();
        for run in runs {
            let first = self.place(std::array::from_fn(|dim| run.first[dim]));
            let mut last: [i64; D] = std::array::from_fn(|dim| run.first[dim]);
            last[D - 1] += (run.count - 1) * run.step;
            let count = run.count as usize;
            if count == 1 || (run.step == 1 && self.place(last) == first + count - 1) {
                pieces.push(first..first + count);
                continue;
            }
            let Ok(()) = run.each(|index| {
                let place = self.place(std::array::from_fn(|dim| index[dim]));
                pieces.push(place..place + 1);
                Ok::<(), Infallible>(())
            });
        }
        pieces
    }
}

impl<T: Element, const D: usize> Field<T, D> {
    /// Where a run's elements are stored that are.
    fn stored_places(&self, run: &Run, places: &mut Vec<Range<usize>>) {
        let span = self.stored[D - 1];
        let is_stored = |dim: usize, at: i64| {
            let span = self.stored[dim];
            (at - span.from).rem_euclid(self.shape[dim].max(1)) < span.len
        };
        if !(0..D - 1).all(|dim| is_stored(dim, run.first[dim])) {
            return;
        }
        let first = run.first[D - 1];
        if run.step == 1 && span.from + span.len <= self.shape[D - 1] {
            let (from, to) = (
                first.max(span.from),
                (first + run.count).min(span.from + span.len),
            );
            if from < to {
                let mut index: [i64; D] = std::array::from_fn(|dim| run.first[dim]);
                index[D - 1] = from;
                let place = self.place(index);
                places.push(place..place + (to - from) as usize);
            }
            return;
        }
        let Ok(()) = run.each(|index| {
            if is_stored(D - 1, index[D - 1]) {
                let place = self.place(std::array::from_fn(|dim| index[dim]));
                places.push(place..place + 1);
            }
            Ok::<(), Infallible>(())
        });
    }
}

impl<T: Element, const D: usize> Storage for Field<T, D> {
    fn element_bytes(&self) -> usize {
        size_of::<T>()
    }

    fn strides(&self, runs: &[Run]) -> Vec<Stride> {
        strides(self.pieces(runs).into_iter())
    }

    fn pack(&self, strides: &[Stride], mut bytes: &mut [u8]) {
        let size = size_of::<T>();
        for stride in strides {
            let (packed, rest) = bytes.split_at_mut(stride.count * stride.len * size);
            bytes = rest;
            if stride.len == 1 {
                for (element, place) in packed.chunks_exact_mut(size.max(1)).zip(stride.pieces()) {
                    element.copy_from_slice(T::bytes(&self.data[place], Sealed));
                }
            } else {
                for (piece, place) in packed
                    .chunks_exact_mut((stride.len * size).max(1))
                    .zip(stride.pieces())
                {
                    piece.copy_from_slice(T::bytes(&self.data[place], Sealed));
                }
            }
        }
    }

    fn unpack(&mut self, strides: &[Stride], mut bytes: &[u8]) {
        let size = size_of::<T>();
        for stride in strides {
            let (packed, rest) = bytes.split_at(stride.count * stride.len * size);
            bytes = rest;
            if stride.len == 1 {
                for (element, place) in packed.chunks_exact(size.max(1)).zip(stride.pieces()) {
                    self.data[place.start] = T::of(element, Sealed);
                }
            } else {
                for (piece, place) in packed
                    .chunks_exact((stride.len * size).max(1))
                    .zip(stride.pieces())
                {
                    T::bytes_mut(&mut self.data[place], Sealed).copy_from_slice(piece);
                }
            }
        }
    }

    fn place_of(&self, runs: &[Run]) -> Option<Place> {
        let memory = self.data.memory()?;
        let bytes = |range: Range<usize>| range.start * size_of::<T>()..range.end * size_of::<T>();
        Some(Place {
            start: memory.start(),
            pieces: self.pieces(runs).into_iter().map(bytes).collect(),
        })
    }

    fn leave(&mut self) {
        self.data.leave();
    }

    fn split(&self, runs: &[Run]) -> [Vec<Range<usize>>; 2] {
        let mut inside = Vec::new();
        for run in runs {
            self.stored_places(run, &mut inside);
        }
        inside.sort_unstable_by_key(|range: &Range<usize>| range.start);
        let (mut outside, mut end) = (Vec::new(), 0);
        for range in &inside {
            if range.start > end {
                outside.push(end..range.start);
            }
            end = end.max(range.end);
        }
        if end < self.data.len() {
            outside.push(end..self.data.len());
        }
        [inside, outside]
    }

    fn keep(&self, places: &[Range<usize>], bytes: &mut Vec<u8>) {
        for range in places {
            bytes.extend_from_slice(T::bytes(&self.data[range.clone()], Sealed));
        }
    }

    fn put(&mut self, places: &[Range<usize>], mut bytes: &[u8]) {
        for range in places {
            let place = T::bytes_mut(&mut self.data[range.clone()], Sealed);
            let (kept, rest) = bytes.split_at(place.len());
            place.copy_from_slice(kept);
            bytes = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_span_keeps_owned_elements() {
        let grid = Geometry::new([2, 1]).unwrap();
        let mut field = Field::<i32, 2>::block([6, 3], &grid, 0, |[x, y]| (10 * x + y) as i32);
        assert_eq!(field.home(), ([0, 0], [3, 3]));
        field
            .cover(
                &[Span { from: 5, len: 5 }, Span { from: 0, len: 3 }],
                Some(vec![1, 1]),
                None,
            )
            .unwrap();
        assert_eq!((&raw const field[[1, 1]]).addr() % 64, 0);
        assert_eq!(field[[2, 1]], 21);
        assert!(field.layout().wraps());
        let row = Run {
            first: vec![5, 0],
            step: 1,
            count: 3,
        };
        let row = field.strides(&[row]);
        field.unpack(&row, bytemuck::cast_slice(&[50, 51, 52]));
        assert_eq!([field[[5, 2]], field[[0, 0]], field[[2, 2]]], [52, 0, 22]);
        assert_eq!(field.owned(), [0, 1, 2, 10, 11, 12, 20, 21, 22]);
    }

    /// So that a type that is no element is one error, and not one at each place where such a field is used.
    #[test]
    fn a_whole_field_has_elements_of_any_type() {
        let mut field = Field::new([2, 2], |[x, y]| (x == y, y as u8));
        field[[0, 1]] = (true, 7);
        field.fill(|[x, _]| (x == 1, x as u8));
        assert_eq!(
            (field[[1, 0]], field.len(0), field.elements().len()),
            ((true, 1), 2, 4)
        );
    }

    #[test]
    #[should_panic(expected = "element [3, 0] is not stored here")]
    fn elements_of_other_ranks_are_absent() {
        let grid = Geometry::new([2]).unwrap();
        let _ = Field::<i32, 2>::block([6, 3], &grid, 0, |_| 0)[[3, 0]];
    }
}
