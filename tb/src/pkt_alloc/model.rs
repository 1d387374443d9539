//! The contract of the allocator, cycle by cycle.

use std::collections::{HashMap, VecDeque};

/// Cycles from judging a free, or from filling in a slot after reset, until the slot can be given out.
const RETURN_LATENCY: u64 = 4;
/// Cycles from filling in the last slot after reset until packets are taken.
const FILL_LATENCY: u64 = 3;
/// Descriptors that wait at the output, and packets that wait at the input of a stalling allocator.
const PLACES: usize = 2;

/// Slots of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Address of the first one.
    pub base: u64,
    /// Bytes of each.
    pub size: u64,
    /// How many there are.
    pub count: u64,
}

impl Slots {
    /// Address of a slot.
    pub fn address(self, number: u64) -> u64 {
        self.base + number * self.size
    }

    fn number(self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.base)?;
        (offset % self.size == 0 && offset / self.size < self.count).then(|| offset / self.size)
    }
}

/// What the allocator was made with.
#[derive(Clone, Copy, Debug)]
pub struct AllocParams {
    /// Large slots.
    pub large: Slots,
    /// Small slots.
    pub small: Slots,
    /// Whether a packet waits for a slot.
    pub stall: bool,
    /// Cycles from taking a free to judging it.
    pub free_latency: u64,
}

/// A packet: tag and length in bytes.
pub type Packet = (u64, u64);

/// What the allocator says about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Address of the slot, 0 if the packet is dropped.
    pub address: u64,
    /// Length of the packet in bytes.
    pub length: u64,
    /// Tag of the packet.
    pub tag: u64,
    /// Whether the packet is dropped.
    pub drop: bool,
}

/// What the allocator counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets longer than a large slot.
    pub oversize: u64,
    /// Packets for which no slot was free.
    pub no_slot: u64,
    /// Frees of an address at which no slot starts.
    pub no_start: u64,
    /// Frees of a slot that was not out.
    pub not_out: u64,
    /// Frees before all slots were in their lists.
    pub early: u64,
}

/// One class of slots.
#[derive(Clone, Debug)]
pub(super) struct List {
    slots: Slots,
    /// Free slots with the cycle from which they can be given out.
    free: VecDeque<(u64, u64)>,
    /// Slots that are out, with the cycle in which they were given out.
    out: HashMap<u64, u64>,
    /// Slots that are out, as the output says two cycles late, and the most there were, three cycles late.
    pub(super) used: u64,
    pub(super) peak: u64,
}

impl List {
    fn new(slots: Slots) -> Self {
        Self {
            slots,
            free: (0..slots.count)
                .map(|number| (number, number + RETURN_LATENCY))
                .collect(),
            out: HashMap::new(),
            used: 0,
            peak: 0,
        }
    }

    fn has_slot(&self, cycle: u64) -> bool {
        self.free.front().is_some_and(|(_, from)| *from <= cycle)
    }

    fn give(&mut self, cycle: u64) -> u64 {
        let (number, _) = self.free.pop_front().expect("the caller has looked");
        self.out.insert(number, cycle);
        self.slots.address(number)
    }

    /// Whether the slot was out.
    fn take_back(&mut self, number: u64, cycle: u64) -> bool {
        let was_out = self.out.get(&number).is_some_and(|given| given + 2 <= cycle);
        if was_out {
            self.out.remove(&number);
            self.free.push_back((number, cycle + RETURN_LATENCY));
        }
        was_out
    }

    /// Free and given slots together are all slots.
    fn is_whole(&self) -> bool {
        (self.free.len() + self.out.len()) as u64 == self.slots.count
    }
}

/// The state of the allocator.
#[derive(Clone, Debug)]
pub(super) struct AllocModel {
    params: AllocParams,
    cycle: u64,
    pub(super) large: List,
    pub(super) small: List,
    /// Packets in front of the decision, in a stalling allocator.
    waiting: VecDeque<Packet>,
    pub(super) descriptors: VecDeque<Descriptor>,
    /// Frees on their way: cycle in which they are judged, address, whether they came early.
    frees: VecDeque<(u64, u64, bool)>,
    counts: Counts,
    /// The counters as the outputs say: two cycles late.
    late: [Counts; 2],
}

impl AllocModel {
    pub(super) fn new(params: AllocParams) -> Self {
        Self {
            params,
            cycle: 0,
            large: List::new(params.large),
            small: List::new(params.small),
            waiting: VecDeque::new(),
            descriptors: VecDeque::new(),
            frees: VecDeque::new(),
            counts: Counts::default(),
            late: [Counts::default(); 2],
        }
    }

    pub(super) fn reset(&mut self) {
        *self = Self::new(self.params);
    }

    fn is_open(&self) -> bool {
        self.cycle >= self.params.large.count.max(self.params.small.count) + FILL_LATENCY
    }

    pub(super) fn packet_ready(&self) -> bool {
        let waiting = if self.params.stall {
            self.waiting.len()
        } else {
            self.descriptors.len()
        };
        self.is_open() && waiting < PLACES
    }

    pub(super) fn free_ready(&self) -> bool {
        self.cycle > 0
    }

    pub(super) fn counts(&self) -> Counts {
        self.late[1]
    }

    /// The rising edge, with what is offered to the allocator in this cycle.
    pub(super) fn step(&mut self, packet: Option<Packet>, free: Option<u64>, write_ready: bool) {
        let packet = packet.filter(|_| self.packet_ready());
        let counted = self.counts;
        let used = [self.large.out.len(), self.small.out.len()];
        let room = self.descriptors.len() < PLACES;
        let candidate = if self.params.stall {
            self.waiting.front().copied()
        } else {
            packet
        };
        // Both see the state before this edge: a free never serves a packet of the same cycle.
        let descriptor = candidate.filter(|_| room).and_then(|packet| self.decide(packet));
        self.judge();
        if write_ready {
            self.descriptors.pop_front();
        }
        if self.params.stall {
            if descriptor.is_some() {
                self.waiting.pop_front();
            }
            self.waiting.extend(packet);
        }
        self.descriptors.extend(descriptor);
        if let Some(address) = free.filter(|_| self.free_ready()) {
            let judged = self.cycle + self.params.free_latency;
            self.frees.push_back((judged, address, !self.is_open()));
        }
        for (list, used) in [&mut self.large, &mut self.small].into_iter().zip(used) {
            list.peak = list.peak.max(list.used);
            list.used = used as u64;
            assert!(list.is_whole(), "the reference model itself loses slots");
        }
        self.late = [self.counts, counted];
        self.cycle += 1;
    }

    /// The descriptor of a packet; none if it waits.
    fn decide(&mut self, (tag, length): Packet) -> Option<Descriptor> {
        let AllocParams { large, small, .. } = self.params;
        let address = if length <= small.size && self.small.has_slot(self.cycle) {
            Some(self.small.give(self.cycle))
        } else if length <= large.size && self.large.has_slot(self.cycle) {
            Some(self.large.give(self.cycle))
        } else if length > large.size {
            self.counts.oversize += 1;
            None
        } else if self.params.stall {
            return None;
        } else {
            self.counts.no_slot += 1;
            None
        };
        Some(Descriptor {
            address: address.unwrap_or(0),
            length,
            tag,
            drop: address.is_none(),
        })
    }

    fn judge(&mut self) {
        let Some((_, address, early)) = self.frees.pop_front_if(|(cycle, ..)| *cycle == self.cycle) else {
            return;
        };
        let large = self.params.large.number(address);
        let small = self.params.small.number(address);
        if early {
            self.counts.early += 1;
            return;
        }
        let done = match (large, small) {
            (Some(number), _) => self.large.take_back(number, self.cycle),
            (None, Some(number)) => self.small.take_back(number, self.cycle),
            (None, None) => {
                self.counts.no_start += 1;
                return;
            }
        };
        if !done {
            self.counts.not_out += 1;
        }
    }
}
