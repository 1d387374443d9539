//! The tables that handles name entries of.

use super::{INDEX_BITS, KIND_BITS, KIND_SHIFT, MOST, TAG_BITS};

const GENERATION_SHIFT: u32 = KIND_SHIFT + KIND_BITS;
const LAST_GENERATION: u32 = (1 << (u32::BITS - GENERATION_SHIFT)) - 1;

/// Entries of one kind, by handle.
#[derive(Debug)]
pub struct Handles<T> {
    kind: u32,
    most: usize,
    entries: Vec<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    /// That of the thing which is there, or of the one that was.
    generation: u32,
    thing: Option<T>,
}

impl<T> Handles<T> {
    /// A table for at most so many things. The kind tells its handles from those of other tables.
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
