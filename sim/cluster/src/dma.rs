//! Copies between L1 and L2 that a handler asks for.

use crate::memory::Memory;
use crate::rv::DecodeCache;
use crate::timing::{BEAT_BYTES, Timing};
use spinneret_regmap::pspin::{PROGRAM_BASE, PROGRAM_BYTES, dma as register};
use std::collections::VecDeque;

/// A copy that is under way.
#[derive(Clone, Copy, Debug)]
struct Copy {
    source: u32,
    destination: u32,
    bytes: u32,
    /// When it is done.
    at: u64,
}

/// One HPU's part of the copy engine: copies are done one after another, in the order of their start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dma {
    source: u32,
    destination: u32,
    bytes: u32,
    started: u32,
    done: u32,
    copies: VecDeque<Copy>,
    /// Copies to or from where no memory is; they do nothing.
    pub(crate) refused: u64,
}

impl Dma {
    /// Whether nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.copies.is_empty()
    }

    /// When the next copy is done.
    pub(crate) fn next(&self) -> Option<u64> {
        self.copies.front().map(|copy| copy.at)
    }

    /// Does the copies whose time has come.
    pub(crate) fn advance(&mut self, now: u64, memory: &mut Memory, decoded: &mut DecodeCache) {
        while let Some(copy) = self.copies.front().copied().filter(|copy| copy.at <= now) {
            self.copies.pop_front();
            self.done = self.done.wrapping_add(1);
            let there = memory.copy(copy.source, copy.destination, copy.bytes);
            self.refused += u64::from(!there);
            if copy.destination.wrapping_sub(PROGRAM_BASE) < PROGRAM_BYTES {
                decoded.invalidate(copy.destination, copy.bytes);
            }
        }
    }

    /// The copy that a read of this register would start, as {source, destination, bytes}.
    pub(crate) fn would_start(&self, offset: u32) -> Option<(u32, u32, u32)> {
        (offset == register::START).then_some((self.source, self.destination, self.bytes))
    }

    /// A read of a register; nothing if there is none.
    pub(crate) fn read(
        &mut self,
        offset: u32,
        now: u64,
        timing: &Timing,
        memory: &mut Memory,
        decoded: &mut DecodeCache,
    ) -> Option<u32> {
        Some(match offset {
            register::SOURCE => self.source,
            register::DESTINATION => self.destination,
            register::BYTES => self.bytes,
            register::START => {
                let begins = self.copies.back().map_or(now, |copy| copy.at.max(now));
                self.copies.push_back(Copy {
                    source: self.source,
                    destination: self.destination,
                    bytes: self.bytes,
                    at: begins + timing.copy + u64::from(self.bytes.div_ceil(BEAT_BYTES)),
                });
                self.started = self.started.wrapping_add(1);
                self.started
            }
            register::DONE => {
                self.advance(now, memory, decoded);
                self.done
            }
            _ => return None,
        })
    }

    /// A write of a register; nothing if it cannot be written.
    pub(crate) fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        match offset {
            register::SOURCE => self.source = value,
            register::DESTINATION => self.destination = value,
            register::BYTES => self.bytes = value,
            _ => return None,
        }
        Some(())
    }
}
