//! `cluster_l1` between a model of every clock and its inputs.

use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters};
use spinneret_tb::hpu_memory::{Kind, LR, SC, new_word};

/// Words of a line.
pub(super) const WORDS: usize = 16;
/// Threads of a pipeline.
pub(super) const THREADS: usize = 4;

/// An offer of a pipeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) thread: usize,
    pub(super) word: usize,
    pub(super) kind: Kind,
    pub(super) data: u32,
    pub(super) is_here: bool,
}

pub(super) fn offer(thread: usize, word: usize, kind: Kind, data: u32) -> Offer {
    Offer {
        thread,
        word,
        kind,
        data,
        is_here: true,
    }
}

/// A line that is written, with its strobe.
pub(super) type Written = (usize, u64, [u8; 64]);

/// The inputs of a clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inputs {
    pub(super) words: [Option<Offer>; 2],
    pub(super) read: Option<usize>,
    pub(super) write: Option<Written>,
    pub(super) trap: [Option<usize>; 2],
}

/// The outputs of a clock: whether offers take place, and the words and the line of two clocks before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outputs {
    pub(super) takes: [bool; 2],
    pub(super) words: [Option<u32>; 2],
    pub(super) line: Option<Vec<u8>>,
}

/// An atomic operation that has not written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) word: usize,
    pub(super) value: u32,
    /// Bytes that it still writes.
    pub(super) strobe: u8,
}

/// The contract in plain Rust.
#[derive(Debug, Default)]
pub(super) struct Reference {
    pub(super) bytes: Vec<u8>,
    /// The line that each thread has reserved.
    pub(super) held: [Option<usize>; 2 * THREADS],
    pub(super) clock: u64,
    /// The pipeline that goes first, of each pair of threads.
    pub(super) turns: [usize; THREADS],
    pub(super) open: Option<Open>,
    /// Clocks since the last atomic operation was offered.
    pub(super) age: Option<u32>,
    /// Line accesses of the clock before.
    pub(super) read: Option<usize>,
    pub(super) write: Option<Written>,
    /// Words and lines for the next clocks.
    pub(super) due: [Outputs; 2],
}

pub(super) fn bank(word: usize) -> usize {
    word / 2 % 8
}

impl Reference {
    pub(super) fn word(&self, word: usize) -> u32 {
        let bytes = &self.bytes[4 * word..][..4];
        u32::from_le_bytes(bytes.try_into().expect("a word has four bytes"))
    }

    pub(super) fn write_word(&mut self, word: usize, strobe: u8, value: u32) {
        for byte in (0..4).filter(|byte| strobe >> byte & 1 == 1) {
            self.bytes[4 * word + byte] = value.to_le_bytes()[byte];
        }
    }

    pub(super) fn is_taken(&self, own: usize, offers: [Option<Offer>; 2]) -> bool {
        let Some(offer) = offers[own] else { return false };
        let is_atomic = |offer: Offer| matches!(offer.kind, Kind::Atomic(_));
        let is_store = |offer: Offer| matches!(offer.kind, Kind::Store(_));
        let is_turn = self.turns[self.clock as usize % THREADS] == own;
        let competes = |other: Offer| self.age.is_none() || !is_atomic(other);
        let meets = |other: Offer| {
            let is_same = bank(other.word) == bank(offer.word);
            let alike = is_store(offer) == is_store(other) || is_atomic(offer) || is_atomic(other);
            is_same && alike || is_atomic(offer) && is_atomic(other)
        };
        let stops = [
            self.read.is_some() && !is_store(offer),
            self.write.is_some() && (is_store(offer) || is_atomic(offer)),
            self.open.is_some_and(|open| bank(open.word) == bank(offer.word)),
            self.age.is_some() && is_atomic(offer),
            offers[1 - own].is_some_and(|other| competes(other) && meets(other)) && !is_turn,
        ];
        offer.is_here && !stops.contains(&true)
    }

    /// Ends reservations of a line, except for that of a thread.
    pub(super) fn cancel(&mut self, line: usize, but: Option<usize>) {
        for (hpu, held) in self.held.iter_mut().enumerate() {
            if *held == Some(line) && but != Some(hpu) {
                *held = None;
            }
        }
    }

    pub(super) fn clock(&mut self, inputs: Inputs) -> Outputs {
        let mut outputs = std::mem::take(&mut self.due[0]);
        self.due.swap(0, 1);
        outputs.takes = [0, 1].map(|own| self.is_taken(own, inputs.words));
        // One that had to wait goes first the next time.
        let waits = [0, 1].map(|own| !outputs.takes[own] && inputs.words[own].is_some_and(|it| it.is_here));
        if waits[0] != waits[1] {
            self.turns[self.clock as usize % THREADS] = usize::from(waits[1]);
        }
        let taken: Vec<_> = (0..2)
            .filter_map(|own| {
                inputs.words[own]
                    .filter(|_| outputs.takes[own])
                    .map(|offer| (own, offer))
            })
            .collect();
        // Reads come first.
        self.due[0].line = self.read.map(|line| self.bytes[64 * line..][..64].to_vec());
        for (own, offer) in &taken {
            let is_store = matches!(offer.kind, Kind::Store(_));
            self.due[1].words[*own] = (!is_store).then(|| self.word(offer.word));
        }
        let mut open = self.open;
        self.age = self.age.filter(|age| *age < 8).map(|age| age + 1);
        for (own, offer) in &taken {
            let (hpu, line) = (THREADS * own + offer.thread, offer.word / WORDS);
            if let Kind::Atomic(function) = offer.kind
                && function != LR
            {
                let (mut strobe, mut value) = (15, offer.data);
                if function == SC {
                    let stores = self.held[hpu].take() == Some(line);
                    strobe = if stores { 15 } else { 0 };
                    self.due[1].words[*own] = Some(u32::from(!stores));
                } else {
                    value = new_word(function, self.word(offer.word), value);
                }
                if strobe != 0 {
                    self.cancel(line, Some(hpu));
                }
                open = Some(Open {
                    word: offer.word,
                    value,
                    strobe,
                });
                self.age = Some(1);
            }
        }
        for (own, offer) in &taken {
            if let Kind::Store(strobe) = offer.kind {
                self.write_word(offer.word, strobe, offer.data);
                self.cancel(offer.word / WORDS, Some(THREADS * own + offer.thread));
            }
        }
        for (own, offer) in &taken {
            if offer.kind == Kind::Atomic(LR) {
                self.held[THREADS * own + offer.thread] = Some(offer.word / WORDS);
            }
        }
        if let Some((line, strobe, data)) = self.write {
            for byte in (0..64).filter(|byte| strobe >> byte & 1 == 1) {
                self.bytes[64 * line + byte] = data[byte];
            }
            self.cancel(line, None);
        }
        // The operation that was open before this clock: bytes of a line stay, and without a line it writes in its third clock.
        if let Some(before) = self.open {
            let is_last = self.age == Some(4);
            match self.write {
                Some((line, strobe, _)) => {
                    let overwritten = (strobe >> (4 * (before.word % WORDS))) as u8 & 15;
                    let is_same = line == before.word / WORDS;
                    let strobe = if is_same {
                        before.strobe & !overwritten
                    } else {
                        before.strobe
                    };
                    open = Some(Open { strobe, ..before });
                    self.age = if is_last { Some(3) } else { self.age };
                }
                None if is_last => {
                    self.write_word(before.word, before.strobe, before.value);
                    open = None;
                }
                None => {}
            }
        }
        self.open = open;
        for (own, thread) in inputs.trap.iter().enumerate() {
            if let Some(thread) = thread {
                self.held[THREADS * own + thread] = None;
            }
        }
        (self.read, self.write) = (inputs.read, inputs.write);
        self.clock += 1;
        outputs
    }
}

/// L1 and its model.
pub(super) struct Bench<M: Model> {
    pub(super) sim: Simulation<M>,
    pub(super) reference: Reference,
}

impl<M: Model> Finish for Bench<M> {}

impl<M: Model> Bench<M> {
    pub(super) fn new(run: &mut TestRun) -> Self {
        let lines = Parameters::of::<M>().get("lines") as usize;
        let mut rng = run.rng("contents");
        let mut bench = Self {
            sim: run.simulation::<M>(),
            reference: Reference::default(),
        };
        bench.reference.bytes = vec![0; 64 * lines];
        bench.reset();
        for line in 0..lines {
            let write = Some((line, u64::MAX, std::array::from_fn(|_| rng.random())));
            bench.clock(Inputs {
                write,
                ..Inputs::default()
            });
        }
        bench
    }

    /// Resets all but the contents.
    pub(super) fn reset(&mut self) {
        self.drive(Inputs::default());
        self.sim.reset();
        let bytes = std::mem::take(&mut self.reference.bytes);
        self.reference = Reference {
            bytes,
            ..Reference::default()
        };
    }

    pub(super) fn drive(&mut self, inputs: Inputs) {
        let sim = &mut self.sim;
        for (own, offer) in inputs.words.iter().enumerate() {
            let mut set = |port: &str, value: u64| sim.set(&format!("words_{own}_{port}"), value);
            set("valid", offer.is_some().into());
            let Some(offer) = offer else { continue };
            let (is_write, strobe, atomic) = match offer.kind {
                Kind::Load => (0, 15, 0),
                Kind::Store(strobe) => (1, strobe, 0),
                Kind::Atomic(function) => (0, 15, 0x20 | function),
            };
            set("is_here", offer.is_here.into());
            set("thread", offer.thread as u64);
            set("word", offer.word as u64);
            set("is_write", is_write);
            set("strobe", strobe.into());
            set("atomic", atomic.into());
            set("data", offer.data.into());
        }
        sim.set("line_read", inputs.read.is_some());
        sim.set("line_read_line", inputs.read.unwrap_or(0) as u64);
        let (line, strobe, data) = inputs.write.unwrap_or((0, 0, [0; 64]));
        sim.set("line_write_line", line as u64);
        sim.set("line_write_strobe", strobe);
        sim.set_bytes("line_write_data", &data);
        for (own, thread) in inputs.trap.iter().enumerate() {
            sim.set(&format!("trap_{own}"), thread.is_some());
            sim.set(&format!("trap_thread_{own}"), thread.unwrap_or(0) as u64);
        }
    }

    /// Simulates a clock and compares it with the model.
    pub(super) fn clock(&mut self, inputs: Inputs) -> Outputs {
        let expected = self.reference.clock(inputs);
        self.drive(inputs);
        self.sim.dut.eval();
        let get = |own: usize, port: &str| self.sim.get(&format!("words_{own}_{port}"));
        let takes =
            |own: usize| get(own, "ready") == 1 && inputs.words[own].is_some_and(|offer| offer.is_here);
        let line = self
            .sim
            .dut
            .get("line_read_data")
            .expect("it has this port")
            .to_bytes_le();
        let line: Vec<_> = line.into_iter().chain([0; 64]).take(64).collect();
        let outputs = Outputs {
            takes: [0, 1].map(takes),
            words: [0, 1].map(|own| expected.words[own].map(|_| get(own, "read_data") as u32)),
            line: expected.line.as_ref().map(|_| line),
        };
        let difference = || format!("{outputs:x?} where the model has {expected:x?}, of {inputs:x?}");
        let is_same = (outputs == expected).then_some(());
        self.sim.expect(is_same.ok_or_else(difference));
        self.sim.cycle();
        outputs
    }

    pub(super) fn idle(&mut self, clocks: usize) {
        for _ in 0..clocks {
            self.clock(Inputs::default());
        }
    }

    /// Offers an access until it takes place, and returns its word, of a store 0. Afterwards nothing is open.
    pub(super) fn access(&mut self, hpu: usize, word: usize, kind: Kind, data: u32) -> u32 {
        let own = hpu / THREADS;
        let mut inputs = Inputs::default();
        inputs.words[own] = Some(offer(hpu % THREADS, word, kind, data));
        while !self.clock(inputs).takes[own] {}
        self.idle(1);
        let read = self.clock(Inputs::default()).words[own];
        self.idle(8);
        read.unwrap_or(0)
    }

    pub(super) fn load(&mut self, word: usize) -> u32 {
        self.access(0, word, Kind::Load, 0)
    }

    pub(super) fn write_line(&mut self, line: usize, strobe: u64, byte: u8) {
        self.clock(written(line, strobe, byte));
        self.idle(1);
    }
}

pub(super) fn written(line: usize, strobe: u64, byte: u8) -> Inputs {
    Inputs {
        write: Some((line, strobe, [byte; 64])),
        ..Inputs::default()
    }
}
