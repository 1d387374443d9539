//! The slots of the NIC: requests that handlers look for messages in, and tables of runs.

use super::error::Error;
use crate::nic::memory::{
    COMPLETION_STRIDE, COMPLETION_VALID, MAGIC, SLOTS, VERSION, common, message_id, request,
};
use spinneret_host::{Device, HandlerMemory, HostMemory};
use std::collections::BTreeMap;

/// Words of a request.
pub(super) type Words = [u32; request::SIZE / 4];

/// The state of a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The request whose words are there.
    bound: Option<usize>,
    /// A message is to come.
    is_active: bool,
    /// Its id, or that of the last one.
    id: u32,
    source: [u32; 2],
    length: u32,
    unit: u32,
}

#[derive(Debug)]
pub(super) struct Slots<D: Device> {
    memory: HandlerMemory<D>,
    tables: Area,
    slots: [Slot; SLOTS],
    generation: u32,
    words_written: u64,
}

impl<D: Device> Slots<D> {
    /// Handler memory that is needed with so much for tables.
    pub(super) fn bytes(table_bytes: u32) -> u32 {
        (Self::tables_at() + table_bytes).next_multiple_of(64)
    }

    fn tables_at() -> u32 {
        (common::SIZE + SLOTS * request::SIZE) as u32
    }

    /// Prepares handler memory; ids count from a number on.
    pub(super) fn open(memory: HandlerMemory<D>, first_id: u32) -> Result<Self, Error> {
        memory.write(0, &vec![0; Self::tables_at() as usize])?;
        memory.store(common::SLOTS as u32, SLOTS as u32)?;
        memory.store(common::VERSION as u32, VERSION)?;
        memory.store(common::MAGIC as u32, MAGIC)?;
        Ok(Self {
            tables: Area::new(Self::tables_at(), memory.len()),
            memory,
            slots: [Slot::default(); SLOTS],
            generation: first_id,
            words_written: 0,
        })
    }

    /// Takes handler memory for a table: where it will be, or nothing if there is no room.
    pub(super) fn take_table(&mut self, words: &[u32]) -> Option<u32> {
        self.tables.take(4 * words.len() as u64)
    }

    /// Writes a table to its place.
    pub(super) fn write_table(&self, start: u32, words: &[u32]) -> Result<(), Error> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(self.memory.write(start, &bytes)?)
    }

    /// Handler memory for tables that is free, not all in one place.
    pub(super) fn table_bytes_free(&self) -> u64 {
        self.tables.free()
    }

    /// Takes it away again.
    pub(super) fn free_table(&mut self, start: u32) {
        self.tables.give(start);
    }

    /// The words of a request are no longer those of any slot.
    pub(super) fn unbind(&mut self, receive: usize) {
        for slot in self.slots.iter_mut().filter(|slot| slot.bound == Some(receive)) {
            slot.bound = None;
        }
    }

    /// A free slot: the one of the request, or an unbound one, or any.
    pub(super) fn find(&self, receive: usize) -> Option<usize> {
        let free = |is_good: &dyn Fn(&Slot) -> bool| {
            let mut slots = self.slots.iter();
            slots.position(|slot| !slot.is_active && is_good(slot))
        };
        free(&|slot| slot.bound == Some(receive))
            .or_else(|| free(&|slot| slot.bound.is_none()))
            .or_else(|| free(&|_| true))
    }

    /// Lets a message come: its id. If the slot's words are those of the request already, only those are written that differ
    /// from the message before, and often that is the id alone.
    pub(super) fn arm(&mut self, number: usize, receive: usize, words: &Words) -> Result<u32, Error> {
        self.generation = self.generation.wrapping_add(1);
        let id = message_id(self.generation, number);
        let at = (common::SIZE + number * request::SIZE) as u32;
        let slot = self.slots[number];
        let field = |offset: usize| words[offset / 4];
        let source = [field(request::SOURCE), field(request::PORT)];
        let (length, unit) = (field(request::LENGTH), field(request::UNIT));
        let offsets: Vec<usize> = if slot.bound == Some(receive) {
            let groups: [(bool, &[usize]); 3] = [
                (slot.source != source, &[request::SOURCE, request::PORT]),
                (
                    slot.length != length || slot.unit != unit,
                    &[request::LENGTH, request::LAST],
                ),
                (
                    slot.unit != unit,
                    &[request::UNIT, request::UNIT_RECIPROCAL, request::UNIT_SHIFT],
                ),
            ];
            let changed = groups.iter().filter(|(has_changed, _)| *has_changed);
            changed.flat_map(|(_, offsets)| offsets.iter().copied()).collect()
        } else {
            (0..request::SIZE)
                .step_by(4)
                .filter(|offset| *offset != request::ID)
                .collect()
        };
        if !offsets.is_empty() {
            // Handlers do not copy a request while it changes.
            self.store(at + request::ID as u32, 0)?;
        }
        for offset in offsets {
            self.store(at + offset as u32, field(offset))?;
        }
        self.store(at + request::ID as u32, id)?;
        self.slots[number] = Slot {
            bound: Some(receive),
            is_active: true,
            id,
            source,
            length,
            unit,
        };
        Ok(id)
    }

    /// Whether the message of a slot is complete: its length. The slot is free then.
    pub(super) fn take(&mut self, number: usize, host: &HostMemory<D>) -> Result<Option<u32>, Error> {
        let word: u64 = host.load((number * COMPLETION_STRIDE) as u32)?;
        let (id, high) = (word as u32, (word >> 32) as u32);
        let slot = &mut self.slots[number];
        if !slot.is_active || id != slot.id || high & COMPLETION_VALID == 0 {
            return Ok(None);
        }
        slot.is_active = false;
        Ok(Some(high & !COMPLETION_VALID))
    }

    /// Words that were written for messages.
    pub(super) fn words_written(&self) -> u64 {
        self.words_written
    }

    fn store(&mut self, offset: u32, value: u32) -> Result<(), Error> {
        self.words_written += 1;
        Ok(self.memory.store(offset, value)?)
    }
}

// Allocation of memory.

/// Parts begin at multiples of this: a line, so that two buffers never share one.
const LINE: u32 = 64;

/// A memory of which parts are given out.
#[derive(Clone, Debug)]
pub(super) struct Area {
    start: u32,
    end: u32,
    /// Parts that are taken: first byte, and bytes.
    taken: BTreeMap<u32, u32>,
}

impl Area {
    /// A memory from `start` to before `end`.
    pub(super) fn new(start: u32, end: u32) -> Self {
        Self {
            start: start.next_multiple_of(LINE),
            end,
            taken: BTreeMap::new(),
        }
    }

    /// Takes the first place where that many bytes are free, and returns it.
    pub(super) fn take(&mut self, bytes: u64) -> Option<u32> {
        let bytes = u32::try_from(bytes.max(1)).ok()?.checked_next_multiple_of(LINE)?;
        let mut at = self.start;
        for (&start, &taken) in &self.taken {
            if start.saturating_sub(at) >= bytes {
                break;
            }
            at = start + taken;
        }
        if bytes > self.end.saturating_sub(at) {
            return None;
        }
        self.taken.insert(at, bytes);
        Some(at)
    }

    /// Gives a part back.
    pub(super) fn give(&mut self, start: u32) {
        self.taken.remove(&start);
    }

    /// Bytes that are free in all.
    pub(super) fn free(&self) -> u64 {
        u64::from(self.end.saturating_sub(self.start))
            - self.taken.values().map(|&bytes| u64::from(bytes)).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::Area;

    #[test]
    fn allocations_are_disjoint_and_reusable() {
        let mut area = Area::new(10, 64 * 5);
        assert_eq!(
            [area.take(1), area.take(65), area.take(64), area.take(1)],
            [Some(64), Some(128), Some(256), None]
        );
        area.give(128);
        assert_eq!(area.free(), 128);
        assert_eq!(
            [area.take(129), area.take(0), area.take(64)],
            [None, Some(128), Some(192)]
        );
        assert_eq!(area.take(u64::MAX), None);
    }
}
