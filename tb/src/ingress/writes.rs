//! Follows the bursts into the packet buffer: which packet's use of a slot they belong to, and who has the slot.

use super::setup::Setup;
use super::slots::{Slot, SlotMap};
use spinneret_sim::axi::{BurstKind, Response, SlaveBurst};
use std::collections::{HashMap, VecDeque};

/// A packet in a slot: from the first burst at the slot's start to the next such burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) slot: Slot,
    /// Whether a burst was refused.
    pub(super) error: bool,
    /// Bytes that strobes named.
    pub(super) bytes: u64,
    /// Bursts of all packets up to its last one.
    last_burst: u64,
}

/// What is known about a slot.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Number of the latest use.
    number: u64,
    /// Address at which its next burst starts.
    next: u64,
    /// Whether the cluster has it.
    live: bool,
}

/// The uses of all slots in the order in which they began, which is the order of the packets.
#[derive(Debug)]
pub(super) struct SlotUses {
    map: SlotMap,
    beat_bytes: u64,
    slots: HashMap<Slot, State>,
    /// Uses that no HER and no later HER has settled, the first with the number below.
    open: VecDeque<Use>,
    first: u64,
    bursts: u64,
    live: usize,
    /// Uses in which a burst was refused.
    pub(super) errors: u64,
}

impl SlotUses {
    /// No slot is in use.
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            map: setup.slots,
            beat_bytes: setup.beat_bytes as u64,
            slots: HashMap::new(),
            open: VecDeque::new(),
            first: 0,
            bursts: 0,
            live: 0,
            errors: 0,
        }
    }

    /// A burst was written, or refused.
    pub(super) fn burst(&mut self, written: &SlaveBurst) -> Result<(), String> {
        let burst = &written.burst;
        let wrong = |what: &str| Err(format!("{what}: {burst:x?}"));
        let Some(slot) = self.map.around(burst.address) else {
            return wrong("a burst outside of the packet buffer");
        };
        let end = burst.address + burst.beats * burst.size;
        if end > self.map.end(slot) {
            return wrong("a burst beyond the end of its slot");
        }
        if burst.kind != BurstKind::Incrementing || burst.size != self.beat_bytes || burst.id != 0 {
            return wrong("a burst that is not INCR of whole beats with id 0");
        }
        self.bursts += 1;
        let state = self.slots.get(&slot).copied();
        if state.is_some_and(|state| state.live) {
            return wrong("a burst into a slot that the cluster has");
        }
        let number = if burst.address == slot.address {
            self.begin(slot)
        } else if let Some(state) = state.filter(|state| state.next == burst.address) {
            state.number
        } else {
            return wrong("a burst that continues no packet");
        };
        let state = State {
            number,
            next: end,
            live: false,
        };
        self.slots.insert(slot, state);
        let Some(open) = number
            .checked_sub(self.first)
            .and_then(|n| self.open.get_mut(n as usize))
        else {
            return wrong("a burst of a packet behind which others are complete already");
        };
        let error = written.response != Response::Okay;
        self.errors += u64::from(error && !open.error);
        open.error |= error;
        open.bytes += written.bytes;
        open.last_burst = self.bursts;
        Ok(())
    }

    fn begin(&mut self, slot: Slot) -> u64 {
        self.open.push_back(Use {
            slot,
            error: false,
            bytes: 0,
            last_burst: 0,
        });
        self.first + self.open.len() as u64 - 1
    }

    /// A HER hands a slot to the cluster: its use, behind those that failed before it. `answered` is the
    /// number of write responses so far.
    pub(super) fn hand_over(
        &mut self,
        address: u64,
        answered: u64,
        mut failed: impl FnMut(Use),
    ) -> Result<Use, String> {
        let slot = self
            .map
            .at(address)
            .ok_or_else(|| format!("a HER for {address:#x}, where no slot starts"))?;
        let state = self.slots.get_mut(&slot);
        let state = state.ok_or_else(|| format!("a HER for {address:#x}, where nothing was written"))?;
        if state.live {
            return Err(format!("a HER for {address:#x}, which the cluster has already"));
        }
        let Some(index) = state.number.checked_sub(self.first) else {
            return Err(format!(
                "a HER for {address:#x} out of order, or for a packet that failed"
            ));
        };
        state.live = true;
        self.live += 1;
        self.open.drain(..index as usize).for_each(&mut failed);
        self.first += index + 1;
        let done = self.open.pop_front().ok_or("the uses of slots are out of step")?;
        if done.error {
            return Err(format!("a HER for {address:#x}, where a write was refused"));
        }
        if done.last_burst > answered {
            return Err(format!(
                "a HER for {address:#x} before its last write was answered"
            ));
        }
        Ok(done)
    }

    /// The path took a free of a slot; whether the cluster had it.
    pub(super) fn free(&mut self, slot: Slot) -> bool {
        let state = self.slots.get_mut(&slot).filter(|state| state.live);
        let had = state.map(|state| state.live = false).is_some();
        self.live -= usize::from(had);
        had
    }

    /// The uses that are left when nothing is under way: they have failed.
    pub(super) fn take_failed(&mut self) -> impl Iterator<Item = Use> {
        self.first += self.open.len() as u64;
        self.open.drain(..)
    }

    /// Slots that the cluster has.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// Forgets everything but the number of bursts, which the slave does not start anew either.
    pub(super) fn reset(&mut self, answered: u64) {
        self.slots.clear();
        self.open.clear();
        (self.first, self.bursts) = (0, answered);
        (self.live, self.errors) = (0, 0);
    }
}
