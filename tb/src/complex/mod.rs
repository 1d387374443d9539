//! The clusters as a whole, with random handlers of several contexts that loop, fault, flood commands, name memory of others and
//! leave locks.
//!
//! ```text
//!  ni: packets --> +---------------+ --> stdout: starts and ends of handlers --> log
//!  HERs ---------> | complex_bench | --> feedback: each packet once
//!  host: memory <> |               | --> send --> no: words of the context --> sent
//!                  +---------------+ <=> m_axi: host memory; user is the context of the address
//! ```
//!
//! Each word of a context has its tag ([`memory`]); a word that is where it must not be was read or written by another one.

mod compare;
mod log;
mod memory;
mod packets;
mod program;

use crate::cluster::her::{FIELDS, values};
use crate::counts;
use log::Log;
use memory::{
    CONTEXT_HOST, CONTEXTS, FROM_HOST, HOST, HOSTILE, REGION, owner, tag_of, tagged, windows, word_at,
};
use program::{Handlers, SLOT_SHIFT, random_handlers};
use spinneret_cluster::task::Her;
use spinneret_models::ComplexBench;
use spinneret_regmap::pspin::{PACKET_BASE, PROGRAM_BASE};
use spinneret_regmap::shares;
use spinneret_sim::prelude::*;
use std::collections::{BTreeMap, VecDeque};

/// Queues of messages, those of a context one after another.
const QUEUES: usize = 16;
/// Packets at a time.
const SLOTS: u32 = 40;
/// Packets of a message before its last one, at most.
const LONGEST: usize = 12;
/// Bytes of a packet.
const PACKET: u32 = REGION;
/// Clocks that handlers may take.
const BUDGET: u32 = 2500;
/// Bytes of a bus.
const LINE: usize = 64;
/// Bytes of a burst.
const BURST: u32 = 1024;
/// Clocks in which something has to happen while a packet is inside.
const PATIENCE: u64 = 60_000;
/// HPUs of all clusters.
const HPUS: u64 = 16;

/// Resets in the middle of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resets {
    /// None.
    None,
    /// The HPUs of a cluster, again and again.
    Clusters,
    /// Everything, once.
    All,
}

impl Resets {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::None, Self::Clusters, Self::All];
}

counts! {
    /// Sums over rounds.
    pub struct Totals {
        /// Packets, each of which had its feedback.
        pub packets: u64,
        /// Handlers that ended.
        pub handlers: u64,
        /// Those that trapped or were refused something.
        pub failed: u64,
        /// Those that used up their budget.
        pub stopped: u64,
        /// Packets that were sent.
        pub sent: u64,
        /// Bursts to and from the host.
        pub bursts: u64,
        /// Resets.
        pub resets: u64,
        /// HPUs that began again.
        pub restarts: u64,
        /// Clocks.
        pub clocks: u64,
    }
}

/// A packet that is inside, or whose bytes are written.
#[derive(Clone, Copy, Debug)]
struct Inside {
    her: Her,
    context: usize,
}

struct Bench {
    sim: Simulation<ComplexBench>,
    rng: ChaCha8Rng,
    handlers: Handlers,
    /// At `ni`, `no` and `host`.
    masters: [AxiMaster; 3],
    host: [AxiSlave; 2],
    hers: ChannelSource,
    feedback: ChannelSink,
    sends: ChannelSink,
    sent: ChannelSource,
    stdout: [PortHandle; 3],
    /// {valid, address, user} of AW and AR.
    users: [[PortHandle; 3]; 2],
    unread: u32,
    log: Log,
    /// The open message of each queue, and the number of the next one.
    open: [Option<u32>; QUEUES],
    next: u32,
    inside: BTreeMap<u32, Inside>,
    /// Packets that are written, in order; those that are read to be sent: id, context, address and bytes.
    writing: VecDeque<Inside>,
    reading: VecDeque<(u64, usize, u32, usize)>,
    quiet_since: u64,
    totals: Totals,
}

const NI: usize = 0;
const NO: usize = 1;
const CPU: usize = 2;

/// Runs that many packets of random messages through the clusters.
///
/// # Panics
/// If something is lost, happens twice or in a wrong order, or if a context reaches what it does not own.
pub fn run_round(sim: Simulation<ComplexBench>, packets: u64, resets: Resets) -> Totals {
    let mut bench = Bench::new(sim);
    bench.start();
    let reset_at = packets / 2;
    for number in 0..packets {
        if resets == Resets::All && number == reset_at {
            bench.reset();
        }
        if resets == Resets::Clusters && bench.rng.random_range(0..20) == 0 {
            bench.reset_cluster();
        }
        bench.packet(packets - number);
    }
    bench.finish()
}

impl Bench {
    fn new(mut sim: Simulation<ComplexBench>) -> Self {
        sim.set_cycle_limit(u64::MAX);
        let mut rng = sim.rng("handlers");
        let pauses = [
            Pause::Never,
            Pause::Random { percent: 50 },
            Pause::Bursty { busy: 20, idle: 20 },
        ];
        let pause = |rng: &mut ChaCha8Rng| pauses[rng.random_range(0..pauses.len())].clone();
        let masters = ["ni", "no", "host"].map(|prefix| {
            let config = MasterConfig {
                pauses: MasterPauses::all(&pause(&mut rng)),
                ..MasterConfig::default()
            };
            sim.axi_master(prefix, config)
        });
        let config = SlaveConfig {
            address: pause(&mut rng),
            data: pause(&mut rng),
            latency: Latency { least: 1, most: 100 },
            ..SlaveConfig::default()
        };
        let writes = sim.axi_write_slave("m_axi", config.clone());
        let shared = writes.shared_memory();
        let reads = AxiSlave::attach(&mut sim, "m_axi", Half::Read, config, shared);
        let reads = reads.unwrap_or_else(|error| panic!("{error}"));
        let find = |sim: &Simulation<ComplexBench>, name: &str| {
            let port = sim.dut.instance().find(name);
            port.unwrap_or_else(|| panic!("no port {name}"))
        };
        let user = |sim: &Simulation<ComplexBench>, letters: &str| {
            ["valid", "addr", "user"].map(|name| find(sim, &format!("m_axi_{letters}{name}")))
        };
        Self {
            handlers: random_handlers(&mut rng),
            masters,
            host: [writes, reads],
            hers: sim.channel_source("her", &FIELDS, pause(&mut rng)),
            feedback: sim.channel_sink("feedback", &["her_addr", "her_size", "msgid"], pause(&mut rng)),
            sends: sim.channel_sink("send", &["id", "fid", "src_addr", "length"], pause(&mut rng)),
            sent: sim.channel_source("sent", &["data"], Pause::Never),
            stdout: ["stdout_rd_en", "stdout_dout", "stdout_data_valid"].map(|name| find(&sim, name)),
            users: ["aw", "ar"].map(|letters| user(&sim, letters)),
            unread: [0, 50, 90][rng.random_range(0..3)],
            log: Log::default(),
            open: [None; QUEUES],
            next: 0,
            inside: BTreeMap::new(),
            writing: VecDeque::new(),
            reading: VecDeque::new(),
            quiet_since: 0,
            totals: Totals::default(),
            rng,
            sim,
        }
    }

    /// Loads the program and memories, and lets the clusters run.
    fn start(&mut self) {
        self.sim.set("fetch_enable", 0_u64);
        self.sim.reset();
        let program: Vec<u8> = self
            .handlers
            .words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let mut lines = vec![(PROGRAM_BASE, program)];
        for window in windows() {
            let words = window
                .clone()
                .step_by(4)
                .flat_map(|address| word_at(address).to_le_bytes());
            lines.push((window.start, words.collect()));
        }
        for context in 0..CONTEXTS {
            let address = shares::address(&shares::BUDGET, context as u32, 0).expect("there is a budget");
            lines.push((address, BUDGET.to_le_bytes().to_vec()));
            let words = (0..FROM_HOST / 4).flat_map(|_| tagged(context, self.rng.random()).to_le_bytes());
            let words: Vec<u8> = words.collect();
            let part = HOST + u64::from(CONTEXT_HOST * context as u32 + FROM_HOST);
            self.host[0].memory_mut().fill(part, &words);
        }
        for (address, bytes) in lines {
            for (number, part) in (0..).zip(bytes.chunks(BURST as usize)) {
                let at = u64::from(address + BURST * number);
                self.masters[CPU].write(WriteRequest::bytes(0, at, part, LINE));
            }
        }
        while !self.masters[CPU].is_idle() {
            self.clock();
        }
        let written = self.masters[CPU].take_writes();
        assert!(
            written.iter().all(|done| done.response == Response::Okay),
            "{written:x?}"
        );
        self.sim.set("fetch_enable", 3_u64);
    }

    /// Resets everything in full traffic: packets that are inside are forgotten, and memories keep their words.
    fn reset(&mut self) {
        self.sim.reset();
        self.count();
        self.masters.iter().for_each(AxiMaster::clear);
        for master in &self.masters {
            drop((master.take_writes(), master.take_reads()));
        }
        self.hers.clear();
        self.sent.clear();
        drop((self.feedback.receive_all(), self.sends.receive_all()));
        drop(self.host.each_ref().map(AxiSlave::take_bursts));
        self.log = Log::default();
        self.open = [None; QUEUES];
        self.inside.clear();
        self.writing.clear();
        self.reading.clear();
        self.quiet_since = self.sim.cycle_count();
        self.totals.resets += 1;
    }

    /// Resets the HPUs of a cluster for some clocks.
    fn reset_cluster(&mut self) {
        self.log.has_resets = true;
        self.totals.resets += 1;
        self.sim.set("fetch_enable", 1 + self.rng.random_range(0..2_u64));
        for _ in 0..self.rng.random_range(1..40) {
            self.clock();
        }
        self.sim.set("fetch_enable", 3_u64);
    }

    /// Adds up what the log has seen.
    fn count(&mut self) {
        for counts in self.log.counts.values() {
            self.totals.handlers += counts.ended;
            self.totals.failed += counts.failed;
            self.totals.stopped += counts.stopped;
        }
        self.totals.restarts += self.log.restarts;
    }

    fn clock(&mut self) {
        let [enable, word, valid] = self.stdout;
        let instance = self.sim.dut.instance();
        let (word, is_valid) = (instance.value(word) as u32, instance.is_high(valid));
        let takes = self.rng.random_range(0..100) >= self.unread;
        self.sim.dut.instance_mut().set_high(enable, takes);
        let seen = if takes && is_valid {
            self.quiet_since = self.sim.cycle_count();
            self.log.take(word)
        } else {
            Ok(())
        };
        self.sim.expect(seen);
        self.sim.cycle();
        let observed = self.observe();
        self.sim.expect(observed);
    }

    /// Checks what has come, and goes on with it.
    fn observe(&mut self) -> Result<(), String> {
        for [valid, address, user] in self.users {
            let instance = self.sim.dut.instance();
            if instance.is_high(valid) {
                let (address, user) = (instance.value(address) as u64, instance.value(user) as u64);
                let part = address.wrapping_sub(HOST) / u64::from(CONTEXT_HOST);
                if part != user || user >= CONTEXTS as u64 {
                    return Err(format!("context {user} is at {address:#x} of the host"));
                }
            }
        }
        for done in self.masters[NI].take_writes() {
            let inside = self.writing.pop_front().ok_or("a packet is written twice")?;
            if done.response != Response::Okay {
                return Err(format!("a packet was not written: {done:?}"));
            }
            self.hers.send(&values(&inside.her));
        }
        for item in self.feedback.receive_all() {
            let [address, size, message] = item.values[..] else {
                unreachable!("three fields")
            };
            let slot = (address as u32).wrapping_sub(PACKET_BASE) >> SLOT_SHIFT;
            let inside = self
                .inside
                .remove(&slot)
                .ok_or_else(|| format!("feedback for no packet: {item:x?}"))?;
            let her = inside.her;
            let expected = [her.address, her.copied, her.message % QUEUES as u32].map(u64::from);
            if [address, size, message] != expected {
                return Err(format!("feedback {item:x?}, not {expected:x?}"));
            }
            self.totals.packets += 1;
            self.quiet_since = self.sim.cycle_count();
        }
        if !self.inside.is_empty() && self.sim.cycle_count() - self.quiet_since > PATIENCE {
            return Err(format!("nothing happens: {:?}", self.inside.keys()));
        }
        self.send()
    }

    /// Reads the packets that handlers send, and answers.
    fn send(&mut self) -> Result<(), String> {
        for item in self.sends.receive_all() {
            let [id, context, address, bytes] = item.values[..] else {
                unreachable!("four fields")
            };
            let (context, address) = (context as usize, address as u32);
            let slot = address.wrapping_sub(PACKET_BASE) >> SLOT_SHIFT;
            let is_in_slot = slot < SLOTS;
            let is_own = match self.inside.get(&slot) {
                Some(inside) if is_in_slot => inside.context == context,
                _ if is_in_slot => false,
                _ if windows().iter().any(|window| window.contains(&address)) => {
                    owner(address) == Some(context)
                }
                // A packet in L1.
                _ => true,
            };
            if !is_own || context >= CONTEXTS {
                return Err(format!("context {context} sends {address:#x}"));
            }
            self.masters[NO].read(ReadRequest::bytes(0, address.into(), bytes as usize, LINE));
            self.reading.push_back((id, context, address, bytes as usize));
        }
        for done in self.masters[NO].take_reads() {
            let (id, context, address, bytes) = self.reading.pop_front().ok_or("a packet is read twice")?;
            let read = done.bytes();
            let words = read.chunks_exact(4).take(bytes / 4);
            let is_foreign = |word: &[u8]| context != HOSTILE && word[3] != tag_of(context);
            if done.response() != Response::Okay
                || words.clone().count() != bytes / 4
                || words.clone().any(is_foreign)
            {
                return Err(format!(
                    "context {context} sends words of others from {address:#x}: {done:x?}"
                ));
            }
            self.sent.send(&[id]);
            self.totals.sent += 1;
        }
        self.totals.bursts += self
            .host
            .iter()
            .map(|slave| slave.take_bursts().len() as u64)
            .sum::<u64>();
        Ok(())
    }
}
