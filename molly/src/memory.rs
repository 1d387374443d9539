//! Where the elements of a field are: in memory of its own, or in some that a transport can reach.

use crate::element::{Element, Sealed};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Memory that a transport can reach, as long as this lives: it puts messages into their place there.
///
/// # Safety
/// [`start`](Self::start) is always the same address, aligned for the elements of a field for which it was made, of
/// [`bytes`](Self::bytes) bytes that have values and are nobody else's, but for pieces where a message was
/// [expected](crate::Placing::expect) and has not come yet: the transport writes there. It may read where one was
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

/// Whether there is memory for so many elements. Where there is none, to make them ends the process.
pub(crate) fn has_room<T>(len: usize) -> bool {
    Vec::<T>::new().try_reserve_exact(len).is_ok()
}

impl<T: Element> Elements<T> {
    /// So many zeros in some memory, or in memory of their own where the element `first` begins a line of caches.
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
        // SAFETY: the memory holds so many elements, as `zeros` has seen, which makes them of plain old data only: any
        // bytes are values. It is this field's alone, and nobody accesses pieces that the transport writes to before it
        // is done.
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

#[cfg(test)]
mod tests {
    use super::has_room;

    #[test]
    fn memory_that_is_not_there_is_asked_for_without_harm() {
        assert!(has_room::<u64>(1000) && has_room::<[f64; 0]>(usize::MAX));
        assert!(!has_room::<u64>(1 << 58) && !has_room::<u8>(usize::MAX));
    }
}
