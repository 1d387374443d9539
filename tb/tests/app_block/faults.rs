//! Errors of the host and of the cluster, and resets of it.

use crate::{all_contexts, bench, bench_with, send_matched, send_unmatched, started};
use spinneret_regmap::{bar, bar_access, caps, cl, me};
use spinneret_sim::axil::Response::{DecodeError, Okay, SlaveError};
use spinneret_sim::prelude::*;
use spinneret_tb::app::{Actions, AppBench, CLUSTER, Clocks, Stimulus, from_host, random_size};
use spinneret_tb::bench::{Finish, case, with};

/// Offsets outside of all windows.
const OUTSIDE: [u32; 4] = [0x81_0000, 0x81_0004, 0xc0_0000, 0xff_fffc];
/// Offsets into the cluster's windows at which it has no memory.
const NO_MEMORY: [u32; 4] = [0x18_0000, 0x3f_fffc, 0x40_8000, 0x7f_fffc];
/// Offsets of words that are no registers.
const NO_REGISTER: [u32; 4] = [0x80_0010, 0x80_0020, 0x80_2154, 0x80_fffc];

fn counter(bench: &mut AppBench, name: &str) -> u32 {
    bench.get(bar_access::offset(name))
}

/// Nothing of the BAR but the registers answers with OKAY, and everything answers.
fn outside_and_registers(bench: &mut AppBench) {
    for offset in OUTSIDE {
        assert_eq!(bench.bar_read(offset), (0, DecodeError), "{offset:#x}");
        assert_eq!(bench.bar_write(offset, 1), DecodeError, "{offset:#x}");
    }
    for offset in NO_REGISTER {
        assert_eq!(bench.bar_read(offset), (0, SlaveError), "{offset:#x}");
        assert_eq!(bench.bar_write(offset, 1), SlaveError, "{offset:#x}");
    }
    let magic = bar::CONTROL_REGISTERS.start + caps::MAGIC.offset;
    assert_eq!(bench.bar_write(magic, 0), SlaveError, "read only");
    assert_eq!(bench.bar_read(magic), (caps::MAGIC_VALUE, Okay));
}

#[test]
fn accesses_outside_answer_with_a_decode_error() {
    case(1, bench, |bench| {
        outside_and_registers(bench);
        assert_eq!(counter(bench, "outside"), 2 * OUTSIDE.len() as u32);
        bench.release_cluster();
        outside_and_registers(bench);
        for offset in NO_MEMORY {
            assert_eq!(bench.bar_read(offset), (0, DecodeError), "{offset:#x}");
            assert_eq!(bench.bar_write(offset, 1), DecodeError, "{offset:#x}");
        }
        assert_eq!(counter(bench, "errors"), 2 * NO_MEMORY.len() as u32);
    });
}

#[test]
fn a_cluster_in_reset_answers_with_a_slave_error_at_once() {
    case(1, bench, |bench| {
        for offset in [0, 0x10_0000, 0x40_0000] {
            let before = bench.now();
            assert_eq!(bench.bar_read(offset), (0, SlaveError));
            assert_eq!(bench.bar_write(offset, 1), SlaveError);
            assert!(bench.now() - before < 20, "{} clocks", bench.now() - before);
        }
        assert_eq!(counter(bench, "held"), 6);
        outside_and_registers(bench);
    });
}

#[test]
fn a_clock_that_stops_is_a_timeout_and_then_an_error_at_once() {
    case(1, with(started, (Clocks::BOARD, Actions::SEND)), |bench| {
        let mut rng = bench.sim.rng("packets");
        // The clock stops without notice: accesses to the cluster time out, everything else goes on.
        bench.sim.set_running(CLUSTER, false);
        let before = bench.now();
        assert_eq!(bench.bar_read(0), (0, SlaveError));
        assert!(bench.now() - before >= 65_536);
        assert_eq!(
            bench.bar_read(0),
            (0, SlaveError),
            "the late answer is outstanding"
        );
        assert_eq!(counter(bench, "timeouts"), 2);
        outside_and_registers(bench);
        for size in [64, 1500, 65] {
            send_unmatched(bench, &mut rng, 0, size);
        }
        bench.run_until(1000, "unmatched packets", |bench| bench.is_passed());
        // Now it is known.
        bench.set_running(false);
        bench.run(20);
        assert_eq!(bench.get(cl::STATUS.offset), 2, "held, not running");
        let before = bench.now();
        assert_eq!(bench.bar_write(0, 1), SlaveError);
        assert!(bench.now() - before < 20);
        outside_and_registers(bench);
        bench.model.complete = false;
        send_matched(bench, &mut rng, 0, 100);
        send_unmatched(bench, &mut rng, 0, 100);
        let account = bench.wait_for_rest();
        assert_eq!((account.matched, account.dropped_for("reset")), (1, 1));
        // It runs again.
        bench.sim.set_running(CLUSTER, true);
        bench.set_running(true);
        bench.wait_for_cluster();
        bench.enable_clusters();
        bench.load_memory(0x1c00_0000, &[1, 2, 3]);
        send_matched(bench, &mut rng, 1, 300);
        let account = bench.wait_for_rest();
        assert_eq!((account.hers, account.frames), (1, 1), "{account:?}");
    });
}

#[test]
fn registers_answer_while_the_cluster_does_not() {
    run_test(1, |run| {
        use spinneret_sim::axil::{LiteRead, LiteWrite};
        let mut bench = started(run, (Clocks::BOARD, Actions::NONE));
        bench.sim.set_running(CLUSTER, false);
        bench.bar.write(LiteWrite::new(0x100, 1));
        for _ in 0..10 {
            bench.bar.read(LiteRead::new(
                (bar::CONTROL_REGISTERS.start + me::VALID.offset).into(),
            ));
        }
        bench.run_until(200, "reads of registers", |bench| bench.bar.reads_left() == 0);
        assert_eq!(bench.bar.writes_left(), 1, "the write waits for the cluster");
        assert!(
            bench
                .bar
                .take_reads()
                .iter()
                .all(|read| (read.data, read.response) == (1, Okay))
        );
        bench.sim.set_running(CLUSTER, true);
        bench.run_until(2000, "the write", |bench| bench.bar.is_idle());
        assert_eq!(bench.bar.take_writes()[0].response, Okay);
        bench.finish();
    });
}

#[test]
fn contexts_that_are_off_drop_and_count() {
    case(1, with(started, (Clocks::BOARD, Actions::SEND)), |bench| {
        let mut rng = bench.sim.rng("packets");
        let mut contexts = all_contexts(Actions::SEND);
        (contexts[0], contexts[2]) = (None, None);
        bench.load_contexts(&contexts);
        bench.model.configure(contexts);
        bench.model.complete = false;
        for context in [0, 1, 2, 3] {
            send_matched(bench, &mut rng, context, 200);
        }
        let account = bench.wait_for_rest();
        assert_eq!((account.dropped_for("no_context"), account.frames), (2, 2));
    });
}

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
    let mut bench = bench_with(run, clocks, &Stimulus::default());
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
    run_test(1, |run| {
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

/// The metadata of a matched packet, which waits after one that the host does not take, arrives before its first beat
/// when the cluster comes out of reset.
#[test]
fn a_packet_that_waits_behind_the_hosts_outlives_a_reset() {
    run_test(1, |run| {
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
            // Without metadata these frames would fill the queue of verdicts.
            works_again(&mut bench, &mut rng);
            bench.finish();
        }
    });
}

#[test]
fn the_clusters_clock_fails_in_full_traffic() {
    run_test(1, |run| {
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
    run_test(1, |run| {
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
