//! Bench of `host_copier`: its commands, and what memories and host have to hold.

use spinneret_hdl::hpu::cluster::{LONGEST, PART as COPY_PART};
use spinneret_models::HostCopier;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::cluster::lines::{Lines, Memories, parts};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

const CLUSTERS: usize = 2;
const CONTEXTS: usize = 4;
/// Counters of a context: bytes to the host, from it, and of packets.
const COUNTERS: usize = 3;
/// Memories of the NIC, with nothing before and after them.
pub(super) const PLACES: [Range<u32>; 2] = [0x1000_0000..0x1000_4000, 0x1c00_0000..0x1c00_4000];
/// Memory of the host that commands name: a part for copies to it, one for copies from it, one for words.
pub(super) const HOST: u64 = 0x1234_5678_9abc_0000;
/// Bytes of a part.
pub(super) const PART: usize = 0x8000;
/// Writes of this page fail, and reads of this line, from the first byte of the host's memory on.
const BAD_PAGE: Range<usize> = 0x3000..0x4000;
const BAD_LINE: Range<usize> = PART + 0x3040..PART + 0x3080;

/// A command that can be offered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    id: u64,
    kind: u64,
    words: [u32; 7],
    /// Queue of the task that asks.
    pub(super) queue: u64,
}

impl Command {
    fn context(self) -> usize {
        (self.queue >> 2) as usize % CONTEXTS
    }
}

/// The parts of a copy.
fn copy_parts(host: u64, bytes: u32) -> impl Iterator<Item = Range<u32>> {
    let longest = 1 << COPY_PART;
    let mut start = 0;
    std::iter::from_fn(move || {
        let room = longest - ((host + u64::from(start)) % u64::from(longest)) as u32;
        let part = start..bytes.min(start + room);
        start = part.end;
        (!part.is_empty()).then_some(part)
    })
}

/// The block between two clusters, memories and a host.
pub(super) struct Bench {
    pub(super) sim: Simulation<HostCopier>,
    pub(super) lines: Lines,
    pub(super) host_writes: AxiSlave,
    pub(super) host_reads: AxiSlave,
    pub(super) sends: ChannelSink,
    /// Commands to be offered by each cluster, in order.
    pub(super) waiting: [VecDeque<Command>; CLUSTERS],
    /// Commands that are not done, by {cluster, id}.
    open: BTreeMap<(usize, u64), Command>,
    /// Ends, each with its clock.
    pub(super) done: Vec<(usize, u64, u64)>,
    /// The queue of all commands that are added; none: any.
    pub(super) queue: Option<u64>,
    /// Bytes of each context, as the counters have to show them.
    counts: [[u64; CONTEXTS]; COUNTERS],
    /// Packets that each context has to send, in order; those that were, each with the clock of its response.
    to_send: [VecDeque<Vec<u64>>; CONTEXTS],
    sent: VecDeque<(u64, u64)>,
    /// Contents that the memories must have.
    memories: Memories,
    host: Vec<u8>,
    /// The bad addresses fail.
    is_bad: bool,
    pub(super) rng: ChaCha8Rng,
    /// Packets get their responses.
    pub(super) respond: bool,
    /// User signals of AW (0) and AR (1).
    pub(super) users: Vec<[u64; 2]>,
}

impl Finish for Bench {
    fn finish(mut self) {
        self.settle();
    }
}

/// Bytes of the host from an address on.
fn place_of(host: u64, bytes: usize) -> Range<usize> {
    let start = (host - HOST) as usize;
    start..start + bytes
}

/// Returns whether two ranges have a byte in common.
fn touches(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Bench {
    /// Memories and host hold random bytes.
    pub(super) fn new(run: &mut TestRun) -> Self {
        let mut rng = run.rng("commands");
        let memories = Memories::random(&PLACES, &mut rng);
        let mut host = vec![0; 3 * PART];
        rng.fill_bytes(&mut host);
        let mut sim = run.simulation::<HostCopier>();
        let host_writes = sim.axi_write_slave("m_axi", SlaveConfig::default());
        host_writes.memory_mut().fill(HOST, &host);
        let shared = host_writes.shared_memory();
        let config = SlaveConfig::default();
        let host_reads = AxiSlave::attach(&mut sim, "m_axi", Half::Read, config, shared);
        let fields = ["id", "nid", "fid", "src_addr", "length", "user_ptr"];
        let sends = sim.channel_sink("send", &fields, Pause::Never);
        let lines = Lines::attach(&mut sim, memories.clone());
        sim.reset();
        Self {
            sim,
            lines,
            host_writes,
            host_reads: host_reads.expect("the block reads"),
            sends,
            waiting: Default::default(),
            open: BTreeMap::new(),
            done: Vec::new(),
            queue: None,
            counts: Default::default(),
            to_send: Default::default(),
            sent: VecDeque::new(),
            memories,
            host,
            is_bad: false,
            rng,
            respond: true,
            users: Vec::new(),
        }
    }

    /// The bad addresses answer with errors.
    pub(super) fn fail(&mut self) {
        self.is_bad = true;
        let at = |place: Range<usize>| {
            let range = HOST + place.start as u64..=HOST + place.end as u64 - 1;
            Faults::At(vec![(range, Response::SlaveError)])
        };
        self.host_writes.set_faults(at(BAD_PAGE));
        self.host_reads.set_faults(at(BAD_LINE));
    }

    /// Expected effects of a command, when it is taken.
    fn expect(&mut self, cluster: usize, command: Command) {
        let words = command.words;
        let wide = |low: usize| u64::from(words[low + 1]) << 32 | u64::from(words[low]);
        let (host, memory, bytes) = (wide(0), words[2], words[3]);
        let is_copy = command.kind == 0 && (1..=1 << LONGEST).contains(&bytes);
        let context = command.context();
        if is_copy {
            self.counts[usize::from(words[4] & 1 == 0)][context] += u64::from(bytes);
        }
        if is_copy && words[4] & 1 == 1 {
            for part in copy_parts(host, bytes) {
                self.expect_to_host(
                    host + u64::from(part.start),
                    memory.wrapping_add(part.start),
                    part.len() as u32,
                );
            }
        } else if is_copy {
            for part in copy_parts(host, bytes) {
                self.expect_from_host(
                    host + u64::from(part.start),
                    memory.wrapping_add(part.start),
                    part.len() as u32,
                );
            }
        } else if command.kind == 1 {
            let id = (cluster as u64) << 5 | command.id;
            let [nid, fid, length] = [0, 1, 4].map(|number| u64::from(words[number]));
            self.counts[2][context] += length.min(0xffff);
            self.to_send[context].push_back(vec![id, nid, fid, wide(2), length, wide(5)]);
        } else if command.kind == 2 && words[2] & 1 == 1 {
            let size = (words[2] >> 1 & 0x1ff) as usize;
            if size <= 16 {
                let bytes: Vec<u8> = words[3..].iter().flat_map(|word| word.to_le_bytes()).collect();
                self.host[place_of(host & !63, size)].copy_from_slice(&bytes[..size]);
            }
        }
        assert!(self.open.insert((cluster, command.id), command).is_none());
    }

    /// Expected effects of a part of a copy to the host.
    fn expect_to_host(&mut self, host: u64, memory: u32, bytes: u32) {
        for part in parts(host as u32, bytes) {
            let Some(read) = self.memories.at(memory.wrapping_add(part.start), part.len()) else {
                break;
            };
            let place = place_of(host + u64::from(part.start), part.len());
            if !self.is_bad || !touches(&place, &BAD_PAGE) {
                self.host[place].copy_from_slice(read);
            }
        }
    }

    /// Expected effects of a part of a copy from the host.
    fn expect_from_host(&mut self, host: u64, memory: u32, bytes: u32) {
        for part in parts(memory, bytes) {
            let place = place_of(host + u64::from(part.start), part.len());
            let is_bad = self.is_bad && touches(&place, &BAD_LINE);
            match self.memories.at(memory.wrapping_add(part.start), part.len()) {
                Some(to) if !is_bad => to.copy_from_slice(&self.host[place]),
                _ => break,
            }
        }
    }

    /// Simulates a clock.
    pub(super) fn clock(&mut self) {
        for cluster in 0..CLUSTERS {
            let port = |name: &str| format!("command_{cluster}_{name}");
            let offer = self.waiting[cluster].front().copied();
            self.sim.set(&port("valid"), offer.is_some());
            if let Some(command) = offer {
                let bytes: Vec<u8> = command.words.iter().flat_map(|word| word.to_le_bytes()).collect();
                self.sim.set_bytes(&port("words"), &bytes);
                for (name, value) in [
                    ("id", command.id),
                    ("kind", command.kind),
                    ("queue", command.queue),
                ] {
                    self.sim.set(&port(name), value);
                }
            }
        }
        let now = self.sim.cycle_count();
        let response = self
            .sent
            .front()
            .copied()
            .filter(|(at, _)| self.respond && *at <= now);
        self.sim.set("sent", response.is_some());
        if let Some((_, id)) = response {
            self.sim.set("sent_id", id);
            self.sent.pop_front();
        }
        self.sim.dut.eval();
        for cluster in 0..CLUSTERS {
            let is_ready = self.sim.get(&format!("command_{cluster}_ready")) == 1;
            if is_ready && let Some(command) = self.waiting[cluster].pop_front() {
                self.expect(cluster, command);
            }
        }
        self.sim.cycle();
        for cluster in 0..CLUSTERS {
            if self.sim.get(&format!("command_{cluster}_done")) == 1 {
                let id = self.sim.get(&format!("command_{cluster}_done_id"));
                let ended = self.open.remove(&(cluster, id));
                assert!(ended.is_some(), "{cluster}, {id} ends, but is not open");
                self.done.push((cluster, id, self.sim.cycle_count()));
            }
        }
        while let Some(item) = self.sends.receive() {
            let due = self
                .to_send
                .iter_mut()
                .find(|packets| packets.front() == Some(&item.values));
            due.unwrap_or_else(|| panic!("{:x?} is no context's next packet", item.values))
                .pop_front();
            let delay = self.rng.random_range(1..20);
            let at = self
                .sent
                .back()
                .map_or(0, |(at, _)| *at)
                .max(self.sim.cycle_count() + delay);
            self.sent.push_back((at, item.values[0]));
        }
        for (number, letters) in ["aw", "ar"].iter().enumerate() {
            if self.sim.get(&format!("m_axi_{letters}valid")) == 1 {
                let user = self.sim.get(&format!("m_axi_{letters}user"));
                self.users.push([number as u64, user]);
            }
        }
    }

    /// The memories and counters hold what they have to.
    fn compare(&mut self) {
        let seed = self.sim.seed();
        let are_equal = *self.lines.memories() == self.memories;
        assert!(are_equal, "seed {seed}: other bytes than those of a plain copy");
        let difference = self.host_writes.memory().first_difference(HOST, &self.host);
        assert_eq!(difference, None, "seed {seed}");
        for (number, counts) in self.counts.iter().enumerate() {
            for (context, bytes) in counts.iter().enumerate() {
                self.sim.set(&format!("bytes_{number}_context"), context as u64);
                self.sim.dut.eval();
                let shown = self.sim.get(&format!("bytes_{number}_bytes"));
                assert_eq!(
                    shown, *bytes,
                    "seed {seed}: counter {number} of context {context}"
                );
            }
        }
    }

    /// Bytes of copies that are not done.
    pub(super) fn open_bytes(&self) -> u32 {
        self.open.values().map(|command| command.words[3]).sum()
    }

    /// Waits for the ends of all commands, and compares everything; the clocks of the ends.
    pub(super) fn settle(&mut self) -> Vec<u64> {
        while !self.open.is_empty() || self.waiting.iter().any(|commands| !commands.is_empty()) {
            self.clock();
        }
        // A copy that is done is written.
        self.compare();
        (0..30).for_each(|_| self.clock());
        self.compare();
        assert!(self.to_send.iter().all(VecDeque::is_empty));
        self.done.drain(..).map(|(_, _, clock)| clock).collect()
    }

    /// Adds a command with the lowest number that the cluster does not use.
    pub(super) fn add(&mut self, cluster: usize, kind: u64, words: [u32; 7]) -> bool {
        let waiting = &self.waiting[cluster];
        let is_free = |id: &u64| {
            !self.open.contains_key(&(cluster, *id)) && waiting.iter().all(|command| command.id != *id)
        };
        let Some(id) = (0..32).find(is_free) else {
            return false;
        };
        let queue = self.queue.unwrap_or_else(|| self.rng.random_range(0..256));
        self.waiting[cluster].push_back(Command {
            id,
            kind,
            words,
            queue,
        });
        true
    }

    /// A copy between a place of the host's memory and one of the NIC's.
    pub(super) fn copy(
        &mut self,
        cluster: usize,
        to_host: bool,
        host: usize,
        memory: u32,
        bytes: u32,
    ) -> bool {
        let host = HOST + host as u64;
        let other: u32 = self.rng.random();
        let direction = other & !1 | u32::from(to_host);
        let words = [
            host as u32,
            (host >> 32) as u32,
            memory,
            bytes,
            direction,
            other,
            !other,
        ];
        self.add(cluster, 0, words)
    }

    /// Words for the host.
    pub(super) fn direct(&mut self, cluster: usize, host: usize, size: u32, writes: bool) -> bool {
        let host = HOST + host as u64;
        let mut words: [u32; 7] = self.rng.random();
        words[..3].copy_from_slice(&[host as u32, (host >> 32) as u32, size << 1 | u32::from(writes)]);
        self.add(cluster, 2, words)
    }

    /// Adds a random command. Copies read what no command of the round writes, and contexts write nothing of others: there is no
    /// order between them.
    pub(super) fn random(&mut self, from: &Range<u32>, to: &Range<u32>) {
        let cluster = self.rng.random_range(0..CLUSTERS);
        let rng = &mut self.rng;
        let queue = rng.random_range(0..256);
        self.queue = Some(queue);
        let context = (queue >> 2) as usize % CONTEXTS;
        let longest = [1, 64, 130, 1600, 3900][rng.random_range(0..5)];
        let bytes = rng.random_range(0..=longest);
        let mut place = |place: &Range<u32>, memory: &Range<u32>| match rng.random_range(0..12) {
            0 if place.start == memory.start => place.start - rng.random_range(0..200),
            1 if place.end == memory.end => place.end - rng.random_range(0..200),
            _ => rng.random_range(place.start..place.end - bytes),
        };
        let part = (to.end - to.start) / CONTEXTS as u32;
        let own = to.start + part * context as u32;
        let (source, destination) = (place(from, from), place(&(own..own + part), to));
        let host = PART / CONTEXTS * context + rng.random_range(0..PART / CONTEXTS - longest as usize);
        match rng.random_range(0..10) {
            0..3 => self.copy(cluster, true, host, source, bytes),
            3..6 => self.copy(cluster, false, PART + host, destination, bytes),
            6 => {
                let (line, size) = (16 * context + rng.random_range(0..16), rng.random_range(0..20));
                let writes = rng.random_bool(0.8);
                self.direct(cluster, 2 * PART + 64 * line, size, writes)
            }
            7..9 => {
                let words = rng.random();
                self.add(cluster, 1, words)
            }
            _ => {
                let words = rng.random();
                self.add(cluster, 3, words)
            }
        };
        self.queue = None;
    }
}
