//! `message_scheduler` with the queues of the model.

use spinneret_cluster::queues::{Queues, Ready};
use spinneret_cluster::task::{Code, Her, Meta, Stage, Task};
use spinneret_hdl::hpu::cluster::{
    BETWEEN_TASKS, TASK_ORIGIN, TASK_PACKET, TASK_PAIRS, TASK_SIZE, TASK_SOURCE, TaskEnd, TaskOrigin,
};
use spinneret_regmap::message_id::ID_BITS;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters};
use spinneret_tb::cluster::her::{FIELDS, values};
use std::collections::VecDeque;
use std::ops::Range;

/// Clocks for each unit of weight as which a task counts before one has ended.
const FIRST_GUESS: f64 = 4096.0;

/// The word of a task with its message id.
const MESSAGE_WORD: usize = 19;

/// An output: a task with its cluster, or a packet; its queue and the address of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Task(usize, Stage, usize, u32),
    Feedback(usize, u32),
}

/// How often something happened.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) stages: [u32; 3],
    pub(super) at_once: u32,
    pub(super) away: u32,
    pub(super) full: u32,
}

pub(super) struct Bench<M: Model> {
    pub(super) sim: Simulation<M>,
    /// Number of queues, cells, and tasks in a cluster.
    pub(super) queues: usize,
    pub(super) cells: usize,
    pub(super) contexts: usize,
    pub(super) limit: usize,
    pub(super) hers: ChannelSource,
    pub(super) tasks: Vec<ChannelSink>,
    pub(super) ends: Vec<ChannelSource>,
    pub(super) feedback: ChannelSink,
    /// HERs and ends of tasks that are not taken.
    pub(super) sent: VecDeque<Her>,
    pub(super) ending: Vec<VecDeque<(Task, u64)>>,
    /// A model of one queue for each queue; which of them had something to do at the first pair of a task.
    pub(super) models: Vec<Queues>,
    pub(super) could: Vec<bool>,
    /// Tasks in each cluster at the first pair of a task.
    pub(super) loads: Vec<usize>,
    pub(super) pairs: Vec<Vec<u64>>,
    pub(super) running: Vec<Vec<(Task, u64)>>,
    /// Packets whose feedback is due: address and size.
    pub(super) owed: Vec<Vec<[u64; 2]>>,
    /// Steps of other queues of its context since a queue has something to do.
    pub(super) waited: Vec<usize>,
    /// Clocks that tasks take, and the share of them in percent that use up their budget, or fail.
    pub(super) clocks: Range<u64>,
    pub(super) over: u32,
    pub(super) weights: Vec<u64>,
    /// Ended tasks of each context, their clocks, those that used up their budget, and those that failed.
    pub(super) totals: Vec<[u64; 4]>,
    /// Clocks for each unit of its weight that a context has used while another one always had something to do as well.
    pub(super) used: Vec<Vec<f64>>,
    /// Most tasks under way, and most clocks of a task, of each context.
    pub(super) most: Vec<[u64; 2]>,
    rng: ChaCha8Rng,
    pub(super) packets: u32,
    pub(super) taken: usize,
    pub(super) events: Vec<Event>,
    pub(super) seen: Seen,
}

impl<M: Model> Finish for Bench<M> {
    fn finish(mut self) {
        self.drain();
        self.sim.finish();
    }
}

impl<M: Model> Bench<M> {
    pub(super) fn new(run: &mut TestRun) -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name) as usize;
        let (clusters, queues) = (get("clusters"), get("queues"));
        let mut sim = run.simulation::<M>();
        sim.set_cycle_limit(u64::MAX);
        let mut bench = Self {
            hers: sim.channel_source("her", &FIELDS, Pause::Never),
            feedback: sim.channel_sink("feedback", &["her_addr", "her_size", "msgid"], Pause::Never),
            tasks: (0..clusters)
                .map(|c| sim.channel_sink(&format!("task_{c}"), &["data", "last"], Pause::Never))
                .collect(),
            ends: (0..clusters)
                .map(|c| sim.channel_source(&format!("finished_{c}"), &["data"], Pause::Never))
                .collect(),
            sim,
            queues,
            cells: get("cells"),
            contexts: get("contexts"),
            clocks: 100..101,
            over: 0,
            weights: vec![1; get("contexts")],
            totals: vec![],
            used: vec![],
            most: vec![],
            rng: run.rng("clocks"),
            limit: get("tasks"),
            sent: VecDeque::new(),
            ending: vec![],
            models: vec![],
            could: vec![],
            loads: vec![],
            pairs: vec![],
            running: vec![],
            owed: vec![],
            waited: vec![],
            packets: 0,
            taken: 0,
            events: vec![],
            seen: Seen::default(),
        };
        bench.reset();
        bench
    }

    /// Resets the block; everything inside is forgotten.
    pub(super) fn reset(&mut self) {
        self.sim.reset();
        self.hers.clear();
        self.ends.iter().for_each(|ends| ends.clear());
        self.sent.clear();
        let clusters = self.tasks.len();
        self.models = vec![Queues::new(1, usize::MAX, 1); self.queues];
        self.ending = vec![VecDeque::new(); clusters];
        self.pairs = vec![vec![]; clusters];
        self.running = vec![vec![]; clusters];
        self.owed = vec![vec![]; self.queues];
        self.waited = vec![0; self.queues];
        self.totals = vec![[0; 4]; self.contexts];
        self.used = vec![vec![0.0; self.contexts]; self.contexts];
        self.most = vec![[0; 2]; self.contexts];
        self.taken = 0;
        self.events.clear();
    }

    pub(super) fn send(&mut self, mut her: Her) {
        self.hers.send(&values(&her));
        her.meta = her.meta.on(self.running.len());
        self.sent.push_back(her);
    }

    /// Sends a packet with a context of these handlers, whose addresses are 0 or not; returns its address.
    pub(super) fn packet(&mut self, queue: usize, is_last: bool, handlers: [u32; 3]) -> u32 {
        self.packets += 1;
        let address = 0x1c10_0000 + 64 * self.packets;
        let code = |address| Code { address, size: 64 };
        let [header, payload, tail] = handlers.map(code);
        let meta = Meta {
            header,
            payload,
            tail,
            handler_memory: [self.packets, 8],
            ..Meta::default()
        };
        self.send(Her {
            message: queue as u32,
            is_last,
            address,
            size: 64,
            copied: 32,
            meta,
            ..Her::default()
        });
        address
    }

    /// Ends a task of a cluster.
    pub(super) fn end(&mut self, cluster: usize, number: usize) {
        let (task, origin) = self.running[cluster].remove(number);
        let clocks = self.rng.random_range(self.clocks.clone());
        let (fields, most) = (TaskEnd::new(), (1 << TaskEnd::new().clocks.width) - 1);
        let mut flag = |field: spinneret_verilog::prelude::Field| {
            u64::from(self.rng.random_range(0..100) < self.over) << field.at
        };
        let flags = flag(fields.is_over) | flag(fields.failed);
        let end = origin | clocks.min(most) << fields.clocks.at | flags;
        self.ends[cluster].send(&[end]);
        self.ending[cluster].push_back((task, end));
    }

    /// Ends the tasks of a stage.
    pub(super) fn end_all(&mut self, stage: Stage) {
        for cluster in 0..self.running.len() {
            for number in (0..self.running[cluster].len()).rev() {
                if self.running[cluster][number].0.stage == stage {
                    self.end(cluster, number);
                }
            }
        }
    }

    pub(super) fn run(&mut self, clocks: usize) {
        (0..clocks).for_each(|_| self.clock());
    }

    /// A clock; everything that comes out is checked.
    pub(super) fn clock(&mut self) {
        self.sim.cycle();
        while self.sent.len() > self.hers.waiting() {
            let her = self.sent.pop_front().expect("it is longer");
            self.models[her.message as usize].push(her);
            self.taken += 1;
        }
        for cluster in 0..self.ends.len() {
            while self.ending[cluster].len() > self.ends[cluster].waiting() {
                let (task, end) = self.ending[cluster].pop_front().expect("it is longer");
                self.count(self.context(task.queue), end);
                self.models[task.queue].finish(&Task { queue: 0, ..task });
                self.owe(&task);
            }
        }
        for cluster in 0..self.tasks.len() {
            for item in self.tasks[cluster].receive_all() {
                if self.pairs[cluster].is_empty() {
                    self.could = self.models.iter().map(Queues::has_work).collect();
                    self.loads = (0..self.running.len())
                        .map(|cluster| self.load(cluster))
                        .collect();
                }
                self.pairs[cluster].push(item.values[0]);
                let is_last = self.pairs[cluster].len() == TASK_PAIRS.len();
                assert_eq!(item.values[1], u64::from(is_last), "last pair");
                if is_last {
                    self.begin(cluster);
                }
            }
        }
        for item in self.feedback.receive_all() {
            self.give_back(item.values[2] as usize, [item.values[0], item.values[1]]);
        }
        self.seen.full += u32::from(self.sim.get("full") != 0);
        self.compare_shares();
    }

    pub(super) fn context(&self, queue: usize) -> usize {
        queue * self.contexts / self.queues
    }

    /// Sets the weight of a context.
    pub(super) fn set_weight(&mut self, context: usize, weight: u64) {
        self.sim.set("weight_context", context as u64);
        self.sim.set("weight_value", weight);
        self.sim.set("weight_write", true);
        self.clock();
        self.sim.set("weight_write", false);
        self.weights[context] = weight;
    }

    /// A task of a context has ended.
    fn count(&mut self, context: usize, end: u64) {
        let fields = TaskEnd::new();
        let clocks = end >> fields.clocks.at & ((1 << fields.clocks.width) - 1);
        let [tasks, all, over, failed] = &mut self.totals[context];
        (*tasks, *all) = (*tasks + 1, *all + clocks);
        *over += end >> fields.is_over.at & 1;
        *failed += end >> fields.failed.at & 1;
        self.most[context][1] = self.most[context][1].max(clocks);
        for used in &mut self.used[context] {
            *used += (clocks + BETWEEN_TASKS) as f64 / self.weights[context] as f64;
        }
    }

    /// Checks the bound on what two contexts get that always have something to do. The task whose words leave is not seen yet.
    fn compare_shares(&mut self) {
        let works: Vec<bool> = (0..self.contexts)
            .map(|context| {
                let own = |queue: &usize| self.context(*queue) == context;
                (0..self.queues)
                    .filter(own)
                    .any(|queue| self.models[queue].has_work())
            })
            .collect();
        let mut under_way = vec![0; self.contexts];
        for (task, _) in self.running.iter().flatten().chain(self.ending.iter().flatten()) {
            under_way[self.context(task.queue)] += 1;
        }
        let bound = |context: usize, most: [u64; 2]| {
            (most[0] as f64 + 3.0) * (most[1] as f64 / self.weights[context] as f64).max(FIRST_GUESS)
        };
        for (context, most) in self.most.iter_mut().enumerate() {
            most[0] = most[0].max(under_way[context]);
        }
        for one in 0..self.contexts {
            for other in 0..one {
                if !(works[one] && works[other]) {
                    (self.used[one][other], self.used[other][one]) = (0.0, 0.0);
                }
                let differ = (self.used[one][other] - self.used[other][one]).abs();
                let most = 2.0 * (bound(one, self.most[one]) + bound(other, self.most[other]));
                assert!(
                    differ <= most + 1.0,
                    "contexts {one} and {other}: {differ} of {most}"
                );
            }
        }
    }

    /// The counters of the block are those of the model.
    pub(super) fn check_totals(&mut self) {
        for context in 0..self.contexts {
            self.sim.set("totals_context", context as u64);
            self.sim.dut.eval();
            let words = self.sim.dut.get("totals_words").expect("there is such a port");
            let mut words = words.to_u32_digits();
            words.resize(5, 0);
            let clocks = u64::from(words[2]) << 32 | u64::from(words[1]);
            let found = [u64::from(words[0]), clocks, words[3].into(), words[4].into()];
            assert_eq!(found, self.totals[context]);
        }
    }

    pub(super) fn load(&self, cluster: usize) -> usize {
        self.running[cluster].len() + self.ending[cluster].len()
    }

    pub(super) fn owe(&mut self, task: &Task) {
        if task.frees {
            let due = [task.her.address.into(), task.her.copied.into()];
            self.owed[task.queue].push(due);
        }
    }

    /// The lowest bits of the message ids of a queue: two bits of the queue's number in its context are below the context.
    fn message(&self, queue: usize) -> u64 {
        let (each, low) = (self.queues / self.contexts, 1 << ID_BITS);
        if each <= low {
            return queue as u64;
        }
        (queue % each / low * low * self.contexts + queue / each * low + queue % low) as u64
    }

    /// The next step of a queue, if `wanted`.
    pub(super) fn step(&mut self, queue: usize, wanted: impl Fn(&Ready) -> bool) -> Option<Task> {
        let mut model = self.models[queue].clone();
        let ready = model.take().filter(wanted)?;
        self.models[queue] = model;
        for (other, waited) in self.waited.iter_mut().enumerate() {
            let is_own = queue * self.contexts / self.queues == other * self.contexts / self.queues;
            if !is_own {
                continue;
            }
            let works = other != queue && self.models[other].has_work();
            *waited = if works { *waited + 1 } else { 0 };
            // A packet without handler and the end of a message are steps that are not seen.
            let queues = self.queues / self.contexts;
            assert!(*waited <= 3 * queues + 2, "queue {other} starves");
        }
        let (Ready::Run(task) | Ready::Done(task)) = ready;
        let home = queue % self.tasks.len();
        Some(Task { queue, home, ..task })
    }

    /// The next step of a queue, if it needs no handler.
    pub(super) fn skip(&mut self, queue: usize) -> bool {
        let skipped = self.step(queue, |ready| matches!(ready, Ready::Done(_)));
        if let Some(task) = &skipped {
            self.seen.at_once += 1;
            self.owe(task);
        }
        skipped.is_some()
    }

    /// A task has all its pairs.
    pub(super) fn begin(&mut self, cluster: usize) {
        let mut words = [0; 2 * TASK_PAIRS.len()];
        for (pair, [first, second]) in self.pairs[cluster].drain(..).zip(TASK_PAIRS) {
            (words[first], words[second]) = (pair & u64::from(u32::MAX), pair >> 32);
        }
        words[TASK_SOURCE] = std::mem::take(&mut words[TASK_PACKET]);
        let (fields, origin) = (TaskOrigin::new(), words[TASK_ORIGIN]);
        let of = |field: spinneret_verilog::prelude::Field| origin >> field.at & ((1 << field.width) - 1);
        let queue = of(fields.message) as usize;
        assert!(self.could[queue], "queue {queue} has nothing to do");
        while self.skip(queue) {}
        let task = self.step(queue, |_| true).expect("the queue has something to do");
        let mut read: Vec<u64> = task.words(0).iter().map(|word| u64::from(*word)).collect();
        read[MESSAGE_WORD] = self.message(queue);
        assert_eq!(words[..read.len()], read, "{task:x?}");
        assert_eq!(words[TASK_SIZE], u64::from(task.her.size));
        let stage = task.stage as usize;
        let known = (
            of(fields.message) as usize,
            of(fields.stage) as usize,
            of(fields.frees) == 1,
        );
        assert_eq!(known, (queue, stage, task.frees));
        assert!(of(fields.packet) < self.cells as u64);
        assert!(self.load(cluster) < self.limit, "the cluster has no room");
        // Since the choice two tasks of the home cluster may have ended.
        assert!(cluster == task.home || self.loads[task.home] + 2 >= self.limit);
        self.seen.away += u32::from(cluster != task.home);
        self.seen.stages[stage] += 1;
        self.running[cluster].push((task, origin));
        self.events
            .push(Event::Task(cluster, task.stage, queue, task.her.address));
    }

    pub(super) fn give_back(&mut self, queue: usize, packet: [u64; 2]) {
        loop {
            if let Some(place) = self.owed[queue].iter().position(|owed| *owed == packet) {
                self.owed[queue].swap_remove(place);
                self.events.push(Event::Feedback(queue, packet[0] as u32));
                return;
            }
            assert!(self.skip(queue), "{packet:x?} of queue {queue} is not done");
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
            && self.models.iter().all(Queues::is_idle)
            && (0..self.running.len()).all(|cluster| self.load(cluster) == 0)
            && self.owed.iter().all(Vec::is_empty)
    }

    /// Runs until nothing is inside, ending tasks as they come.
    pub(super) fn drain(&mut self) {
        self.feedback.set_pause(Pause::Never);
        self.tasks.iter().for_each(|task| task.set_pause(Pause::Never));
        for _ in 0..100_000 {
            if self.is_empty() {
                break;
            }
            (0..self.running.len()).for_each(|cluster| {
                (0..self.running[cluster].len())
                    .rev()
                    .for_each(|n| self.end(cluster, n))
            });
            self.clock();
        }
        assert!(self.is_empty(), "something is left");
        self.run(10);
        assert_eq!((self.sim.get("active"), self.sim.get("full")), (0, 0));
        self.check_totals();
    }
}
