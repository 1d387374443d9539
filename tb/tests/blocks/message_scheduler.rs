//! `message_scheduler`: random messages against the queues of the model, and each line of its contract.

mod bench;

use bench::{Bench, Event, Seen};
use spinneret_cluster::task::{Code, Her, Meta, Stage};
use spinneret_hdl::hpu::cluster::BETWEEN_TASKS;
use spinneret_models::{MessageScheduler, MessageSchedulerSmall, MessageSchedulerWide};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, STALLED, case};

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
        shared: [0; 2],
    };
    let [address, copied] = words(0.9);
    Her {
        message,
        is_last,
        address,
        size: size[0],
        copied,
        meta,
        ..Her::default()
    }
}

/// HERs of random messages in all queues, tasks that end in random order, and pauses on all sides.
fn random<M: Model>(run: &mut TestRun, clocks: usize) {
    let mut bench = Bench::<M>::new(run);
    let mut rng = run.rng("messages");
    (bench.clocks, bench.over) = (1..5000, 10);
    (0..bench.contexts).for_each(|context| bench.set_weight(context, rng.random_range(1..=15)));
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

#[test]
fn random_messages_of_eight_clusters_run_as_in_the_model() {
    run_test(0x0005_5c4e, |run| random::<MessageSchedulerWide>(run, 30_000));
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

/// Queues of all tasks of packets that wait while none leaves.
fn order_of(bench: &mut Bench<MessageScheduler>, queues: &[usize]) -> Vec<usize> {
    bench.tasks.iter().for_each(|task| task.set_pause(STALLED));
    for queue in queues {
        (0..4).for_each(|number| _ = bench.packet(*queue, number == 3, [0, 8, 0]));
    }
    bench.run(SETTLED);
    bench.tasks.iter().for_each(|task| task.set_pause(Pause::Never));
    bench.run(SETTLED);
    let queue = |event: &Event| match event {
        Event::Task(_, _, queue, _) | Event::Feedback(queue, _) => *queue,
    };
    bench.events.iter().map(queue).collect()
}

#[test]
fn queues_of_a_context_take_turns() {
    check(|bench| assert_eq!(order_of(bench, &[6, 7]), [6, 6, 6, 7, 6, 7, 7, 7]));
}

#[test]
fn contexts_with_equal_tasks_under_way_take_turns() {
    check(|bench| {
        let mut order = order_of(bench, &[0, 4, 8]);
        // The first three were chosen before the other packets came.
        assert_eq!(order[..3], [0; 3]);
        order[3..9].sort_unstable();
        assert_eq!(order[3..9], [4, 4, 4, 8, 8, 8]);
        for turn in order[9..].chunks_mut(3) {
            turn.sort_unstable();
            assert_eq!(turn, [0, 4, 8]);
        }
    });
}

/// Ends tasks in their order, so that a few are under way, and fills queues up; clocks of tasks by context. A step is chosen in
/// advance, so more packets wait than steps are taken before the next ones come.
fn work(
    bench: &mut Bench<MessageScheduler>,
    contexts: &[usize],
    tasks: usize,
    clocks: impl Fn(usize) -> u64,
) {
    for _ in 0..tasks {
        for context in contexts {
            for _ in bench.models[2 * context].waiting()..6 {
                if bench.sent.len() < 6 {
                    bench.packet(2 * context, false, [0, 8, 0]);
                }
            }
        }
        for cluster in 0..bench.running.len() {
            if bench.running[cluster].len() > 3 {
                let clocks = clocks(bench.context(bench.running[cluster][0].0.queue));
                bench.clocks = clocks..clocks + 1;
                bench.end(cluster, 0);
            }
        }
        bench.run(120);
    }
}

/// Ends the messages of [`work`].
fn stop(bench: &mut Bench<MessageScheduler>, contexts: &[usize]) {
    contexts
        .iter()
        .for_each(|context| _ = bench.packet(2 * context, true, [0; 3]));
}

#[test]
fn hpu_time_goes_by_weight_whatever_handlers_take() {
    check(|bench| {
        for (context, weight) in [(0, 6), (3, 2), (7, 1)] {
            bench.set_weight(context, weight);
        }
        work(bench, &[0, 3, 7], 2000, |context| {
            [100, 0, 0, 2000, 0, 0, 0, 900][context]
        });
        let of = |context: usize| {
            let [tasks, clocks, ..] = bench.totals[context];
            (clocks + BETWEEN_TASKS * tasks) as f64 / bench.weights[context] as f64
        };
        let shares = [0, 3, 7].map(of);
        let (least, most) = (
            shares.iter().copied().fold(f64::MAX, f64::min),
            shares.iter().copied().fold(0.0, f64::max),
        );
        assert!(most - least < 0.06 * most, "{shares:?}");
        stop(bench, &[0, 3, 7]);
    });
}

#[test]
fn a_context_that_had_nothing_to_do_gets_no_more_than_its_share() {
    check(|bench| {
        work(bench, &[1], 500, |_| 1000);
        let before = bench.totals[1][1];
        assert!(before > 300_000);
        work(bench, &[1, 2], 400, |_| 1000);
        let [one, other] = [bench.totals[1][1] - before, bench.totals[2][1]];
        assert!(one.abs_diff(other) <= 40_000, "{one} and {other}");
        stop(bench, &[1, 2]);
    });
}

#[test]
fn a_context_alone_gets_every_task() {
    check(|bench| {
        bench.set_weight(5, 1);
        (0..40).for_each(|_| _ = bench.packet(10, false, [0, 8, 0]));
        bench.tasks.iter().for_each(|task| task.set_pause(STALLED));
        bench.run(40 * 16);
        bench.tasks.iter().for_each(|task| task.set_pause(Pause::Never));
        bench.run(SETTLED / 2);
        let begun = bench.events.len();
        bench.run(10 * 15);
        assert_eq!(bench.events.len(), begun + 10);
        bench.packet(10, true, [0; 3]);
    });
}

#[test]
fn weights_outlive_a_reset_and_counters_do_not() {
    check(|bench| {
        bench.set_weight(2, 4);
        work(bench, &[1, 2], 100, |_| 5000);
        assert!(bench.totals[2][0] > 20);
        bench.reset();
        bench.run(SETTLED);
        bench.check_totals();
        work(bench, &[1, 2], 800, |_| 500);
        let [one, other] = [bench.totals[1][1], bench.totals[2][1]];
        assert!((4 * one).abs_diff(other) < other / 15, "{one} and {other}");
        stop(bench, &[1, 2]);
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
fn a_her_takes_12_clocks_and_a_task_11() {
    case(0x0006_5c4e, Bench::<MessageSchedulerWide>::new, |bench| {
        bench.tasks.iter().for_each(|task| task.set_pause(STALLED));
        (0..40).for_each(|number| _ = bench.packet(number % 32, false, [0, 8, 0]));
        bench.run(SETTLED / 4);
        let taken = bench.taken;
        bench.run(10 * 12);
        assert_eq!(bench.taken, taken + 10);
        bench.run(SETTLED);
        bench.tasks.iter().for_each(|task| task.set_pause(Pause::Never));
        bench.run(4 * 11);
        let begun = bench.events.len();
        bench.run(10 * 11);
        assert_eq!(bench.events.len(), begun + 10);
        (0..32).for_each(|queue| _ = bench.packet(queue, true, [0; 3]));
    });
}

#[test]
fn a_step_takes_as_many_clocks_as_contexts_and_7() {
    check(|bench| {
        bench.tasks.iter().for_each(|task| task.set_pause(STALLED));
        (0..40).for_each(|number| _ = bench.packet(number % 16, false, [0, 8, 0]));
        bench.run(2 * SETTLED);
        bench.tasks.iter().for_each(|task| task.set_pause(Pause::Never));
        bench.run(4 * 15);
        let begun = bench.events.len();
        bench.run(10 * 15);
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
