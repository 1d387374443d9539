//! `hpu_port`: threads that offer in their slots, against the address map of the software model and the contract of the block.

use spinneret_cluster::map::{self, Place, Target};
use spinneret_models::{HpuPort, HpuPortSingle};
use spinneret_regmap::pspin::{
    DMA_BASE, DRIVER_BASE, HANDLER_BASE, ICACHE_BASE, L1_ALIAS, PACKET_BASE, PROGRAM_BASE, STDOUT, l1_address,
};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters, case};
use spinneret_tb::hpu_memory::{AMOS, Kind, LR, SC};
use std::collections::VecDeque;

const THREADS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offer {
    thread: usize,
    address: u32,
    kind: Kind,
    data: u32,
    is_user: bool,
}

impl Offer {
    /// Whether it is a store, its strobe, and the port `atomic`.
    fn fields(self) -> [u64; 3] {
        match self.kind {
            Kind::Load => [0, 15, 0],
            Kind::Store(strobe) => [1, strobe.into(), 0],
            Kind::Atomic(function) => [0, 15, 0x20 | u64::from(function)],
        }
    }
}

/// The inputs of a clock.
#[derive(Clone, Copy, Debug, Default)]
struct Inputs {
    offer: Option<Offer>,
    /// The address of the next clock's offer.
    next_address: u32,
    trap: Option<usize>,
    l1_ready: bool,
    registers_ready: bool,
    registers_refused: bool,
    far_ready: bool,
    /// HPU, word, and whether it failed.
    far_done: Option<(usize, u32, bool)>,
    l1_data: u32,
    registers_data: u32,
}

/// The outputs of a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outputs {
    ready: bool,
    refused: bool,
    to_l1: bool,
    to_registers: bool,
    far: Option<Offer>,
    read_data: Option<u32>,
}

/// The block that answers an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    L1,
    Registers,
    Far,
    Icache,
    Nothing,
}

/// A thread's far or refused access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Outcome {
    #[default]
    None,
    Waits,
    Drops,
    Done(u32),
    Refused,
}

/// Where the word of an access comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    L1,
    Registers,
    Far(u32),
}

#[derive(Debug, Default)]
struct Reference {
    cluster: usize,
    clusters: usize,
    pipeline: usize,
    outcomes: [Outcome; THREADS],
    request: Option<Offer>,
    /// The thread of the clock.
    thread: usize,
    /// Threads that found no room for a request, and the one that makes the next one, with the clocks that it waits.
    missed: [bool; THREADS],
    held_back: Option<(usize, u32)>,
    due: [Option<Source>; 2],
}

impl Reference {
    fn region(&self, offer: Offer) -> Region {
        let [is_store, strobe, atomic] = offer.fields();
        let target = map::target(offer.address, 4, self.cluster, self.clusters);
        match target {
            Some(Target::Memory(Place::L1(cluster, _))) if cluster == self.cluster => Region::L1,
            Some(Target::Memory(Place::Program(_))) | None => Region::Nothing,
            Some(Target::Memory(_)) => Region::Far,
            Some(Target::Driver(_) | Target::Dma(_)) if strobe == 15 && atomic == 0 => Region::Registers,
            Some(Target::Stdout(..)) if is_store == 1 => Region::Far,
            Some(Target::Icache(_)) if is_store == 1 && !offer.is_user => Region::Icache,
            Some(_) => Region::Nothing,
        }
    }

    /// Whose turn it is to make requests, after a clock of that thread, which wants to make one, and does.
    fn pass_turn(&mut self, thread: usize, wants: bool, requests: bool) {
        let has_turn = self.has_turn(thread);
        let waits = self.held_back.is_some_and(|(_, patience)| patience == 2);
        if requests || has_turn && !wants && !waits {
            self.missed[thread] = false;
            let mut others = (1..THREADS).map(|distance| (thread + distance) % THREADS);
            self.held_back = others.find(|other| self.missed[*other]).map(|other| (other, 2));
        } else if wants {
            self.missed[thread] = true;
            if has_turn {
                self.held_back = Some((thread, 2));
            }
        } else if has_turn {
            self.held_back = Some((thread, 1));
        }
    }

    fn has_turn(&self, thread: usize) -> bool {
        self.held_back.is_none_or(|(held_back, _)| held_back == thread)
    }

    fn clock(&mut self, inputs: Inputs) -> Outputs {
        self.thread = inputs
            .offer
            .map_or((self.thread + 1) % THREADS, |offer| offer.thread);
        let (mut wants, mut requests) = (false, false);
        let has_turn = self.has_turn(self.thread);
        let mut outputs = Outputs {
            far: self.request,
            ..Outputs::default()
        };
        outputs.read_data = self.due[0].map(|source| match source {
            Source::L1 => inputs.l1_data,
            Source::Registers => inputs.registers_data,
            Source::Far(data) => data,
        });
        self.due = [self.due[1], None];
        if inputs.far_ready {
            self.request = None;
        }
        let before = self.outcomes;
        if let Some((hpu, data, failed)) = inputs.far_done
            && hpu / THREADS == self.pipeline
        {
            let outcome = &mut self.outcomes[hpu % THREADS];
            *outcome = match (*outcome, failed) {
                (Outcome::Drops, _) => Outcome::None,
                (_, true) => Outcome::Refused,
                (_, false) => Outcome::Done(data),
            };
        }
        if let Some(offer) = inputs.offer {
            let region = self.region(offer);
            let outcome = &mut self.outcomes[offer.thread];
            let source = match (region, before[offer.thread]) {
                (Region::L1, _) => {
                    outputs.to_l1 = true;
                    outputs.ready = inputs.l1_ready;
                    Source::L1
                }
                (Region::Registers, _) => {
                    outputs.to_registers = true;
                    outputs.refused = inputs.registers_refused;
                    outputs.ready = inputs.registers_ready;
                    Source::Registers
                }
                (_, Outcome::Done(data)) => {
                    outputs.ready = true;
                    *outcome = Outcome::None;
                    Source::Far(data)
                }
                (_, Outcome::Refused) => {
                    outputs.refused = true;
                    *outcome = Outcome::None;
                    Source::L1
                }
                (Region::Far, Outcome::None) => {
                    wants = true;
                    requests = has_turn && self.request.is_none();
                    if requests {
                        *outcome = Outcome::Waits;
                        self.request = Some(offer);
                    }
                    Source::L1
                }
                (Region::Icache, Outcome::None) => {
                    *outcome = Outcome::Done(0);
                    Source::L1
                }
                (Region::Nothing, Outcome::None) => {
                    *outcome = Outcome::Refused;
                    Source::L1
                }
                _ => Source::L1,
            };
            self.due[1] = (outputs.ready && !outputs.refused && offer.kind == Kind::Load).then_some(source);
        }
        self.pass_turn(self.thread, wants, requests);
        if let Some(thread) = inputs.trap {
            let outcome = &mut self.outcomes[thread];
            *outcome = match outcome {
                Outcome::Waits | Outcome::Drops => Outcome::Drops,
                _ => Outcome::None,
            };
        }
        outputs
    }
}

/// The block, its model, and the far accesses that are under way.
struct Bench<M: Model> {
    sim: Simulation<M>,
    reference: Reference,
    under_way: VecDeque<usize>,
}

impl<M: Model> Finish for Bench<M> {
    fn finish(self) {
        assert_eq!(self.reference.outcomes, [Outcome::None; THREADS]);
        assert!(self.under_way.is_empty() && self.reference.request.is_none());
    }
}

impl<M: Model> Bench<M> {
    fn new(run: &mut TestRun, cluster: usize, pipeline: usize) -> Self {
        let clusters = Parameters::of::<M>().get("clusters") as usize;
        let mut sim = run.simulation::<M>();
        sim.set("cluster", cluster as u64);
        sim.set("pipeline", pipeline as u64);
        let mut bench = Self {
            sim,
            reference: Reference {
                cluster,
                clusters,
                pipeline,
                ..Reference::default()
            },
            under_way: VecDeque::new(),
        };
        bench.drive(Inputs::default());
        bench.sim.reset();
        bench
    }

    fn drive(&mut self, inputs: Inputs) {
        let sim = &mut self.sim;
        sim.set("s_valid", inputs.offer.is_some());
        sim.set("s_thread", self.reference.thread as u64);
        if let Some(offer) = inputs.offer {
            let [is_write, strobe, atomic] = offer.fields();
            sim.set("s_address", offer.address);
            sim.set("s_is_write", is_write);
            sim.set("s_strobe", strobe);
            sim.set("s_atomic", atomic);
            sim.set("s_data", offer.data);
            sim.set("s_is_user", offer.is_user);
        }
        sim.set("next_address", inputs.next_address >> 3);
        sim.set("trap", inputs.trap.is_some());
        sim.set("trap_thread", inputs.trap.unwrap_or(0) as u64);
        sim.set("l1_ready", inputs.l1_ready);
        sim.set("registers_ready", inputs.registers_ready);
        sim.set("registers_refused", inputs.registers_refused);
        sim.set("l1_read_data", inputs.l1_data);
        sim.set("registers_read_data", inputs.registers_data);
        sim.set("far_ready", inputs.far_ready);
        sim.set("far_done", inputs.far_done.is_some());
        let (hpu, data, failed) = inputs.far_done.unwrap_or_default();
        sim.set("far_done_hpu", hpu as u64);
        sim.set("far_done_data", data);
        sim.set("far_done_failed", failed);
    }

    /// The offer that one of the ports shows.
    fn shown(&self, port: &str, offer: Offer) -> Offer {
        let get = |name: &str| self.sim.get(&format!("{port}_{name}"));
        let kind = match (get("is_write"), get("atomic")) {
            (1, _) => Kind::Store(get("strobe") as u8),
            (_, atomic) if atomic >= 0x20 => Kind::Atomic(atomic as u8 & 31),
            _ => Kind::Load,
        };
        let data = get("data") as u32;
        Offer { kind, data, ..offer }
    }

    /// Simulates a clock before an offer, and that of the offer.
    fn offer(&mut self, inputs: Inputs) -> Outputs {
        self.clock(Inputs {
            next_address: inputs.offer.map_or(0, |offer| offer.address),
            ..Inputs::default()
        });
        self.clock(inputs)
    }

    /// Simulates a clock and compares it with the model.
    fn clock(&mut self, inputs: Inputs) -> Outputs {
        let expected = self.reference.clock(inputs);
        self.drive(inputs);
        self.sim.dut.eval();
        let get = |port| self.sim.get(port);
        let high = |port| get(port) == 1;
        let offered = inputs.offer.is_some();
        let far = high("far_valid").then(|| Offer {
            thread: get("far_hpu") as usize - THREADS * self.reference.pipeline,
            address: get("far_address") as u32,
            is_user: expected.far.is_some_and(|offer| offer.is_user),
            ..self.shown("far", expected.far.expect("no request is expected"))
        });
        let outputs = Outputs {
            refused: offered && high("s_refused"),
            ready: offered && high("s_ready"),
            to_l1: high("l1_valid") && high("l1_is_here"),
            to_registers: high("registers_valid"),
            far,
            read_data: expected.read_data.map(|_| get("s_read_data") as u32),
        };
        let difference = || format!("{outputs:x?} where the model has {expected:x?}, of {inputs:x?}");
        let is_same = (outputs == expected).then_some(());
        self.sim.expect(is_same.ok_or_else(difference));
        if let Some(offer) = inputs.offer.filter(|_| outputs.to_l1) {
            assert_eq!(self.shown("l1", offer), offer);
            assert_eq!(get("l1_word"), u64::from(offer.address & 0x3_ffff) / 4);
            assert_eq!(get("l1_thread"), offer.thread as u64);
        }
        if let Some(offer) = inputs.offer.filter(|_| outputs.to_registers) {
            let hpu = THREADS * self.reference.pipeline + offer.thread;
            let is_dma = offer.address < DRIVER_BASE;
            assert_eq!(get("registers_hpu"), hpu as u64);
            assert_eq!(
                (get("registers_is_dma"), get("registers_is_user")),
                (is_dma.into(), offer.is_user.into())
            );
            assert_eq!(get("registers_offset"), u64::from(offer.address & 0xff));
            assert_eq!(
                (get("registers_is_write"), get("registers_data")),
                (offer.fields()[0], offer.data.into())
            );
        }
        if let Some(offer) = expected.far.filter(|_| inputs.far_ready) {
            self.under_way
                .push_back(THREADS * self.reference.pipeline + offer.thread);
        }
        self.sim.cycle();
        outputs
    }
}

fn random_offer(rng: &mut ChaCha8Rng, thread: usize, clusters: usize) -> Offer {
    let regions = [
        l1_address(rng.random_range(0..clusters + 1), 0),
        L1_ALIAS,
        HANDLER_BASE,
        PACKET_BASE,
        PROGRAM_BASE,
        STDOUT,
        DRIVER_BASE,
        DMA_BASE,
        ICACHE_BASE,
    ];
    let offset = 4 * (rng.random::<u32>() >> rng.random_range(2..32));
    let mut address = regions[rng.random_range(0..regions.len())].wrapping_add(offset & 0x1f_ffff);
    if rng.random_bool(0.1) {
        address ^= 1 << rng.random_range(2..32);
    }
    let kind = match rng.random_range(0..8) {
        0..3 => Kind::Load,
        3..6 => Kind::Store(15),
        6 => Kind::Store(rng.random_range(1..16)),
        _ => Kind::Atomic([LR, SC, AMOS[rng.random_range(0..AMOS.len())]][rng.random_range(0..3)]),
    };
    Offer {
        thread,
        address,
        kind,
        data: rng.random(),
        is_user: rng.random(),
    }
}

fn random_traffic<M: Model>(run: &mut TestRun, cluster: usize, pipeline: usize) {
    let mut rng = run.rng("traffic");
    let mut bench = Bench::<M>::new(run, cluster, pipeline);
    let mut offers: [Option<Offer>; THREADS] = [None; THREADS];
    let mut traps = None;
    // Done, refused, far and not taken, dropped, done for the other pipeline.
    let mut seen = [0_u32; 5];
    for clock in 0..60_000 {
        let (thread, next) = (clock % THREADS, (clock + 1) % THREADS);
        let is_new = offers[next].is_none() && clock < 59_000;
        if is_new && rng.random_bool(0.8) {
            offers[next] = Some(random_offer(&mut rng, next, bench.reference.clusters));
        }
        let mut inputs = Inputs {
            offer: offers[thread],
            next_address: offers[next].map_or_else(|| rng.random(), |offer| offer.address),
            trap: traps.take(),
            l1_ready: rng.random(),
            registers_ready: rng.random(),
            registers_refused: rng.random_bool(0.2),
            far_ready: rng.random_bool(0.3),
            far_done: None,
            l1_data: rng.random(),
            registers_data: rng.random(),
        };
        if rng.random_bool(0.2) {
            let hpu = bench.under_way.pop_front();
            inputs.far_done = hpu.map(|hpu| (hpu, rng.random(), rng.random_bool(0.2)));
        } else if rng.random_bool(0.05) {
            inputs.far_done = Some((THREADS * (1 - pipeline) + thread, rng.random(), rng.random()));
            seen[4] += 1;
        }
        let outputs = bench.clock(inputs);
        if let Some(offer) = inputs.offer {
            let is_far = bench.reference.region(offer) == Region::Far;
            seen[0] += u32::from(is_far && outputs.ready);
            seen[1] += u32::from(is_far && outputs.refused);
            seen[2] += u32::from(is_far && !outputs.ready);
            let stops = outputs.refused || !outputs.ready && rng.random_bool(0.05);
            if stops {
                traps = Some(thread);
                seen[3] += u32::from(bench.reference.outcomes[thread] == Outcome::Waits);
            }
            if stops || outputs.ready {
                offers[thread] = None;
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    bench.finish();
}

#[test]
fn random_accesses_are_answered_as_the_map_says() {
    run_test(0x0001_90c7, |run| random_traffic::<HpuPort>(run, 0, 0));
    run_test(0x0002_90c7, |run| random_traffic::<HpuPort>(run, 1, 1));
}

#[test]
fn a_single_cluster_has_no_neighbours() {
    run_test(0x0003_90c7, |run| random_traffic::<HpuPortSingle>(run, 0, 1));
}

/// `far` takes a request in every eighth clock only, so in that of the same thread.
#[test]
fn no_thread_waits_for_more_than_three_requests_of_others() {
    case(
        0x0006_90c7,
        |run| Bench::<HpuPort>::new(run, 0, 0),
        |bench| {
            let mut taken = Vec::new();
            let address = |thread: usize| HANDLER_BASE + 4 * thread as u32;
            bench.clock(Inputs {
                next_address: address(0),
                ..Inputs::default()
            });
            for clock in 0..800 {
                let thread = clock % THREADS;
                let mut inputs = load(thread, address(thread));
                inputs.next_address = address((clock + 1) % THREADS);
                let is_open = bench.reference.outcomes[thread] != Outcome::None;
                inputs.offer = inputs.offer.filter(|_| clock < 700 || is_open);
                inputs.far_ready = clock % 8 == 2;
                inputs.far_done = bench.under_way.pop_front().map(|hpu| (hpu, 0, false));
                taken.extend(inputs.far_done.map(|(hpu, ..)| hpu));
                bench.clock(inputs);
            }
            assert!(taken.len() > 80, "{taken:?}");
            for threads in taken.windows(2 * THREADS) {
                let all = (0..THREADS).all(|thread| threads.contains(&thread));
                assert!(all, "a thread starves: {threads:?}");
            }
        },
    );
}

fn load(thread: usize, address: u32) -> Inputs {
    Inputs {
        offer: Some(Offer {
            thread,
            address,
            kind: Kind::Load,
            data: 0,
            is_user: false,
        }),
        ..Inputs::default()
    }
}

#[test]
fn the_outcome_of_a_stopped_thread_is_dropped() {
    case(
        0x0004_90c7,
        |run| Bench::<HpuPort>::new(run, 0, 0),
        |bench| {
            let far_done = Some((2, 5, false));
            bench.offer(load(2, HANDLER_BASE));
            let mut taken = Inputs::default();
            (taken.far_ready, taken.trap) = (true, Some(2));
            assert!(bench.clock(taken).far.is_some());
            // The next one waits for the outcome of the first one, which it does not get.
            assert!(!bench.offer(load(2, PACKET_BASE)).ready);
            assert!(bench.clock(Inputs::default()).far.is_none());
            bench.clock(Inputs {
                far_done,
                ..Inputs::default()
            });
            assert!(!bench.offer(load(2, PACKET_BASE)).ready);
            taken.trap = None;
            assert_eq!(
                bench.clock(taken).far.map(|offer| offer.address),
                Some(PACKET_BASE)
            );
            bench.clock(Inputs {
                far_done,
                ..Inputs::default()
            });
            assert!(bench.offer(load(2, PACKET_BASE)).ready);
            bench.clock(Inputs::default());
            assert_eq!(bench.clock(Inputs::default()).read_data, Some(5));
            bench.under_way.clear();
        },
    );
}

#[test]
fn other_addresses_are_refused_by_the_second_offer() {
    case(
        0x0005_90c7,
        |run| Bench::<HpuPort>::new(run, 0, 0),
        |bench| {
            for address in [
                0,
                PROGRAM_BASE,
                STDOUT,
                ICACHE_BASE,
                l1_address(2, 0),
                DRIVER_BASE + 0x100,
                0x2000_0000,
            ] {
                for is_first in [true, false] {
                    let outputs = bench.offer(load(1, address));
                    assert!(!outputs.ready && outputs.refused != is_first, "{address:#x}");
                }
            }
        },
    );
}
