//! Packets to host memory and data from there: through the crossing, the windows, and with errors of Corundum's DMA.

use crate::support::{bench_with, send_matched, started};
use rand_chacha::ChaCha8Rng;
use spinneret_regmap::{guard, host_read, host_write};
use spinneret_sim::dma::DmaFaults;
use spinneret_sim::test_run::run_test;
use spinneret_tb::app::{Actions, AppBench, Behaviour, CONTEXTS, Clocks, Context, READ_OFFSET};

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
    // Nothing arrives, and the model is told so.
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
    run_test("app_host_addresses", 1, |run| {
        let mut rng = run.rng("packets");
        let mut bench = started(run, Clocks::EQUAL, COPY);
        for address in [0x1000, 0x1_0000_0ff3, 0xfff, 0x7f_ffff_ffc1, 0x123_4567_89ab] {
            let contexts = only(at(0, COPY, address));
            bench.load_contexts(&contexts);
            bench.model.configure(contexts);
            for size in [1, 63, 64, 65, 1000, 1536] {
                send_matched(&mut bench, &mut rng, 0, size);
                bench.settle();
            }
        }
        assert!(bench.get(host_write::offset("bursts")) >= 30);
        bench.finish();
    });
}

#[test]
fn data_of_the_host_reaches_the_cluster() {
    run_test("app_host_reads", 1, |run| {
        let mut rng = run.rng("packets");
        for clocks in [Clocks::BOARD, Clocks::EQUAL] {
            let mut bench = started(run, clocks, BOTH);
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
fn windows_hold_the_cluster_to_its_memory() {
    run_test("app_guard", 1, |run| {
        let mut rng = run.rng("packets");
        let behaviour = Behaviour::default();
        let mut bench = bench_with(run, Clocks::BOARD, &behaviour);
        let base = 0x5_0000_0000;
        bench.bring_up(only(at(0, BOTH, base)));
        bench.set(guard::ENFORCE.offset, 1);
        // No window is open: the read and the copy fail, and nothing moves.
        let failed = FAILED | DECODE_ERROR;
        assert_eq!(failing(&mut bench, &mut rng, 500), [failed, failed]);
        assert_eq!(bench.get(host_write::offset("outside")), 1);
        assert_eq!(bench.get(host_read::offset("outside")), 1);
        // The window ends right behind what is read.
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
    run_test("app_guard_by_context", 1, |run| {
        let mut rng = run.rng("packets");
        let mut bench = bench_with(run, Clocks::BOARD, &Behaviour::default());
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
        send_matched(&mut bench, &mut rng, 1, 500);
        bench.settle();
        // Only its own: the read and the copy fail, and context 0 goes on.
        bench.set(guard::BY_CONTEXT.offset, 1);
        let failed = FAILED | DECODE_ERROR;
        for number in 1..=3 {
            assert_eq!(failing_for(&mut bench, &mut rng, 1, 500), [failed, failed]);
            assert_eq!(bench.get(host_write::offset("outside")), number);
            assert_eq!(bench.get(host_read::offset("outside")), number);
            send_matched(&mut bench, &mut rng, 0, 700);
            bench.settle();
        }
        bench.load_contexts(&contexts(own));
        bench.model.configure(contexts(own));
        send_matched(&mut bench, &mut rng, 1, 500);
        bench.settle();
        // What is not enforced is not held to anything.
        bench.load_contexts(&astray);
        bench.model.configure(astray);
        bench.set(guard::ENFORCE.offset, 0);
        send_matched(&mut bench, &mut rng, 1, 500);
        bench.finish();
    });
}

#[test]
fn errors_of_the_dma_reach_the_cluster_and_are_counted_by_code() {
    run_test("app_dma_errors", 1, |run| {
        let mut rng = run.rng("packets");
        let mut bench = started(run, Clocks::BOARD, BOTH);
        for code in 1..=11 {
            // Of a page to which a write fails nobody knows how much was written.
            let base = 0x6_0000_0000 + 0x1_0000 * code;
            let pages = base..=base + 0x3fff;
            let contexts = only(at(0, BOTH, base));
            bench.load_contexts(&contexts);
            bench.model.configure(contexts);
            let faults = DmaFaults::At(vec![(pages, code as u8)]);
            bench.writes.set_faults(faults.clone());
            bench.reads.set_faults(faults);
            let printed = failing(&mut bench, &mut rng, 200);
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
        send_matched(&mut bench, &mut rng, 0, 1000);
        bench.finish();
    });
}
