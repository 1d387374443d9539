//! Bench of `cluster_driver`: its contract in plain Rust around scripted HPUs, a copier and a taker of commands with random delays.
//!
//! Each HPU makes its offer in every fourth clock. What the driver does is compared in every clock with what it may do.

use crate::bench::Finish;
use spinneret_isa::cause;
use spinneret_regmap::pspin::{
    HANDLER_BASE, L1_AREA_BYTES, L1_AREAS, L1_PACKET_BYTES, L1_PACKETS, dma, driver as register, l1_address,
};
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

/// HPUs of the cluster.
pub const HPUS: usize = 8;
/// Threads of a pipeline.
const THREADS: usize = 4;
/// Tasks that fit in.
pub const SLOTS: usize = 20;
/// Bytes of a packet's slot.
pub const SLOT_BYTES: u32 = L1_PACKET_BYTES / SLOTS as u32 / 64 * 64;
/// The number of the cluster.
pub const CLUSTER: usize = 1;
/// End of shared data.
pub const SHARED_END: u32 = HANDLER_BASE + 0x1234;
/// Bits of a task's origin.
const ORIGIN: u32 = 20;
/// Words of a task on its way.
pub type Words = [u32; 22];

/// An access of an HPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// It is one of the copy engine.
    pub is_dma: bool,
    /// Offset of the register.
    pub offset: u32,
    /// The word to store; a load has none.
    pub store: Option<u32>,
    /// It is made in user mode.
    pub is_user: bool,
}

impl Access {
    /// A load in machine mode.
    pub fn load(offset: u32) -> Self {
        Self {
            is_dma: false,
            offset,
            store: None,
            is_user: false,
        }
    }

    /// A store in machine mode.
    pub fn store(offset: u32, word: u32) -> Self {
        Self {
            store: Some(word),
            ..Self::load(offset)
        }
    }

    /// The same of the copy engine.
    #[must_use]
    pub fn of_dma(self) -> Self {
        Self { is_dma: true, ..self }
    }

    /// The same in user mode.
    #[must_use]
    pub fn by_user(self) -> Self {
        Self {
            is_user: true,
            ..self
        }
    }

    fn is(&self, is_dma: bool, offset: u32) -> bool {
        self.is_dma == is_dma && self.offset == offset
    }

    /// It starts a command or copy.
    fn starts(&self) -> bool {
        self.store.is_none() && (self.is(false, register::ISSUE) || self.is(true, dma::START))
    }

    /// The register exists for such an access.
    fn exists(&self) -> bool {
        let is_load = self.store.is_none();
        match (self.is_dma, self.offset) {
            (true, dma::SOURCE | dma::DESTINATION | dma::BYTES) => true,
            (true, dma::START | dma::DONE) => is_load,
            (true, _) => false,
            (false, register::DOORBELL | register::ERROR | register::WAIT | register::TEST) => true,
            (false, register::INFO..register::COMMAND_END) => true,
            (false, register::ISSUE | ..register::DOORBELL) => is_load,
            (false, _) => false,
        }
    }
}

/// How an offer of an HPU went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It took place; the word of a load.
    Word(u32),
    /// It was refused.
    Refused,
    /// The HPU was stopped instead.
    Stopped,
}

/// A task in the driver.
#[derive(Clone, Copy, Debug)]
struct Task {
    words: Words,
    slot: usize,
    failed: bool,
}

/// A copy: source, destination, bytes.
type Bytes = [u32; 3];

/// What is known of an HPU.
#[derive(Clone, Debug, Default)]
pub struct Hpu {
    /// What it offers until that is done.
    pub offer: Option<Access>,
    /// It is in user mode, and so can be stopped.
    pub is_user: bool,
    /// How the last offer went.
    pub done: Option<Done>,
    tries: u32,
    /// An access that took place, the clock in which its word is there, and the word.
    answer: Option<(u64, Access, u32)>,
    /// The queue of its last task.
    queue: Option<u64>,
    asks: bool,
    task: Option<Task>,
    given: u64,
    was_stopped: bool,
    ended: Option<Task>,
    open: [bool; 4],
    started: u32,
    copied: u32,
    copies: VecDeque<Bytes>,
    tested: u32,
    registers: [u32; 8],
    copy: [u32; 3],
    ranges: [[u32; 2]; 7],
}

impl Hpu {
    /// It holds a task.
    pub fn has_task(&self) -> bool {
        self.task.is_some()
    }

    /// It waits for its last offer, or for the word of it.
    pub fn is_busy(&self) -> bool {
        self.offer.is_some() || self.answer.is_some()
    }

    /// Its tasks are done.
    pub fn is_done(&self) -> bool {
        self.task.is_none() && self.ended.is_none()
    }

    /// Words of its task.
    pub fn words(&self) -> Words {
        self.task.expect("it has a task").words
    }

    /// Commands and copies under way.
    pub fn open(&self) -> usize {
        self.open.iter().filter(|open| **open).count() + (self.started - self.copied) as usize
    }

    /// Copies that it has started.
    pub fn started(&self) -> u32 {
        self.started
    }

    /// Ranges of its task: first address and end.
    pub fn ranges(&self) -> [[u32; 2]; 7] {
        self.ranges.map(|range| range.map(|grain| grain << 6))
    }

    fn is_inside(&self, address: u32, bytes: u32) -> bool {
        let end = u64::from(address) + u64::from(bytes);
        let contains = |range: &[u32; 2]| range[0] <= address && end <= u64::from(range[1]);
        bytes == 0 || self.ranges().iter().any(contains)
    }

    /// What it would start is inside of its ranges.
    fn may_start(&self, access: &Access) -> bool {
        let [kind, _, _, w2, w3, w4, ..] = self.registers;
        let [source, destination, bytes] = self.copy;
        match kind >> 1 & 3 {
            _ if access.is_dma => self.is_inside(source, bytes) && self.is_inside(destination, bytes),
            0 => self.is_inside(w2, w3),
            1 => w4 == 0 || w3 == 0 && self.is_inside(w2, w4),
            _ => true,
        }
    }

    fn is_low(&self, access: &Access) -> bool {
        !access.is_dma && access.offset < register::TASK_END
    }

    fn is_refused(&self, access: &Access) -> bool {
        let is_end = access.is(false, register::DOORBELL) || access.is(false, register::ERROR);
        let waits = self.is_low(access) && self.task.is_none();
        access.is_user && is_end || !access.exists() && !waits
    }

    /// It has to wait; a start may wait for others as well.
    fn waits(&self, access: &Access) -> bool {
        let is_full = match access.is_dma {
            true => self.started - self.copied == 15,
            false => self.open.iter().all(|open| *open),
        };
        let is_wait = access.is(false, register::WAIT);
        let blocks = access
            .store
            .is_some_and(|number| is_wait && self.open[number as usize % 4]);
        self.is_low(access) && self.task.is_none()
            || access.starts() && (is_full || self.ended.is_some())
            || blocks
    }

    /// An access that takes place; returns the word of a load.
    fn access(&mut self, access: &Access) -> u32 {
        let (is_dma, offset) = (access.is_dma, access.offset);
        let place = |base: u32| (offset.wrapping_sub(base) / 4) as usize;
        if access.is(false, register::DOORBELL) {
            self.ended = self.task.take();
            self.asks = false;
            return 0;
        }
        if let Some(word) = access.store {
            match (is_dma, offset) {
                (true, _) => self.copy[offset as usize / 8] = word,
                (_, register::ERROR) => self.task.as_mut().expect("it has a task").failed = true,
                (_, register::TEST) => self.tested = word % 4,
                (_, register::INFO..) => self.registers[place(register::INFO)] = word,
                _ => {}
            }
            return 0;
        }
        match (is_dma, offset) {
            (true, dma::START) => {
                self.started += 1;
                self.copies.push_back(self.copy);
                self.started
            }
            (true, dma::DONE) => self.copied,
            (true, _) => self.copy[offset as usize / 8],
            (_, ..register::DOORBELL) => self.words()[place(0)],
            (_, register::WAIT) => self.open.iter().filter(|open| **open).count() as u32,
            (_, register::TEST) => u32::from(!self.open[self.tested as usize]),
            (_, register::INFO..) => self.registers[place(register::INFO)],
            _ => 0,
        }
    }
}

/// A command that is issued: its id, kind, queue and words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sent {
    id: u64,
    kind: u64,
    queue: Option<u64>,
    words: [u32; 7],
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Tasks that were done, and those of them that failed.
    pub finished: u32,
    /// Those that failed.
    pub failed: u32,
    /// Commands.
    pub commands: u32,
    /// Copies of HPUs.
    pub copies: u32,
    /// Starts that were refused.
    pub refused_starts: u32,
    /// Other accesses that were refused.
    pub refused: u32,
    /// HPUs that were stopped.
    pub stopped: u32,
    /// Starts that had to wait for a command or copy.
    pub full: u32,
    /// Offers that lost against one of the other pipeline.
    pub lost: u32,
}

/// The driver and what is around it.
#[derive(Debug)]
pub struct Bench<M: Model> {
    sim: Simulation<M>,
    rng: ChaCha8Rng,
    now: u64,
    /// The HPUs.
    pub hpus: Vec<Hpu>,
    /// Clocks that a task may take.
    pub budget: u32,
    /// Percentage of clocks in which others are ready.
    pub pace: u32,
    /// Clocks of a copy and of a command, at most.
    pub delay: u32,
    /// What happened.
    pub seen: Seen,
    tasks: VecDeque<Words>,
    word: usize,
    begun: u32,
    arrived: VecDeque<Words>,
    /// Tasks whose packet is copied, and whose packet is there.
    copying: VecDeque<Task>,
    ready: VecDeque<Task>,
    used: [bool; SLOTS],
    /// Copies that the copier has: tag, and the clock in which they are done.
    copier: VecDeque<(usize, u64)>,
    sent: VecDeque<Sent>,
    commands: Vec<(u64, u64)>,
    /// The task that is given, its HPU, ranges that are set, and the clock in which it is there.
    giving: Option<(Task, usize, usize, u64)>,
    traps: Vec<(usize, u32)>,
    fault: Option<(usize, u32)>,
    /// Outputs that were not taken.
    stalled: Vec<(&'static str, String)>,
    finished_stalled: bool,
}

impl<M: Model> Finish for Bench<M> {
    fn finish(self) {
        self.sim.expect(if self.is_empty() {
            Ok(())
        } else {
            Err("something is left")
        });
        assert_eq!((self.sim.get("load"), self.sim.get("idle")), (0, 1));
    }
}

impl<M: Model> Bench<M> {
    /// A driver after reset.
    pub fn new(run: &mut TestRun) -> Self {
        let rng = run.rng("bench");
        let mut sim = run.simulation::<M>();
        sim.reset();
        sim.set("cluster", CLUSTER as u64);
        sim.set("shared_end", SHARED_END);
        Self {
            sim,
            rng,
            now: 0,
            hpus: vec![Hpu::default(); HPUS],
            budget: 0,
            pace: 100,
            delay: 20,
            seen: Seen::default(),
            tasks: VecDeque::new(),
            word: 0,
            begun: 0,
            arrived: VecDeque::new(),
            copying: VecDeque::new(),
            ready: VecDeque::new(),
            used: [false; SLOTS],
            copier: VecDeque::new(),
            sent: VecDeque::new(),
            commands: Vec::new(),
            giving: None,
            traps: Vec::new(),
            fault: None,
            stalled: Vec::new(),
            finished_stalled: false,
        }
    }

    /// Has a task for the driver.
    pub fn push(&mut self, words: Words) {
        self.tasks.push_back(words);
    }

    /// Tasks that the driver has not taken.
    pub fn waiting(&self) -> usize {
        self.tasks.len()
    }

    /// Nothing is inside.
    pub fn is_empty(&self) -> bool {
        let is_quiet = |hpu: &Hpu| hpu.task.is_none() && hpu.ended.is_none() && hpu.open() == 0;
        let queues = self.tasks.is_empty() && self.arrived.is_empty() && self.copying.is_empty();
        queues
            && self.ready.is_empty()
            && self.giving.is_none()
            && self.sent.is_empty()
            && self.hpus.iter().all(is_quiet)
    }

    /// The value of an output.
    pub fn get(&self, port: &str) -> u64 {
        self.sim.get(port)
    }

    #[track_caller]
    fn check(&self, holds: bool, what: impl FnOnce() -> String) {
        self.sim.expect(if holds { Ok(()) } else { Err(what()) });
    }

    fn words_of(&self, port: &str, count: usize) -> Vec<u32> {
        let value = self.sim.dut.get(port).unwrap_or_else(|error| panic!("{error}"));
        let mut words = value.to_u32_digits();
        words.resize(count, 0);
        words
    }

    /// Simulates a clock.
    ///
    /// # Panics
    /// If the driver does what it may not.
    pub fn clock(&mut self) {
        let pace = self.pace;
        let mut is_ready = || self.rng.random_range(0..100) < pace;
        let [task, copy, command, finished] = [is_ready(), is_ready(), is_ready(), is_ready()];
        let task = (task && !self.tasks.is_empty()).then(|| self.tasks[0]);
        let copied = self
            .copier
            .front()
            .filter(|(_, at)| *at <= self.now)
            .map(|(tag, _)| *tag);
        let answered = self.commands.iter().position(|(_, at)| *at <= self.now);
        let sim = &mut self.sim;
        sim.set("budget", self.budget);
        sim.set("task_valid", task.is_some());
        if let Some(words) = task {
            sim.set("task_data", words[self.word]);
            sim.set("task_last", self.word == words.len() - 1);
        }
        for (port, ready) in [
            ("copy_ready", copy),
            ("command_ready", command),
            ("finished_ready", finished),
        ] {
            sim.set(port, ready);
        }
        sim.set("copy_done", copied.is_some());
        sim.set("copy_done_tag", copied.unwrap_or(0) as u64);
        sim.set("copy_done_failed", copied.is_some_and(|tag| tag % 3 == 0));
        sim.set("command_done", answered.is_some());
        sim.set("command_done_id", answered.map_or(0, |at| self.commands[at].0));
        let traps = std::mem::take(&mut self.traps);
        for pipeline in 0..HPUS / THREADS {
            let trap = traps.iter().find(|(hpu, _)| hpu / THREADS == pipeline);
            let (hpu, cause) = trap.copied().unwrap_or_default();
            sim.set(&format!("trap_{pipeline}_valid"), trap.is_some());
            sim.set(&format!("trap_{pipeline}_thread"), (hpu % THREADS) as u64);
            sim.set(&format!("trap_{pipeline}_cause"), cause);
        }
        let thread = (self.now % THREADS as u64) as usize;
        let stop = self.sim.get("stop");
        for pipeline in 0..HPUS / THREADS {
            self.drive_offer(pipeline, pipeline * THREADS + thread, stop);
        }
        self.sim.dut.eval();
        self.check_outputs(stop);
        self.see_finished();
        self.see_answers();
        for pipeline in 0..HPUS / THREADS {
            self.see_offer(pipeline, pipeline * THREADS + thread, stop);
        }
        self.see_ranges();
        self.see_copy(copy);
        self.see_command(command);
        self.hold("copy", copy, &["source", "destination", "bytes", "tag"]);
        self.hold("command", command, &["id", "kind", "words", "queue"]);
        self.hold("finished", finished, &["data"]);
        if task.is_some() && self.sim.get("task_ready") == 1 {
            self.take_word();
        }
        if let Some(tag) = copied {
            self.copier.pop_front();
            self.copy_done(tag);
        }
        if let Some(at) = answered {
            let (id, _) = self.commands.remove(at);
            self.hpus[id as usize / 4].open[id as usize % 4] = false;
        }
        self.expect_words();
        if let Some((task, hpu, _, at)) = self.giving.filter(|giving| giving.3 == self.now) {
            let hpu = &mut self.hpus[hpu];
            hpu.queue = Some(u64::from(task.words[21] >> 9 & 0xff));
            (hpu.task, hpu.given, hpu.asks, hpu.was_stopped) = (Some(task), at, false, false);
            self.giving = None;
        }
        self.sim.cycle();
        self.now += 1;
    }

    /// Simulates clocks until something holds.
    pub fn until(&mut self, mut holds: impl FnMut(&Self) -> bool) {
        while !holds(self) {
            self.clock();
        }
    }

    /// Simulates a number of clocks.
    pub fn run(&mut self, clocks: usize) {
        (0..clocks).for_each(|_| self.clock());
    }

    /// Resets the driver: all that was inside is forgotten, and registers and numbers of copies stay.
    pub fn reset(&mut self) {
        for input in ["task", "s_0", "s_1", "trap_0", "trap_1"] {
            self.sim.set(&format!("{input}_valid"), 0_u64);
        }
        for input in ["copy_done", "command_done"] {
            self.sim.set(input, 0_u64);
        }
        self.sim.reset();
        for hpu in &mut self.hpus {
            *hpu = Hpu {
                copied: hpu.started,
                task: None,
                ended: None,
                answer: None,
                offer: None,
                asks: false,
                open: [false; 4],
                copies: VecDeque::new(),
                ..hpu.clone()
            };
        }
        (self.word, self.begun, self.used) = (0, self.seen.finished, [false; SLOTS]);
        self.tasks.clear();
        self.arrived.clear();
        self.copying.clear();
        self.ready.clear();
        self.copier.clear();
        self.sent.clear();
        self.commands.clear();
        self.traps.clear();
        self.stalled.clear();
        (self.giving, self.fault, self.finished_stalled) = (None, None, false);
    }

    /// Makes an access, and waits until it is done.
    pub fn access(&mut self, hpu: usize, access: Access) -> Done {
        self.offer(hpu, access);
        self.until(|bench| bench.hpus[hpu].done.is_some());
        self.hpus[hpu].done.expect("it is done")
    }

    /// Begins an access.
    pub fn offer(&mut self, hpu: usize, access: Access) {
        let hpu = &mut self.hpus[hpu];
        (hpu.offer, hpu.done, hpu.tries) = (Some(access), None, 0);
    }

    fn drive_offer(&mut self, pipeline: usize, number: usize, stop: u64) {
        let hpu = &mut self.hpus[number];
        let is_stopped = hpu.is_user && stop >> number & 1 == 1;
        let port = |name: &str| format!("s_{pipeline}_{name}");
        let offer = hpu.offer.filter(|_| !is_stopped);
        self.sim.set(&port("valid"), offer.is_some());
        if let Some(access) = offer {
            self.sim.set(&port("hpu"), number as u64);
            self.sim.set(&port("is_dma"), access.is_dma);
            self.sim.set(&port("offset"), access.offset);
            self.sim.set(&port("is_write"), access.store.is_some());
            self.sim
                .set(&port("data"), access.store.unwrap_or_else(|| self.rng.random()));
            self.sim.set(&port("is_user"), access.is_user);
        }
    }

    fn see_offer(&mut self, pipeline: usize, number: usize, stop: u64) {
        let [ready, refused] =
            ["ready", "refused"].map(|name| self.sim.get(&format!("s_{pipeline}_{name}")) == 1);
        let hpu = &self.hpus[number];
        if hpu.is_user && stop >> number & 1 == 1 {
            self.traps.push((number, cause::STOPPED));
            self.seen.stopped += 1;
            let hpu = &mut self.hpus[number];
            (hpu.offer, hpu.done, hpu.was_stopped) = (None, Some(Done::Stopped), true);
            return;
        }
        let Some(access) = hpu.offer else { return };
        let what = || format!("HPU {number}, {access:x?}: ready {ready}, refused {refused}, {hpu:x?}");
        let is_checked = access.starts() && access.is_user && !hpu.may_start(&access);
        self.check(refused == hpu.is_refused(&access) || refused && is_checked, what);
        if refused {
            self.seen.refused_starts += u32::from(is_checked);
            self.seen.refused += u32::from(!is_checked);
            self.traps.push((number, cause::LOAD_FAULT));
            let hpu = &mut self.hpus[number];
            (hpu.offer, hpu.done) = (None, Some(Done::Refused));
            return;
        }
        let waits = hpu.waits(&access);
        self.check(!(ready && (waits || is_checked)), what);
        self.check(ready || waits || access.starts() || hpu.tries < 2, what);
        self.seen.full += u32::from(waits && access.starts() && hpu.tries == 0);
        self.seen.lost += u32::from(!ready && !waits && !access.starts());
        let hpu = &mut self.hpus[number];
        hpu.tries = if waits { 0 } else { hpu.tries + 1 };
        hpu.asks |= access
            == Access {
                is_user: access.is_user,
                ..Access::load(0)
            }
            && hpu.task.is_none();
        if ready {
            hpu.offer = None;
            hpu.answer = Some((self.now + 2, access, 0));
            self.fault = access
                .store
                .filter(|_| access.is(false, register::ERROR))
                .map(|cause| (number, cause))
                .or(self.fault);
        }
    }

    /// Words of this clock's accesses, after commands and copies that were done in it.
    fn expect_words(&mut self) {
        for hpu in &mut self.hpus {
            if let Some((at, access, word)) = &mut hpu.answer
                && *at == self.now + 2
            {
                let access = *access;
                let _ = word;
                let value = hpu.access(&access);
                hpu.answer = Some((self.now + 2, access, value));
            }
        }
    }

    fn see_answers(&mut self) {
        for number in 0..HPUS {
            let Some((_, access, expected)) = self.hpus[number].answer.take_if(|(at, ..)| *at == self.now)
            else {
                continue;
            };
            let word = self.sim.get(&format!("s_{}_read_data", number / THREADS)) as u32;
            if access.store.is_none() && access.is(false, register::ISSUE) {
                self.check(word < 4 && !self.hpus[number].open[word as usize], || {
                    format!("command {word} of HPU {number}")
                });
                self.issue(number, word as usize);
            } else if access.store.is_none() && access.offset != register::DOORBELL {
                self.check(word == expected, || {
                    format!("HPU {number} reads {word:#x}, not {expected:#x}: {access:x?}")
                });
            }
            self.hpus[number].done = Some(Done::Word(word));
        }
    }

    fn issue(&mut self, number: usize, command: usize) {
        let hpu = &mut self.hpus[number];
        let kind = u64::from(hpu.registers[0] >> 1 & 3);
        if kind == 3 {
            return;
        }
        hpu.open[command] = true;
        self.sent.push_back(Sent {
            id: (4 * number + command) as u64,
            kind,
            queue: hpu.queue,
            words: hpu.registers[1..].try_into().expect("seven words"),
        });
    }

    fn see_command(&mut self, ready: bool) {
        if self.sim.get("command_valid") == 0 || !ready {
            return;
        }
        let [id, kind, queue] =
            ["command_id", "command_kind", "command_queue"].map(|port| self.sim.get(port));
        let words = self.words_of("command_words", 7).try_into().expect("seven words");
        let expected = self.sent.pop_front();
        let queue = expected.as_ref().and_then(|sent| sent.queue.and(Some(queue)));
        let sent = Some(Sent {
            id,
            kind,
            queue,
            words,
        });
        self.check(expected == sent, || format!("{sent:x?}, not {expected:x?}"));
        self.seen.commands += 1;
        let at = self.now + u64::from(self.rng.random_range(1..=self.delay));
        self.commands.push((id, at));
    }

    fn take_word(&mut self) {
        self.begun += u32::from(self.word == 0);
        self.word += 1;
        if self.word == 22 {
            self.word = 0;
            self.arrived.extend(self.tasks.pop_front());
        }
    }

    fn see_copy(&mut self, ready: bool) {
        if self.sim.get("copy_valid") == 0 || !ready {
            return;
        }
        let copy = ["copy_source", "copy_destination", "copy_bytes"].map(|port| self.sim.get(port) as u32);
        let tag = self.sim.get("copy_tag") as usize;
        let expected = match tag {
            0..SLOTS => self.arrived.pop_front().map(|words| {
                assert!(!self.used[tag], "slot {tag} is used");
                self.used[tag] = true;
                let slot = l1_address(CLUSTER, L1_PACKETS + tag as u32 * SLOT_BYTES);
                let mut task = Task {
                    words,
                    slot: tag,
                    failed: false,
                };
                task.words[4] = slot;
                self.copying.push_back(task);
                [words[17], slot, words[5].min(SLOT_BYTES)]
            }),
            32..40 => self.hpus[tag - 32].copies.pop_front(),
            _ => None,
        };
        self.seen.copies += u32::from(tag >= 32);
        self.check(expected == Some(copy), || {
            format!("copy {tag}: {copy:x?}, not {expected:x?}")
        });
        let at = self.now + u64::from(self.rng.random_range(1..=self.delay));
        self.copier.push_back((tag, at));
    }

    fn copy_done(&mut self, tag: usize) {
        if tag < SLOTS {
            self.ready.extend(self.copying.pop_front());
        } else {
            self.hpus[tag - 32].copied += 1;
        }
    }

    fn see_ranges(&mut self) {
        if self.sim.get("range_write") == 0 {
            return;
        }
        let [hpu, number] = ["range_hpu", "range_number"].map(|port| self.sim.get(port) as usize);
        let range = ["range_first", "range_end"].map(|port| self.sim.get(port) as u32);
        if number == 0 {
            let is_idle =
                self.hpus[hpu].asks && self.hpus[hpu].task.is_none() && self.hpus[hpu].ended.is_none();
            let task = self.ready.pop_front();
            self.check(is_idle && task.is_some() && self.giving.is_none(), || {
                format!("HPU {hpu} gets a task")
            });
            self.giving = task.map(|task| (task, hpu, 0, u64::MAX));
        }
        let (task, to, next, at) = self.giving.as_mut().expect("a task is given");
        let words = task.words;
        let [address, bytes] = match number {
            0 => [words[4], words[5].min(SLOT_BYTES)],
            1 => [
                l1_address(CLUSTER, L1_AREAS + hpu as u32 * L1_AREA_BYTES),
                L1_AREA_BYTES,
            ],
            2 => [words[2], words[3]],
            3 => [HANDLER_BASE, SHARED_END - HANDLER_BASE],
            4 => [words[17], words[20]],
            _ => [words[number + 1], words[number + 5]],
        };
        let end = (u64::from(address) + u64::from(bytes)).div_ceil(64);
        let expected = if bytes == 0 || end >= 1 << 23 {
            [0; 2]
        } else {
            [address >> 6, end as u32]
        };
        let is_next = (hpu, number) == (*to, *next);
        *next += 1;
        if number == 6 {
            *at = self.now + 1;
        }
        self.check(is_next && range == expected, || {
            format!("range {number} of HPU {hpu}: {range:x?}, not {expected:x?}")
        });
        self.hpus[hpu].ranges[number] = range;
    }

    /// A task that is done is seen in the first clock of its report.
    fn see_finished(&mut self) {
        let is_there = self.sim.get("finished_valid") == 1;
        if is_there && !self.finished_stalled {
            let data = self.sim.get("finished_data") as u32;
            let matches = |hpu: &Hpu| {
                let is_it = |task: Task| task.words[21] | u32::from(task.failed) << ORIGIN == data;
                hpu.ended.is_some_and(is_it) && hpu.open() == 0
            };
            let found = self.hpus.iter().position(matches);
            self.check(found.is_some(), || format!("no task {data:#x} has ended"));
            let task = self.hpus[found.unwrap_or(0)].ended.take().expect("it has ended");
            self.used[task.slot] = false;
            self.seen.finished += 1;
            self.seen.failed += u32::from(task.failed);
        }
        self.finished_stalled = is_there && self.sim.get("finished_ready") == 0;
    }

    fn check_outputs(&mut self, stop: u64) {
        let appears = self.sim.get("finished_valid") == 1 && !self.finished_stalled;
        let load = self.begun - self.seen.finished - u32::from(appears);
        self.check(self.sim.get("load") == u64::from(load), || {
            format!("the load is not {load}")
        });
        let fault = (self.sim.get("fault_valid") == 1).then(|| {
            (
                self.sim.get("fault_hpu") as usize,
                self.sim.get("fault_cause") as u32,
            )
        });
        let expected = self.fault.take();
        self.check(fault == expected, || format!("fault {fault:?}, not {expected:?}"));
        for (number, hpu) in self.hpus.iter().enumerate() {
            let age = self.now.saturating_sub(hpu.given);
            let budget = u64::from(self.budget);
            let is_late = hpu.task.is_some() && !hpu.was_stopped && budget != 0;
            let (may, must) = (is_late && age > budget, is_late && age > budget + 16);
            let is_stopped = stop >> number & 1 == 1;
            let was_ended = hpu.task.is_none() || hpu.was_stopped;
            self.check(is_stopped || !must, || format!("HPU {number} is not stopped"));
            self.check(!is_stopped || may || was_ended && budget != 0, || {
                format!("HPU {number} is stopped")
            });
        }
    }

    /// Payload stays while it is not taken.
    fn hold(&mut self, name: &'static str, ready: bool, ports: &[&str]) {
        let is_there = self.sim.get(&format!("{name}_valid")) == 1;
        let values = ports
            .iter()
            .map(|port| self.words_of(&format!("{name}_{port}"), 1));
        let now = format!("{:x?}", values.collect::<Vec<_>>());
        if let Some(at) = self.stalled.iter().position(|(port, _)| *port == name) {
            let (_, before) = self.stalled.remove(at);
            self.check(is_there && now == before, || {
                format!("{name}: {before}, then {now}")
            });
        }
        if is_there && !ready {
            self.stalled.push((name, now));
        }
    }
}
