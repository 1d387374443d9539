//! Frames of the host and of the cluster share the wire, and each side sees its own completions only.

use crate::support::{all_contexts, bench_with, send_matched, started};
use rand::RngExt;
use spinneret_sim::stream::Pause;
use spinneret_sim::test_run::run_test;
use spinneret_tb::app::{Actions, Behaviour, Clocks, from_host, random_size};

#[test]
fn frames_of_host_and_cluster_leave_whole() {
    run_test("app_frames", 1, |run| {
        let mut rng = run.rng("packets");
        let tx = Pause::Bursty { busy: 200, idle: 300 };
        let behaviour = Behaviour {
            tx: [tx, Pause::Never],
            wire: [Pause::Random { percent: 20 }, Pause::Never],
            ..Behaviour::default()
        };
        let mut bench = bench_with(run, Clocks::EQUAL, &behaviour);
        bench.bring_up(all_contexts(Actions::SEND));
        for number in 0..40 {
            for _ in 0..5 {
                let size = random_size(&mut rng);
                let frame = from_host(&mut rng, vec![number as u8; size]);
                bench.transmit(0, frame);
            }
            let size = random_size(&mut rng);
            send_matched(&mut bench, &mut rng, number % 4, size.max(4));
            // No faster than the cluster takes them.
            bench.run_until(100_000, "the frame of a packet", |bench| {
                bench.model.under_way() < 2
            });
        }
        let account = bench.settle();
        assert_eq!((account.frames, account.completions), (40, 40));
        bench.finish();
    });
}

#[test]
fn completions_of_our_frames_stay_inside() {
    run_test("app_completions", 1, |run| {
        let mut rng = run.rng("packets");
        let mut bench = started(run, Clocks::BOARD, Actions::SEND);
        send_matched(&mut bench, &mut rng, 0, 64);
        let account = bench.settle();
        assert_eq!((account.frames, account.completions), (1, 1));
        assert_eq!(bench.completed[0].total(), 0, "the host sees nothing of it");
        let frame = from_host(&mut rng, vec![1; 64]);
        bench.transmit(0, frame);
        bench.settle();
        assert_eq!(bench.completed[0].total(), 1);
        bench.finish();
    });
}

#[test]
fn completions_wait_for_the_host_and_none_is_lost() {
    run_test("app_completions_wait", 1, |run| {
        let mut rng = run.rng("packets");
        let behaviour = Behaviour {
            completions: Pause::Random { percent: 70 },
            ..Behaviour::default()
        };
        let mut bench = bench_with(run, Clocks::EQUAL, &behaviour);
        bench.bring_up(all_contexts(Actions::SEND));
        for number in 0..100 {
            let interface = rng.random_range(0..2);
            let frame = from_host(&mut rng, vec![number; 64]);
            bench.transmit(interface, frame);
            if number % 4 == 0 {
                send_matched(&mut bench, &mut rng, 0, 64);
            }
        }
        bench.finish();
    });
}
