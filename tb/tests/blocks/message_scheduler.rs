//! `message_scheduler`: random messages against the queues of the model, and each line of its contract.

use spinneret_cluster::queues::{Queues, Ready};
use spinneret_cluster::task::{Code, Her, Meta, Stage, Task};
use spinneret_hdl::hpu::cluster::{TASK_ORIGIN, TASK_SIZE, TASK_WORDS, TaskOrigin};
use spinneret_models::{MessageScheduler, MessageSchedulerSmall};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, Parameters, STALLED, case};
use std::collections::VecDeque;

#[rustfmt::skip]
const HER: [&str; 23] = [
    "msgid", "is_eom", "addr", "size", "xfer_size", "meta_handler_mem_addr", "meta_handler_mem_size",
    "meta_host_mem_addr", "meta_host_mem_size", "meta_hh_addr", "meta_hh_size", "meta_ph_addr", "meta_ph_size",
    "meta_th_addr", "meta_th_size", "meta_scratchpad_0_addr", "meta_scratchpad_0_size", "meta_scratchpad_1_addr",
    "meta_scratchpad_1_size", "meta_scratchpad_2_addr", "meta_scratchpad_2_size", "meta_scratchpad_3_addr",
    "meta_scratchpad_3_size",
];

fn fields(her: &Her) -> [u64; HER.len()] {
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
enum Event {
    Task(usize, Stage, usize, u32),
    Feedback(usize, u32),
}

/// How often something happened.
#[derive(Debug, Default)]
struct Seen {
    stages: [u32; 3],
    at_once: u32,
    away: u32,
    full: u32,
}

struct Bench<M: Model> {
    sim: Simulation<M>,
    /// Number of queues, cells, and tasks in a cluster.
    queues: usize,
    cells: usize,
    limit: usize,
    hers: ChannelSource,
    tasks: Vec<ChannelSink>,
    ends: Vec<ChannelSource>,
    feedback: ChannelSink,
    /// HERs and ends of tasks that are not taken.
    sent: VecDeque<Her>,
    ending: Vec<VecDeque<(Task, u64)>>,
    /// A model of one queue for each queue; which of them had something to do at the first word of a task.
    models: Vec<Queues>,
    could: Vec<bool>,
    /// Tasks in each cluster at the first word of a task.
    loads: Vec<usize>,
    words: Vec<Vec<u64>>,
    running: Vec<Vec<(Task, u64)>>,
    /// Packets whose feedback is due: address and size.
    owed: Vec<Vec<[u64; 2]>>,
    /// Steps of other queues since a queue has something to do.
    waited: Vec<usize>,
    packets: u32,
    taken: usize,
    events: Vec<Event>,
    seen: Seen,
}

impl<M: Model> Finish for Bench<M> {
    fn finish(mut self) {
        self.drain();
        self.sim.finish();
    }
}

impl<M: Model> Bench<M> {
    fn new(run: &mut TestRun) -> Self {
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
    fn reset(&mut self) {
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

    fn send(&mut self, her: Her) {
        self.hers.send(&fields(&her));
        self.sent.push_back(her);
    }

    /// Sends a packet with a context of these handlers, whose addresses are 0 or not; returns its address.
    fn packet(&mut self, queue: usize, is_last: bool, handlers: [u32; 3]) -> u32 {
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
    fn end(&mut self, cluster: usize, number: usize) {
        let (task, origin) = self.running[cluster].swap_remove(number);
        self.ends[cluster].send(&[origin]);
        self.ending[cluster].push_back((task, origin));
    }

    /// Ends the tasks of a stage.
    fn end_all(&mut self, stage: Stage) {
        for cluster in 0..self.running.len() {
            for number in (0..self.running[cluster].len()).rev() {
                if self.running[cluster][number].0.stage == stage {
                    self.end(cluster, number);
                }
            }
        }
    }

    fn run(&mut self, clocks: usize) {
        (0..clocks).for_each(|_| self.clock());
    }

    /// A clock; everything that comes out is checked.
    fn clock(&mut self) {
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

    fn load(&self, cluster: usize) -> usize {
        self.running[cluster].len() + self.ending[cluster].len()
    }

    fn owe(&mut self, task: &Task) {
        if task.frees {
            let due = [task.her.address.into(), task.her.copied.into()];
            self.owed[task.queue].push(due);
        }
    }

    /// The next step of a queue, if `wanted`.
    fn step(&mut self, queue: usize, wanted: impl Fn(&Ready) -> bool) -> Option<Task> {
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
    fn skip(&mut self, queue: usize) -> bool {
        let skipped = self.step(queue, |ready| matches!(ready, Ready::Done(_)));
        if let Some(task) = &skipped {
            self.seen.at_once += 1;
            self.owe(task);
        }
        skipped.is_some()
    }

    /// A task has all its words.
    fn begin(&mut self, cluster: usize) {
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

    fn give_back(&mut self, queue: usize, packet: [u64; 2]) {
        loop {
            if let Some(place) = self.owed[queue].iter().position(|owed| *owed == packet) {
                self.owed[queue].swap_remove(place);
                self.events.push(Event::Feedback(queue, packet[0] as u32));
                return;
            }
            assert!(self.skip(queue), "{packet:x?} of queue {queue} is not done");
        }
    }

    fn is_empty(&self) -> bool {
        self.sent.is_empty()
            && self.models.iter().all(Queues::is_idle)
            && (0..self.running.len()).all(|cluster| self.load(cluster) == 0)
            && self.owed.iter().all(Vec::is_empty)
    }

    /// Runs until nothing is inside, ending tasks as they come.
    fn drain(&mut self) {
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

fn random_her(rng: &mut ChaCha8Rng, message: u32, is_last: bool) -> Her {
    let mut code = |percent| Code {
        address: if rng.random_range(0..100) < percent {
            rng.random()
        } else {
            0
        },
        size: rng.random(),
    };
    let [header, payload, tail] = [40, 75, 40].map(&mut code);
    let mut words = |some: f64| {
        [
            rng.random(),
            if rng.random_bool(some) {
                rng.random_range(1..=u32::MAX)
            } else {
                0
            },
        ]
    };
    let scratchpads = [0.5; 4].map(|some| {
        let [address, bytes] = words(some);
        [address & 0x3_ffff, bytes]
    });
    let [host, bytes, size] = [words(1.0), words(1.0), words(0.9)];
    let meta = Meta {
        handler_memory: words(0.9),
        host_memory: (u64::from(host[0]) << 32 | u64::from(host[1]), bytes[0]),
        header,
        payload,
        tail,
        scratchpads,
    };
    let [address, copied] = words(0.9);
    Her {
        message,
        is_last,
        address,
        size: size[0],
        copied,
        meta,
    }
}

/// HERs of random messages in all queues, tasks that end in random order, and pauses on all sides.
fn random<M: Model>(run: &mut TestRun, clocks: usize) {
    let mut bench = Bench::<M>::new(run);
    let mut rng = run.rng("messages");
    // The rest of the message in each queue.
    let mut left = vec![0; bench.queues];
    let half = Pause::Random { percent: 50 };
    // Pauses of HERs, tasks and feedback, and how often a task ends.
    for (hers, tasks, feedback, ends) in [
        (Pause::Never, Pause::Never, Pause::Never, 0.05),
        (Pause::Random { percent: 99 }, Pause::Never, Pause::Never, 0.1),
        (Pause::Never, half.clone(), half.clone(), 0.005),
        (Pause::Never, Pause::Never, Pause::Random { percent: 98 }, 0.02),
        (half, Pause::Bursty { busy: 50, idle: 300 }, Pause::Never, 0.01),
    ] {
        bench.hers.set_pause(hers);
        bench.feedback.set_pause(feedback);
        bench.tasks.iter().for_each(|task| task.set_pause(tasks.clone()));
        for _ in 0..clocks {
            if bench.sent.len() < 3 {
                let queue = rng.random_range(0..bench.queues);
                if left[queue] == 0 {
                    left[queue] = if rng.random_bool(0.3) {
                        30
                    } else {
                        rng.random_range(1..=4)
                    };
                }
                left[queue] -= 1;
                bench.send(random_her(&mut rng, queue as u32, left[queue] == 0));
            }
            for cluster in 0..bench.running.len() {
                let count = bench.running[cluster].len();
                if count > 0 && rng.random_bool(ends) {
                    bench.end(cluster, rng.random_range(0..count));
                }
            }
            bench.clock();
        }
    }
    bench.hers.set_pause(Pause::Never);
    for queue in (0..bench.queues).filter(|queue| left[*queue] > 0) {
        bench.send(random_her(&mut rng, queue as u32, true));
    }
    bench.drain();
    let Seen {
        stages,
        at_once,
        away,
        full,
    } = bench.seen;
    let is_single = bench.running.len() == 1;
    assert!(
        stages.iter().chain([&at_once, &full]).all(|count| *count > 50) && (away > 20 || is_single),
        "{:?}",
        bench.seen
    );
    fills(&mut bench);
    bench.finish();
}

/// A queue takes its own cell and all shared ones.
fn fills<M: Model>(bench: &mut Bench<M>) {
    let taken = bench.taken;
    bench.feedback.set_pause(STALLED);
    for number in 0..bench.cells {
        bench.packet(0, number == bench.cells - 1, [0; 3]);
    }
    bench.run(40 * bench.cells);
    assert_eq!(bench.taken - taken, bench.cells - bench.queues + 1);
    assert_eq!(bench.sim.get("full"), 1);
    bench.drain();
}

#[test]
fn random_messages_run_as_in_the_model() {
    run_test(0x0001_5c4e, |run| random::<MessageScheduler>(run, 30_000));
}

#[test]
fn random_messages_of_a_small_scheduler_run_as_in_the_model() {
    run_test(0x0002_5c4e, |run| random::<MessageSchedulerSmall>(run, 30_000));
}

/// A case for a line of the contract.
fn check(test: impl Fn(&mut Bench<MessageScheduler>)) {
    case(0x0003_5c4e, Bench::new, test);
}

/// One with a small scheduler.
fn check_small(test: impl Fn(&mut Bench<MessageSchedulerSmall>)) {
    case(0x0004_5c4e, Bench::new, test);
}

/// Clocks in which everything that can happen has happened.
const SETTLED: usize = 400;

#[test]
fn header_then_payload_then_completion() {
    check(|bench| {
        let packets = [false, false, true].map(|is_last| bench.packet(5, is_last, [4, 8, 12]));
        // The next message waits.
        let next = bench.packet(5, true, [4, 8, 12]);
        let task = |stage, packet| Event::Task(1, stage, 5, packet);
        let feedback = |packet| Event::Feedback(5, packet);
        bench.run(SETTLED);
        assert_eq!(bench.events, [task(Stage::Header, packets[0])]);
        bench.end_all(Stage::Header);
        bench.run(SETTLED);
        assert_eq!(
            bench.events[1..],
            packets.map(|packet| task(Stage::Payload, packet))
        );
        // The last packet is kept for the completion handler.
        bench.end(1, 2);
        bench.end(1, 1);
        bench.run(SETTLED);
        assert_eq!(bench.events[4..], [feedback(packets[1])]);
        bench.end_all(Stage::Payload);
        bench.run(SETTLED);
        assert_eq!(
            bench.events[5..],
            [feedback(packets[0]), task(Stage::Tail, packets[2])]
        );
        bench.end_all(Stage::Tail);
        bench.run(SETTLED);
        assert_eq!(
            bench.events[7..],
            [feedback(packets[2]), task(Stage::Header, next)]
        );
    });
}

#[test]
fn handlers_with_address_0_are_left_out() {
    check(|bench| {
        for there in 0..8_u32 {
            bench.events.clear();
            let handlers = [0, 1, 2].map(|stage| 16 * (there >> stage & 1));
            // The context of the first packet counts.
            let packets = [
                bench.packet(2, false, handlers),
                bench.packet(2, true, handlers.map(|code| 16 - code)),
            ];
            bench.run(SETTLED);
            bench.drain();
            let task = |stage, packet| Event::Task(0, stage, 2, packet);
            let mut tasks = vec![];
            tasks.extend((there & 1 != 0).then(|| task(Stage::Header, packets[0])));
            tasks.extend(
                packets
                    .iter()
                    .filter(|_| there & 2 != 0)
                    .map(|packet| task(Stage::Payload, *packet)),
            );
            tasks.extend((there & 4 != 0).then(|| task(Stage::Tail, packets[1])));
            let (given, back): (Vec<Event>, Vec<Event>) = bench
                .events
                .iter()
                .partition(|event| matches!(event, Event::Task(..)));
            assert_eq!(given, tasks);
            assert_eq!(back.len(), 2);
        }
    });
}

#[test]
fn queues_take_turns() {
    check(|bench| {
        bench.tasks.iter().for_each(|task| task.set_pause(STALLED));
        for queue in [0, 4, 8] {
            (0..4).for_each(|number| _ = bench.packet(queue, number == 3, [0, 8, 0]));
        }
        bench.run(SETTLED);
        bench.tasks.iter().for_each(|task| task.set_pause(Pause::Never));
        bench.run(SETTLED);
        let queue = |event: &Event| match event {
            Event::Task(_, _, queue, _) | Event::Feedback(queue, _) => *queue,
        };
        let order: Vec<usize> = bench.events.iter().map(queue).collect();
        // The first task was under way before the other packets came.
        assert_eq!(order, [0, 0, 4, 8, 0, 4, 8, 0, 4, 8, 4, 8]);
    });
}

#[test]
fn the_home_cluster_comes_first_and_then_the_emptiest() {
    check(|bench| {
        (0..60).for_each(|_| _ = bench.packet(3, false, [0, 8, 0]));
        let loads = |bench: &Bench<_>| [bench.running[0].len(), bench.running[1].len()];
        bench.run(10 * 27);
        assert_eq!(loads(bench)[0], 0);
        bench.run(60 * 27);
        assert_eq!(loads(bench), [20, 20]);
        for (cluster, count) in [(0, 3), (1, 2)] {
            (0..count).for_each(|_| bench.end(cluster, 0));
            bench.run(SETTLED);
            assert_eq!(loads(bench), [20, 20]);
        }
        bench.packet(3, true, [0, 8, 0]);
    });
}

#[test]
fn the_first_packet_keeps_its_cell_and_another_one_always_finds_one() {
    check_small(|bench| {
        // Open messages, whose packets are done.
        (0..4).for_each(|queue| _ = bench.packet(queue, false, [0; 3]));
        bench.run(SETTLED);
        assert_eq!((bench.events.len(), bench.sim.get("full")), (4, 0));
        assert_eq!(bench.sim.get("active"), 0);
        // The four shared cells are left.
        bench.feedback.set_pause(STALLED);
        (0..6).for_each(|_| _ = bench.packet(2, false, [0; 3]));
        bench.run(SETTLED);
        assert_eq!((bench.taken, bench.sim.get("full")), (8, 15));
        bench.feedback.set_pause(Pause::Never);
        bench.run(SETTLED);
        assert_eq!((bench.taken, bench.sim.get("full")), (10, 0));
        (0..4).for_each(|queue| _ = bench.packet(queue, true, [0; 3]));
    });
}

#[test]
fn feedback_that_is_not_taken_stops_steps_and_ends() {
    check(|bench| {
        bench.feedback.set_pause(STALLED);
        (0..4).for_each(|queue| _ = bench.packet(queue, true, [0; 3]));
        bench.packet(4, true, [0, 8, 0]);
        bench.run(SETTLED);
        assert_eq!((bench.taken, bench.events.len()), (5, 0));
        bench.feedback.set_pause(Pause::Never);
        bench.run(SETTLED);
        assert_eq!(bench.events.len(), 5);
    });
}

#[test]
fn a_her_takes_26_clocks_and_a_task_27() {
    check(|bench| {
        bench.tasks.iter().for_each(|task| task.set_pause(STALLED));
        (0..40).for_each(|number| _ = bench.packet(number % 16, false, [0, 8, 0]));
        bench.run(SETTLED);
        let taken = bench.taken;
        bench.run(10 * 26);
        assert_eq!(bench.taken, taken + 10);
        bench.run(2 * SETTLED);
        bench.tasks.iter().for_each(|task| task.set_pause(Pause::Never));
        bench.run(SETTLED);
        let begun = bench.events.len();
        bench.run(10 * 27);
        assert_eq!(bench.events.len(), begun + 10);
        (0..16).for_each(|queue| _ = bench.packet(queue, true, [0; 3]));
    });
}

#[test]
fn reset_discards_everything() {
    check_small(|bench| {
        let mut rng = bench.sim.rng("resets");
        for _ in 0..50 {
            for _ in 0..8 {
                let (queue, is_last) = (rng.random_range(0..4), rng.random());
                bench.packet(queue, is_last, [0, 4, 8]);
            }
            bench.run(rng.random_range(0..SETTLED));
            bench.end_all(Stage::Payload);
            bench.run(rng.random_range(0..30));
            bench.reset();
        }
        fills(bench);
    });
}
