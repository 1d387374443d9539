//! The windows of the guard, of all contexts and of one.

use crate::{BASE, burst, slow, strobed};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::hostdma::{HostDmaBench, Stimulus, Window};

fn guarded<M: Model>(run: &mut TestRun) -> HostDmaBench<M> {
    HostDmaBench::new(run.simulation(), Stimulus::default())
}

/// Returns whether the last write and the last read passed the guard.
fn passed<M: Model>(bench: &HostDmaBench<M>) -> [bool; 2] {
    let write = bench.last_write.map(|done| done.response);
    let read = bench.last_read.as_ref().map(|done| done.response());
    [write, read].map(|response| match response {
        Some(Response::Okay) => true,
        Some(Response::DecodeError) => false,
        other => panic!("{other:?}"),
    })
}

/// Reads as whole beats do not, so that only these bytes count: as bytes of their own.
fn read_bytes(address: u64, len: u64) -> ReadRequest {
    ReadRequest::new(burst(1, address, len, 1))
}

/// Windows with edges at every byte of a beat, and runs with first and last bytes at every byte of a beat.
fn edges_at_every_byte<M: Model>(run: &mut TestRun) {
    let mut bench = guarded::<M>(run);
    let bus = bench.setup.beat_bytes;
    for edge in 0..=bus {
        // The window starts there, or ends there.
        for (window, upper) in [
            (Window::new(BASE + edge, 4096), true),
            (Window::new(BASE - 4096, 4096 + edge as u32), false),
        ] {
            bench.set_windows(&[Window::default(), window]);
            for byte in [edge.wrapping_sub(1), edge, edge + 1] {
                let Some(byte) = Some(byte).filter(|byte| *byte < bus) else {
                    continue;
                };
                let below = vec![7; byte as usize + 1];
                let above = vec![9; (bus - byte) as usize];
                // From the start of the beat to that byte, and from that byte to its end.
                bench.write(WriteRequest::bytes(1, BASE, &below, bus as usize));
                bench.settle();
                bench.read(read_bytes(BASE, byte + 1));
                bench.settle();
                assert_eq!(
                    passed(&bench),
                    [if upper { edge == 0 } else { byte < edge }; 2],
                    "{window:x?} {byte}"
                );
                bench.write(WriteRequest::bytes(1, BASE + byte, &above, bus as usize));
                bench.settle();
                bench.read(read_bytes(BASE + byte, bus - byte));
                bench.settle();
                assert_eq!(
                    passed(&bench),
                    [if upper { byte >= edge } else { edge == bus }; 2],
                    "{window:x?} {byte}"
                );
            }
        }
    }
    bench.finish();
}

/// Of a burst with holes the runs inside are written, those outside are not.
fn runs_are_checked_one_by_one<M: Model>(run: &mut TestRun) {
    let mut bench = guarded::<M>(run);
    let bus = bench.setup.beat_bytes;
    let chequered = (0..bus).step_by(4).fold(0, |all, lane| all | 3 << lane);
    for edge in 0..3 * bus {
        bench.set_windows(&[Window::new(BASE + edge, bus as u32)]);
        bench.write(strobed(bus, BASE, &[chequered, 0, chequered], edge));
        bench.settle();
    }
    assert_eq!(bench.counters().writes.outside, 3 * bus);
    assert!(bench.descriptors[0] > 0);
    bench.finish();
}

/// Two windows that touch are not one.
fn windows_do_not_add_up<M: Model>(run: &mut TestRun) {
    let mut bench = guarded::<M>(run);
    let bus = bench.setup.beat_bytes as usize;
    bench.set_windows(&[Window::new(BASE, 64), Window::new(BASE + 64, 64)]);
    for (address, len, inside) in [
        (0, 64, true),
        (64, 64, true),
        (60, 8, false),
        (0, 65, false),
        (63, 1, true),
    ] {
        bench.write(WriteRequest::bytes(1, BASE + address, &vec![3; len], bus));
        bench.settle();
        bench.read(read_bytes(BASE + address, len as u64));
        bench.settle();
        assert_eq!(passed(&bench), [inside; 2], "{len} bytes at {address}");
    }
    bench.finish();
}

/// Each context's window counts, whichever it is; a disabled or empty one does not, and none wraps.
fn every_context_has_its_window<M: Model>(run: &mut TestRun) {
    let mut bench = guarded::<M>(run);
    let bus = bench.setup.beat_bytes as usize;
    let count = bench.setup.windows.unwrap_or(0);
    let try_at = |bench: &mut HostDmaBench<M>, address: u64| {
        bench.write(WriteRequest::bytes(1, address, &[5; 4], bus));
        bench.settle();
        bench.read(read_bytes(address, 4));
        bench.settle();
        passed(bench)
    };
    for context in 0..count {
        let mut windows = vec![Window::default(); count];
        windows[context] = Window::new(BASE, 4096);
        bench.set_windows(&windows);
        assert_eq!(try_at(&mut bench, BASE + 4092), [true; 2], "context {context}");
        windows[context].enabled = false;
        bench.set_windows(&windows);
        assert_eq!(try_at(&mut bench, BASE), [false; 2]);
        windows[context] = Window::new(BASE, 0);
        bench.set_windows(&windows);
        assert_eq!(try_at(&mut bench, BASE), [false; 2]);
        windows[context] = Window::new(u64::MAX - 4095, 8192);
        bench.set_windows(&windows);
        assert_eq!(try_at(&mut bench, u64::MAX - 3), [true; 2]);
        assert_eq!(try_at(&mut bench, 0), [false; 2]);
        windows[context] = Window::new(0, u32::MAX);
        bench.set_windows(&windows);
        assert_eq!(try_at(&mut bench, u64::from(u32::MAX) - 4), [true; 2]);
        assert_eq!(try_at(&mut bench, u64::from(u32::MAX) - 3), [false; 2]);
    }
    bench.finish();
}

/// Random windows and bursts of many beats, near the edges.
fn random_windows_hold_random_bursts<M: Model>(run: &mut TestRun) {
    let mut bench = guarded::<M>(run);
    let mut rng = run.rng("windows");
    let bus = bench.setup.beat_bytes as usize;
    let count = bench.setup.windows.unwrap_or(0);
    for _ in 0..300 {
        let windows: Vec<_> = (0..count).map(|_| Window::random(&mut rng, BASE, 8192)).collect();
        bench.set_windows(&windows);
        for _ in 0..8 {
            let window = windows[rng.random_range(0..count)];
            let edge = if rng.random_bool(0.5) {
                window.base
            } else {
                window.base + u64::from(window.size)
            };
            let address = (edge + rng.random_range(0..64)).wrapping_sub(32);
            let len = rng.random_range(1..=200.min(4096 - address % 4096));
            bench.write(WriteRequest::bytes(
                2,
                address,
                &vec![len as u8; len as usize],
                bus,
            ));
            bench.settle();
            bench.read(read_bytes(address, len));
            bench.settle();
        }
    }
    let counters = bench.counters();
    assert!(counters.writes.outside > 100 && counters.writes.outside < counters.writes.bursts);
    assert!(counters.reads.outside > 100 && counters.reads.outside < counters.reads.bursts);
    bench.finish();
}

/// From one context's window to that of the next.
const STRIDE: u64 = 4096;
/// Bytes of a window.
const BYTES: u32 = 1024;

/// A host DMA in which each context has a window, with its number of contexts.
fn divided<M: Model>(run: &mut TestRun, stimulus: Stimulus) -> (HostDmaBench<M>, u64) {
    let mut bench = HostDmaBench::<M>::new(run.simulation(), stimulus);
    let contexts = bench.setup.windows.map_or(0, |count| count as u64);
    let windows: Vec<_> = (0..contexts)
        .map(|context| Window::new(window_of(context), BYTES))
        .collect();
    bench.set_windows(&windows);
    (bench, contexts)
}

/// Start of a context's window.
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
    let (mut bench, contexts) = divided::<M>(run, Stimulus::default());
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
    let (mut bench, contexts) = divided::<M>(run, Stimulus::default());
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

/// Each of the concurrent bursts of all contexts, of one piece and of many, is checked against its own context.
fn bursts_of_all_contexts_are_distinguished<M: Model>(run: &mut TestRun) {
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
        // Behind what is written, as that may change meanwhile; some end after the window.
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

spinneret_tb::test_models! {
    board: PspinHostmemDmaBoard, small: PspinHostmemDmaSmall;
    [
        edges_at_every_byte,
        runs_are_checked_one_by_one,
        windows_do_not_add_up,
        every_context_has_its_window,
        random_windows_hold_random_bursts,
        each_context_reaches_its_own_window_only,
        a_context_without_a_window_reaches_nothing,
        bursts_of_all_contexts_are_distinguished,
    ]
}
