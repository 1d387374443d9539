//! Which handler may run when: sPIN's rules, for random messages and random ends of handlers.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::queues::{Queues, Ready};
use spinneret_cluster::task::{Code, Her, Meta, Stage, Task};
use spinneret_cluster::{Cluster, Config};
use spinneret_regmap::pspin::PACKET_BASE;
use std::collections::BTreeMap;

const QUEUES: usize = 4;
const CLUSTERS: usize = 2;

/// A context with or without each of the handlers, told from others by its scratchpad.
fn meta(handlers: [bool; 3], number: u32) -> Meta {
    let code = |stage: usize| Code {
        address: if handlers[stage] { 0x1d00_0100 } else { 0 },
        size: 4,
    };
    Meta {
        header: code(0),
        payload: code(1),
        tail: code(2),
        scratchpads: [[number, 0]; 4],
        ..Meta::default()
    }
}

/// The state of the message of a queue.
#[derive(Debug, Default)]
struct Seen {
    /// Packets of the message that were given to the payload handler or needed none.
    payloads: usize,
    header_done: bool,
    last_seen: bool,
    running: Vec<Stage>,
    context: Option<u32>,
}

/// Packets come, handlers run and end at random; the rules are checked at every step.
fn run(seed: u64, messages: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut queues = Queues::new(QUEUES, 8, CLUSTERS);
    let mut coming: Vec<Her> = Vec::new();
    for message in 0..messages {
        let context = meta(std::array::from_fn(|_| rng.random()), message as u32);
        let packets = rng.random_range(1..6);
        for packet in 0..packets {
            // Later packets name another context, which must not count.
            let meta = if packet == 0 {
                context
            } else {
                meta([true; 3], u32::MAX)
            };
            coming.push(Her {
                message: message as u32 % QUEUES as u32,
                is_last: packet + 1 == packets,
                address: coming.len() as u32,
                meta,
                ..Her::default()
            });
        }
    }
    let total = coming.len();
    coming.reverse();
    let mut seen: BTreeMap<usize, Seen> = BTreeMap::new();
    let mut running: Vec<Task> = Vec::new();
    let mut freed = vec![0; total];
    let mut idle = 0;
    while !(coming.is_empty() && running.is_empty() && queues.is_idle()) {
        idle += 1;
        assert!(
            idle < 10_000 && (queues.has_work() || !running.is_empty() || !coming.is_empty()),
            "seed {seed}: nothing goes on: {queues:?}"
        );
        if rng.random()
            && queues.has_room()
            && let Some(her) = coming.pop()
        {
            queues.push(her);
            idle = 0;
        }
        let takes = running.len() < 6 && rng.random_ratio(3, 4);
        let has_work = queues.has_work();
        let ready = takes.then(|| queues.take()).flatten();
        assert!(
            has_work || ready.is_none(),
            "seed {seed}: nobody would have asked"
        );
        match ready {
            Some(Ready::Run(task)) => {
                begin(&mut seen, &task, seed);
                running.push(task);
                idle = 0;
            }
            Some(Ready::Done(task)) => {
                begin(&mut seen, &task, seed);
                end(&mut seen, &task, &mut freed);
                idle = 0;
            }
            None => {}
        }
        if !running.is_empty() && rng.random_ratio(1, 3) {
            let task = running.swap_remove(rng.random_range(0..running.len()));
            queues.finish(&task);
            end(&mut seen, &task, &mut freed);
            idle = 0;
        }
    }
    assert!(freed.iter().all(|count| *count == 1), "seed {seed}: {freed:?}");
}

/// A handler begins, or a packet without one is done.
fn begin(seen: &mut BTreeMap<usize, Seen>, task: &Task, seed: u64) {
    let seen = seen.entry(task.queue).or_default();
    let context = task.meta.scratchpads[0][0];
    assert_eq!(
        *seen.context.get_or_insert(context),
        context,
        "seed {seed}: the first packet's context"
    );
    assert_ne!(context, u32::MAX);
    assert_eq!(task.home, task.queue % CLUSTERS);
    match task.stage {
        Stage::Header => {
            assert!(
                seen.running.is_empty() && seen.payloads == 0 && !seen.header_done,
                "seed {seed}"
            );
        }
        Stage::Payload => {
            assert_eq!(
                seen.header_done,
                task.meta.header.exists(),
                "seed {seed}: the header first"
            );
            assert!(
                !seen.running.contains(&Stage::Header) && !seen.last_seen,
                "seed {seed}"
            );
            seen.payloads += 1;
            seen.last_seen = task.her.is_last;
        }
        Stage::Tail => {
            assert!(
                seen.running.is_empty() && seen.last_seen && task.her.is_last,
                "seed {seed}"
            );
        }
    }
    seen.running.push(task.stage);
}

fn end(all: &mut BTreeMap<usize, Seen>, task: &Task, freed: &mut [usize]) {
    let seen = all.get_mut(&task.queue).expect("it has begun");
    let place = seen.running.iter().position(|stage| *stage == task.stage);
    seen.running.remove(place.expect("it runs"));
    seen.header_done |= task.stage == Stage::Header;
    if task.frees {
        freed[task.her.address as usize] += 1;
    }
    let is_over = match task.meta.tail.exists() {
        true => task.stage == Stage::Tail,
        false => seen.last_seen && seen.running.is_empty(),
    };
    if is_over {
        all.remove(&task.queue);
    }
}

proptest! {
    #[test]
    fn handlers_run_in_spins_order(seed: u64) {
        run(seed, 30);
    }
}

/// A packet of a message that goes on.
fn packet(message: u32, handlers: [bool; 3], is_last: bool) -> Her {
    Her {
        message,
        is_last,
        meta: meta(handlers, message),
        ..Her::default()
    }
}

#[test]
fn full_queue_blocks_only_its_own_packets() {
    let mut queues = Queues::new(QUEUES, 2, CLUSTERS);
    for _ in 0..3 {
        assert!(queues.has_room());
        queues.push(packet(1, [false, true, false], false));
    }
    assert!(!queues.has_room() && queues.is_full(1) && !queues.is_full(0));
    assert!(queues.has_room_for(4) && !queues.has_room_for(1) && !queues.has_room_for(5));
    // The place of a queue that was empty is its own.
    queues.push(packet(4, [false, true, false], false));
    assert!(queues.is_full(0) && !queues.has_room_for(0) && queues.has_room_for(2));
    // The oldest packet of queue 0 had that place, so no other queue gets it.
    assert!(matches!(queues.take(), Some(Ready::Run(Task { queue: 0, .. }))));
    assert!(queues.has_room_for(0) && !queues.has_room_for(1));
    for _ in 0..2 {
        assert!(matches!(queues.take(), Some(Ready::Run(Task { queue: 1, .. }))));
    }
    assert!(queues.has_room() && queues.has_room_for(1) && queues.has_room_for(3));
}

#[test]
fn packet_keeps_its_entry_until_its_last_task_is_scheduled() {
    use Stage::{Header, Payload, Tail};
    // With completion handler the last packet waits for it; without one its payload handler is the last task.
    for (handlers, stages) in [
        ([true, true, true], &[Header, Payload, Tail][..]),
        ([false, true, true], &[Payload, Tail]),
        ([true, true, false], &[Header, Payload]),
        ([false, false, true], &[Tail]),
    ] {
        let mut queues = Queues::new(QUEUES, 0, CLUSTERS);
        queues.push(packet(1, handlers, true));
        let mut seen = Vec::new();
        while let Some(ready) = queues.take() {
            let Ready::Run(task) = ready else {
                assert!(
                    queues.is_full(1),
                    "{handlers:?}: the completion handler is to run"
                );
                continue;
            };
            seen.push(task.stage);
            assert_eq!(queues.is_full(1), seen != stages, "{handlers:?} at {seen:?}");
            queues.finish(&task);
        }
        assert_eq!(seen, stages, "{handlers:?}");
        assert!(queues.is_idle() && queues.has_room());
    }
}

/// Packets that a cluster holds of which no HPU executes anything, when one is refused.
fn held(config: Config, messages: u32) -> u64 {
    let mut cluster = Cluster::new(config);
    for number in 0.. {
        let her = Her {
            address: PACKET_BASE,
            size: 64,
            copied: 64,
            ..packet(number % messages, [false, true, false], false)
        };
        if !cluster.can_accept_her_of(her.message) {
            break;
        }
        cluster.push(her);
        for _ in 0..50 {
            cluster.tick();
        }
    }
    assert_eq!(cluster.next(), None, "an HPU would have to go on");
    cluster.packets_inside().iter().sum()
}

/// Seen on the PULP cluster: the messages of a context have 4 queues, and 173 packets were inside when HERs waited.
#[test]
fn holds_as_many_packets_as_the_pulp_cluster() {
    for (messages, packets) in [(1, 170), (4, 173), (16, 185)] {
        assert_eq!(held(Config::default(), messages), packets, "{messages} messages");
    }
    let small = Config {
        clusters: 1,
        hpus: 2,
        ..Config::default()
    };
    assert_eq!(held(small, 1), 128 + 1 + 1 + 14);
}

/// An HPU that never comes to its task does not go on for ever where there is no watchdog.
#[test]
fn a_task_without_a_watchdog_is_endless_after_its_clocks() {
    for is_strict in [false, true] {
        let mut cluster = Cluster::new(Config {
            watchdog: 1000,
            is_strict,
            ..Config::default()
        });
        cluster.push(Her {
            address: PACKET_BASE,
            ..packet(7, [false, true, false], false)
        });
        let mut ticks = 0;
        while cluster.endless().is_none() && ticks < 2000 {
            assert!(ticks < 50 || cluster.goes_on(), "after {ticks} clocks");
            cluster.tick();
            ticks += 1;
        }
        assert_eq!((cluster.goes_on(), ticks < 1100), (!is_strict, is_strict));
        let endless = cluster
            .endless()
            .map(|(hpu, task)| (hpu.cluster, task.her.message));
        assert_eq!(endless, is_strict.then_some((1, 7)));
    }
}

#[test]
fn queues_take_turns() {
    let mut queues = Queues::new(QUEUES, 8, CLUSTERS);
    for message in [0, 0, 0, 1, 2] {
        queues.push(Her {
            message,
            meta: meta([false, true, false], 0),
            ..Her::default()
        });
    }
    let order: Vec<usize> = std::iter::from_fn(|| match queues.take() {
        Some(Ready::Run(task)) => Some(task.queue),
        _ => None,
    })
    .collect();
    assert_eq!(order, [0, 1, 2, 0, 0]);
}

#[test]
fn payload_handlers_of_a_message_run_at_the_same_time() {
    let mut queues = Queues::new(QUEUES, 8, CLUSTERS);
    for packet in 0..4 {
        queues.push(Her {
            message: 3,
            is_last: packet == 3,
            meta: meta([false, true, true], 0),
            ..Her::default()
        });
    }
    let tasks: Vec<Task> = std::iter::from_fn(|| match queues.take() {
        Some(Ready::Run(task)) => Some(task),
        _ => None,
    })
    .collect();
    assert_eq!(tasks.len(), 4);
    for (done, task) in tasks.iter().enumerate() {
        assert!(queues.take().is_none(), "{done} of 4 are done");
        queues.finish(task);
    }
    let Some(Ready::Run(tail)) = queues.take() else {
        panic!("the completion handler runs")
    };
    assert_eq!((tail.stage, tail.packet, tail.frees), (Stage::Tail, 3, true));
    queues.finish(&tail);
    assert!(queues.is_idle());
}

/// A message of one packet comes in the queue of another one, before that one's end or while it ends.
fn follow(is_strict: bool, while_it_ends: bool) -> (Queues, Vec<(Stage, u64)>) {
    let mut queues = Queues::new(QUEUES, 8, CLUSTERS).strict(is_strict);
    let her = |message| Her {
        message,
        is_last: true,
        meta: meta([false, true, true], message),
        ..Her::default()
    };
    let mut order = Vec::new();
    queues.push(her(1));
    if !while_it_ends {
        queues.push(her(1 + QUEUES as u32));
    }
    while let Some(Ready::Run(task)) = queues.take() {
        order.push((task.stage, task.packet));
        if while_it_ends && order.len() == 1 {
            queues.push(her(1 + QUEUES as u32));
        }
        queues.finish(&task);
    }
    (queues, order)
}

#[test]
fn messages_of_one_queue_are_distinct_unless_strict() {
    use Stage::{Payload, Tail};
    for while_it_ends in [false, true] {
        let (queues, order) = follow(false, while_it_ends);
        assert_eq!(order, [(Payload, 0), (Tail, 0), (Payload, 1), (Tail, 1)]);
        assert!(queues.is_idle());
    }
    // The second message has become part of the first one.
    let (queues, order) = follow(true, false);
    assert_eq!(order, [(Payload, 0), (Payload, 1), (Tail, 1)]);
    assert!(queues.is_idle());
    // The second message waits until yet another packet comes, and its end is forgotten.
    let (mut queues, order) = follow(true, true);
    assert_eq!(order, [(Payload, 0), (Tail, 0)]);
    assert_eq!((queues.waiting(), queues.has_work()), (1, false));
    queues.push(Her {
        message: 1,
        meta: meta([false, true, true], 9),
        ..Her::default()
    });
    let rest: Vec<_> = std::iter::from_fn(|| match queues.take() {
        Some(Ready::Run(task)) => Some((task.stage, task.packet)),
        _ => None,
    })
    .collect();
    assert_eq!(rest, [(Payload, 1), (Payload, 2)]);
}
