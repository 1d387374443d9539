//! The allocator between a driver and its reference model, which predicts every output in every cycle.

mod checker;
mod model;

pub use model::{AllocParams, Counts, Descriptor, Packet, Slots};

use crate::reference;
use checker::Checker;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// No test here takes longer.
const CYCLE_LIMIT: u64 = 10_000_000;

/// How often something happens, in percent of the cycles.
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
    /// Descriptors that came out and were not looked at.
    pub descriptors: VecDeque<Descriptor>,
    /// Packets that wait to be sent.
    pub packets: VecDeque<Packet>,
    /// Addresses that wait to be freed.
    pub frees: VecDeque<u64>,
    params: AllocParams,
    checker: Rc<RefCell<Checker>>,
    sent: u64,
    received: u64,
}

impl<M: Model> AllocBench<M> {
    /// Puts a driver and the reference model around an allocator, and resets it.
    pub fn new(mut sim: Simulation<M>, params: AllocParams) -> Self {
        sim.set_cycle_limit(CYCLE_LIMIT);
        let checker = reference::attach(&mut sim, Checker::new(params));
        let mut bench = Self {
            sim,
            descriptors: VecDeque::new(),
            packets: VecDeque::new(),
            frees: VecDeque::new(),
            params,
            checker,
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
        let moved = self.checker.borrow().moved;
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
        while !self.checker.borrow().model.packet_ready() {
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

    /// What the allocator has counted; the outputs are compared with it in every cycle.
    pub fn counts(&self) -> Counts {
        self.checker.borrow().model.counts()
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

    /// Ends the test.
    ///
    /// # Panics
    /// If something waits to be sent or looked at.
    pub fn finish(self) {
        assert!(self.packets.is_empty(), "{} packets left", self.packets.len());
        assert!(self.frees.is_empty(), "{} frees left", self.frees.len());
        assert!(
            self.descriptors.is_empty(),
            "{} descriptors left",
            self.descriptors.len()
        );
        self.sim.finish();
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
