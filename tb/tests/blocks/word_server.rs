//! `word_server`: HPUs of two clusters, with a memory whose other users write between their accesses, and each line of its contract.

use spinneret_cluster::map::place;
use spinneret_models::{WordServer, WordServerSingle, WordServerWide};
use spinneret_regmap::pspin::{HANDLER_BASE, PACKET_BASE, STDOUT, l1_address};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters, case};
use spinneret_tb::hpu_memory::{ADD, AMOS, Kind, LR, SC, new_word};
use std::collections::{HashMap, VecDeque};

/// HPUs of a cluster, and of a port.
const HPUS: usize = 8;
const THREADS: usize = 4;
/// Clocks from the acceptance of a line to `done`.
const DONE: u64 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    /// Of all clusters.
    hpu: usize,
    address: u32,
    kind: Kind,
    data: u32,
}

impl Request {
    fn port(self) -> usize {
        self.hpu / THREADS
    }

    fn is_stdout(self) -> bool {
        self.address & !0xfff == STDOUT
    }
}

/// A report: the word if it is one that a program gets, and when, if the lines tell.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    hpu: usize,
    word: Option<u32>,
    failed: bool,
    at: Option<u64>,
}

struct Bench<M: Model> {
    sim: Simulation<M>,
    rng: ChaCha8Rng,
    clusters: usize,
    clock: u64,
    /// Probabilities of `ready`, and of a write of others in a clock.
    ready: f64,
    others: f64,
    lines: HashMap<u32, [u8; 64]>,
    reserved: Vec<Option<u32>>,
    /// Requests at the ports, those inside in order, and what they come to.
    offers: Vec<Option<Request>>,
    inside: VecDeque<Request>,
    outcomes: VecDeque<Outcome>,
    data: VecDeque<(u64, [u8; 64])>,
    printed: Vec<u32>,
    /// Words that each HPU got, and the ports that were served.
    got: Vec<Option<Outcome>>,
    served: Vec<usize>,
    failures: u32,
    /// `hold` of the clock before, and whether an operation has read since it rose.
    held: bool,
    has_read: bool,
}

impl<M: Model> Finish for Bench<M> {
    fn finish(mut self) {
        self.drain();
        assert!(self.inside.is_empty() && self.outcomes.is_empty() && self.data.is_empty());
    }
}

impl<M: Model> Bench<M> {
    fn new(run: &mut TestRun) -> Self {
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

    fn word(&mut self, address: u32) -> &mut [u8] {
        let line = self.lines.entry(address / 64).or_insert([0; 64]);
        &mut line[address as usize % 64..][..4]
    }

    fn load(&mut self, address: u32) -> u32 {
        u32::from_le_bytes((&*self.word(address)).try_into().expect("a word has four bytes"))
    }

    fn store(&mut self, address: u32, strobe: u64, data: u32) {
        let word = self.word(address);
        for byte in (0..4).filter(|byte| strobe >> byte & 1 == 1) {
            word[byte] = data.to_le_bytes()[byte];
        }
    }

    fn drive(&mut self) {
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
    fn next(&mut self) -> Option<Request> {
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

    fn end(&mut self, word: Option<u32>, failed: bool, at: Option<u64>) {
        let request = self.inside.pop_front().expect("a request is inside");
        self.outcomes.push_back(Outcome {
            hpu: request.hpu,
            word: word.filter(|_| !failed),
            failed,
            at,
        });
    }

    /// A store of an HPU ends the reservations of the others, also of words that are multiples of 4 KiB away.
    fn cancel(&mut self, request: Request) {
        for (hpu, reserved) in self.reserved.iter_mut().enumerate() {
            *reserved = reserved.filter(|word| (*word ^ request.address) & 0xfff != 0 || hpu == request.hpu);
        }
    }

    fn read_line(&mut self) {
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

    fn write_line(&mut self) {
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

    fn clock(&mut self) {
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
    fn offer(&mut self, request: Request) -> bool {
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
    fn drain(&mut self) {
        while self.offers.iter().any(Option::is_some) || !self.inside.is_empty() || !self.outcomes.is_empty()
        {
            self.clock();
            self.next();
        }
        (0..DONE + 2).for_each(|_| self.clock());
    }

    /// An access; returns its outcome.
    fn access(&mut self, hpu: usize, address: u32, kind: Kind, data: u32) -> Outcome {
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

fn random_request(rng: &mut ChaCha8Rng, clusters: usize) -> Request {
    let word = 4 * rng.random_range(0..3);
    let kind = match rng.random_range(0..10) {
        0..2 => Kind::Load,
        2 => Kind::Store(rng.random_range(1..16)),
        3 => Kind::Store(15),
        4..6 => Kind::Atomic(AMOS[rng.random_range(0..AMOS.len())]),
        6..8 => Kind::Atomic(LR),
        _ => Kind::Atomic(SC),
    };
    let (address, kind) = match rng.random_range(0..12) {
        0..6 => (HANDLER_BASE + word, kind),
        6..8 => (PACKET_BASE + word, kind),
        8 => (HANDLER_BASE + 4 * rng.random_range(0..1 << 18), kind),
        9 => (l1_address(rng.random_range(0..clusters), word), kind),
        10 => (l1_address(15, word), kind),
        _ => (STDOUT + 4 * rng.random_range(0..1 << 10), Kind::Store(15)),
    };
    Request {
        hpu: rng.random_range(0..HPUS * clusters),
        address,
        kind,
        data: rng.random(),
    }
}

fn random_traffic<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("traffic");
    let mut bench = Bench::<M>::new(run);
    let mut wins = [0; 2];
    for clock in 0..30_000 {
        if clock % 1000 == 0 {
            bench.ready = [1.0, 0.7, 0.2][rng.random_range(0..3)];
            bench.others = [0.0, 0.3][rng.random_range(0..2)];
        }
        let request = random_request(&mut rng, bench.clusters);
        if rng.random_bool(0.8) {
            bench.offer(request);
        }
        bench.clock();
        for outcome in bench.got.iter_mut().filter_map(Option::take) {
            if let Some(word @ 0..2) = outcome.word {
                wins[word as usize] += 1;
            }
        }
    }
    let seen = [bench.printed.len() as u32, bench.failures, wins[0], wins[1]];
    assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
    bench.finish();
}

#[test]
fn random_accesses_are_those_of_the_model() {
    run_test(0x0001_3c57, random_traffic::<WordServer>);
}

#[test]
fn random_accesses_of_a_single_cluster_are_those_of_the_model() {
    run_test(0x0002_3c57, random_traffic::<WordServerSingle>);
}

#[test]
fn random_accesses_of_eight_clusters_are_those_of_the_model() {
    run_test(0x0004_3c57, random_traffic::<WordServerWide>);
}

/// A case for a line of the contract.
fn check(test: impl Fn(&mut Bench<WordServer>)) {
    case(0x0003_3c57, Bench::new, test);
}

#[test]
fn an_access_is_taken_in_each_clock_and_ports_take_turns() {
    check(|bench| {
        let mut longest = 0;
        for clock in 0..64 {
            for hpu in 0..2 * HPUS {
                bench.offer(Request {
                    hpu,
                    address: HANDLER_BASE + 4 * hpu as u32,
                    kind: if hpu % 2 == 0 { Kind::Load } else { Kind::Store(15) },
                    data: clock,
                });
            }
            let before = bench.served.len();
            bench.clock();
            longest = if bench.served.len() > before {
                longest + 1
            } else {
                0
            };
        }
        assert!(longest > 32, "{longest}");
        assert!(
            bench
                .served
                .windows(4)
                .all(|ports| (0..4).all(|port| ports.contains(&port)))
        );
    });
}

#[test]
fn no_count_is_lost_between_the_writes_of_others() {
    check(|bench| {
        (bench.ready, bench.others) = (0.5, 0.2);
        let counter = HANDLER_BASE + 60;
        for _ in 0..3000 {
            let hpu = bench.rng.random_range(0..2 * HPUS);
            bench.offer(Request {
                hpu,
                address: counter,
                kind: Kind::Atomic(ADD),
                data: 1,
            });
            bench.clock();
        }
        bench.drain();
        assert!(bench.served.len() > 100);
        assert_eq!(bench.load(counter) as usize, bench.served.len());
    });
}

#[test]
fn operations_of_a_word_follow_each_other_and_others_have_their_turns() {
    check(|bench| {
        let counter = HANDLER_BASE + 60;
        for _ in 0..2000 {
            for hpu in 0..2 * HPUS {
                let is_counting = hpu >= THREADS;
                bench.offer(Request {
                    hpu,
                    address: counter - if is_counting { 0 } else { 4 },
                    kind: if is_counting {
                        Kind::Atomic(ADD)
                    } else {
                        Kind::Load
                    },
                    data: 1,
                });
            }
            bench.clock();
        }
        let counted = bench.served.iter().filter(|port| **port != 0).count();
        // An operation that reads takes nine clocks, and seven that follow it take three each.
        assert!(counted > 2000 * 8 / 33, "{counted} in 2000 clocks");
        let waits = bench.served.split(|port| *port == 0).map(<[usize]>::len).max();
        assert!(waits <= Some(7 + 3 * 8), "a port waited for {waits:?} others");
        bench.drain();
        let counted = bench.served.iter().filter(|port| **port != 0).count();
        assert_eq!(bench.load(counter) as usize, counted);
    });
}

#[test]
fn ports_with_operations_of_a_word_are_served_alike() {
    check(|bench| {
        for _ in 0..2000 {
            for hpu in 0..2 * HPUS {
                bench.offer(Request {
                    hpu,
                    address: HANDLER_BASE + 60,
                    kind: Kind::Atomic(ADD),
                    data: 1,
                });
            }
            bench.clock();
        }
        let of_port = |wanted| bench.served.iter().filter(|port| **port == wanted).count();
        let counts = [0, 1, 2, 3].map(of_port);
        assert!(
            counts.iter().all(|count| count.abs_diff(counts[0]) <= 2),
            "{counts:?}"
        );
        bench.drain();
    });
}

#[test]
fn accesses_of_others_cancel_a_reservation() {
    check(|bench| {
        let address = PACKET_BASE + 8;
        let cases = [
            (9, 8, Kind::Load, true),
            (9, 8, Kind::Atomic(LR), true),
            (9, 8, Kind::Atomic(SC), true),
            (9, 12, Kind::Store(15), true),
            (1, 8, Kind::Store(15), true),
            (1, 8, Kind::Atomic(ADD), true),
            (9, 8, Kind::Store(1), false),
            (0, 8, Kind::Store(15), false),
            (4, 8, Kind::Atomic(ADD), false),
        ];
        for (hpu, offset, kind, survives) in cases {
            bench.access(1, address, Kind::Atomic(LR), 0);
            bench.access(hpu, PACKET_BASE + offset, kind, 5);
            let answer = bench.access(1, address, Kind::Atomic(SC), 6).word;
            assert_eq!(answer, Some(u32::from(!survives)), "{hpu} {kind:?}");
            // It is dropped in any case.
            assert_eq!(bench.access(1, address, Kind::Atomic(SC), 7).word, Some(1));
        }
        // Of two, the first one wins.
        for hpu in [1, 9] {
            bench.access(hpu, address, Kind::Atomic(LR), 0);
        }
        assert_eq!(bench.access(9, address, Kind::Atomic(SC), 8).word, Some(0));
        assert_eq!(bench.access(1, address, Kind::Atomic(SC), 9).word, Some(1));
        assert_eq!(bench.access(1, address, Kind::Load, 0).word, Some(8));
    });
}

#[test]
fn characters_say_of_whom_they_are() {
    check(|bench| {
        for (cluster, hpu) in [(0, 0), (1, 7), (2, 0), (1, 0)] {
            let address = STDOUT + (cluster << 7) + (hpu << 3);
            bench.access(3, address, Kind::Store(15), 0x1234_5600 + u32::from(b'a'));
        }
        assert_eq!(bench.printed, [0x61, 0x1_0761, 0x1_0061]);
    });
}

#[test]
fn a_reset_forgets_accesses_and_reservations() {
    check(|bench| {
        bench.access(1, HANDLER_BASE, Kind::Atomic(LR), 0);
        bench.ready = 0.0;
        bench.offer(Request {
            hpu: 2,
            address: HANDLER_BASE,
            kind: Kind::Atomic(ADD),
            data: 1,
        });
        bench.clock();
        bench.clock();
        assert_eq!(bench.sim.get("hold"), 1);
        bench.sim.reset();
        assert_eq!((bench.sim.get("hold"), bench.sim.get("read_valid")), (0, 0));
        bench.inside.clear();
        bench.reserved.fill(None);
        bench.ready = 1.0;
        assert_eq!(bench.access(1, HANDLER_BASE, Kind::Atomic(SC), 3).word, Some(1));
    });
}
