//! Resets in full traffic: of the cluster by software, by its clock, and of the core.

use crate::support::{all_contexts, bench_with, send_matched, send_unmatched};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_regmap::cl;
use spinneret_sim::dma::Pause;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::app::{Actions, AppBench, Behaviour, CLUSTER, Clocks, from_host, random_size};

/// Sends some of everything.
fn traffic(bench: &mut AppBench, rng: &mut ChaCha8Rng, count: usize) {
    for _ in 0..count {
        let size = random_size(rng);
        match rng.random_range(0..4) {
            0 => {
                let frame = from_host(rng, vec![0x77; size]);
                bench.transmit(rng.random_range(0..2), frame);
            }
            1 => {
                let interface = rng.random_range(0..2);
                send_unmatched(bench, rng, interface, size);
            }
            _ => {
                let context = rng.random_range(0..4);
                send_matched(bench, rng, context, size);
            }
        }
    }
}

/// A block whose cluster sends every packet back, copies it and prints.
fn busy(run: &mut TestRun, clocks: Clocks) -> AppBench {
    let mut bench = bench_with(run, clocks, &Behaviour::default());
    bench.bring_up(all_contexts(Actions::of(15)));
    bench.model.complete = false;
    bench
}

/// Everything works again, and no slot is lost.
fn works_again(bench: &mut AppBench, rng: &mut ChaCha8Rng) {
    let before = bench.wait_for_rest();
    bench.read_stdout();
    bench.forget_effects();
    for number in 0..12 {
        send_matched(bench, rng, number % 4, 64 + 100 * number);
        let account = bench.wait_for_rest();
        assert_eq!(
            account.frames,
            before.frames + number as u64 + 1,
            "{before:?} {account:?}"
        );
        assert_eq!(account.hers, before.hers + number as u64 + 1);
    }
}

#[test]
fn software_resets_the_cluster_in_full_traffic() {
    run_test("app_cluster_reset", 1, |run| {
        let mut rng = run.rng("traffic");
        for turn in 0..6 {
            let clocks = match turn {
                0 => Clocks::BOARD,
                1 => Clocks::EQUAL,
                _ => Clocks::random(&mut rng),
            };
            let mut bench = busy(run, clocks);
            let mut lost = 0;
            for _ in 0..6 {
                traffic(&mut bench, &mut rng, 60);
                bench.run(rng.random_range(1..3000));
                bench.hold_cluster();
                traffic(&mut bench, &mut rng, 20);
                bench.run(rng.random_range(1..1500));
                bench.release_cluster();
                let account = bench.wait_for_rest();
                lost = account.dropped_for("reset");
            }
            assert!(lost > 0, "packets came while the cluster was in reset");
            works_again(&mut bench, &mut rng);
            bench.finish();
        }
    });
}

/// What is known of a matched packet, which waits behind one that the host does not take, is there before its first beat
/// when the cluster comes out of reset.
#[test]
fn a_packet_that_waits_behind_the_hosts_outlives_a_reset() {
    run_test("app_reset_behind_host", 1, |run| {
        let mut rng = run.rng("traffic");
        for waiting in 1..4 {
            let mut bench = busy(run, Clocks::BOARD);
            bench.hold_cluster();
            bench.to_host[0].set_pause(Pause::Random { percent: 100 });
            send_unmatched(&mut bench, &mut rng, 0, 200);
            for number in 0..waiting {
                send_matched(&mut bench, &mut rng, number, 64 + 70 * number);
            }
            bench.run(100);
            bench.release_cluster();
            bench.to_host[0].set_pause(Pause::Never);
            let account = bench.wait_for_rest();
            assert_eq!(
                (account.bypassed, account.hers),
                (1, waiting as u64),
                "{account:?}"
            );
            assert_eq!(account.dropped(), 0, "{account:?}");
            // So many frames would fill the queue of verdicts, if they had no metadata.
            works_again(&mut bench, &mut rng);
            bench.finish();
        }
    });
}

#[test]
fn the_clusters_clock_fails_in_full_traffic() {
    run_test("app_clock_fails", 1, |run| {
        let mut rng = run.rng("traffic");
        for clocks in [Clocks::BOARD, Clocks::EQUAL, Clocks::period(3300)] {
            let mut bench = busy(run, clocks);
            for turn in 0..6 {
                traffic(&mut bench, &mut rng, 60);
                bench.run(rng.random_range(1..3000));
                // The clock generator loses its lock: the clock may stop, before or after.
                if turn % 3 == 0 {
                    bench.sim.set_running(CLUSTER, false);
                    bench.run(rng.random_range(1..40));
                }
                bench.set_running(false);
                bench.run(rng.random_range(1..100));
                if turn % 3 == 1 {
                    bench.sim.set_running(CLUSTER, false);
                }
                traffic(&mut bench, &mut rng, 20);
                bench.run(rng.random_range(1..1500));
                assert_eq!(bench.get(cl::STATUS.offset), 2, "held, not running");
                bench.sim.set_running(CLUSTER, true);
                bench.run(rng.random_range(1..100));
                bench.set_running(true);
                bench.wait_for_cluster();
                bench.wait_for_rest();
            }
            works_again(&mut bench, &mut rng);
            bench.finish();
        }
    });
}

#[test]
fn the_core_is_reset_in_full_traffic() {
    run_test("app_core_reset", 1, |run| {
        let mut rng = run.rng("traffic");
        for clocks in [Clocks::BOARD, Clocks::EQUAL, Clocks::period(2000)] {
            let mut bench = busy(run, clocks);
            for _ in 0..4 {
                traffic(&mut bench, &mut rng, 40);
                bench.run(rng.random_range(1..2000));
                // Corundum's queues are emptied with it.
                bench.reset();
                assert_eq!(bench.get(cl::STATUS.offset), 3, "running and held");
                assert_eq!(bench.account(), Default::default());
                bench.bring_up(all_contexts(Actions::of(15)));
                bench.model.complete = false;
            }
            works_again(&mut bench, &mut rng);
            bench.finish();
        }
    });
}
