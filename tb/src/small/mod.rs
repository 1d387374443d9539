//! A small complex with all that is around it: packets in and out, a host, and the host's accesses.
//!
//! ```text
//!  ni: packets --> +-------------+ --> send --> no: frames --> sent
//!  HERs ---------> | small_bench | --> feedback: each packet once
//!  access <------> |             | --> host, host_out --> host memory --> host_in
//!                  +-------------+ --> stdout
//! ```

mod access;

use crate::cluster::her::{FIELDS, values};
use access::{Access, AccessPort};
use spinneret_cluster::task::{Her, Meta};
use spinneret_models::SmallBench;
use spinneret_program::Program;
use spinneret_regmap::pspin::{HANDLER_BASE, PACKET_BASE, PROGRAM_BASE};
use spinneret_regmap::shares;
use spinneret_sim::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// Bytes of a word of memory.
const WORD: usize = 8;
/// Bytes of a burst at `ni` and `no`.
const BURST: usize = 1024;
/// Bytes of a slot of the packet buffer, and slots.
pub const SLOT: u32 = 1024;
/// Slots of the packet buffer.
pub const SLOTS: u32 = 16;
/// Bytes of handler memory.
pub const HANDLER_BYTES: u32 = 16 << 10;
/// Bytes of program memory.
const PROGRAM_BYTES: usize = 16 << 10;
/// Clocks in which something has to happen while a packet is inside.
const PATIENCE: u64 = 100_000;
/// Clocks in which all HPUs have to ask for a task.
const START_CLOCKS: u64 = 40_000;

/// A small complex and its surroundings.
pub struct Small {
    /// The simulation.
    pub sim: Simulation<SmallBench>,
    rng: ChaCha8Rng,
    ni: AxiMaster,
    no: AxiMaster,
    hers: ChannelSource,
    feedback: ChannelSink,
    sends: ChannelSink,
    requests: ChannelSink,
    host_out: ChannelSink,
    host_in: ChannelSource,
    stdout: ChannelSink,
    access: AccessPort,
    /// Packets that are written, and those that are inside, by their address.
    writing: VecDeque<Her>,
    inside: BTreeMap<u32, Her>,
    held: BTreeSet<u32>,
    /// Frames that are read.
    reading: VecDeque<(u64, u32, usize)>,
    /// Parts of writes whose bytes come: address and bytes.
    parts: VecDeque<(u64, usize)>,
    part: Vec<u8>,
    quiet_since: u64,
    /// Host memory.
    pub host: BTreeMap<u64, u8>,
    /// Frames that handlers sent.
    pub sent: Vec<Vec<u8>>,
    /// Writes of host memory: address and bytes of each part.
    pub written: Vec<(u64, Vec<u8>)>,
    /// Packets that are done.
    pub done: u64,
    /// Standard output.
    pub printed: Vec<(usize, u8)>,
}

impl fmt::Debug for Small {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = (&self.held, &self.reading, &self.parts);
        f.debug_tuple("Small").field(&inside).finish_non_exhaustive()
    }
}

impl Small {
    /// A bench after reset; HPUs do not run. With pauses, each port has random ones.
    ///
    /// # Panics
    /// If the model has other ports.
    pub fn new(mut sim: Simulation<SmallBench>, has_pauses: bool) -> Self {
        sim.set_cycle_limit(u64::MAX);
        let mut rng = sim.rng("small");
        let pauses = [
            Pause::Never,
            Pause::Random { percent: 50 },
            Pause::Bursty { busy: 20, idle: 20 },
        ];
        let kinds = if has_pauses { pauses.len() } else { 1 };
        let mut pause = || pauses[rng.random_range(0..kinds)].clone();
        let [ni, no] = ["ni", "no"].map(|prefix| {
            let config = MasterConfig {
                pauses: MasterPauses::all(&pause()),
                ..MasterConfig::default()
            };
            sim.axi_master(prefix, config)
        });
        let mut small = Self {
            hers: sim.channel_source("her", &FIELDS, pause()),
            feedback: sim.channel_sink("feedback", &["her_addr", "her_size", "msgid"], pause()),
            sends: sim.channel_sink("send", &["id", "src_addr", "length"], pause()),
            requests: sim.channel_sink(
                "host",
                &["context", "is_write", "address", "offset", "bytes"],
                pause(),
            ),
            host_out: sim.channel_sink("host_out", &["data", "last"], pause()),
            host_in: sim.channel_source("host_in", &["data"], pause()),
            stdout: sim.channel_sink("stdout", &["data"], pause()),
            access: AccessPort::attach(&mut sim),
            ni,
            no,
            writing: VecDeque::new(),
            inside: BTreeMap::new(),
            held: BTreeSet::new(),
            reading: VecDeque::new(),
            parts: VecDeque::new(),
            part: Vec::new(),
            quiet_since: 0,
            host: BTreeMap::new(),
            sent: Vec::new(),
            written: Vec::new(),
            done: 0,
            printed: Vec::new(),
            rng,
            sim,
        };
        small.sim.set("runs", 0_u64);
        small.sim.set("sent", 0_u64);
        small.sim.reset();
        small
    }

    /// Random numbers.
    pub fn rng(&mut self) -> &mut ChaCha8Rng {
        &mut self.rng
    }

    /// Loads the segments of a program, lets the HPUs run, and waits until they ask for tasks.
    ///
    /// # Panics
    /// If it does not fit, or does not start.
    pub fn start(&mut self, program: &Program) {
        for segment in &program.segments {
            self.write(segment.address, &segment.bytes);
        }
        self.run_hpus();
    }

    /// Loads words of program memory, and lets the HPUs run.
    pub fn start_words(&mut self, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(bytes.len() <= PROGRAM_BYTES, "the program fits");
        self.write(PROGRAM_BASE, &bytes);
        self.run_hpus();
    }

    /// The value of an output.
    fn is_high(&self, name: &str) -> bool {
        let instance = self.sim.dut.instance();
        let port = instance.find(name);
        port.is_some_and(|port| instance.is_high(port))
    }

    fn run_hpus(&mut self) {
        self.sim.set("runs", 1_u64);
        let end = self.sim.cycle_count() + START_CLOCKS;
        while !self.is_high("active") {
            assert!(self.sim.cycle_count() < end, "not all HPUs ask for a task");
            self.clock();
        }
    }

    /// Sets the budget of a context, in clocks of a handler.
    pub fn set_budget(&mut self, context: u32, clocks: u32) {
        let address = shares::address(&shares::BUDGET, context, 0).expect("there is a budget");
        self.write(address, &clocks.to_le_bytes());
    }

    /// The host writes bytes.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn write(&mut self, address: u32, bytes: &[u8]) {
        let mut at = address as usize;
        let mut left = bytes;
        while !left.is_empty() {
            let within = at % WORD;
            let (now, later) = left.split_at(left.len().min(WORD - within));
            let mut word = [0; WORD];
            word[within..within + now.len()].copy_from_slice(now);
            let strobe = ((1_u64 << now.len()) - 1) << within;
            let answer = self.access_once(Access {
                is_write: true,
                place: (at / WORD) as u64,
                strobe,
                data: u64::from_le_bytes(word),
            });
            assert!(answer.is_some(), "there is memory at {at:#x}");
            (at, left) = (at + now.len(), later);
        }
    }

    /// The host reads bytes.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn read(&mut self, address: u32, len: usize) -> Vec<u8> {
        let first = address as usize / WORD;
        let last = (address as usize + len).div_ceil(WORD);
        let mut bytes = Vec::new();
        for place in first..last {
            let word = self.access_word(place as u64);
            let word = word.unwrap_or_else(|| panic!("there is memory at place {place:#x}"));
            bytes.extend(word.to_le_bytes());
        }
        let within = address as usize % WORD;
        bytes[within..within + len].to_vec()
    }

    /// The host reads the word at a place; none if there is nothing to read.
    pub fn access_word(&mut self, place: u64) -> Option<u64> {
        self.access_once(Access {
            is_write: false,
            place,
            strobe: 0,
            data: 0,
        })
    }

    /// The host writes the word at a place; whether there is something to write.
    pub fn write_word(&mut self, place: u64, data: u64) -> bool {
        let access = Access {
            is_write: true,
            place,
            strobe: 0xff,
            data,
        };
        self.access_once(access).is_some()
    }

    fn access_once(&mut self, access: Access) -> Option<u64> {
        self.access.start(access);
        loop {
            if let Some(answer) = self.access.take() {
                return answer;
            }
            self.clock();
        }
    }

    /// A packet comes, in a free slot; it waits for one. Returns its address.
    pub fn push(&mut self, message: u32, meta: Meta, bytes: &[u8]) -> u32 {
        let slots = || (0..SLOTS).map(|slot| PACKET_BASE + SLOT * slot);
        let address = loop {
            match slots().find(|slot| !self.held.contains(slot)) {
                Some(address) => break address,
                None => self.clock(),
            }
        };
        self.push_at(address, message, meta, bytes);
        address
    }

    /// A packet comes at an address.
    pub fn push_at(&mut self, address: u32, message: u32, meta: Meta, bytes: &[u8]) {
        let size = bytes.len() as u32;
        self.held.insert(address);
        for (number, part) in bytes.chunks(BURST).enumerate() {
            let at = u64::from(address) + (BURST * number) as u64;
            self.ni.write(WriteRequest::bytes(0, at, part, WORD));
        }
        self.writing.push_back(Her {
            message,
            is_last: true,
            address,
            size,
            sum: 0,
            copied: size,
            meta,
        });
    }

    /// Packets that are inside.
    pub fn inside(&self) -> usize {
        self.held.len()
    }

    /// Runs until nothing is inside.
    ///
    /// # Panics
    /// If a packet is not returned.
    pub fn drain(&mut self) {
        while !self.held.is_empty() || !self.is_high("idle") {
            self.clock();
        }
        for _ in 0..200 {
            self.clock();
        }
        assert!(self.reading.is_empty() && self.parts.is_empty(), "all is done");
    }

    /// Runs until nothing is inside, and ends the simulation.
    pub fn finish(mut self) {
        self.drain();
        self.sim.finish();
    }

    /// One clock, and what comes of it.
    pub fn clock(&mut self) {
        self.sim.cycle();
        self.sim.set("sent", 0_u64);
        let observed = self.observe();
        self.sim.expect(observed);
    }

    fn observe(&mut self) -> Result<(), String> {
        for done in self.ni.take_writes() {
            let her = self.writing.pop_front().ok_or("a packet is written twice")?;
            if done.response != Response::Okay {
                return Err(format!("a packet was not written: {done:?}"));
            }
            self.hers.send(&values(&her));
            self.inside.insert(her.address, her);
        }
        for item in self.feedback.receive_all() {
            let address = item.values[0] as u32;
            let her = self.inside.remove(&address);
            let her = her.ok_or_else(|| format!("feedback for no packet: {item:x?}"))?;
            let expected = [her.address, her.copied, her.message].map(u64::from);
            if item.values[..] != expected {
                return Err(format!("feedback {item:x?}, not {expected:x?}"));
            }
            self.held.remove(&address);
            self.done += 1;
            self.quiet_since = self.sim.cycle_count();
        }
        if self.inside.is_empty() {
            self.quiet_since = self.sim.cycle_count();
        }
        if self.sim.cycle_count() - self.quiet_since > PATIENCE {
            return Err(format!("nothing happens: {:x?}", self.inside.keys()));
        }
        for item in self.stdout.receive_all() {
            self.printed
                .push((item.values[0] as usize >> 8, item.values[0] as u8));
        }
        self.frames()?;
        self.host()
    }

    /// Frames that handlers send are read, and reported as sent.
    fn frames(&mut self) -> Result<(), String> {
        for item in self.sends.receive_all() {
            let (id, address, bytes) = (item.values[0], item.values[1] as u32, item.values[2] as usize);
            self.no
                .read(ReadRequest::bytes(0, address.into(), bytes.max(1), WORD));
            self.reading.push_back((id, address, bytes));
        }
        if let Some(read) = self.no.take_reads().pop() {
            let (id, address, bytes) = self.reading.pop_front().ok_or("a frame is read twice")?;
            if read.response() != Response::Okay {
                return Err(format!("a frame at {address:#x} is not read: {read:x?}"));
            }
            self.sent.push(read.bytes()[..bytes].to_vec());
            self.sim.set("sent", 1_u64);
            self.sim.set("sent_id", id);
        }
        Ok(())
    }

    /// Serves the host's memory.
    fn host(&mut self) -> Result<(), String> {
        for item in self.requests.receive_all() {
            let [_, is_write, address, offset, bytes] = item.values[..] else {
                unreachable!("five fields")
            };
            let at = address + offset;
            if bytes == 0 || bytes > 1024 {
                return Err(format!("a part of {bytes} bytes"));
            }
            if is_write == 1 {
                self.parts.push_back((at, bytes as usize));
                continue;
            }
            let word = |at: u64| (0..8).map(move |byte| at + byte);
            for first in (at..at + bytes).step_by(WORD) {
                let bytes = word(first).map(|at| self.host.get(&at).copied().unwrap_or(0));
                let bytes: Vec<u8> = bytes.collect();
                let data = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
                self.host_in.send(&[data]);
            }
        }
        for item in self.host_out.receive_all() {
            let (at, bytes) = *self.parts.front().ok_or("bytes without a request")?;
            self.part.extend(item.values[0].to_le_bytes());
            let is_last = self.part.len() >= bytes;
            if is_last != (item.values[1] == 1) {
                return Err(format!("the end of {bytes} bytes is elsewhere"));
            }
            if is_last {
                let mut part = std::mem::take(&mut self.part);
                part.truncate(bytes);
                self.host.extend((at..).zip(part.iter().copied()));
                self.written.push((at, part));
                self.parts.pop_front();
            }
        }
        Ok(())
    }
}

/// The context of a program's handlers, with all of handler memory after the program.
pub fn meta_of(program: &Program, host: (u64, u32)) -> Meta {
    let name = program
        .only_name()
        .expect("it has handlers of one name")
        .to_owned();
    let [header, payload, tail] = program.find(&name).expect("they are there");
    let free = program.free_memory;
    Meta {
        handler_memory: [free, HANDLER_BASE + HANDLER_BYTES - free],
        host_memory: host,
        header,
        payload,
        tail,
        scratchpads: [[0; 2]; 4],
        shared: [HANDLER_BASE, HANDLER_BYTES],
    }
}
