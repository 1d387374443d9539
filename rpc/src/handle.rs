//! Handles: numbers that name an entry of a table. Clients get them instead of addresses, and they are valid only while
//! the entry exists.
//!
//! ```text
//!  31          14 13  10 9       2 1 0
//!  generation     kind   index     0 0
//! ```
//!
//! A handle is a multiple of 4, below 2^32 and never 0, so that it fits a pointer of 32 bits, is never null, and leaves two
//! bits to a tag.

/// Most entries of a table.
pub const MOST: usize = 1 << INDEX_BITS;

pub(crate) const TAG_BITS: u32 = 2;
const INDEX_BITS: u32 = 8;
const KIND_BITS: u32 = 4;
pub(crate) const KIND_SHIFT: u32 = TAG_BITS + INDEX_BITS;

/// A handle of a kind, as a typed service gets it: its kind is checked, but not yet whether its entry exists.
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

#[cfg(feature = "server")]
const GENERATION_SHIFT: u32 = KIND_SHIFT + KIND_BITS;
#[cfg(feature = "server")]
const LAST_GENERATION: u32 = (1 << (u32::BITS - GENERATION_SHIFT)) - 1;

/// A table of entries of one kind, by handle.
#[cfg(feature = "server")]
#[derive(Debug)]
pub struct Handles<T> {
    kind: u32,
    most: usize,
    entries: Vec<Entry<T>>,
}

#[cfg(feature = "server")]
#[derive(Debug)]
struct Entry<T> {
    /// The generation of the current or of the last entry.
    generation: u32,
    thing: Option<T>,
}

#[cfg(feature = "server")]
impl<T> Handles<T> {
    /// A table of at most `most` entries. The kind distinguishes its handles from those of other tables.
    ///
    /// # Panics
    /// If there are more than [`MOST`], or the kind has more than four bits.
    pub fn new(kind: u32, most: usize) -> Self {
        assert!(
            most <= MOST && kind >> KIND_BITS == 0,
            "handles have no such bits"
        );
        Self {
            kind,
            most,
            entries: Vec::new(),
        }
    }

    /// Whether there is room for one more.
    pub fn has_room(&self) -> bool {
        self.entries.len() < self.most || self.entries.iter().any(|entry| entry.thing.is_none())
    }

    /// Puts a thing into the table, if there is room, and gives its handle.
    pub fn insert(&mut self, thing: T) -> Option<u32> {
        if !self.has_room() {
            return None;
        }
        let free = self.entries.iter().position(|entry| entry.thing.is_none());
        let index = free.unwrap_or_else(|| {
            self.entries.push(Entry {
                generation: 0,
                thing: None,
            });
            self.entries.len() - 1
        });
        let entry = &mut self.entries[index];
        entry.generation = entry.generation % LAST_GENERATION + 1;
        entry.thing = Some(thing);
        Some(entry.generation << GENERATION_SHIFT | self.kind << KIND_SHIFT | (index as u32) << TAG_BITS)
    }

    /// The thing of a handle, if it is still there.
    pub fn get_mut(&mut self, handle: u64) -> Option<&mut T> {
        self.entry(handle)?.thing.as_mut()
    }

    /// Takes the thing of a handle out.
    pub fn remove(&mut self, handle: u64) -> Option<T> {
        self.entry(handle)?.thing.take()
    }

    fn entry(&mut self, handle: u64) -> Option<&mut Entry<T>> {
        let handle = u32::try_from(handle).ok()?;
        let kind = handle >> KIND_SHIFT & ((1 << KIND_BITS) - 1);
        let index = handle >> TAG_BITS & ((1 << INDEX_BITS) - 1);
        let has_tag = handle & ((1 << TAG_BITS) - 1) != 0;
        let entry = self.entries.get_mut(index as usize)?;
        (kind == self.kind && !has_tag && entry.generation == handle >> GENERATION_SHIFT).then_some(entry)
    }
}
