//! One cluster's tasks before they are at an HPU: its packets are copied to L1.

use crate::driver::Running;
use crate::memory::Memory;
use crate::task::Task;
use crate::timing::{BEAT_BYTES, Timing};
use spinneret_regmap::pspin::{L1_PACKET_BYTES, L1_PACKETS, l1_address};
use std::collections::VecDeque;

/// Tasks that a cluster takes beside one for each HPU (`pspin_cfg_pkg.sv`, `BUFFERED_HERS_PER_CLUSTER`).
pub const BUFFERED: usize = 12;

/// A task on its way to an HPU.
#[derive(Clone, Copy, Debug)]
struct Buffered {
    task: Task,
    /// Its packet's place in L1, once it has one.
    slot: Option<usize>,
    /// When the next step can be taken.
    at: u64,
}

/// Tasks that wait for their packet or for an HPU, and the places for packets in L1.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    cluster: usize,
    waiting: VecDeque<Buffered>,
    /// Tasks that came and are not reported: those that wait, run, or have ended with a command open.
    occupied: usize,
    most: usize,
    /// Places in L1 that are free.
    slots: Vec<usize>,
    slot_bytes: u32,
    /// When the copy engine can begin with the next packet.
    engine_at: u64,
}

impl Group {
    pub(crate) fn new(cluster: usize, hpus: usize) -> Self {
        let slots = BUFFERED + hpus;
        Self {
            cluster,
            waiting: VecDeque::new(),
            occupied: 0,
            most: slots,
            slots: (0..slots).rev().collect(),
            slot_bytes: L1_PACKET_BYTES / slots as u32 / BEAT_BYTES * BEAT_BYTES,
            engine_at: 0,
        }
    }

    /// Whether another task can come.
    pub(crate) fn has_room(&self) -> bool {
        self.occupied < self.most
    }

    /// Tasks that came and are not reported.
    pub(crate) fn occupied(&self) -> usize {
        self.occupied
    }

    /// Tasks that are at no HPU.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn push(&mut self, task: Task, at: u64) {
        self.occupied += 1;
        self.waiting.push_back(Buffered { task, slot: None, at });
    }

    /// Address in L1 of a place for packets.
    pub(crate) fn address(&self, slot: usize) -> u32 {
        l1_address(self.cluster, L1_PACKETS + slot as u32 * self.slot_bytes)
    }

    /// Begins to copy the packets whose turn it is.
    pub(crate) fn copy(&mut self, now: u64, timing: &Timing, memory: &mut Memory) {
        while let Some(place) = self.waiting.iter().position(|one| one.slot.is_none()) {
            let one = self.waiting[place];
            if one.at > now || self.engine_at > now {
                return;
            }
            let Some(slot) = self.slots.pop() else { return };
            // No slot of the packet buffer is larger than a place in L1; what a HER asks for beyond is not there.
            let bytes = one.task.her.copied.min(self.slot_bytes);
            let beats = u64::from(bytes.div_ceil(BEAT_BYTES));
            memory.copy(one.task.her.address, self.address(slot), bytes);
            self.engine_at = now + beats.max(1);
            let one = &mut self.waiting[place];
            one.slot = Some(slot);
            one.at = now + timing.copy + beats + timing.assign;
        }
    }

    /// The next task whose packet is there.
    pub(crate) fn take(&mut self, now: u64) -> Option<(Task, usize)> {
        let first = self.waiting.front()?;
        let slot = first.slot.filter(|_| first.at <= now)?;
        let task = self.waiting.pop_front()?.task;
        Some((task, slot))
    }

    /// A task is over.
    pub(crate) fn release(&mut self, running: &Running) {
        self.occupied -= 1;
        self.slots.push(running.slot);
    }

    /// When something can happen, if nothing comes; nothing if it waits for an HPU or has nothing.
    pub(crate) fn next(&self, now: u64) -> Option<u64> {
        let copies = self.waiting.iter().find(|one| one.slot.is_none());
        let copies = copies
            .filter(|_| !self.slots.is_empty())
            .map(|one| one.at.max(self.engine_at));
        let first = self.waiting.front().filter(|one| one.slot.is_some());
        let first = first.map(|one| one.at).filter(|at| *at > now);
        copies.into_iter().chain(first).min()
    }
}
