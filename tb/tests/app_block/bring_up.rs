//! What a user does: find the hardware, load handlers, contexts and rules, start the clusters, send packets.

use crate::support::{all_contexts, bench, bench_with, send_matched, send_unmatched, started};
use spinneret_regmap::{caps, cl, stats};
use spinneret_sim::axil::Response;
use spinneret_sim::test_run::run_test;
use spinneret_tb::app::{Actions, Behaviour, Clocks, Context, NO_WORD, offset_of};

#[test]
fn a_packet_comes_back_as_a_frame() {
    run_test("app_packet_comes_back", 1, |run| {
        let mut rng = run.rng("packets");
        let mut bench = started(run, Clocks::BOARD, Actions::SEND);
        send_matched(&mut bench, &mut rng, 0, 100);
        let account = bench.settle();
        assert_eq!((account.matched, account.hers, account.frames), (1, 1, 1));
        bench.finish();
    });
}

#[test]
fn nothing_matches_before_rules_are_loaded() {
    run_test("app_nothing_matches", 1, |run| {
        let mut rng = run.rng("packets");
        let mut bench = bench(run);
        bench.find_hardware();
        for size in [1, 64, 65, 1500] {
            send_matched(&mut bench, &mut rng, 0, size);
            send_unmatched(&mut bench, &mut rng, 0, size);
        }
        assert_eq!(bench.settle().bypassed, 8);
        bench.finish();
    });
}

#[test]
fn all_actions_of_all_contexts_reach_wire_host_and_console() {
    run_test("app_all_actions", 2, |run| {
        let mut rng = run.rng("packets");
        for clocks in [Clocks::BOARD, Clocks::EQUAL, Clocks::period(2100)] {
            let mut bench = bench_with(run, clocks, &Behaviour::default());
            let contexts = std::array::from_fn(|number| Some(Context::new(number, Actions::of(15))));
            bench.bring_up(contexts);
            for actions in 0..16 {
                let contexts = all_contexts(Actions::of(actions));
                bench.load_contexts(&contexts);
                bench.model.configure(contexts);
                for context in 0..4 {
                    // A slow cluster has no room for four of the long ones at once.
                    send_matched(&mut bench, &mut rng, context, 60 + 97 * actions as usize);
                    bench.settle();
                }
            }
            assert_eq!(bench.finish().hers, 64);
        }
    });
}

#[test]
fn software_sees_what_was_built_and_how_the_cluster_is() {
    run_test("app_capabilities", 1, |run| {
        let mut bench = bench(run);
        bench.find_hardware();
        assert_eq!(bench.get(caps::offset("core_clock_khz")), 250_000);
        assert_eq!(bench.get(caps::offset("cluster_clock_khz")), 40_000);
        assert_eq!(bench.get(caps::offset("data_width")), 512);
        assert_eq!(bench.get(cl::STATUS.offset), 3, "running and held");
        bench.release_cluster();
        assert_eq!(bench.get(cl::STATUS.offset), 1, "running");
        assert_eq!(bench.get(cl::FIFO.offset), NO_WORD);
        assert_eq!(bench.get(stats::MPQ.offset), 0);
        bench.hold_cluster();
        bench.finish();
    });
}

#[test]
fn memory_of_the_cluster_is_written_and_read_through_the_bar() {
    run_test("app_memory", 1, |run| {
        for clocks in [Clocks::BOARD, Clocks::EQUAL] {
            let mut bench = bench_with(run, clocks, &Behaviour::default());
            bench.release_cluster();
            for first in [
                0x1c00_0000,
                0x1c00_1234 & !3,
                0x1c0f_ffc0,
                0x1c17_ffc0,
                0x1d00_0000,
                0x1d00_7fc0,
            ] {
                let words: Vec<u32> = (0..16).map(|word| first ^ (word * 0x0101_0101)).collect();
                bench.load_memory(first, &words);
            }
            // Bytes of a word by themselves, and none.
            let offset = offset_of(0x1c00_0100);
            assert_eq!(bench.bar_write(offset, 0x1122_3344), Response::Okay);
            assert_eq!(bench.bar_write_bytes(offset, 0xaabb_ccdd, 0b0101), Response::Okay);
            assert_eq!(bench.bar_write_bytes(offset, 0xffff_ffff, 0), Response::Okay);
            assert_eq!(bench.bar_read(offset), (0x11bb_33dd, Response::Okay));
            bench.finish();
        }
    });
}

#[test]
fn console_words_come_in_the_order_of_the_packets() {
    run_test("app_console", 1, |run| {
        let mut rng = run.rng("packets");
        let print = Actions {
            print: true,
            ..Actions::NONE
        };
        let mut bench = started(run, Clocks::EQUAL, print);
        for number in 0..20 {
            send_matched(&mut bench, &mut rng, number % 4, 64);
        }
        bench.finish();
    });
}
