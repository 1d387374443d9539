//! `hpu_memory`: random traffic of its threads and the host against a model of memory and reservations, and each line of
//! its contract.

use spinneret_models::{HpuMemory, HpuMemorySmall};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::hpu_memory::{ADD, AMOS, Bench, Inputs, Kind, LR, Offer, Reference, SC, SWAP, new_word};

/// Words with which comparisons and carries go wrong.
const CORNERS: [u32; 6] = [0, 1, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, u32::MAX];

/// How often something happened in random traffic.
#[derive(Debug, Default)]
struct Seen {
    amos: [u32; AMOS.len()],
    stored: u32,
    failed: u32,
    refused: u32,
    host: u32,
    delayed: u32,
}

fn random_inputs(rng: &mut ChaCha8Rng, reference: &Reference) -> Inputs {
    let (threads, words) = (reference.reserved.len(), reference.words.len());
    // Few words, so that threads meet.
    let word = |rng: &mut ChaCha8Rng| match rng.random_range(0..8) {
        0 => rng.random_range(0..words),
        _ => rng.random_range(0..3),
    };
    let data = |rng: &mut ChaCha8Rng| match rng.random_bool(0.5) {
        true => rng.random(),
        false => CORNERS[rng.random_range(0..CORNERS.len())],
    };
    let kind = |rng: &mut ChaCha8Rng| match rng.random_range(0..10) {
        0 | 1 => Kind::Load,
        2 => Kind::Store(rng.random_range(0..16)),
        3 => Kind::Store(15),
        4 | 5 => Kind::Atomic(AMOS[rng.random_range(0..AMOS.len())]),
        6 | 7 => Kind::Atomic(LR),
        _ => Kind::Atomic(SC),
    };
    let offer = |rng: &mut ChaCha8Rng| {
        let inside = reference.base + 4 * word(rng) as u32;
        let address = match rng.random_range(0..16) {
            0 => inside ^ 1 << rng.random_range(2..32),
            1 => reference.base.wrapping_sub(4),
            2 => reference.base.wrapping_add(4 * words as u32),
            _ => inside,
        };
        Offer {
            thread: rng.random_range(0..threads),
            kind: kind(rng),
            address,
            data: data(rng),
        }
    };
    let host = |rng: &mut ChaCha8Rng| Offer {
        thread: 0,
        kind: match rng.random_bool(0.7) {
            true => Kind::Load,
            false => Kind::Store(rng.random_range(0..16)),
        },
        address: word(rng) as u32,
        data: data(rng),
    };
    Inputs {
        pipeline: rng.random_bool(0.8).then(|| offer(rng)),
        host: rng.random_bool(0.3).then(|| host(rng)),
        trap: rng.random_bool(0.03).then(|| rng.random_range(0..threads)),
    }
}

fn random_traffic<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("traffic");
    let mut bench = Bench::<M>::new(run);
    let mut seen = Seen::default();
    for _ in 0..60_000 {
        let inputs = random_inputs(&mut rng, &bench.reference);
        let outputs = bench.clock(inputs);
        seen.refused += u32::from(outputs.refused);
        seen.delayed += u32::from(inputs.pipeline.is_some() && !outputs.ready);
        seen.host += u32::from(outputs.host_read.is_some());
        match (inputs.pipeline.map(|offer| offer.kind), outputs.read) {
            (Some(Kind::Atomic(SC)), Some(0)) => seen.stored += 1,
            (Some(Kind::Atomic(SC)), Some(_)) => seen.failed += 1,
            (Some(Kind::Atomic(function)), Some(_)) if function != LR => {
                let at = AMOS.iter().position(|amo| *amo == function);
                seen.amos[at.expect("it is in the list")] += 1;
            }
            _ => {}
        }
    }
    let rare = [seen.stored, seen.failed, seen.refused, seen.host, seen.delayed];
    assert!(
        seen.amos.iter().chain(&rare).all(|count| *count > 100),
        "{seen:?}"
    );
    for word in 0..bench.reference.words.len() {
        bench.host(word, Kind::Load, 0);
    }
    bench.finish();
}

#[test]
fn random_accesses_are_those_of_the_model() {
    run_test(0x0001_a3e3, random_traffic::<HpuMemory>);
}

#[test]
fn random_accesses_of_a_small_memory_are_those_of_the_model() {
    run_test(0x0002_a3e3, random_traffic::<HpuMemorySmall>);
}

/// A case for a line of the contract.
fn check(test: impl Fn(&mut Bench<HpuMemory>)) {
    case(0x0003_a3e3, Bench::new, test);
}

#[test]
fn other_addresses_are_refused_and_do_nothing() {
    check(|bench| {
        let words = bench.reference.words.len();
        for (word, value) in [(0, 5), (words - 1, 6)] {
            bench.store(0, word, value);
        }
        bench.atomic(0, 0, LR, 0);
        for kind in [
            Kind::Store(15),
            Kind::Atomic(SWAP),
            Kind::Atomic(SC),
            Kind::Atomic(LR),
        ] {
            for address in [0, 0x0fff_fffc, 0x1000_4000, 0x3000_0000, 0xffff_fffc] {
                let mut inputs = bench.offer(0, 0, kind, 9);
                inputs.pipeline = inputs.pipeline.map(|offer| Offer { address, ..offer });
                assert!(bench.clock(inputs).refused, "{address:#x}");
            }
        }
        assert_eq!((bench.load(0), bench.load(words - 1)), (5, 6));
        assert!(bench.takes_reservation(0, 0));
    });
}

#[test]
fn a_load_after_a_store_sees_it() {
    check(|bench| {
        bench.store(1, 7, 0x1122_3344);
        let strobed = bench.offer(2, 7, Kind::Store(0b0101), 0xaabb_ccdd);
        // Each is taken in its clock; a store reads the word before it.
        assert_eq!(bench.clock(strobed).read, Some(0x1122_3344));
        let load = bench.offer(3, 7, Kind::Load, 0);
        assert_eq!(bench.clock(load).read, Some(0x11bb_33dd));
        assert_eq!(bench.clock(load).read, Some(0x11bb_33dd));
    });
}

#[test]
fn an_atomic_operation_takes_three_clocks() {
    check(|bench| {
        for function in AMOS {
            for old in CORNERS {
                for operand in CORNERS {
                    bench.store(0, 3, old);
                    let amo = bench.offer(1, 3, Kind::Atomic(function), operand);
                    assert_eq!(bench.clock(amo).read, Some(old));
                    let load = bench.offer(2, 3, Kind::Load, 0);
                    let host = bench.host_offer(3, Kind::Load, 0);
                    let (second, third) = (bench.clock(load), bench.clock(host));
                    assert!(!second.ready && !third.ready && !third.host_ready);
                    assert_eq!(bench.clock(load).read, Some(new_word(function, old, operand)));
                }
            }
        }
    });
}

#[test]
fn a_conditional_store_needs_the_reservation_of_its_word() {
    check(|bench| {
        bench.store(0, 4, 8);
        assert_eq!(bench.atomic(1, 4, LR, 0), 8);
        assert_eq!(bench.atomic(1, 4, SC, 9), 0);
        assert_eq!(bench.load(4), 9);
        // It has dropped the reservation, whether it stores or not.
        assert_eq!((bench.atomic(1, 4, SC, 10), bench.load(4)), (1, 9));
        bench.atomic(1, 4, LR, 0);
        assert_eq!(bench.atomic(1, 5, SC, 10), 1);
        assert_eq!((bench.atomic(1, 4, SC, 10), bench.load(4)), (1, 9));
        // The last reservation counts, and each thread has its own.
        bench.atomic(1, 4, LR, 0);
        bench.atomic(1, 5, LR, 0);
        bench.atomic(2, 4, LR, 0);
        assert!(!bench.takes_reservation(1, 4) && bench.takes_reservation(2, 4));
    });
}

/// Whether a reservation of thread 1 for word 6 survives.
fn survives(bench: &mut Bench<HpuMemory>, what: impl Fn(&mut Bench<HpuMemory>)) -> bool {
    bench.atomic(1, 6, LR, 0);
    what(bench);
    bench.takes_reservation(1, 6)
}

#[test]
fn writes_of_others_cancel_a_reservation() {
    check(|bench| {
        assert!(!survives(bench, |bench| _ = bench.store(2, 6, 1)));
        assert!(!survives(bench, |bench| _ = bench.access(2, 6, Kind::Store(1), 1)));
        for function in AMOS {
            assert!(!survives(bench, |bench| _ = bench.atomic(2, 6, function, 1)));
        }
        assert!(!survives(bench, |bench| {
            bench.atomic(2, 6, LR, 0);
            assert!(bench.takes_reservation(2, 6));
        }));
        assert!(!survives(bench, |bench| _ = bench.host(6, Kind::Store(15), 1)));
        // Of all threads at once.
        for thread in 0..bench.reference.reserved.len() {
            bench.atomic(thread, 6, LR, 0);
        }
        bench.host(6, Kind::Store(8), 1);
        assert!((0..bench.reference.reserved.len()).all(|thread| !bench.takes_reservation(thread, 6)));
    });
}

#[test]
fn nothing_else_cancels_a_reservation() {
    check(|bench| {
        assert!(survives(bench, |_| ()));
        assert!(survives(bench, |bench| _ = bench.store(1, 6, 1)));
        assert!(survives(bench, |bench| _ = bench.atomic(1, 6, ADD, 1)));
        assert!(survives(bench, |bench| _ = bench.access(2, 6, Kind::Load, 1)));
        assert!(survives(bench, |bench| _ = bench.atomic(2, 6, LR, 1)));
        assert!(survives(bench, |bench| assert!(!bench.takes_reservation(3, 6))));
        assert!(survives(bench, |bench| _ = bench.store(2, 7, 1)));
        assert!(survives(bench, |bench| _ = bench.atomic(2, 7, SWAP, 1)));
        assert!(survives(bench, |bench| _ = bench.host(6, Kind::Load, 1)));
        assert!(survives(bench, |bench| _ = bench.host(7, Kind::Store(15), 1)));
    });
}

#[test]
fn a_trap_cancels_the_reservation_of_its_thread() {
    check(|bench| {
        let trap = |thread| Inputs {
            trap: Some(thread),
            ..Inputs::default()
        };
        assert!(survives(bench, |bench| _ = bench.clock(trap(2))));
        assert!(!survives(bench, |bench| _ = bench.clock(trap(1))));
        let lr = bench.offer(1, 6, Kind::Atomic(LR), 0);
        assert!(!survives(bench, |bench| _ = bench.clock(Inputs { trap: Some(1), ..lr })));
    });
}

#[test]
fn the_host_waits_for_a_clock_without_an_offer() {
    check(|bench| {
        bench.store(0, 9, 1);
        let host = bench.host_offer(9, Kind::Store(15), 2);
        let mut both = Inputs {
            pipeline: bench.offer(0, 9, Kind::Load, 0).pipeline,
            ..host
        };
        for address in [0x1000_0024, 0x2000_0000] {
            both.pipeline = both.pipeline.map(|offer| Offer { address, ..offer });
            assert!(!bench.clock(both).host_ready);
        }
        assert_eq!(bench.load(9), 1);
        assert_eq!(bench.clock(host).host_read, Some(1));
        assert_eq!((bench.load(9), bench.host(9, Kind::Load, 0)), (2, 2));
    });
}

#[test]
fn reset_cancels_reservations_and_open_operations() {
    check(|bench| {
        bench.store(0, 2, 20);
        bench.atomic(0, 2, LR, 0);
        // The first clock of the reset is the second or the third one of the operation.
        for clocks in 0..2 {
            bench.atomic(1, 5, LR, 0);
            bench.atomic(1, 2, ADD, 1);
            for _ in 0..clocks {
                bench.clock(Inputs::default());
            }
            bench.reset();
            bench.reference.words[2] = 20 + clocks;
            assert_eq!(bench.load(2), 20 + clocks);
        }
        assert!(!bench.takes_reservation(0, 2) && !bench.takes_reservation(1, 5));
    });
}

/// All threads count alternately as in a pipeline: an offer that is not taken is made again in the next turn.
#[test]
fn no_count_is_lost_between_the_stores_of_others() {
    const COUNTS: u32 = 200;
    check(|bench| {
        bench.store(0, 0, 0);
        bench.store(0, 1, 0);
        let mut steps = vec![0_u32; bench.reference.reserved.len()];
        while steps.iter().any(|step| *step < 2 * COUNTS) {
            let running = steps
                .iter_mut()
                .enumerate()
                .filter(|(_, step)| **step < 2 * COUNTS);
            for (thread, step) in running {
                // A count, then a store of the own count into the own byte of the next words.
                let (count, byte) = (*step / 2 + 1, thread % 4);
                let inputs = if *step % 2 == 0 {
                    bench.offer(thread, 0, Kind::Atomic(ADD), 1)
                } else {
                    bench.offer(
                        thread,
                        1 + thread / 4,
                        Kind::Store(1 << byte),
                        count << (8 * byte),
                    )
                };
                *step += u32::from(bench.clock(inputs).read.is_some());
            }
        }
        assert_eq!(bench.load(0), steps.len() as u32 * COUNTS);
        let counts = 0x0101_0101 * COUNTS;
        assert_eq!((bench.load(1), bench.load(2)), (counts, counts));
    });
}

/// Two threads count with loops of `lr.w` and `sc.w`, in random order.
#[test]
fn of_two_threads_with_a_reservation_one_succeeds() {
    run_test(0x0004_a3e3, |run| {
        let mut rng = run.rng("order");
        let mut bench = Bench::<HpuMemory>::new(run);
        bench.store(0, 0, 0);
        // The word that each has loaded, and whether the other one has stored since then.
        let mut loaded = [None; 2];
        let [mut stored, mut lost] = [0; 2];
        for _ in 0..4000 {
            let thread = rng.random_range(0..2);
            let Some((count, is_lost)) = loaded[thread].take() else {
                loaded[thread] = Some((bench.atomic(thread, 0, LR, 0), false));
                continue;
            };
            let stores = bench.atomic(thread, 0, SC, count + 1) == 0;
            assert_eq!(stores, !is_lost);
            if stores {
                stored += 1;
                loaded[1 - thread] = loaded[1 - thread].map(|(count, _)| (count, true));
            } else {
                lost += 1;
            }
        }
        assert_eq!(bench.load(0), stored);
        assert!(stored > 500 && lost > 200, "{stored} stored, {lost} lost");
    });
}
