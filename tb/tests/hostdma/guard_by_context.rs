//! With `guard_by_context` a burst reaches the window of its own context, and no other.

use crate::support::{BASE, burst, slow, strobed, test_each};
use rand::RngExt;
use spinneret_sim::axi::{ReadRequest, Response, WriteRequest};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::TestRun;
use spinneret_tb::hostdma::{Behaviour, HostDmaBench, Window};

/// From one context's window to that of the next.
const STRIDE: u64 = 4096;
/// Bytes of a window.
const BYTES: u32 = 1024;

/// A host DMA in which each context has a window, with its number of contexts.
fn divided<M: Model>(run: &mut TestRun, behaviour: Behaviour) -> (HostDmaBench<M>, u64) {
    let mut bench = HostDmaBench::<M>::new(run.simulation(), behaviour);
    let contexts = bench.setup.windows.map_or(0, |count| count as u64);
    let windows: Vec<_> = (0..contexts)
        .map(|context| Window::new(window_of(context), BYTES))
        .collect();
    bench.set_windows(&windows);
    (bench, contexts)
}

/// Where the window of a context begins.
fn window_of(context: u64) -> u64 {
    BASE + STRIDE * context
}

/// How a write and a read of a few bytes are answered that a context asks for. The bits of the user signal above the
/// context are ones if `high`.
fn try_at<M: Model>(bench: &mut HostDmaBench<M>, asker: u64, address: u64, high: bool) -> [Response; 2] {
    let contexts = bench.setup.windows.map_or(1, |count| count as u64);
    let user = bench.setup.user_bits.map(|bits| {
        let above = (1 << bits) - contexts;
        if high { above + asker } else { asker }
    });
    let bus = bench.setup.beat_bytes as usize;
    let data = [asker as u8 + 1; 20];
    bench.write(WriteRequest::bytes(asker, address, &data, bus).with_user(user[0]));
    bench.settle();
    bench.read(ReadRequest::new(burst(asker, address, 20, 1)).with_user(user[1]));
    bench.settle();
    let write = bench.last_write.map(|done| done.response);
    let read = bench.last_read.as_ref().map(|done| done.response());
    [write, read].map(|response| response.expect("it was answered"))
}

/// A transfer into the window of another context is refused and counted; with the register at 0 it is allowed, and a
/// context goes on in its own window whatever others try.
fn each_context_reaches_its_own_window_only<M: Model>(run: &mut TestRun) {
    let (mut bench, contexts) = divided::<M>(run, Behaviour::default());
    let mut refused = 0;
    for by_context in [false, true, false] {
        bench.set_by_context(by_context);
        for (asker, owner) in (0..contexts * contexts).map(|pair| (pair / contexts, pair % contexts)) {
            for high in [false, true] {
                let allowed = !by_context || asker == owner;
                let expected = if allowed {
                    Response::Okay
                } else {
                    Response::DecodeError
                };
                let answers = try_at(&mut bench, asker, window_of(owner) + 30, high);
                assert_eq!(answers, [expected; 2], "context {asker} in the window of {owner}");
                refused += u64::from(!allowed);
            }
        }
    }
    let counters = bench.counters();
    assert_eq!([counters.writes.outside, counters.reads.outside], [refused; 2]);
    assert_eq!(refused, 2 * contexts * (contexts - 1));
    bench.finish();
}

/// A context whose window is closed reaches nothing, and windows that overlap are still those of their contexts.
fn a_context_without_a_window_reaches_nothing<M: Model>(run: &mut TestRun) {
    let (mut bench, contexts) = divided::<M>(run, Behaviour::default());
    bench.set_by_context(true);
    for closed in 0..contexts as usize {
        let mut windows = vec![Window::new(BASE, BYTES); contexts as usize];
        windows[closed].enabled = false;
        bench.set_windows(&windows);
        for asker in 0..contexts {
            let allowed = asker as usize != closed;
            let expected = if allowed {
                Response::Okay
            } else {
                Response::DecodeError
            };
            assert_eq!(try_at(&mut bench, asker, BASE + 8, false), [expected; 2]);
        }
    }
    bench.finish();
}

/// Bursts of all contexts that are under way together, of one piece and of many, are judged each by its own context.
fn bursts_of_all_contexts_are_told_apart<M: Model>(run: &mut TestRun) {
    let (mut bench, contexts) = divided::<M>(run, slow());
    bench.set_by_context(true);
    let mut rng = run.rng("bursts");
    let bus = bench.setup.beat_bytes;
    let chequered = (0..bus).step_by(4).fold(0, |all, lane| all | 3 << lane);
    for number in 0..600 {
        let (asker, owner) = (rng.random_range(0..contexts), rng.random_range(0..contexts));
        let address = window_of(owner) + rng.random_range(0..512) / bus * bus;
        let write = match number % 3 {
            0 => strobed(bus, address, &[chequered, u128::MAX >> (128 - bus)], number),
            _ => WriteRequest::bytes(
                asker,
                address,
                &vec![number as u8; 3 + number as usize % 90],
                bus as usize,
            ),
        };
        bench.write(write.with_user(asker));
        // Behind what is written, as that may change meanwhile; some end behind the window.
        let address = window_of(owner) + rng.random_range(700..1000);
        bench.read(ReadRequest::new(burst(asker, address, 1 + number % 60, 1)).with_user(asker));
        bench.wait_for_at_most([60, 60]);
    }
    bench.settle();
    let counters = bench.counters();
    for half in [counters.writes, counters.reads] {
        assert!(half.outside > 300 && half.bursts - half.outside > 50, "{half:?}");
    }
    bench.finish();
}

test_each!(
    board, PspinHostmemDmaBoard:
    each_context_reaches_its_own_window_only,
    a_context_without_a_window_reaches_nothing,
    bursts_of_all_contexts_are_told_apart
);

test_each!(
    small, PspinHostmemDmaSmall:
    each_context_reaches_its_own_window_only,
    a_context_without_a_window_reaches_nothing,
    bursts_of_all_contexts_are_told_apart
);
