//! Tenants of the clusters: contexts with packets for `share_bench`, the scheduler with the drivers of two clusters, around HPUs
//! that take as many clocks as a handler would.

use crate::cluster::her::{FIELDS, values};
use spinneret_cluster::task::{Code, Her, Meta};
use spinneret_isa::cause;
use spinneret_models::ShareBench;
use spinneret_regmap::pspin::{PACKET_BASE, driver as register};
use spinneret_sim::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Contexts of the block.
pub const CONTEXTS: usize = 8;
/// HPUs of the block.
pub const HPUS: usize = 16;
/// Pipelines, of four threads each.
const PIPELINES: usize = 4;
const THREADS: usize = HPUS / PIPELINES;
/// Clusters.
const CLUSTERS: usize = 2;
/// Places for packets.
const PLACES: u32 = 4096;
/// Clocks before the measurement.
const WARM_UP: u64 = 60_000;
/// Clocks of a copy to L1 before its first line.
const COPY_CLOCKS: u64 = 12;

/// A tenant: it always has `window` packets inside.
#[derive(Clone, Debug)]
pub struct Tenant {
    /// Weight of its context.
    pub weight: u64,
    /// Clocks of its handlers; none: they never end.
    pub clocks: Option<Range<u64>>,
    /// Clocks that its handlers may take.
    pub budget: u32,
    /// Packets that it has inside.
    pub window: usize,
}

/// The use of what tenants share by one of them.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Clocks in which its tasks had an HPU, or bytes.
    pub got: u64,
    /// Packets or commands that were done.
    pub packets: u64,
    /// Clocks from the beginning to the end of a packet or command: 99 % of them took no longer.
    pub p99_clocks: u64,
}

impl Usage {
    /// Nothing.
    pub const NONE: Self = Self {
        got: 0,
        packets: 0,
        p99_clocks: 0,
    };
}

/// The clocks that 99 % of these are not above.
pub(crate) fn p99(clocks: &mut [u64]) -> u64 {
    clocks.sort_unstable();
    clocks.get(clocks.len() * 99 / 100).copied().unwrap_or(0)
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Packet {
    tenant: usize,
    sent: u64,
    clocks: Option<u64>,
}

/// State of an HPU.
#[derive(Clone, Copy, Debug)]
enum Hpu {
    /// It asks for a task.
    Asks,
    /// It has one since a clock, and asks for the address of its packet.
    Reads(u64),
    /// The address is on its way.
    Waits(u64),
    /// It runs a handler of a tenant until a clock, or for ever.
    Runs(u64, usize, Option<u64>),
    /// It ends its task.
    Ends(u64, usize),
}

/// The block and its surroundings.
struct Bench<'t> {
    sim: Simulation<ShareBench>,
    /// Each tenant's: its packets are the same whatever others do.
    rngs: Vec<ChaCha8Rng>,
    now: u64,
    hers: ChannelSource,
    feedback: ChannelSink,
    tenants: &'t [Tenant],
    packets: BTreeMap<u32, Packet>,
    inside: Vec<usize>,
    next: u32,
    hpus: [Hpu; HPUS],
    copies: [VecDeque<(u64, u64)>; CLUSTERS],
    /// Words on their way to HPUs.
    answers: VecDeque<(u64, usize)>,
    usage: Vec<Usage>,
    latencies: Vec<Vec<u64>>,
}

/// Runs tenants, at most one for each context, and returns what each got in that many clocks.
///
/// With `takes_turns`, all tasks count the same, so that contexts take turns.
///
/// # Panics
/// If the model cannot be simulated, or a packet is lost.
pub fn measure(tenants: &[Tenant], takes_turns: bool, clocks: u64) -> Vec<Usage> {
    let mut sim = Simulation::new(ShareBench::with_seed(1)).expect("the model can be simulated");
    sim.set_cycle_limit(u64::MAX);
    sim.set("takes_turns", takes_turns);
    let mut bench = Bench {
        rngs: (0..tenants.len())
            .map(|tenant| sim.rng(&format!("packets of {tenant}")))
            .collect(),
        now: 0,
        hers: sim.channel_source("her", &FIELDS, Pause::Never),
        feedback: sim.channel_sink("feedback", &["her_addr", "her_size", "msgid"], Pause::Never),
        tenants,
        packets: BTreeMap::new(),
        inside: vec![0; tenants.len()],
        next: 0,
        hpus: [Hpu::Asks; HPUS],
        copies: Default::default(),
        answers: VecDeque::new(),
        usage: vec![Usage::NONE; tenants.len()],
        latencies: vec![Vec::new(); tenants.len()],
        sim,
    };
    bench.sim.reset();
    for (context, tenant) in tenants.iter().enumerate() {
        let sim = &mut bench.sim;
        for (name, value) in [("weight", tenant.weight), ("budget", tenant.budget.into())] {
            sim.set(&format!("{name}_context"), context as u64);
            sim.set(&format!("{name}_value"), value);
            sim.set(&format!("{name}_write"), true);
            sim.cycle();
            sim.set(&format!("{name}_write"), false);
        }
    }
    (0..WARM_UP).for_each(|_| bench.clock());
    bench.usage.fill(Usage::NONE);
    bench.latencies.iter_mut().for_each(Vec::clear);
    (0..clocks).for_each(|_| bench.clock());
    for (usage, latencies) in bench.usage.iter_mut().zip(&mut bench.latencies) {
        usage.p99_clocks = p99(latencies);
    }
    bench.usage
}

impl Bench<'_> {
    fn clock(&mut self) {
        for tenant in 0..self.tenants.len() {
            if self.inside[tenant] < self.tenants[tenant].window {
                self.send(tenant);
            }
        }
        self.move_copies();
        let stop = self.sim.get("stop");
        let thread = (self.now % THREADS as u64) as usize;
        let offers: Vec<usize> = (0..PIPELINES)
            .map(|pipeline| THREADS * pipeline + thread)
            .collect();
        for hpu in &offers {
            self.offer(*hpu, stop >> hpu & 1 == 1);
        }
        self.sim.dut.eval();
        self.see_answers();
        for hpu in &offers {
            self.see(*hpu);
        }
        for cluster in 0..CLUSTERS {
            if self.sim.get(&format!("copy_{cluster}_valid")) == 1 {
                let lines = self.sim.get(&format!("copy_{cluster}_bytes")).div_ceil(64);
                let free = self.copies[cluster].back().map_or(0, |(at, _)| *at);
                let at = (self.now + COPY_CLOCKS).max(free) + lines;
                let tag = self.sim.get(&format!("copy_{cluster}_tag"));
                self.copies[cluster].push_back((at, tag));
            }
        }
        self.sim.cycle();
        self.now += 1;
        self.see_feedback();
    }

    fn see_feedback(&mut self) {
        for item in self.feedback.receive_all() {
            let packet = self
                .packets
                .remove(&(item.values[0] as u32))
                .expect("a packet is done once");
            self.inside[packet.tenant] -= 1;
            self.usage[packet.tenant].packets += 1;
            self.latencies[packet.tenant].push(self.now - packet.sent);
        }
    }

    /// A packet for one of both queues of its context, of a message that does not end.
    fn send(&mut self, tenant: usize) {
        let place = |number: u32| PACKET_BASE + 64 * (number % PLACES);
        while self.packets.contains_key(&place(self.next)) {
            self.next += 1;
        }
        let address = place(self.next);
        self.next += 1;
        let clocks = self.tenants[tenant].clocks.clone();
        let clocks = clocks.map(|clocks| self.rngs[tenant].random_range(clocks));
        let size = self.rngs[tenant].random_range(64..=1500);
        let her = Her {
            message: 2 * tenant as u32 + self.next % 2,
            is_last: false,
            address,
            size,
            copied: size,
            meta: Meta {
                payload: Code { address: 4, size: 4 },
                ..Meta::default()
            },
            ..Her::default()
        };
        self.hers.send(&values(&her));
        let sent = self.now;
        let packet = Packet { tenant, sent, clocks };
        self.packets.insert(address, packet);
        self.inside[tenant] += 1;
    }

    fn move_copies(&mut self) {
        for cluster in 0..CLUSTERS {
            let done = self.copies[cluster].pop_front_if(|(at, _)| *at <= self.now);
            self.sim.set(&format!("copy_{cluster}_ready"), true);
            self.sim.set(&format!("copy_{cluster}_done"), done.is_some());
            self.sim.set(
                &format!("copy_{cluster}_done_tag"),
                done.map_or(0, |(_, tag)| tag),
            );
        }
    }

    /// The access of an HPU in its clock; one that runs and is stopped traps.
    fn offer(&mut self, hpu: usize, is_stopped: bool) {
        let pipeline = hpu / THREADS;
        let mut traps = false;
        if let Hpu::Runs(since, tenant, until) = self.hpus[hpu] {
            traps = is_stopped;
            if traps || until.is_some_and(|until| until <= self.now) {
                self.hpus[hpu] = Hpu::Ends(since, tenant);
            }
        }
        let offset = match self.hpus[hpu] {
            Hpu::Asks => Some(0),
            Hpu::Reads(_) => Some(4 * 17),
            Hpu::Ends(..) if !traps => Some(register::DOORBELL),
            _ => None,
        };
        for (name, value) in [
            (format!("s_{pipeline}_valid"), u64::from(offset.is_some())),
            (format!("s_{pipeline}_hpu"), (hpu % (HPUS / CLUSTERS)) as u64),
            (format!("s_{pipeline}_offset"), offset.unwrap_or(0).into()),
            (format!("trap_{pipeline}_valid"), traps.into()),
            (format!("trap_{pipeline}_thread"), (hpu % THREADS) as u64),
            (format!("trap_{pipeline}_cause"), cause::STOPPED.into()),
        ] {
            self.sim.set(&name, value);
        }
    }

    /// The outcome of the access.
    fn see(&mut self, hpu: usize) {
        let pipeline = hpu / THREADS;
        let [valid, ready] =
            ["valid", "ready"].map(|name| self.sim.get(&format!("s_{pipeline}_{name}")) == 1);
        if !(valid && ready) {
            return;
        }
        self.hpus[hpu] = match self.hpus[hpu] {
            Hpu::Asks => Hpu::Reads(self.now),
            Hpu::Reads(since) => {
                self.answers.push_back((self.now + 2, hpu));
                Hpu::Waits(since)
            }
            Hpu::Ends(since, tenant) => {
                self.usage[tenant].got += self.now - since;
                Hpu::Asks
            }
            state => state,
        };
    }

    /// The address of a packet is there, and its handler begins.
    fn see_answers(&mut self) {
        while let Some((_, hpu)) = self.answers.pop_front_if(|(at, _)| *at <= self.now) {
            let address = self.sim.get(&format!("s_{}_read_data", hpu / THREADS)) as u32;
            let packet = self.packets.get(&address).expect("the task has a packet");
            let Hpu::Waits(since) = self.hpus[hpu] else {
                panic!("HPU {hpu} waits for an address");
            };
            let until = packet.clocks.map(|clocks| self.now + clocks);
            self.hpus[hpu] = Hpu::Runs(since, packet.tenant, until);
        }
    }
}

/// Jain's index of fairness of what tenants got for each unit of their weight: 1 if all got the same.
pub fn jain(weights: impl IntoIterator<Item = u64>, usage: &[Usage]) -> f64 {
    let got = usage
        .iter()
        .zip(weights)
        .map(|(usage, weight)| usage.got as f64 / weight as f64);
    let (sum, squares) = got.fold((0.0, 0.0), |(sum, squares), got| (sum + got, squares + got * got));
    sum * sum / (usage.len() as f64 * squares)
}

/// The share of HPU time that was used.
pub fn busy(usage: &[Usage], clocks: u64) -> f64 {
    usage.iter().map(|usage| usage.got).sum::<u64>() as f64 / (clocks * HPUS as u64) as f64
}

/// A change that one tenant caused to the others: the smallest rate, in units of `of`, and the largest 99th percentile, relative to before.
pub fn cost_to_others(before: &[Usage], after: &[Usage], of: fn(&Usage) -> u64) -> [f64; 2] {
    let others = || before.iter().zip(after).take(before.len() - 1);
    let rate = |(before, after): (&Usage, &Usage)| of(after) as f64 / of(before) as f64;
    let late = |(before, after): (&Usage, &Usage)| after.p99_clocks as f64 / before.p99_clocks as f64;
    [
        others().map(rate).fold(f64::MAX, f64::min),
        others().map(late).fold(0.0, f64::max),
    ]
}

/// Handlers of different lengths, one for each tenant: 100 to 10,000 clocks.
const LENGTHS: [Range<u64>; CONTEXTS] = [
    8_000..10_000,
    4_000..8_000,
    2_000..4_000,
    1_000..2_000,
    100..10_000,
    400..1_000,
    200..400,
    100..200,
];
/// Clocks that a handler may take, where one does not end.
const BUDGET: u32 = 20_000;
/// Packets inside of a tenant, and of one that floods the scheduler.
const WINDOW: usize = 32;
const FLOOD: usize = 200;

/// Tenants with these weights, and handlers of all lengths.
pub fn mixed(weights: [u64; CONTEXTS]) -> Vec<Tenant> {
    let tenant = |(weight, clocks): (u64, Range<u64>)| Tenant {
        weight,
        clocks: Some(clocks),
        budget: BUDGET,
        window: WINDOW,
    };
    weights.into_iter().zip(LENGTHS).map(tenant).collect()
}

/// Tenants with the same weight and handlers of 500 to 2,000 clocks; the last one as said.
fn equal(last: impl Fn(Tenant) -> Tenant) -> Vec<Tenant> {
    let one = Tenant {
        weight: 1,
        clocks: Some(500..2_000),
        budget: BUDGET,
        window: WINDOW,
    };
    let mut tenants = vec![one.clone(); CONTEXTS];
    tenants[CONTEXTS - 1] = last(one);
    tenants
}

/// Tenants that behave.
pub fn peaceful() -> Vec<Tenant> {
    equal(|last| last)
}

/// Tenants of which the last one has handlers that never end.
pub fn looping() -> Vec<Tenant> {
    equal(|last| Tenant { clocks: None, ..last })
}

/// Tenants of which the last one has many short packets inside.
pub fn flooding() -> Vec<Tenant> {
    equal(|last| Tenant {
        clocks: Some(100..200),
        window: FLOOD,
        ..last
    })
}

/// One tenant alone, with as many packets as all others together.
pub fn alone() -> Vec<Tenant> {
    vec![Tenant {
        window: FLOOD,
        ..equal(|last| last).swap_remove(0)
    }]
}
