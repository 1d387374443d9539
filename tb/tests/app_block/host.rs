//! The host's side: registers, its memory, and messages for interrupts.

use crate::{all_contexts, bench, bench_with, send_matched, send_unmatched, started};
use spinneret_regmap::{bar, caps, cl, events, guard, host_read, host_write, stats};
use spinneret_sim::prelude::*;
use spinneret_tb::app::{
    Actions, AppBench, CONTEXTS, Clocks, Context, NO_WORD, READ_OFFSET, Stimulus, offset_of,
};
use spinneret_tb::bench::{Finish, case, with};

#[test]
fn a_packet_comes_back_as_a_frame() {
    case(1, with(started, (Clocks::BOARD, Actions::SEND)), |bench| {
        let mut rng = bench.sim.rng("packets");
        send_matched(bench, &mut rng, 0, 100);
        let account = bench.settle();
        assert_eq!((account.matched, account.hers, account.frames), (1, 1, 1));
    });
}

#[test]
fn nothing_matches_before_rules_are_loaded() {
    case(1, bench, |bench| {
        let mut rng = bench.sim.rng("packets");
        bench.find_hardware();
        for size in [1, 64, 65, 1500] {
            send_matched(bench, &mut rng, 0, size);
            send_unmatched(bench, &mut rng, 0, size);
        }
        assert_eq!(bench.settle().bypassed, 8);
    });
}

#[test]
fn all_actions_of_all_contexts_reach_wire_host_and_console() {
    run_test(2, |run| {
        let mut rng = run.rng("packets");
        for clocks in [Clocks::BOARD, Clocks::EQUAL, Clocks::period(2100)] {
            let mut bench = bench_with(run, clocks, &Stimulus::default());
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
            assert_eq!(bench.settle().hers, 64);
            bench.finish();
        }
    });
}

#[test]
fn software_reads_the_configuration_and_the_cluster_status() {
    case(1, bench, |bench| {
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
    });
}

#[test]
fn memory_of_the_cluster_is_written_and_read_through_the_bar() {
    run_test(1, |run| {
        for clocks in [Clocks::BOARD, Clocks::EQUAL] {
            let mut bench = bench_with(run, clocks, &Stimulus::default());
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
            // Single bytes of a word, and none.
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
    run_test(1, |run| {
        let mut rng = run.rng("packets");
        let print = Actions {
            print: true,
            ..Actions::NONE
        };
        let mut bench = started(run, (Clocks::EQUAL, print));
        for number in 0..20 {
            send_matched(&mut bench, &mut rng, number % 4, 64);
        }
        bench.finish();
    });
}

/// Copies to the host, and reads from it.
const BOTH: Actions = Actions {
    read: true,
    copy: true,
    ..Actions::NONE
};
const COPY: Actions = Actions {
    copy: true,
    ..Actions::NONE
};
const READ: Actions = Actions {
    read: true,
    ..Actions::NONE
};
/// The stand-in prints this and the answer of the bus when host memory cannot be reached.
const FAILED: u32 = 0xdead_0000;
/// DECERR.
const DECODE_ERROR: u32 = 3;

/// A context whose host memory is at that address.
fn at(number: usize, actions: Actions, host_address: u64) -> Context {
    Context {
        host_address,
        ..Context::new(number, actions)
    }
}

fn only(context: Context) -> [Option<Context>; CONTEXTS] {
    [Some(context), None, None, None]
}

/// Sends a packet for context 0 whose host access fails; what the stand-in prints.
fn failing(bench: &mut AppBench, rng: &mut ChaCha8Rng, size: usize) -> Vec<u32> {
    failing_for(bench, rng, 0, size)
}

/// The same for any context.
fn failing_for(bench: &mut AppBench, rng: &mut ChaCha8Rng, context: usize, size: usize) -> Vec<u32> {
    let before = bench.account().hers;
    let contexts = *bench.model.contexts();
    // Nothing arrives, and the model expects this.
    let mut silent = contexts;
    silent[context] = contexts[context].map(|context| Context {
        actions: Actions::NONE,
        ..context
    });
    bench.model.configure(silent);
    send_matched(bench, rng, context, size);
    let account = bench.wait_for_rest();
    assert_eq!(account.hers, before + 1);
    bench.model.rest();
    bench.model.configure(contexts);
    bench.read_stdout()
}

#[test]
fn packets_reach_any_host_address_of_any_alignment() {
    case(1, with(started, (Clocks::EQUAL, COPY)), |bench| {
        let mut rng = bench.sim.rng("packets");
        for address in [0x1000, 0x1_0000_0ff3, 0xfff, 0x7f_ffff_ffc1, 0x123_4567_89ab] {
            let contexts = only(at(0, COPY, address));
            bench.load_contexts(&contexts);
            bench.model.configure(contexts);
            for size in [1, 63, 64, 65, 1000, 1536] {
                send_matched(bench, &mut rng, 0, size);
                bench.settle();
            }
        }
        assert!(bench.get(host_write::offset("bursts")) >= 30);
    });
}

#[test]
fn data_of_the_host_reaches_the_cluster() {
    run_test(1, |run| {
        let mut rng = run.rng("packets");
        for clocks in [Clocks::BOARD, Clocks::EQUAL] {
            let mut bench = started(run, (clocks, BOTH));
            for number in 0..12 {
                let context = number % 4;
                let address = Context::new(context, BOTH).read_address();
                bench.host.set(address, &[number as u8 + 1; 64]);
                send_matched(&mut bench, &mut rng, context, 300);
                bench.settle();
            }
            assert_eq!(bench.get(host_read::offset("bursts")), 12);
            bench.finish();
        }
    });
}

#[test]
fn windows_confine_the_cluster_to_its_memory() {
    run_test(1, |run| {
        let mut rng = run.rng("packets");
        let stimulus = Stimulus::default();
        let mut bench = bench_with(run, Clocks::BOARD, &stimulus);
        let base = 0x5_0000_0000;
        bench.bring_up(only(at(0, BOTH, base)));
        bench.set(guard::ENFORCE.offset, 1);
        // No window is open: the read and the copy fail, and nothing moves.
        let failed = FAILED | DECODE_ERROR;
        assert_eq!(failing(&mut bench, &mut rng, 500), [failed, failed]);
        assert_eq!(bench.get(host_write::offset("outside")), 1);
        assert_eq!(bench.get(host_read::offset("outside")), 1);
        // The window ends right after what is read.
        bench.open_window(0, base, READ_OFFSET as u32 + 64);
        send_matched(&mut bench, &mut rng, 0, 500);
        bench.settle();
        // One byte too few for the read, and enough for the copy.
        bench.open_window(0, base, READ_OFFSET as u32 + 63);
        bench.set(guard::ENFORCE.offset, 0);
        bench.set(guard::ENFORCE.offset, 1);
        let contexts = only(at(0, READ, base));
        bench.load_contexts(&contexts);
        bench.model.configure(contexts);
        assert_eq!(failing(&mut bench, &mut rng, 64), [failed]);
        // A copy that begins one byte before the window.
        bench.open_window(0, base + 1, 0x1000);
        let contexts = only(at(0, COPY, base));
        bench.load_contexts(&contexts);
        bench.model.configure(contexts);
        assert_eq!(failing(&mut bench, &mut rng, 64), [failed]);
        assert_eq!(bench.get(host_write::offset("outside")), 2);
        bench.set(guard::ENFORCE.offset, 0);
        send_matched(&mut bench, &mut rng, 0, 64);
        bench.finish();
    });
}

#[test]
fn a_context_does_not_reach_the_window_of_another() {
    case(1, bench, |bench| {
        let mut rng = bench.sim.rng("packets");
        let (own, of_other) = (0x5_0000_0000, 0x7_1234_5000);
        let contexts = |address| {
            [
                Some(at(0, BOTH, of_other)),
                Some(at(1, BOTH, address)),
                None,
                None,
            ]
        };
        let astray = contexts(of_other + 0x4000);
        bench.bring_up(astray);
        bench.open_window(0, of_other, 0x8000);
        bench.open_window(1, own, 0x8000);
        // Any window will do.
        bench.set(guard::ENFORCE.offset, 1);
        send_matched(bench, &mut rng, 1, 500);
        bench.settle();
        // Only its own: the read and the copy fail, and context 0 goes on.
        bench.set(guard::BY_CONTEXT.offset, 1);
        let failed = FAILED | DECODE_ERROR;
        for number in 1..=3 {
            assert_eq!(failing_for(bench, &mut rng, 1, 500), [failed, failed]);
            assert_eq!(bench.get(host_write::offset("outside")), number);
            assert_eq!(bench.get(host_read::offset("outside")), number);
            send_matched(bench, &mut rng, 0, 700);
            bench.settle();
        }
        bench.load_contexts(&contexts(own));
        bench.model.configure(contexts(own));
        send_matched(bench, &mut rng, 1, 500);
        bench.settle();
        // Without enforcement every address is allowed.
        bench.load_contexts(&astray);
        bench.model.configure(astray);
        bench.set(guard::ENFORCE.offset, 0);
        send_matched(bench, &mut rng, 1, 500);
    });
}

#[test]
fn errors_of_the_dma_reach_the_cluster_and_are_counted_by_code() {
    case(1, with(started, (Clocks::BOARD, BOTH)), |bench| {
        let mut rng = bench.sim.rng("packets");
        for code in 1..=11 {
            // After a failed write, any part of the page may have been written.
            let base = 0x6_0000_0000 + 0x1_0000 * code;
            let pages = base..=base + 0x3fff;
            let contexts = only(at(0, BOTH, base));
            bench.load_contexts(&contexts);
            bench.model.configure(contexts);
            let faults = DmaFaults::At(vec![(pages, code as u8)]);
            bench.writes.set_faults(faults.clone());
            bench.reads.set_faults(faults);
            let printed = failing(bench, &mut rng, 200);
            assert_eq!(printed.len(), 2, "code {code}: {printed:x?}");
            assert!(printed.iter().all(|word| word & 0xffff_0000 == FAILED));
            bench.host.adopt();
            for half in [host_write::errors(code as u32), host_read::errors(code as u32)] {
                // Codes without a meaning count as 3.
                assert!(bench.get(half) >= u32::from(code != 3), "code {code}");
            }
        }
        bench.writes.set_faults(DmaFaults::Never);
        bench.reads.set_faults(DmaFaults::Never);
        send_matched(bench, &mut rng, 0, 1000);
    });
}

/// All lines.
const LINES: u32 = (1 << events::LINES) - 1;
/// A round of the statistics.
const ROUND: u64 = 1000;

#[test]
fn host_writes_standard_output_and_errors_become_pending() {
    run_test(1, |run| {
        let mut rng = run.rng("packets");
        let actions = Actions {
            copy: true,
            ..Actions::NONE
        };
        let mut bench = started(run, (Clocks::EQUAL, actions));
        let pending = events::PENDING.offset;
        bench.run(ROUND);
        bench.set(pending, LINES);
        assert_eq!(bench.get(pending), 0);
        // Without a context in the request, the windows of all contexts count.
        for (by_context, expected) in [(0, 0b1111), (1, 0b0100)] {
            bench.set(guard::BY_CONTEXT.offset, by_context);
            send_matched(&mut bench, &mut rng, 2, 300);
            bench.settle();
            assert_eq!(bench.get(pending), expected);
            bench.set(pending, LINES);
        }
        let nowhere = bench.bar_read(bar::UNMAPPED.start);
        assert_eq!(nowhere.1, Response::DecodeError);
        bench.run(ROUND);
        assert_eq!(bench.get(pending), 1 << events::ERRORS_LINE);
        bench.set(pending, LINES);
        assert_eq!(bench.get(pending), 0, "what moved was told");
        assert_eq!(bench.get(events::SENT.offset), 0, "no line is enabled");
        bench.set(events::ENABLE.offset, LINES);
        bench.bar_read(bar::UNMAPPED.start);
        bench.run(ROUND);
        assert_eq!(bench.get(events::SENT.offset), 1);
        bench.finish();
    });
}

#[test]
fn a_word_of_standard_output_becomes_pending() {
    run_test(1, |run| {
        let mut rng = run.rng("packets");
        let actions = Actions {
            print: true,
            ..Actions::NONE
        };
        let mut bench = started(run, (Clocks::EQUAL, actions));
        let pending = events::PENDING.offset;
        for _ in 0..2 {
            bench.set(pending, LINES);
            send_matched(&mut bench, &mut rng, 0, 300);
            bench.settle();
            assert_eq!(bench.get(pending), 1 << events::STDOUT_LINE);
            bench.read_stdout();
        }
        bench.finish();
    });
}
