//! Who has which part of the cluster's memory.

use spinneret_regmap::CONTEXTS;
use spinneret_regmap::pspin::{HANDLER_BASE, HANDLER_BYTES, L1_BYTES, L1_SCRATCHPADS};

/// Memory is given out in units of a line.
const LINE: u32 = 64;

/// A part of memory: its first byte and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) start: u32,
    pub(crate) bytes: u32,
}

impl Part {
    fn end(self) -> u32 {
        self.start + self.bytes
    }
}

/// L2 handler memory that a program leaves to its contexts.
pub(crate) fn handler_memory(free: u32) -> Part {
    Part {
        start: free,
        bytes: HANDLER_BASE + HANDLER_BYTES - free,
    }
}

/// Offsets of scratchpads in L1.
pub(crate) fn scratchpads() -> Part {
    Part {
        start: L1_SCRATCHPADS,
        bytes: L1_BYTES - L1_SCRATCHPADS,
    }
}

/// What each context gets of it if all get the same.
pub(crate) fn share(whole: Part) -> u32 {
    whole.bytes / CONTEXTS / LINE * LINE
}

/// The first place where so many bytes are free.
pub(crate) fn place(whole: Part, taken: impl Iterator<Item = Part>, bytes: u32) -> Option<Part> {
    let bytes = bytes.checked_next_multiple_of(LINE)?;
    let mut taken: Vec<Part> = taken.collect();
    taken.sort_unstable_by_key(|part| part.start);
    let mut start = whole.start;
    for part in taken {
        if part.start.saturating_sub(start) >= bytes {
            break;
        }
        start = start.max(part.end());
    }
    (bytes <= whole.end().saturating_sub(start)).then_some(Part { start, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Part = Part {
        start: 0x1000,
        bytes: 0x400,
    };

    fn at(start: u32, bytes: u32) -> Part {
        Part { start, bytes }
    }

    #[test]
    fn four_contexts_get_the_same() {
        assert_eq!(share(WHOLE), 0x100);
        let mut taken = Vec::new();
        for number in 0..4 {
            let part = place(WHOLE, taken.iter().copied(), 0x100).expect("there is room");
            assert_eq!(part, at(0x1000 + 0x100 * number, 0x100));
            taken.push(part);
        }
        assert_eq!(place(WHOLE, taken.iter().copied(), 1), None);
    }

    #[test]
    fn a_gap_is_used_if_it_is_large_enough() {
        let taken = [at(0x1200, 0x40), at(0x1000, 0x80)];
        assert_eq!(place(WHOLE, taken.into_iter(), 0x180), Some(at(0x1080, 0x180)));
        assert_eq!(place(WHOLE, taken.into_iter(), 0x181), Some(at(0x1240, 0x1c0)));
        assert_eq!(place(WHOLE, taken.into_iter(), 0x1c1), None);
        assert_eq!(place(WHOLE, taken.into_iter(), u32::MAX), None);
    }
}
