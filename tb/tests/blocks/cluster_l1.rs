//! `cluster_l1`: random words of both pipelines and lines against a model of every clock, and each line of its contract.

use spinneret_models::{ClusterL1, ClusterL1Small};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters, case};
use spinneret_tb::hpu_memory::{ADD, AMOS, Kind, LR, SC, new_word};

/// Words of a line.
const WORDS: usize = 16;
/// Threads of a pipeline.
const THREADS: usize = 4;

/// An offer of a pipeline.
#[derive(Clone, Copy, Debug)]
struct Offer {
    thread: usize,
    word: usize,
    kind: Kind,
    data: u32,
    is_here: bool,
}

fn offer(thread: usize, word: usize, kind: Kind, data: u32) -> Offer {
    Offer {
        thread,
        word,
        kind,
        data,
        is_here: true,
    }
}

/// A line that is written, with its strobe.
type Written = (usize, u64, [u8; 64]);

/// The inputs of a clock.
#[derive(Clone, Copy, Debug, Default)]
struct Inputs {
    words: [Option<Offer>; 2],
    read: Option<usize>,
    write: Option<Written>,
    trap: [Option<usize>; 2],
}

/// The outputs of a clock: whether offers take place, and the words and the line of two clocks before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Outputs {
    takes: [bool; 2],
    words: [Option<u32>; 2],
    line: Option<Vec<u8>>,
}

/// An atomic operation that has not written.
#[derive(Clone, Copy, Debug)]
struct Open {
    word: usize,
    value: u32,
    /// Bytes that it still writes.
    strobe: u8,
}

/// The contract in plain Rust.
#[derive(Debug, Default)]
struct Reference {
    bytes: Vec<u8>,
    /// The line that each thread has reserved.
    held: [Option<usize>; 2 * THREADS],
    clock: u64,
    /// The pipeline that goes first, of each pair of threads.
    turns: [usize; THREADS],
    open: Option<Open>,
    /// Clocks since the last atomic operation was offered.
    age: Option<u32>,
    /// Line accesses of the clock before.
    read: Option<usize>,
    write: Option<Written>,
    /// Words and lines for the next clocks.
    due: [Outputs; 2],
}

fn bank(word: usize) -> usize {
    word / 2 % 8
}

impl Reference {
    fn word(&self, word: usize) -> u32 {
        let bytes = &self.bytes[4 * word..][..4];
        u32::from_le_bytes(bytes.try_into().expect("a word has four bytes"))
    }

    fn write_word(&mut self, word: usize, strobe: u8, value: u32) {
        for byte in (0..4).filter(|byte| strobe >> byte & 1 == 1) {
            self.bytes[4 * word + byte] = value.to_le_bytes()[byte];
        }
    }

    fn is_taken(&self, own: usize, offers: [Option<Offer>; 2]) -> bool {
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
    fn cancel(&mut self, line: usize, but: Option<usize>) {
        for (hpu, held) in self.held.iter_mut().enumerate() {
            if *held == Some(line) && but != Some(hpu) {
                *held = None;
            }
        }
    }

    fn clock(&mut self, inputs: Inputs) -> Outputs {
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
struct Bench<M: Model> {
    sim: Simulation<M>,
    reference: Reference,
}

impl<M: Model> Finish for Bench<M> {}

impl<M: Model> Bench<M> {
    fn new(run: &mut TestRun) -> Self {
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
    fn reset(&mut self) {
        self.drive(Inputs::default());
        self.sim.reset();
        let bytes = std::mem::take(&mut self.reference.bytes);
        self.reference = Reference {
            bytes,
            ..Reference::default()
        };
    }

    fn drive(&mut self, inputs: Inputs) {
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
    fn clock(&mut self, inputs: Inputs) -> Outputs {
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

    fn idle(&mut self, clocks: usize) {
        for _ in 0..clocks {
            self.clock(Inputs::default());
        }
    }

    /// Offers an access until it takes place, and returns its word, of a store 0. Afterwards nothing is open.
    fn access(&mut self, hpu: usize, word: usize, kind: Kind, data: u32) -> u32 {
        let own = hpu / THREADS;
        let mut inputs = Inputs::default();
        inputs.words[own] = Some(offer(hpu % THREADS, word, kind, data));
        while !self.clock(inputs).takes[own] {}
        self.idle(1);
        let read = self.clock(Inputs::default()).words[own];
        self.idle(8);
        read.unwrap_or(0)
    }

    fn load(&mut self, word: usize) -> u32 {
        self.access(0, word, Kind::Load, 0)
    }

    fn write_line(&mut self, line: usize, strobe: u64, byte: u8) {
        self.clock(written(line, strobe, byte));
        self.idle(1);
    }
}

fn written(line: usize, strobe: u64, byte: u8) -> Inputs {
    Inputs {
        write: Some((line, strobe, [byte; 64])),
        ..Inputs::default()
    }
}

/// How often something happened in random traffic: taken, not taken, stored and failed conditionally, lines in an open operation.
type Seen = [u32; 5];

fn random_inputs(rng: &mut ChaCha8Rng, lines: usize) -> Inputs {
    let line = |rng: &mut ChaCha8Rng| match rng.random_range(0..8) {
        0 => rng.random_range(0..lines),
        _ => rng.random_range(0..2),
    };
    let kind = |rng: &mut ChaCha8Rng| match rng.random_range(0..10) {
        0..3 => Kind::Load,
        3 => Kind::Store(rng.random_range(0..16)),
        4 => Kind::Store(15),
        5 => Kind::Atomic(AMOS[rng.random_range(0..AMOS.len())]),
        6 | 7 => Kind::Atomic(LR),
        _ => Kind::Atomic(SC),
    };
    let word = |rng: &mut ChaCha8Rng| Offer {
        is_here: rng.random_bool(0.9),
        ..offer(
            rng.random_range(0..THREADS),
            WORDS * line(rng) + rng.random_range(0..WORDS) % [2, 4, WORDS][rng.random_range(0..3)],
            kind(rng),
            rng.random(),
        )
    };
    let strobe = |rng: &mut ChaCha8Rng| match rng.random_bool(0.3) {
        true => u64::MAX,
        false => rng.random(),
    };
    Inputs {
        words: [0; 2].map(|_| rng.random_bool(0.6).then(|| word(rng))),
        read: rng.random_bool(0.2).then(|| line(rng)),
        write: rng
            .random_bool(0.12)
            .then(|| (line(rng), strobe(rng), std::array::from_fn(|_| rng.random()))),
        trap: [0; 2].map(|_| rng.random_bool(0.02).then(|| rng.random_range(0..THREADS))),
    }
}

fn random_traffic<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("traffic");
    let mut bench = Bench::<M>::new(run);
    let lines = bench.reference.bytes.len() / 64;
    let mut seen = Seen::default();
    for _ in 0..80_000 {
        let inputs = random_inputs(&mut rng, lines);
        let is_masked = bench.reference.open.is_some() && bench.reference.write.is_some();
        seen[4] += u32::from(is_masked);
        let outputs = bench.clock(inputs);
        for own in 0..2 {
            seen[usize::from(!outputs.takes[own])] += u32::from(inputs.words[own].is_some());
            let is_sc = inputs.words[own].is_some_and(|offer| offer.kind == Kind::Atomic(SC));
            if outputs.takes[own] && is_sc {
                let answer = bench.reference.due[1].words[own];
                seen[2 + usize::from(answer != Some(0))] += 1;
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    bench.idle(16);
    for line in 0..lines {
        bench.clock(Inputs {
            read: Some(line),
            ..Inputs::default()
        });
    }
    bench.idle(2);
    bench.finish();
}

#[test]
fn random_accesses_are_those_of_the_model() {
    run_test(0x0001_11c1, random_traffic::<ClusterL1>);
}

#[test]
fn random_accesses_of_two_lines_are_those_of_the_model() {
    run_test(0x0002_11c1, random_traffic::<ClusterL1Small>);
}

/// A case for a line of the contract.
fn check(test: impl Fn(&mut Bench<ClusterL1Small>)) {
    case(0x0003_11c1, Bench::new, test);
}

/// Whether a reservation of HPU 1 for word 6 survives.
fn survives(bench: &mut Bench<ClusterL1Small>, what: impl Fn(&mut Bench<ClusterL1Small>)) -> bool {
    bench.access(1, 6, Kind::Atomic(LR), 0);
    what(bench);
    bench.access(1, 6, Kind::Atomic(SC), 0) == 0
}

#[test]
fn writes_of_others_cancel_a_reservation() {
    check(|bench| {
        for hpu in [0, 2, 5] {
            assert!(!survives(bench, |b| _ = b.access(hpu, 6, Kind::Store(1), 1)));
            assert!(!survives(bench, |b| _ = b.access(hpu, 6, Kind::Atomic(ADD), 1)));
            assert!(!survives(bench, |b| {
                b.access(hpu, 6, Kind::Atomic(LR), 0);
                assert_eq!(b.access(hpu, 6, Kind::Atomic(SC), 3), 0);
            }));
        }
        assert!(!survives(bench, |b| b.write_line(0, 0xf << 24, 1)));
        assert!(!survives(bench, |b| {
            b.clock(Inputs {
                trap: [Some(1), None],
                ..Inputs::default()
            });
            b.idle(1);
        }));
        assert!(!survives(bench, Bench::reset));
    });
}

#[test]
fn nothing_else_cancels_a_reservation() {
    check(|bench| {
        assert!(survives(bench, |_| ()));
        assert!(survives(bench, |b| _ = b.access(1, 6, Kind::Store(15), 1)));
        assert!(survives(bench, |b| _ = b.access(5, 6, Kind::Load, 1)));
        assert!(survives(bench, |b| _ = b.access(5, 6, Kind::Atomic(LR), 1)));
        assert!(survives(bench, |b| _ = b.access(2, 22, Kind::Store(15), 1)));
        assert!(survives(bench, |b| b.write_line(1, u64::MAX, 1)));
        assert!(survives(bench, |b| {
            assert_eq!(b.access(7, 6, Kind::Atomic(SC), 1), 1);
        }));
        assert!(survives(bench, |b| {
            b.clock(Inputs {
                trap: [Some(2), Some(1)],
                ..Inputs::default()
            });
        }));
    });
}

#[test]
fn a_line_that_is_written_during_an_atomic_operation_stays() {
    check(|bench| {
        for delay in 0..6 {
            for strobe in [u64::MAX, 0b0110 << 8, 0xf << 4] {
                bench.write_line(0, u64::MAX, 0);
                let mut inputs = Inputs::default();
                inputs.words[1] = Some(offer(3, 2, Kind::Atomic(ADD), 0x0101_0101));
                assert!(bench.clock(inputs).takes[1]);
                bench.idle(delay);
                // As long as lines are written, it waits.
                for _ in 0..3 {
                    bench.clock(written(0, strobe, 7));
                }
                bench.idle(16);
                let bytes = [0, 1, 2, 3].map(|byte| if strobe >> (8 + byte) & 1 == 1 { 7 } else { 1 });
                assert_eq!(bench.load(2), u32::from_le_bytes(bytes));
            }
        }
    });
}

/// Lets all HPUs offer in every n-th of their slots, as pipelines do, and returns when each was served.
fn slots(
    bench: &mut Bench<ClusterL1Small>,
    clocks: u64,
    every: u64,
    kind: impl Fn(usize) -> Option<Kind>,
) -> Vec<Vec<u64>> {
    let mut served = vec![vec![0]; 2 * THREADS];
    for clock in 0..clocks {
        let thread = clock as usize % THREADS;
        let offers = (clock / THREADS as u64).is_multiple_of(every);
        let words = [0, 1].map(|own| {
            let kind = kind(THREADS * own + thread).filter(|_| offers);
            kind.map(|kind| offer(thread, 0, kind, 1))
        });
        let outputs = bench.clock(Inputs {
            words,
            ..Inputs::default()
        });
        for own in (0..2).filter(|own| outputs.takes[*own]) {
            served[THREADS * own + thread].push(clock);
        }
    }
    served.iter_mut().for_each(|clocks_of| clocks_of.push(clocks));
    served
}

fn longest(served: &[u64]) -> u64 {
    served.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
}

#[test]
fn none_starves_and_no_count_is_lost() {
    check(|bench| {
        bench.access(0, 0, Kind::Store(15), 0);
        let served = slots(bench, 4000, 1, |_| Some(Kind::Atomic(ADD)));
        let counts: usize = served.iter().map(|clocks| clocks.len() - 2).sum();
        bench.idle(16);
        assert_eq!(bench.load(0) as usize, counts);
        assert!(served.iter().all(|clocks| longest(clocks) <= 80), "{served:?}");
        // A load or store of the same bank goes through between the atomic operations of all others.
        for hpu in 0..2 * THREADS {
            for kind in [Kind::Load, Kind::Store(15)] {
                let kinds = |other| Some(if other == hpu { kind } else { Kind::Atomic(ADD) });
                let served = slots(bench, 600, 1, kinds);
                assert!(longest(&served[hpu]) <= 32, "{hpu} {served:?}");
            }
        }
    });
}

#[test]
fn pipelines_that_meet_take_turns() {
    check(|bench| {
        for kind in [Kind::Load, Kind::Store(15)] {
            for every in [1, 2, 3, 4, 8] {
                let served = slots(bench, 400 * every, every, |_| Some(kind));
                let most = 2 * THREADS as u64 * every;
                assert!(served.iter().all(|clocks| longest(clocks) <= most), "{served:?}");
            }
        }
        // A load and a store of one bank, or of two, do not meet.
        let served = slots(bench, 400, 1, |hpu| {
            Some(if hpu < THREADS {
                Kind::Load
            } else {
                Kind::Store(15)
            })
        });
        assert!(served.iter().all(|clocks| longest(clocks) <= 4), "{served:?}");
    });
}

#[test]
fn a_reset_ends_an_open_operation() {
    check(|bench| {
        bench.write_line(0, u64::MAX, 0);
        bench.idle(1);
        bench.clock(Inputs {
            words: [Some(offer(0, 0, Kind::Atomic(ADD), 1)), None],
            ..Inputs::default()
        });
        bench.reset();
        assert_eq!(bench.load(0), 0);
    });
}
