//! Bench of `hpu_memory`: its contract in plain Rust, with which every clock is compared.

use crate::bench::{Finish, Parameters};
use spinneret_sim::prelude::*;

/// Bits 31:27 of `lr.w`, as in the manual.
pub const LR: u8 = 0b00010;
/// Those of `sc.w`.
pub const SC: u8 = 0b00011;
/// Those of `amoswap.w`.
pub const SWAP: u8 = 0b00001;
/// Those of `amoadd.w`.
pub const ADD: u8 = 0b00000;
/// Those of all atomic operations.
#[rustfmt::skip]
pub const AMOS: [u8; 9] = [SWAP, ADD, 0b00100, 0b01100, 0b01000, 0b10000, 0b10100, 0b11000, 0b11100];

/// Returns what an atomic operation writes.
///
/// # Panics
/// If there is none with these bits.
pub fn new_word(function: u8, old: u32, operand: u32) -> u32 {
    let signed = |word: u32| word as i32;
    match function {
        0b00001 => operand,
        0b00000 => old.wrapping_add(operand),
        0b00100 => old ^ operand,
        0b01100 => old & operand,
        0b01000 => old | operand,
        0b10000 => signed(old).min(signed(operand)) as u32,
        0b10100 => signed(old).max(signed(operand)) as u32,
        0b11000 => old.min(operand),
        0b11100 => old.max(operand),
        _ => panic!("{function:#07b} is no atomic operation"),
    }
}

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A load.
    Load,
    /// A store of the bytes that a strobe selects.
    Store(u8),
    /// The atomic instruction with these bits 31:27.
    Atomic(u8),
}

impl Kind {
    fn strobe(self) -> u8 {
        match self {
            Self::Store(strobe) => strobe,
            Self::Load | Self::Atomic(_) => 15,
        }
    }
}

/// An offer of an access.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Its thread; 0 for the host.
    pub thread: usize,
    /// The kind of access.
    pub kind: Kind,
    /// Byte address; for the host the number of the word.
    pub address: u32,
    /// Word to write, or operand.
    pub data: u32,
}

/// The inputs of a clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Offer of the pipeline.
    pub pipeline: Option<Offer>,
    /// Offer of the host.
    pub host: Option<Offer>,
    /// Thread that traps.
    pub trap: Option<usize>,
}

/// The outputs of a clock, and the words of the next one that it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// The pipeline's offer is taken, unless it is refused.
    pub ready: bool,
    /// The pipeline makes an offer, which is refused.
    pub refused: bool,
    /// The host's offer is taken.
    pub host_ready: bool,
    /// Word for the pipeline, if its offer was taken.
    pub read: Option<u32>,
    /// Word for the host, if its offer was taken.
    pub host_read: Option<u32>,
}

/// Memory and reservations by the contract. An atomic operation is done at once, as no access takes place before it has ended.
#[derive(Debug)]
pub struct Reference {
    /// Address of word 0.
    pub base: u32,
    /// Contents.
    pub words: Vec<u32>,
    /// The word that each thread has reserved.
    pub reserved: Vec<Option<usize>>,
    /// Clocks in which nothing is taken.
    pub closed: usize,
}

impl Reference {
    fn write(&mut self, thread: Option<usize>, word: usize, value: u32) {
        self.words[word] = value;
        for (number, reserved) in self.reserved.iter_mut().enumerate() {
            if *reserved == Some(word) && thread != Some(number) {
                *reserved = None;
            }
        }
    }

    /// An access that takes place, and what it reads; the host is no thread.
    fn access(&mut self, thread: Option<usize>, word: usize, kind: Kind, data: u32) -> u32 {
        let old = self.words[word];
        match (kind, thread) {
            (Kind::Load, _) => {}
            (Kind::Store(strobe), _) => {
                let bytes = (0..4).filter(|byte| strobe >> byte & 1 == 1);
                let mask = bytes.fold(0, |mask, byte| mask | 0xff << (8 * byte));
                self.write(thread, word, old & !mask | data & mask);
            }
            (Kind::Atomic(LR), Some(number)) => self.reserved[number] = Some(word),
            (Kind::Atomic(SC), Some(number)) => {
                let stores = self.reserved[number].take() == Some(word);
                if stores {
                    self.write(thread, word, data);
                    self.closed = 2;
                }
                return u32::from(!stores);
            }
            (Kind::Atomic(function), _) => {
                self.write(thread, word, new_word(function, old, data));
                self.closed = 2;
            }
        }
        old
    }

    fn clock(&mut self, inputs: Inputs) -> Outputs {
        let ready = self.closed == 0;
        self.closed = self.closed.saturating_sub(1);
        let place = |offer: Offer| {
            let word = offer.address.wrapping_sub(self.base) as usize / 4;
            (word < self.words.len()).then_some(word)
        };
        let place = inputs.pipeline.map(place);
        let host_ready = ready && inputs.pipeline.is_none();
        let taken = inputs.pipeline.zip(place.flatten()).filter(|_| ready);
        let served = inputs.host.filter(|_| host_ready);
        let outputs = Outputs {
            ready,
            refused: place == Some(None),
            host_ready,
            read: taken.map(|(o, word)| self.access(Some(o.thread), word, o.kind, o.data)),
            host_read: served.map(|o| self.access(None, o.address as usize, o.kind, o.data)),
        };
        if let Some(thread) = inputs.trap {
            self.reserved[thread] = None;
        }
        outputs
    }
}

/// The memory, and its model.
#[derive(Debug)]
pub struct Bench<M: Model> {
    sim: Simulation<M>,
    /// The model.
    pub reference: Reference,
}

impl<M: Model> Finish for Bench<M> {}

impl<M: Model> Bench<M> {
    /// A memory that the host has filled with random words.
    pub fn new(run: &mut TestRun) -> Self {
        let parameters = Parameters::of::<M>();
        let mut rng = run.rng("contents");
        let reference = Reference {
            base: parameters.get("base") as u32,
            words: vec![0; parameters.get("words") as usize],
            reserved: vec![None; parameters.get("threads") as usize],
            closed: 0,
        };
        let sim = run.simulation::<M>();
        let mut bench = Self { sim, reference };
        bench.sim.reset();
        for word in 0..bench.reference.words.len() {
            // The word that this reads is undefined.
            let data = rng.random();
            bench.drive(bench.host_offer(word, Kind::Store(15), data));
            bench.sim.cycle();
            bench.reference.words[word] = data;
        }
        bench
    }

    /// Resets the memory. The model's words stay as they are.
    pub fn reset(&mut self) {
        self.drive(Inputs::default());
        self.sim.reset();
        self.reference.reserved.fill(None);
        self.reference.closed = 0;
    }

    fn drive(&mut self, inputs: Inputs) {
        let sim = &mut self.sim;
        sim.set("s_valid", inputs.pipeline.is_some());
        if let Some(offer) = inputs.pipeline {
            let atomic = match offer.kind {
                Kind::Atomic(function) => 0x20 | function,
                Kind::Load | Kind::Store(_) => 0,
            };
            sim.set("s_thread", offer.thread as u64);
            sim.set("s_address", offer.address);
            sim.set("s_is_write", matches!(offer.kind, Kind::Store(_)));
            sim.set("s_atomic", atomic);
            sim.set("s_strobe", offer.kind.strobe());
            sim.set("s_data", offer.data);
        }
        sim.set("host_valid", inputs.host.is_some());
        if let Some(offer) = inputs.host {
            sim.set("host_is_write", offer.kind != Kind::Load);
            sim.set("host_address", offer.address);
            sim.set("host_strobe", offer.kind.strobe());
            sim.set("host_data", offer.data);
        }
        sim.set("trap", inputs.trap.is_some());
        sim.set("trap_thread", inputs.trap.unwrap_or(0) as u64);
    }

    /// Simulates a clock, and compares it with the model.
    ///
    /// # Panics
    /// At a difference.
    pub fn clock(&mut self, inputs: Inputs) -> Outputs {
        self.drive(inputs);
        self.sim.dut.eval();
        let high = |port| self.sim.get(port) == 1;
        let [ready, refused, host_ready] = ["s_ready", "s_refused", "host_ready"].map(high);
        let refused = refused && inputs.pipeline.is_some();
        self.sim.cycle();
        let word = |port, is_there: bool| is_there.then(|| self.sim.get(port) as u32);
        let outputs = Outputs {
            ready,
            refused,
            host_ready,
            read: word("s_read_data", inputs.pipeline.is_some() && ready && !refused),
            host_read: word("host_read_data", inputs.host.is_some() && host_ready),
        };
        let expected = self.reference.clock(inputs);
        let difference = || format!("{outputs:x?} where the model has {expected:x?}, of {inputs:x?}");
        let is_same = (outputs == expected).then_some(());
        self.sim.expect(is_same.ok_or_else(difference));
        outputs
    }

    /// Returns the inputs of a clock with an offer of a thread.
    pub fn offer(&self, thread: usize, word: usize, kind: Kind, data: u32) -> Inputs {
        let address = self.reference.base + 4 * word as u32;
        let offer = Offer {
            thread,
            kind,
            address,
            data,
        };
        Inputs {
            pipeline: Some(offer),
            ..Inputs::default()
        }
    }

    /// Returns the inputs of a clock with an offer of the host.
    pub fn host_offer(&self, word: usize, kind: Kind, data: u32) -> Inputs {
        let offer = Offer {
            thread: 0,
            kind,
            address: word as u32,
            data,
        };
        Inputs {
            host: Some(offer),
            ..Inputs::default()
        }
    }

    /// Offers an access of a thread until it is taken, and returns what it reads.
    pub fn access(&mut self, thread: usize, word: usize, kind: Kind, data: u32) -> u32 {
        let inputs = self.offer(thread, word, kind, data);
        loop {
            if let Some(read) = self.clock(inputs).read {
                return read;
            }
        }
    }

    /// A load.
    pub fn load(&mut self, word: usize) -> u32 {
        self.access(0, word, Kind::Load, 0)
    }

    /// A store of a whole word; returns the word before it.
    pub fn store(&mut self, thread: usize, word: usize, data: u32) -> u32 {
        self.access(thread, word, Kind::Store(15), data)
    }

    /// An atomic instruction.
    pub fn atomic(&mut self, thread: usize, word: usize, function: u8, data: u32) -> u32 {
        self.access(thread, word, Kind::Atomic(function), data)
    }

    /// An access of the host.
    pub fn host(&mut self, word: usize, kind: Kind, data: u32) -> u32 {
        let inputs = self.host_offer(word, kind, data);
        loop {
            if let Some(read) = self.clock(inputs).host_read {
                return read;
            }
        }
    }

    /// Returns whether the thread has reserved the word; it has not afterwards, and the word may be 0.
    pub fn takes_reservation(&mut self, thread: usize, word: usize) -> bool {
        self.atomic(thread, word, SC, 0) == 0
    }
}
