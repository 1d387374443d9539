//! Who has which part of a memory.

use std::collections::BTreeMap;

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

    /// The first place where so many bytes are free, which are taken then.
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
    fn parts_are_apart_and_come_back() {
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
