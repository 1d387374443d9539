//! The allocator between a driver and its reference model, which predicts every output in every cycle.

use crate::bench::Finish;
use crate::reference::{self, Pins, Reference};
use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Limit for the cycles of a test.
const CYCLE_LIMIT: u64 = 10_000_000;
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
    /// Number of slots.
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

/// Parameters of the allocator.
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

/// The allocator's answer for a packet.
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

/// Counters of the allocator.
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
struct List {
    slots: Slots,
    /// Free slots with the cycle from which they can be given out.
    free: VecDeque<(u64, u64)>,
    /// Slots that are out, with the cycle in which they were given out.
    out: HashMap<u64, u64>,
    /// Slots that are out, as the output says two cycles late, and the most there were, three cycles late.
    used: u64,
    peak: u64,
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

    /// Returns whether the slot was in use.
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

/// Transfers of a cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    packet: bool,
    free: bool,
    descriptor: Option<Descriptor>,
}

/// The state of the allocator.
#[derive(Clone, Debug)]
struct AllocModel {
    params: AllocParams,
    cycle: u64,
    large: List,
    small: List,
    /// Packets before the decision, in a stalling allocator.
    waiting: VecDeque<Packet>,
    descriptors: VecDeque<Descriptor>,
    /// Frees on their way: cycle in which they are due, address, whether they came early.
    frees: VecDeque<(u64, u64, bool)>,
    counts: Counts,
    /// The counters as the outputs say: two cycles late.
    late: [Counts; 2],
    /// Transfers of the last cycle.
    moved: Moved,
}

impl AllocModel {
    fn new(params: AllocParams) -> Self {
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
            moved: Moved::default(),
        }
    }

    fn is_open(&self) -> bool {
        self.cycle >= self.params.large.count.max(self.params.small.count) + FILL_LATENCY
    }

    fn packet_ready(&self) -> bool {
        let waiting = if self.params.stall {
            self.waiting.len()
        } else {
            self.descriptors.len()
        };
        self.is_open() && waiting < PLACES
    }

    fn free_ready(&self) -> bool {
        self.cycle > 0
    }

    fn counts(&self) -> Counts {
        self.late[1]
    }

    /// The rising edge, with what is offered to the allocator in this cycle.
    fn advance(&mut self, packet: Option<Packet>, free: Option<u64>, write_ready: bool) {
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
        self.apply_free();
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
            let due = self.cycle + self.params.free_latency;
            self.frees.push_back((due, address, !self.is_open()));
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

    fn apply_free(&mut self) {
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

impl Reference for AllocModel {
    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        let counts = self.counts();
        let descriptor = self.descriptors.front();
        for (name, expected) in [
            ("pkt_ready_o", self.packet_ready().into()),
            ("feedback_ready_o", self.free_ready().into()),
            ("write_valid_o", descriptor.is_some().into()),
            ("dropped_pkts_o", counts.oversize + counts.no_slot),
            ("dropped_oversize_o", counts.oversize),
            ("dropped_no_slot_o", counts.no_slot),
            ("refused_no_start_o", counts.no_start),
            ("refused_not_out_o", counts.not_out),
            ("refused_early_o", counts.early),
            ("large_used_o", self.large.used),
            ("large_peak_o", self.large.peak),
            ("small_used_o", self.small.used),
            ("small_peak_o", self.small.peak),
        ] {
            pins.expect(name, expected)?;
        }
        let Some(descriptor) = descriptor else {
            return Ok(());
        };
        pins.expect("write_addr_o", descriptor.address)?;
        pins.expect("write_len_o", descriptor.length)?;
        pins.expect("write_tag_o", descriptor.tag)?;
        pins.expect("write_drop_o", descriptor.drop)
    }

    /// The design may still work at the end of a reset, but neither takes nor gives anything.
    fn check_reset(&self, pins: Pins<'_>) -> Result<(), String> {
        let outputs = ["pkt_ready_o", "feedback_ready_o", "write_valid_o"];
        outputs.iter().try_for_each(|name| pins.expect(name, false))
    }

    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let packet = (pins.value("pkt_tag_i"), pins.value("pkt_len_i"));
        let packet = pins.high("pkt_valid_i").then_some(packet);
        let free = pins.value("feedback_her_addr_i");
        let free = pins.high("feedback_valid_i").then_some(free);
        let ready = pins.high("write_ready_i");
        self.moved = Moved {
            packet: packet.is_some() && self.packet_ready(),
            free: free.is_some() && self.free_ready(),
            descriptor: self.descriptors.front().filter(|_| ready).copied(),
        };
        self.advance(packet, free, ready);
        Ok(())
    }

    fn reset(&mut self) {
        *self = Self::new(self.params);
    }

    fn inside(&self) -> usize {
        self.descriptors.len()
    }
}

/// Rates of events, in percent of the cycles.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// A packet is offered.
    pub packets: u32,
    /// A free is offered.
    pub frees: u32,
    /// Frees that are wrong, of all frees.
    pub bad_frees: u32,
    /// The output is ready.
    pub ready: u32,
}

/// An allocator with a driver; every output is compared in every cycle.
#[derive(Debug)]
pub struct AllocBench<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// Unread descriptors.
    pub descriptors: VecDeque<Descriptor>,
    /// Packets that wait to be sent.
    pub packets: VecDeque<Packet>,
    /// Addresses that wait to be freed.
    pub frees: VecDeque<u64>,
    params: AllocParams,
    model: Rc<RefCell<AllocModel>>,
    sent: u64,
    received: u64,
}

impl<M: Model> AllocBench<M> {
    /// Puts a driver and the reference model around an allocator, and resets it.
    pub fn new(mut sim: Simulation<M>, params: AllocParams) -> Self {
        sim.set_cycle_limit(CYCLE_LIMIT);
        let model = reference::attach(&mut sim, AllocModel::new(params));
        let mut bench = Self {
            sim,
            descriptors: VecDeque::new(),
            packets: VecDeque::new(),
            frees: VecDeque::new(),
            params,
            model,
            sent: 0,
            received: 0,
        };
        bench.reset();
        bench
    }

    /// Resets the allocator; what waits to be sent is forgotten.
    pub fn reset(&mut self) {
        self.packets.clear();
        self.frees.clear();
        self.descriptors.clear();
        (self.sent, self.received) = (0, 0);
        for name in ["pkt_valid_i", "feedback_valid_i", "write_ready_i"] {
            self.sim.set(name, 0_u64);
        }
        self.sim.reset();
    }

    /// One cycle: offers the next packet and the next free if asked to.
    pub fn cycle(&mut self, offer_packet: bool, offer_free: bool, ready: bool) {
        let packet = self.packets.front().filter(|_| offer_packet).copied();
        let free = self.frees.front().filter(|_| offer_free).copied();
        let (tag, length) = packet.unwrap_or_default();
        self.sim.set("pkt_tag_i", tag);
        self.sim.set("pkt_len_i", length);
        self.sim.set("pkt_valid_i", packet.is_some());
        self.sim.set("feedback_her_addr_i", free.unwrap_or_default());
        self.sim.set("feedback_valid_i", free.is_some());
        self.sim.set("write_ready_i", ready);
        self.sim.cycle();
        let moved = self.model.borrow().moved;
        if moved.packet {
            self.packets.pop_front();
            self.sent += 1;
        }
        if moved.free {
            self.frees.pop_front();
        }
        self.received += u64::from(moved.descriptor.is_some());
        self.descriptors.extend(moved.descriptor);
    }

    /// Cycles in which everything is offered and taken.
    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle(true, true, true);
        }
    }

    /// Runs until packets are taken; returns the number of cycles.
    pub fn open(&mut self) -> u64 {
        let mut cycles = 0;
        while !self.model.borrow().packet_ready() {
            self.cycle(false, true, true);
            cycles += 1;
        }
        cycles
    }

    /// Sends one packet and returns its descriptor.
    ///
    /// # Panics
    /// If there is none after a few cycles.
    pub fn allocate(&mut self, length: u64) -> Descriptor {
        self.packets.push_back((!length & 0xffff, length));
        for _ in 0..8 {
            self.run(1);
            if let Some(descriptor) = self.descriptors.pop_front() {
                return descriptor;
            }
        }
        panic!("a packet of {length} bytes gets no descriptor")
    }

    /// Frees an address, and waits until that has its effect.
    pub fn free(&mut self, address: u64) {
        self.frees.push_back(address);
        self.run(self.params.free_latency + 8);
    }

    /// Returns the counters, which the model compares with the outputs in every cycle.
    pub fn counts(&self) -> Counts {
        self.model.borrow().counts()
    }

    /// Random traffic; `held` are the slots that are out, from which frees are chosen.
    pub fn random(&mut self, rng: &mut ChaCha8Rng, cycles: u64, rates: Rates, held: &mut Vec<u64>) {
        for _ in 0..cycles {
            if self.packets.is_empty() && rng.random_range(0..100) < rates.packets {
                let packet = (rng.random_range(0..1 << 16), self.random_length(rng));
                self.packets.push_back(packet);
            }
            if self.frees.is_empty() && rng.random_range(0..100) < rates.frees {
                let address = self.random_free(rng, rates.bad_frees, held);
                self.frees.extend(address);
            }
            self.cycle(true, true, rng.random_range(0..100) < rates.ready);
            let given = self.descriptors.drain(..).filter(|descriptor| !descriptor.drop);
            held.extend(given.map(|descriptor| descriptor.address));
        }
    }

    /// Frees all held slots, then gives out every slot once and takes it back.
    ///
    /// # Panics
    /// If a slot was lost or is there twice.
    pub fn conserve(&mut self, held: &mut Vec<u64>) {
        // A stalling allocator may need slots for packets that still wait.
        while !self.packets.is_empty() || self.sent != self.received || !held.is_empty() {
            self.frees.extend(held.drain(..));
            self.run(1);
            let given = self.descriptors.drain(..).filter(|descriptor| !descriptor.drop);
            held.extend(given.map(|descriptor| descriptor.address));
        }
        while !self.frees.is_empty() {
            self.run(1);
        }
        self.run(self.params.free_latency + 8);
        let AllocParams { large, small, .. } = self.params;
        let mut all = Vec::new();
        for (slots, length) in [(large, large.size), (small, small.size)] {
            all.extend((0..slots.count).map(|number| slots.address(number)));
            self.packets.extend((0..slots.count).map(|tag| (tag, length)));
        }
        self.run(all.len() as u64 + 8);
        let mut given: Vec<u64> = self.descriptors.drain(..).map(|given| given.address).collect();
        given.sort_unstable();
        all.sort_unstable();
        assert_eq!(given, all, "not every slot is there once");
        self.frees.extend(all);
        while !self.frees.is_empty() {
            self.run(1);
        }
        self.run(self.params.free_latency + 8);
    }

    /// Mostly lengths at the borders of the classes.
    fn random_length(&self, rng: &mut ChaCha8Rng) -> u64 {
        let (large, small) = (self.params.large.size, self.params.small.size);
        match rng.random_range(0..12) {
            0 => rng.random_range(0..=2),
            1 => small + rng.random_range(0..3) - 1,
            2 => large + rng.random_range(0..3) - 1,
            3 => rng.random_range(large..=large + 300),
            4..=7 => rng.random_range(1..=small),
            _ => rng.random_range(1..=large),
        }
    }

    /// An address to free; a wrong one with that probability.
    fn random_free(&self, rng: &mut ChaCha8Rng, bad: u32, held: &mut Vec<u64>) -> Option<u64> {
        let AllocParams { large, small, .. } = self.params;
        let slots = if rng.random_bool(0.5) { large } else { small };
        if rng.random_range(0..100) >= bad {
            let count = held.len();
            return (count > 0).then(|| held.swap_remove(rng.random_range(0..count)));
        }
        let number = rng.random_range(0..slots.count);
        let end = small.address(small.count);
        let address = match rng.random_range(0..5) {
            // A slot that may be out by now; then it is no longer held.
            0 => slots.address(number),
            1 => slots.address(number) + rng.random_range(1..=slots.size),
            2 => end + rng.random_range(0..4) * small.size,
            3 => large.base.saturating_sub(rng.random_range(1..4) * large.size),
            _ => rng.random_range(0..2 * end),
        };
        held.retain(|other| *other != address);
        Some(address)
    }
}

impl<M: Model> Finish for AllocBench<M> {
    fn finish(self) {
        assert!(self.packets.is_empty(), "{} packets left", self.packets.len());
        assert!(self.frees.is_empty(), "{} frees left", self.frees.len());
        assert!(
            self.descriptors.is_empty(),
            "{} descriptors left",
            self.descriptors.len()
        );
        self.sim.finish();
    }
}
