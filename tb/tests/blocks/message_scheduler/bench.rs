//! `message_scheduler` with the queues of the model.

use spinneret_cluster::queues::{Queues, Ready};
use spinneret_cluster::task::{Code, Her, Meta, Stage, Task};
use spinneret_hdl::hpu::cluster::{TASK_ORIGIN, TASK_SIZE, TASK_WORDS, TaskOrigin};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters};
use std::collections::VecDeque;

#[rustfmt::skip]
pub(super) const HER: [&str; 23] = [
    "msgid", "is_eom", "addr", "size", "xfer_size", "meta_handler_mem_addr", "meta_handler_mem_size",
    "meta_host_mem_addr", "meta_host_mem_size", "meta_hh_addr", "meta_hh_size", "meta_ph_addr", "meta_ph_size",
    "meta_th_addr", "meta_th_size", "meta_scratchpad_0_addr", "meta_scratchpad_0_size", "meta_scratchpad_1_addr",
    "meta_scratchpad_1_size", "meta_scratchpad_2_addr", "meta_scratchpad_2_size", "meta_scratchpad_3_addr",
    "meta_scratchpad_3_size",
];

pub(super) fn fields(her: &Her) -> [u64; HER.len()] {
    let meta = &her.meta;
    let (host, bytes) = meta.host_memory;
    let mut all = vec![her.message, her.is_last.into(), her.address, her.size, her.copied];
    all.extend(meta.handler_memory);
    let mut all: Vec<u64> = all.into_iter().map(u64::from).collect();
    all.extend([host, bytes.into()]);
    for code in [meta.header, meta.payload, meta.tail] {
        all.extend([code.address, code.size].map(u64::from));
    }
    all.extend(
        meta.scratchpads
            .as_flattened()
            .iter()
            .map(|word| u64::from(*word)),
    );
    all.try_into().expect("each field has a value")
}

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
    pub(super) limit: usize,
    pub(super) hers: ChannelSource,
    pub(super) tasks: Vec<ChannelSink>,
    pub(super) ends: Vec<ChannelSource>,
    pub(super) feedback: ChannelSink,
    /// HERs and ends of tasks that are not taken.
    pub(super) sent: VecDeque<Her>,
    pub(super) ending: Vec<VecDeque<(Task, u64)>>,
    /// A model of one queue for each queue; which of them had something to do at the first word of a task.
    pub(super) models: Vec<Queues>,
    pub(super) could: Vec<bool>,
    /// Tasks in each cluster at the first word of a task.
    pub(super) loads: Vec<usize>,
    pub(super) words: Vec<Vec<u64>>,
    pub(super) running: Vec<Vec<(Task, u64)>>,
    /// Packets whose feedback is due: address and size.
    pub(super) owed: Vec<Vec<[u64; 2]>>,
    /// Steps of other queues since a queue has something to do.
    pub(super) waited: Vec<usize>,
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
            hers: sim.channel_source("her", &HER, Pause::Never),
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
            limit: get("tasks"),
            sent: VecDeque::new(),
            ending: vec![],
            models: vec![],
            could: vec![],
            loads: vec![],
            words: vec![],
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
        self.words = vec![vec![]; clusters];
        self.running = vec![vec![]; clusters];
        self.owed = vec![vec![]; self.queues];
        self.waited = vec![0; self.queues];
        self.taken = 0;
        self.events.clear();
    }

    pub(super) fn send(&mut self, her: Her) {
        self.hers.send(&fields(&her));
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
        });
        address
    }

    /// Ends a task of a cluster.
    pub(super) fn end(&mut self, cluster: usize, number: usize) {
        let (task, origin) = self.running[cluster].swap_remove(number);
        self.ends[cluster].send(&[origin]);
        self.ending[cluster].push_back((task, origin));
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
                let (task, _) = self.ending[cluster].pop_front().expect("it is longer");
                self.models[task.queue].finish(&Task { queue: 0, ..task });
                self.owe(&task);
            }
        }
        for cluster in 0..self.tasks.len() {
            for item in self.tasks[cluster].receive_all() {
                if self.words[cluster].is_empty() {
                    self.could = self.models.iter().map(Queues::has_work).collect();
                    self.loads = (0..self.running.len())
                        .map(|cluster| self.load(cluster))
                        .collect();
                }
                self.words[cluster].push(item.values[0]);
                let is_last = self.words[cluster].len() == TASK_WORDS;
                assert_eq!(item.values[1], u64::from(is_last), "last word");
                if is_last {
                    self.begin(cluster);
                }
            }
        }
        for item in self.feedback.receive_all() {
            self.give_back(item.values[2] as usize, [item.values[0], item.values[1]]);
        }
        self.seen.full += u32::from(self.sim.get("full") != 0);
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

    /// The next step of a queue, if `wanted`.
    pub(super) fn step(&mut self, queue: usize, wanted: impl Fn(&Ready) -> bool) -> Option<Task> {
        let mut model = self.models[queue].clone();
        let ready = model.take().filter(wanted)?;
        self.models[queue] = model;
        for (other, waited) in self.waited.iter_mut().enumerate() {
            let works = other != queue && self.models[other].has_work();
            *waited = if works { *waited + 1 } else { 0 };
            // A packet without handler and the end of a message are steps that are not seen.
            assert!(*waited <= 3 * self.queues + 2, "queue {other} starves");
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

    /// A task has all its words.
    pub(super) fn begin(&mut self, cluster: usize) {
        let words = std::mem::take(&mut self.words[cluster]);
        let queue = words[19] as usize;
        assert!(self.could[queue], "queue {queue} has nothing to do");
        while self.skip(queue) {}
        let task = self.step(queue, |_| true).expect("the queue has something to do");
        let read: Vec<u64> = task.words(0).iter().map(|word| u64::from(*word)).collect();
        assert_eq!(words[..read.len()], read, "{task:x?}");
        assert_eq!(words[TASK_SIZE], u64::from(task.her.size));
        let (fields, origin) = (TaskOrigin::new(), words[TASK_ORIGIN]);
        let of = |field: spinneret_verilog::prelude::Field| origin >> field.at & ((1 << field.width) - 1);
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
    }
}
