//! The endpoint between frames, memories and host writes, compared with the model of a board.

use spinneret_ether::board::{Board, Memory};
use spinneret_ether::{Frame, Info, Mac};
use spinneret_models::ControlEndpoint;
use spinneret_regmap::ether::{INFO_BYTES, MOST_WORDS};
use spinneret_sim::prelude::*;
use std::collections::{HashMap, VecDeque};

pub(super) const MAC: Mac = Mac([2, 0x11, 0x22, 0x33, 0x44, 0x55]);
pub(super) const HOST: Mac = Mac([2, 0, 0, 0, 1, 1]);
pub(super) const KEY: u64 = 0x0123_4567_89ab_cdef;
/// Clocks without anything after which all is quiet.
const QUIET: u64 = 60;

/// Words below 64 KiB; each read of one adds 1 to it, so that a second execution shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    words: HashMap<u32, u32>,
    reads: u32,
}

impl Memory for Words {
    fn read(&mut self, address: u32) -> Option<u32> {
        self.reads += 1;
        let word = self.words.entry(address).or_insert(address ^ 0x5eed_5eed);
        *word = word.wrapping_add(1);
        (address < 0x1_0000).then_some(*word)
    }

    fn write(&mut self, address: u32, word: u32) -> Option<()> {
        (address < 0x1_0000).then(|| {
            self.words.insert(address, word);
        })
    }
}

/// A beat: its bytes, the place of the last one, and whether it is the last.
type Beat = ([u8; 9], bool);

fn beats(bytes: &[u8]) -> impl Iterator<Item = Beat> {
    let count = bytes.len().div_ceil(8);
    bytes.chunks(8).enumerate().map(move |(at, part)| {
        let mut beat = [0xee; 9];
        beat[..part.len()].copy_from_slice(part);
        beat[8] = part.len() as u8 - 1;
        (beat, at + 1 == count)
    })
}

pub(super) fn host_frame(kind: u8, number: u32) -> Frame {
    Frame {
        target: MAC,
        source: HOST,
        kind,
        key: KEY,
        number,
        address: 0,
        count: 1,
        status: 0,
        limit: 0,
        data: Vec::new(),
    }
}

pub(super) fn frame(bytes: &[u8]) -> Frame {
    Frame::decode(bytes).expect("a frame of the protocol")
}

pub(super) struct Bench {
    pub(super) sim: Simulation<ControlEndpoint>,
    model: Board<Words>,
    words: Words,
    rng: ChaCha8Rng,
    pause: f64,
    info: [u8; INFO_BYTES],
    to_board: VecDeque<Beat>,
    writes: VecDeque<(u32, Beat)>,
    reads: VecDeque<(u32, usize)>,
    /// Bytes that host reads have given, in whole beats, and the clocks of these.
    pub(super) given: Vec<u8>,
    pub(super) given_at: Vec<u64>,
    offers: [bool; 3],
    /// Clocks until an access is done, and its result.
    access: Option<(u32, Option<u32>)>,
    frames: VecDeque<Vec<u8>>,
    pub(super) passed: Vec<Vec<u8>>,
    parts: [Vec<u8>; 2],
    /// The clocks of the last movement, and of the last beat that came in.
    moved: u64,
    taken: u64,
    forgets: bool,
}

impl Bench {
    pub(super) fn new(run: &mut TestRun, pause: f64) -> Self {
        let info = Info {
            mac: MAC,
            name: "colorlight".to_owned(),
            design: 0x0001_0002,
            shape: [1, 8],
            memory_bytes: 0x8000,
            program_bytes: 0x4000,
            most_words: MOST_WORDS as u32,
        };
        let rng = run.rng("pauses");
        let mut sim: Simulation<ControlEndpoint> = run.simulation();
        sim.set_cycle_limit(5_000_000);
        let mut mac = MAC.0;
        mac.reverse();
        sim.set_bytes("mac", &mac);
        let mut bench = Self {
            sim,
            info: info.encode(),
            model: Board::new(info, Words::default()),
            words: Words::default(),
            rng,
            pause,
            to_board: VecDeque::new(),
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            given: Vec::new(),
            given_at: Vec::new(),
            offers: [false; 3],
            access: None,
            frames: VecDeque::new(),
            passed: Vec::new(),
            parts: Default::default(),
            moved: 0,
            taken: 0,
            forgets: false,
        };
        bench.reset();
        bench
    }

    /// Resets the block and the model.
    pub(super) fn reset(&mut self) {
        for port in [
            "s_valid",
            "w_valid",
            "host_read_valid",
            "host_data_ready",
            "m_ready",
            "pass_ready",
            "words_ready",
            "words_done",
        ] {
            self.sim.set(port, false);
        }
        self.to_board.clear();
        self.writes.clear();
        self.reads.clear();
        self.given.clear();
        self.frames.clear();
        (self.offers, self.access, self.parts) = ([false; 3], None, Default::default());
        self.sim.reset();
        self.model = Board::new(self.model.info.clone(), self.words.clone());
    }

    fn goes(&mut self) -> bool {
        self.pause == 0.0 || !self.rng.random_bool(self.pause)
    }

    fn step(&mut self) {
        for (at, prefix) in ["s", "w"].into_iter().enumerate() {
            let next = match at {
                0 => self.to_board.front().copied(),
                _ => self.writes.front().map(|(_, beat)| *beat),
            };
            let offers = next.is_some() && (self.offers[at] || self.goes());
            self.offers[at] = offers;
            self.sim.set(&format!("{prefix}_valid"), offers);
            if let Some((beat, last)) = next {
                self.sim.set_bytes(&format!("{prefix}_data"), &beat);
                self.sim.set(&format!("{prefix}_last"), last);
            }
        }
        self.sim.set(
            "w_address",
            self.writes.front().map_or(0, |(address, _)| *address),
        );
        self.offers[2] = !self.reads.is_empty() && (self.offers[2] || self.goes());
        self.sim.set("host_read_valid", self.offers[2]);
        let (address, bytes) = self.reads.front().copied().unwrap_or_default();
        self.sim.set("host_read_address", address);
        self.sim.set("host_read_bytes", bytes as u64);
        for port in ["m_ready", "pass_ready", "words_ready", "host_data_ready"] {
            let ready = self.goes();
            self.sim.set(port, ready);
        }
        let done = self
            .access
            .filter(|(clocks, _)| *clocks == 0)
            .map(|(_, result)| result);
        self.sim.set("words_done", done.is_some());
        self.sim.set("words_error", done == Some(None));
        self.sim.set("words_read", done.flatten().unwrap_or(0xdead_dead));
        self.sim.dut.eval();
        let place = 8 * self.sim.get("info_place") as usize;
        self.sim.set_bytes("info", &self.info[place..place + 8]);
        self.sim.dut.eval();
        self.sample(done.is_some());
        self.sim.cycle();
    }

    fn sample(&mut self, is_done: bool) {
        let now = self.sim.cycle_count();
        let moves = |sim: &Simulation<ControlEndpoint>, prefix: &str| {
            sim.get(&format!("{prefix}_valid")) == 1 && sim.get(&format!("{prefix}_ready")) == 1
        };
        if moves(&self.sim, "s") {
            self.to_board.pop_front();
            self.offers[0] = false;
            (self.moved, self.taken) = (now, now);
        }
        if moves(&self.sim, "w") {
            self.writes.pop_front();
            self.offers[1] = false;
            self.moved = now;
        }
        if moves(&self.sim, "host_read") {
            self.reads.pop_front();
            self.offers[2] = false;
            self.moved = now;
        }
        if moves(&self.sim, "host_data") {
            self.given.extend(self.sim.get("host_data_data").to_le_bytes());
            self.given_at.push(now);
            self.moved = now;
        }
        for (at, prefix) in ["m", "pass"].into_iter().enumerate() {
            if moves(&self.sim, prefix) {
                self.moved = now;
                let data = self.sim.dut.get(&format!("{prefix}_data")).expect("a port");
                let mut bytes = data.to_bytes_le();
                bytes.resize(9, 0);
                let tail = usize::from(bytes[8]);
                self.parts[at].extend(&bytes[..=tail]);
                if self.sim.get(&format!("{prefix}_last")) == 1 {
                    let frame = std::mem::take(&mut self.parts[at]);
                    match at {
                        0 => self.frames.push_back(frame),
                        _ => self.passed.push(frame),
                    }
                }
            }
        }
        match &mut self.access {
            Some(_) if is_done => self.access = None,
            Some((clocks, _)) => *clocks -= 1,
            None => {}
        }
        if moves(&self.sim, "words") {
            assert!(self.access.is_none(), "one access at a time");
            let address = self.sim.get("words_address") as u32;
            let result = match self.sim.get("words_is_write") {
                1 => {
                    let word = self.sim.get("words_data") as u32;
                    self.words.write(address, word).map(|()| 0)
                }
                _ => self.words.read(address),
            };
            let clocks = if self.pause == 0.0 {
                0
            } else {
                self.rng.random_range(0..5)
            };
            self.access = Some((clocks, result));
        }
        if self.access.is_some() {
            self.moved = now;
        }
    }

    pub(super) fn run(&mut self, clocks: u64) {
        (0..clocks).for_each(|_| self.step());
    }

    pub(super) fn run_until_quiet(&mut self) {
        self.moved = self.sim.cycle_count();
        while !self.to_board.is_empty() || self.sim.cycle_count() < self.moved + QUIET {
            self.step();
        }
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.to_board.extend(beats(bytes));
    }

    pub(super) fn host_write(&mut self, address: u32, bytes: &[u8]) {
        self.writes.extend(beats(bytes).map(|beat| (address, beat)));
    }

    pub(super) fn host_read(&mut self, address: u32, bytes: usize) {
        self.reads.push_back((address, bytes));
    }

    /// Beats that have not come in yet.
    pub(super) fn waiting(&self) -> usize {
        self.to_board.len()
    }

    /// The clock after the last beat came in.
    pub(super) fn taken_at(&self) -> u64 {
        self.taken + 1
    }

    /// Sends a frame to the block and the model; their answers are the same.
    pub(super) fn ask(&mut self, request: &Frame) -> Option<Vec<u8>> {
        self.ask_bytes(&request.encode())
    }

    pub(super) fn ask_bytes(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.send(bytes);
        self.run_until_quiet();
        let expected = self.model.hear(bytes);
        let mut answers = self.take_frames();
        let answer = answers.pop();
        assert!(answers.is_empty(), "one answer at most");
        assert_eq!(answer, expected, "the answer to {bytes:02x?}");
        answer
    }

    /// Sends a frame to the block alone, and drops the answer.
    pub(super) fn ask_alone(&mut self, request: &Frame) {
        self.send(&request.encode());
        self.run_until_quiet();
        assert_eq!(self.take_frames().len(), 1);
    }

    /// Sends a frame to the model alone.
    pub(super) fn model_hears(&mut self, bytes: &[u8]) {
        let _ = self.model.hear(bytes);
    }

    /// The number of the last request that the model has executed in this session, which began or went on at `number`.
    pub(super) fn number(&self, number: u32) -> u32 {
        self.model.last_number().unwrap_or(number)
    }

    pub(super) fn reads(&self) -> u32 {
        self.words.reads
    }

    pub(super) fn take_frames(&mut self) -> Vec<Vec<u8>> {
        self.frames.drain(..).collect()
    }

    /// Runs until the block sends a frame.
    pub(super) fn next_frame(&mut self) -> Vec<u8> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return frame;
            }
            self.step();
        }
    }

    pub(super) fn counter(&mut self, number: u64) -> u64 {
        self.sim.set("select", number);
        self.run(4);
        self.sim.get("value")
    }

    /// The model was not shown everything.
    pub(super) fn forget(&mut self) {
        self.forgets = true;
    }

    pub(super) fn finish(self) {
        self.finish_but_busy(0);
    }

    /// Checks the counters and memories against the model's, and that nothing is left.
    pub(super) fn finish_but_busy(mut self, busy: u64) {
        self.run_until_quiet();
        if !self.forgets {
            let model = self.model.counters;
            let expected = [
                model.executed,
                model.repeated,
                model.malformed,
                model.foreign,
                model.refused,
                busy as u32,
                model.acknowledged,
                model.lost,
            ];
            for (number, expected) in expected.into_iter().enumerate() {
                assert_eq!(
                    self.counter(number as u64),
                    u64::from(expected),
                    "counter {number}"
                );
            }
            assert_eq!(self.words.words, self.model.memory.words);
        }
        assert!(self.frames.is_empty() && self.writes.is_empty() && self.access.is_none());
        assert!(self.reads.is_empty() && self.given.is_empty());
        assert!(self.parts.iter().all(Vec::is_empty));
        self.sim.finish();
    }
}
