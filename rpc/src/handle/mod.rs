//! What clients have instead of addresses: numbers that name an entry of a table, and only while it is there.
//!
//! ```text
//!  31          14 13  10 9       2 1 0
//!  generation     kind   index     0 0
//! ```
//!
//! A handle is a multiple of 4, below 2^32 and never 0, so that it fits a pointer of 32 bits, is never null, and leaves two
//! bits to a tag.

#[cfg(feature = "server")]
mod table;

#[cfg(feature = "server")]
pub use table::Handles;

/// Most entries of a table.
pub const MOST: usize = 1 << INDEX_BITS;

pub(crate) const TAG_BITS: u32 = 2;
const INDEX_BITS: u32 = 8;
const KIND_BITS: u32 = 4;
pub(crate) const KIND_SHIFT: u32 = TAG_BITS + INDEX_BITS;

/// A handle of a kind, as a typed service gets it: its kind was looked at, and not yet whether its entry is there.
///
/// Predefined ones have generation 0, which no entry of a table ever has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle<const KIND: u32>(u32);

impl<const KIND: u32> Handle<KIND> {
    /// One that is always there.
    ///
    /// # Panics
    /// If the index has more than eight bits.
    pub const fn predefined(index: u32) -> Self {
        assert!(index >> INDEX_BITS == 0, "handles have no such bits");
        Self(KIND << KIND_SHIFT | index << TAG_BITS)
    }

    /// The handle with these bits, if it is of the kind.
    pub const fn from_raw(raw: u32) -> Option<Self> {
        let has_tag = raw & ((1 << TAG_BITS) - 1) != 0;
        match !has_tag && raw >> KIND_SHIFT & ((1 << KIND_BITS) - 1) == KIND {
            true => Some(Self(raw)),
            false => None,
        }
    }

    /// Its bits, by which [`Handles`](crate::handle) find what it is for.
    pub const fn raw(self) -> u32 {
        self.0
    }
}
