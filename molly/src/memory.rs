//! Memory of fields: their own, or memory that a transport can access; elements, layouts and strides.

use bytemuck::Pod;
use spinneret_molly_model::Span;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

/// Memory that a transport can reach, as long as this lives: it puts messages into their place there.
///
/// # Safety
/// [`start`](Self::start) is always the same address, aligned for the elements of a field for which it was made, of
/// [`bytes`](Self::bytes) bytes that have values. This owns the bytes exclusively, except for pieces where a message
/// was [expected](crate::Placing::expect) and has not come yet: the transport writes there. It may read where one was
/// [sent from](crate::Placing::start_from).
#[allow(unsafe_code)]
pub unsafe trait Memory: fmt::Debug + Send + Sync {
    /// Where it begins.
    fn start(&self) -> NonNull<u8>;

    /// Its size in bytes.
    fn bytes(&self) -> usize;
}

/// Bytes of a line of caches: a vector that is in one is loaded in half the time of one in two.
const LINE: usize = 64;

/// The elements of a field.
pub(crate) enum Elements<T> {
    /// Those from this place on.
    Own(Vec<T>, usize),
    Lent(Lent<T>),
}

/// Elements in memory of a transport.
pub(crate) struct Lent<T> {
    memory: Box<dyn Memory>,
    len: usize,
    elements: PhantomData<T>,
}

/// Whether there is memory for `len` elements. Allocating more than there is would end the process.
pub(crate) fn has_room<T>(len: usize) -> bool {
    Vec::<T>::new().try_reserve_exact(len).is_ok()
}

impl<T: Element> Elements<T> {
    /// `len` zeros in some memory, or in memory of their own where the element `first` begins a line of caches.
    pub(crate) fn zeros(len: usize, first: usize, memory: Option<Box<dyn Memory>>) -> Self {
        match memory {
            None => Self::on_line(len, first),
            Some(memory) => {
                assert!(
                    memory.bytes() >= len * size_of::<T>() && memory.start().cast::<T>().is_aligned(),
                    "{len} elements of {} bytes do not fit into {memory:?}",
                    size_of::<T>()
                );
                let mut lent = Lent {
                    memory,
                    len,
                    elements: PhantomData,
                };
                T::bytes_mut(&mut lent, Sealed).fill(0);
                Self::Lent(lent)
            }
        }
    }

    fn on_line(len: usize, first: usize) -> Self {
        let size = size_of::<T>();
        if size == 0 || !LINE.is_multiple_of(size) {
            return Self::Own(T::zeros(len, Sealed), 0);
        }
        let in_line = LINE / size;
        let mut elements = T::zeros(len + in_line - 1, Sealed);
        let before = (elements.as_ptr().addr() / size + first) % in_line;
        let from = (in_line - before) % in_line;
        elements.truncate(from + len);
        Self::Own(elements, from)
    }

    /// Whether an element begins a line, or none can be made to.
    pub(crate) fn begins_line(&self, at: usize) -> bool {
        let (size, start) = (size_of::<T>(), self.as_ptr().addr());
        size == 0 || !LINE.is_multiple_of(size) || (start / size + at).is_multiple_of(LINE / size)
    }

    /// Moves to memory of their own, if they are in some of a transport.
    pub(crate) fn leave(&mut self) {
        if let Self::Lent(lent) = self {
            *self = Self::Own(T::copies(lent, Sealed), 0);
        }
    }

    /// The memory of a transport that they are in.
    pub(crate) fn memory(&self) -> Option<&dyn Memory> {
        match self {
            Self::Own(..) => None,
            Self::Lent(lent) => Some(&*lent.memory),
        }
    }
}

impl<T> Deref for Lent<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the memory holds `len` elements: `zeros` has checked it, and makes such memory for plain old data
        // only, of which any bytes are values. It is this field's alone, and no code accesses pieces that the transport
        // writes to before the transport is done.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts(self.memory.start().cast().as_ptr(), self.len)
        }
    }
}

impl<T> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; and who has the elements has them alone.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts_mut(self.memory.start().cast().as_ptr(), self.len)
        }
    }
}

impl<T> Deref for Elements<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Own(elements, from) => &elements[*from..],
            Self::Lent(lent) => lent,
        }
    }
}

impl<T> DerefMut for Elements<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Own(elements, from) => &mut elements[*from..],
            Self::Lent(lent) => lent,
        }
    }
}

impl<T: Clone> Clone for Elements<T> {
    /// A clone has memory of its own.
    fn clone(&self) -> Self {
        Self::Own(self.to_vec(), 0)
    }
}

impl<T: PartialEq> PartialEq for Elements<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Elements<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

// Types of the elements of fields.

/// The type of a field's elements: plain old data, of which any bytes are a value, as they travel between ranks as
/// bytes. All types that are [`Pod`] are elements, and no others. A separate trait makes the compiler's errors name the
/// rule.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element of a field, as not all bytes are values of it",
    label = "write `u8` or another number, an array of numbers, or a struct that is `bytemuck::Pod`"
)]
pub trait Element: Sized {
    #[doc(hidden)]
    fn zero(_: Sealed) -> Self;

    #[doc(hidden)]
    fn zeros(len: usize, _: Sealed) -> Vec<Self>;

    #[doc(hidden)]
    fn copies(elements: &[Self], _: Sealed) -> Vec<Self>;

    #[doc(hidden)]
    fn of(bytes: &[u8], _: Sealed) -> Self;

    #[doc(hidden)]
    fn bytes(elements: &[Self], _: Sealed) -> &[u8];

    #[doc(hidden)]
    fn bytes_mut(elements: &mut [Self], _: Sealed) -> &mut [u8];
}

/// Private, so that no other crate can implement [`Element`].
#[derive(Debug, Clone, Copy)]
pub struct Sealed;

#[diagnostic::do_not_recommend]
impl<T: Pod> Element for T {
    fn zero(_: Sealed) -> Self {
        T::zeroed()
    }

    fn zeros(len: usize, _: Sealed) -> Vec<Self> {
        vec![T::zeroed(); len]
    }

    fn copies(elements: &[Self], _: Sealed) -> Vec<Self> {
        elements.to_vec()
    }

    fn of(bytes: &[u8], _: Sealed) -> Self {
        bytemuck::pod_read_unaligned(bytes)
    }

    fn bytes(elements: &[Self], _: Sealed) -> &[u8] {
        bytemuck::cast_slice(elements)
    }

    fn bytes_mut(elements: &mut [Self], _: Sealed) -> &mut [u8] {
        bytemuck::cast_slice_mut(elements)
    }
}

// Layouts of fields.

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

// Strides: a column is one stride, and not as many pieces as it has rows.

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
    use super::{has_room, *};

    #[test]
    fn oversized_allocation_fails_cleanly() {
        assert!(has_room::<u64>(1000) && has_room::<[f64; 0]>(usize::MAX));
        assert!(!has_room::<u64>(1 << 58) && !has_room::<u8>(usize::MAX));
    }

    #[test]
    fn strides_cover_all_pieces_in_order() {
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
