//! Bench of `cluster_driver`: its contract in plain Rust around scripted HPUs, a copier and a taker of commands with random delays.
//!
//! Each HPU makes its offer in every fourth clock. Everything that the driver does is compared in every clock with what it may do.

mod hpu;
mod watch;

pub use hpu::{Access, Done, Hpu, Words};

use crate::bench::Finish;
use hpu::Task;
use spinneret_hdl::hpu::cluster::driver::WAS_RESET;
use spinneret_hdl::hpu::cluster::{TASK_PACKET, TASK_PAIRS, TASK_SOURCE, TaskOrigin};
use spinneret_regmap::pspin::{HANDLER_BASE, HANDLER_CLOCKS, L1_PACKET_BYTES, SHARED_BYTES};
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
/// End of shared data of a task that names none.
pub const SHARED_END: u32 = HANDLER_BASE + SHARED_BYTES;
/// Contexts.
pub const CONTEXTS: usize = 8;

/// The queue of a task.
fn queue_of(words: &Words) -> u64 {
    let field = TaskOrigin::new().message;
    u64::from(words[21]) >> field.at & ((1 << field.width) - 1)
}

/// A pair of words of a task on its way.
fn pair_of(words: &Words, pair: usize) -> u64 {
    let [first, second] = TASK_PAIRS[pair].map(|word| match word {
        TASK_PACKET => words[TASK_SOURCE],
        // Its place has anything.
        TASK_SOURCE => !words[TASK_SOURCE],
        _ => words[word],
    });
    u64::from(second) << 32 | u64::from(first)
}

/// The context of a queue: two queues each.
fn context_of(queue: u64) -> usize {
    (queue >> 1) as usize % CONTEXTS
}

/// A command that is issued: its id, kind, queue and words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sent {
    id: u64,
    kind: u64,
    queue: Option<u64>,
    words: [u32; 7],
}

/// Events so far.
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
    /// Clocks that a task of each context may take; 0: any number.
    budgets: [u32; CONTEXTS],
    /// Percentage of clocks in which others are ready.
    pub pace: u32,
    /// Clocks of a copy and of a command, at most.
    pub delay: u32,
    /// Events.
    pub seen: Seen,
    tasks: VecDeque<Words>,
    pair: usize,
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
        Self {
            sim,
            rng,
            now: 0,
            hpus: vec![Hpu::default(); HPUS],
            budgets: [HANDLER_CLOCKS; CONTEXTS],
            pace: 100,
            delay: 20,
            seen: Seen::default(),
            tasks: VecDeque::new(),
            pair: 0,
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

    /// Sets the budget of a context.
    pub fn set_budget(&mut self, context: usize, clocks: u32) {
        self.sim.set("budget_context", context as u64);
        self.sim.set("budget_value", clocks);
        self.sim.set("budget_write", true);
        self.clock();
        self.sim.set("budget_write", false);
        self.budgets[context] = clocks;
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
        sim.set("task_valid", task.is_some());
        if let Some(words) = task {
            sim.set("task_data", pair_of(&words, self.pair));
            sim.set("task_last", self.pair == TASK_PAIRS.len() - 1);
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
            self.take_pair();
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
            hpu.queue = Some(queue_of(&task.words));
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
        (self.pair, self.begun, self.used) = (0, self.seen.finished, [false; SLOTS]);
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

    /// Reports that an HPU was reset: its task ends and fails, and its offer is dropped.
    pub fn reset_hpu(&mut self, hpu: usize) {
        self.traps.push((hpu, WAS_RESET));
        let hpu = &mut self.hpus[hpu];
        (hpu.offer, hpu.asks) = (None, false);
        hpu.ended = hpu
            .task
            .take()
            .map(|task| Task { failed: true, ..task })
            .or(hpu.ended);
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
}
