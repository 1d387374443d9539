//! HPUs and a memory whose other users write between their accesses, and what `word_server` has to answer.

use spinneret_cluster::map::place;
use spinneret_regmap::pspin::{HANDLER_BASE, PACKET_BASE, STDOUT};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters};
use spinneret_tb::hpu_memory::{Kind, LR, SC, new_word};
use std::collections::{HashMap, VecDeque};

/// HPUs of a cluster, and of a port.
pub(super) const HPUS: usize = 8;
pub(super) const THREADS: usize = 4;
/// Clocks from the acceptance of a line to `done`.
pub(super) const DONE: u64 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Of all clusters.
    pub(super) hpu: usize,
    pub(super) address: u32,
    pub(super) kind: Kind,
    pub(super) data: u32,
}

impl Request {
    pub(super) fn port(self) -> usize {
        self.hpu / THREADS
    }

    pub(super) fn is_stdout(self) -> bool {
        self.address & !0xfff == STDOUT
    }
}

/// A report: the word if it is one that a program gets, and when, if the lines tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) hpu: usize,
    pub(super) word: Option<u32>,
    pub(super) failed: bool,
    pub(super) at: Option<u64>,
}

pub(super) struct Bench<M: Model> {
    pub(super) sim: Simulation<M>,
    pub(super) rng: ChaCha8Rng,
    pub(super) clusters: usize,
    pub(super) clock: u64,
    /// Probabilities of `ready`, and of a write of others in a clock.
    pub(super) ready: f64,
    pub(super) others: f64,
    pub(super) lines: HashMap<u32, [u8; 64]>,
    pub(super) reserved: Vec<Option<u32>>,
    /// Requests at the ports, those inside in order, and what they come to.
    pub(super) offers: Vec<Option<Request>>,
    pub(super) inside: VecDeque<Request>,
    pub(super) outcomes: VecDeque<Outcome>,
    pub(super) data: VecDeque<(u64, [u8; 64])>,
    pub(super) printed: Vec<u32>,
    /// Words that each HPU got, and the ports that were served.
    pub(super) got: Vec<Option<Outcome>>,
    pub(super) served: Vec<usize>,
    pub(super) failures: u32,
    /// `hold` of the clock before, and whether an operation has read since it rose.
    pub(super) held: bool,
    pub(super) has_read: bool,
}

impl<M: Model> Finish for Bench<M> {
    fn finish(mut self) {
        self.drain();
        assert!(self.inside.is_empty() && self.outcomes.is_empty() && self.data.is_empty());
    }
}

impl<M: Model> Bench<M> {
    pub(super) fn new(run: &mut TestRun) -> Self {
        let clusters = Parameters::of::<M>().get("clusters") as usize;
        let mut bench = Self {
            sim: run.simulation::<M>(),
            rng: run.rng("surroundings"),
            clusters,
            clock: 0,
            ready: 1.0,
            others: 0.0,
            lines: HashMap::new(),
            reserved: vec![None; HPUS * clusters],
            offers: vec![None; 2 * clusters],
            inside: VecDeque::new(),
            outcomes: VecDeque::new(),
            data: VecDeque::new(),
            printed: Vec::new(),
            got: vec![None; HPUS * clusters],
            served: Vec::new(),
            failures: 0,
            held: false,
            has_read: false,
        };
        bench.drive();
        bench.sim.reset();
        bench
    }

    pub(super) fn word(&mut self, address: u32) -> &mut [u8] {
        let line = self.lines.entry(address / 64).or_insert([0; 64]);
        &mut line[address as usize % 64..][..4]
    }

    pub(super) fn load(&mut self, address: u32) -> u32 {
        u32::from_le_bytes((&*self.word(address)).try_into().expect("a word has four bytes"))
    }

    pub(super) fn store(&mut self, address: u32, strobe: u64, data: u32) {
        let word = self.word(address);
        for byte in (0..4).filter(|byte| strobe >> byte & 1 == 1) {
            word[byte] = data.to_le_bytes()[byte];
        }
    }

    pub(super) fn drive(&mut self) {
        let sim = &mut self.sim;
        for (port, offer) in self.offers.iter().enumerate() {
            let mut set = |name: &str, value: u64| sim.set(&format!("far_{port}_{name}"), value);
            set("valid", offer.is_some().into());
            let Some(request) = offer else { continue };
            let (is_write, strobe, atomic) = match request.kind {
                Kind::Load => (0, 15, 0),
                Kind::Store(strobe) => (1, strobe, 0),
                Kind::Atomic(function) => (0, 15, 0x20 | function),
            };
            set("hpu", (request.hpu % HPUS) as u64);
            set("address", request.address.into());
            set("is_write", is_write);
            set("strobe", strobe.into());
            set("atomic", atomic.into());
            set("data", request.data.into());
        }
        for port in ["read_ready", "write_ready", "stdout_ready"] {
            sim.set(port, self.rng.random_bool(self.ready));
        }
        for port in ["read", "write"] {
            let line = sim.get(&format!("{port}_line")) as u32;
            let is_there = place(64 * line, 4, self.clusters).is_some();
            sim.set(&format!("{port}_failed"), !is_there);
        }
        let due = self.data.front().is_some_and(|(at, _)| *at == self.clock);
        sim.set("read_data_valid", due);
        let data = self
            .data
            .pop_front_if(|_| due)
            .map_or([0x5a; 64], |(_, data)| data);
        sim.set_bytes("read_data", &data);
    }

    /// The next request inside that has an effect; those without one are done before it.
    pub(super) fn next(&mut self) -> Option<Request> {
        while let Some(request) = self.inside.front().copied() {
            let is_dropped = request.is_stdout() && request.address >> 7 & 15 >= self.clusters as u32;
            let is_sc = request.kind == Kind::Atomic(SC);
            if !(is_dropped || is_sc && self.reserved[request.hpu] != Some(request.address)) {
                return Some(request);
            }
            self.reserved[request.hpu] = self.reserved[request.hpu].filter(|_| !is_sc);
            self.end(is_sc.then_some(1), false, None);
        }
        None
    }

    pub(super) fn end(&mut self, word: Option<u32>, failed: bool, at: Option<u64>) {
        let request = self.inside.pop_front().expect("a request is inside");
        self.outcomes.push_back(Outcome {
            hpu: request.hpu,
            word: word.filter(|_| !failed),
            failed,
            at,
        });
    }

    /// A store of an HPU ends the reservations of the others, also of words that are multiples of 4 KiB away.
    pub(super) fn cancel(&mut self, request: Request) {
        for (hpu, reserved) in self.reserved.iter_mut().enumerate() {
            *reserved = reserved.filter(|word| (*word ^ request.address) & 0xfff != 0 || hpu == request.hpu);
        }
    }

    pub(super) fn read_line(&mut self) {
        let request = self.next().expect("a line is read for a request");
        assert_eq!(self.sim.get("read_line") as u32, request.address / 64);
        let word = self.load(request.address);
        let failed = self.sim.get("read_failed") == 1;
        if !failed {
            self.data
                .push_back((self.clock + 6, self.lines[&(request.address / 64)]));
        }
        let is_operation = matches!(request.kind, Kind::Atomic(function) if function != LR);
        assert!(
            request.kind == Kind::Load || matches!(request.kind, Kind::Atomic(_)),
            "{request:x?}"
        );
        assert_eq!(self.sim.get("hold") == 1, is_operation);
        if request.kind == Kind::Atomic(LR) {
            self.reserved[request.hpu] = Some(request.address);
        }
        if is_operation {
            self.cancel(request);
            assert!(!self.has_read, "others get the memory before {request:x?} reads");
            self.has_read = !failed;
        }
        if failed || !is_operation {
            self.end(Some(word), failed, Some(self.clock + DONE));
        }
    }

    pub(super) fn write_line(&mut self) {
        let request = self.next().expect("a line is written for a request");
        assert_eq!(self.sim.get("write_line") as u32, request.address / 64);
        let old = self.load(request.address);
        let is_operation = matches!(request.kind, Kind::Atomic(function) if function != SC);
        assert_eq!(self.sim.get("hold") == 1, is_operation);
        let (strobe, data, word) = match request.kind {
            Kind::Store(strobe) => (u64::from(strobe), request.data, None),
            Kind::Atomic(SC) => (15, request.data, Some(0)),
            Kind::Atomic(function) => (15, new_word(function, old, request.data), Some(old)),
            Kind::Load => panic!("a load does not write: {request:x?}"),
        };
        let shift = request.address % 64;
        assert_eq!(self.sim.get("write_strobe"), strobe << shift, "{request:x?}");
        let line = self
            .sim
            .dut
            .get("write_data")
            .expect("it has this port")
            .to_bytes_le();
        let written: Vec<_> = line
            .into_iter()
            .chain([0; 64])
            .skip(shift as usize)
            .take(4)
            .collect();
        assert_eq!(written, data.to_le_bytes(), "{request:x?} of {old:#x}");
        let failed = self.sim.get("write_failed") == 1;
        self.cancel(request);
        if request.kind == Kind::Atomic(SC) {
            self.reserved[request.hpu] = None;
        }
        if !failed {
            self.store(request.address, strobe, data);
        }
        self.end(
            word,
            failed,
            Some(self.clock + if is_operation { 1 } else { DONE }),
        );
    }

    pub(super) fn clock(&mut self) {
        self.drive();
        self.sim.dut.eval();
        let both = |a: &str, b: &str| self.sim.get(a) == 1 && self.sim.get(b) == 1;
        let reads = both("read_valid", "read_ready");
        let writes = both("write_valid", "write_ready");
        let prints = both("stdout_valid", "stdout_ready");
        let taken = (0..self.offers.len())
            .filter(|port| both(&format!("far_{port}_valid"), &format!("far_{port}_ready")))
            .collect::<Vec<_>>();
        let done: Vec<_> = (0..self.offers.len())
            .filter(|port| self.sim.get(&format!("far_{port}_done")) == 1)
            .collect();
        let holds = self.sim.get("hold") == 1;
        self.has_read &= self.held && holds;
        self.held = holds;
        if reads {
            self.read_line();
        }
        if writes {
            self.write_line();
        } else if self.rng.random_bool(self.others) && self.sim.get("hold") == 0 {
            let address =
                [HANDLER_BASE, PACKET_BASE][self.rng.random_range(0..2)] + 4 * self.rng.random_range(0..3);
            let (strobe, data) = (self.rng.random_range(0..16), self.rng.random());
            self.store(address, strobe, data);
        }
        if prints {
            let request = self.next().expect("a character is of a request");
            assert!(request.is_stdout());
            let (core, cluster) = (request.address >> 3 & 15, request.address >> 7 & 15);
            let word = cluster << 16 | core << 8 | request.data & 0xff;
            assert_eq!(self.sim.get("stdout_data") as u32, word);
            self.printed.push(word);
            self.end(None, false, Some(self.clock + DONE));
        }
        assert!(done.len() <= 1 && taken.len() <= 1, "{done:?} {taken:?}");
        for port in done {
            self.next();
            let outcome = self.outcomes.pop_front().expect("nothing can be done");
            let get = |name: &str| self.sim.get(&format!("far_{port}_{name}"));
            assert_eq!(
                (port, get("done_hpu") as usize),
                (outcome.hpu / THREADS, outcome.hpu % HPUS)
            );
            assert_eq!(get("done_failed") == 1, outcome.failed, "{outcome:x?}");
            assert!(
                outcome.word.is_none_or(|word| word == get("done_data") as u32),
                "{outcome:x?}"
            );
            assert!(
                outcome.at.is_none_or(|at| at == self.clock),
                "{outcome:?} in clock {}",
                self.clock
            );
            self.failures += u32::from(outcome.failed);
            self.got[outcome.hpu] = Some(outcome);
        }
        for port in taken {
            self.inside.extend(self.offers[port].take());
            self.served.push(port);
        }
        self.sim.cycle();
        self.clock += 1;
    }

    /// Lets an HPU make a request if it has none under way and its port is free. Returns whether it does.
    pub(super) fn offer(&mut self, request: Request) -> bool {
        let is_own = |of: usize| of == request.hpu;
        let is_idle = !self.inside.iter().any(|inside| is_own(inside.hpu))
            && !self.outcomes.iter().any(|outcome| is_own(outcome.hpu))
            && self.offers[request.port()].is_none();
        if is_idle {
            self.offers[request.port()] = Some(request);
        }
        is_idle
    }

    /// Runs until nothing is inside.
    pub(super) fn drain(&mut self) {
        while self.offers.iter().any(Option::is_some) || !self.inside.is_empty() || !self.outcomes.is_empty()
        {
            self.clock();
            self.next();
        }
        (0..DONE + 2).for_each(|_| self.clock());
    }

    /// An access; returns its outcome.
    pub(super) fn access(&mut self, hpu: usize, address: u32, kind: Kind, data: u32) -> Outcome {
        let request = Request {
            hpu,
            address,
            kind,
            data,
        };
        assert!(self.offer(request));
        self.drain();
        self.got[hpu].take().expect("it is done")
    }
}
