//! `cluster_l1`: random words of both pipelines and lines against a model of every clock, and each line of its contract.

mod bench;

use bench::{Bench, Inputs, Offer, THREADS, WORDS, offer, written};
use spinneret_models::{ClusterL1, ClusterL1Small};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::hpu_memory::{ADD, AMOS, Kind, LR, SC};

/// How often something happened in random traffic: taken, not taken, stored and failed conditionally, lines in an open operation.
type Seen = [u32; 5];

fn random_inputs(rng: &mut ChaCha8Rng, lines: usize) -> Inputs {
    let line = |rng: &mut ChaCha8Rng| match rng.random_range(0..8) {
        0 => rng.random_range(0..lines),
        _ => rng.random_range(0..2),
    };
    let kind = |rng: &mut ChaCha8Rng| match rng.random_range(0..10) {
        0..3 => Kind::Load,
        3 => Kind::Store(rng.random_range(0..16)),
        4 => Kind::Store(15),
        5 => Kind::Atomic(AMOS[rng.random_range(0..AMOS.len())]),
        6 | 7 => Kind::Atomic(LR),
        _ => Kind::Atomic(SC),
    };
    let word = |rng: &mut ChaCha8Rng| Offer {
        is_here: rng.random_bool(0.9),
        ..offer(
            rng.random_range(0..THREADS),
            WORDS * line(rng) + rng.random_range(0..WORDS) % [2, 4, WORDS][rng.random_range(0..3)],
            kind(rng),
            rng.random(),
        )
    };
    let strobe = |rng: &mut ChaCha8Rng| match rng.random_bool(0.3) {
        true => u64::MAX,
        false => rng.random(),
    };
    Inputs {
        words: [0; 2].map(|_| rng.random_bool(0.6).then(|| word(rng))),
        read: rng.random_bool(0.2).then(|| line(rng)),
        write: rng
            .random_bool(0.12)
            .then(|| (line(rng), strobe(rng), std::array::from_fn(|_| rng.random()))),
        trap: [0; 2].map(|_| rng.random_bool(0.02).then(|| rng.random_range(0..THREADS))),
    }
}

fn random_traffic<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("traffic");
    let mut bench = Bench::<M>::new(run);
    let lines = bench.reference.bytes.len() / 64;
    let mut seen = Seen::default();
    for _ in 0..80_000 {
        let inputs = random_inputs(&mut rng, lines);
        let is_masked = bench.reference.open.is_some() && bench.reference.write.is_some();
        seen[4] += u32::from(is_masked);
        let outputs = bench.clock(inputs);
        for own in 0..2 {
            seen[usize::from(!outputs.takes[own])] += u32::from(inputs.words[own].is_some());
            let is_sc = inputs.words[own].is_some_and(|offer| offer.kind == Kind::Atomic(SC));
            if outputs.takes[own] && is_sc {
                let answer = bench.reference.due[1].words[own];
                seen[2 + usize::from(answer != Some(0))] += 1;
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    bench.idle(16);
    for line in 0..lines {
        bench.clock(Inputs {
            read: Some(line),
            ..Inputs::default()
        });
    }
    bench.idle(2);
    bench.finish();
}

#[test]
fn random_accesses_are_those_of_the_model() {
    run_test(0x0001_11c1, random_traffic::<ClusterL1>);
}

#[test]
fn random_accesses_of_two_lines_are_those_of_the_model() {
    run_test(0x0002_11c1, random_traffic::<ClusterL1Small>);
}

/// A case for a line of the contract.
fn check(test: impl Fn(&mut Bench<ClusterL1Small>)) {
    case(0x0003_11c1, Bench::new, test);
}

/// Whether a reservation of HPU 1 for word 6 survives.
fn survives(bench: &mut Bench<ClusterL1Small>, what: impl Fn(&mut Bench<ClusterL1Small>)) -> bool {
    bench.access(1, 6, Kind::Atomic(LR), 0);
    what(bench);
    bench.access(1, 6, Kind::Atomic(SC), 0) == 0
}

#[test]
fn writes_of_others_cancel_a_reservation() {
    check(|bench| {
        for hpu in [0, 2, 5] {
            assert!(!survives(bench, |b| _ = b.access(hpu, 6, Kind::Store(1), 1)));
            assert!(!survives(bench, |b| _ = b.access(hpu, 6, Kind::Atomic(ADD), 1)));
            assert!(!survives(bench, |b| {
                b.access(hpu, 6, Kind::Atomic(LR), 0);
                assert_eq!(b.access(hpu, 6, Kind::Atomic(SC), 3), 0);
            }));
        }
        assert!(!survives(bench, |b| b.write_line(0, 0xf << 24, 1)));
        assert!(!survives(bench, |b| {
            b.clock(Inputs {
                trap: [Some(1), None],
                ..Inputs::default()
            });
            b.idle(1);
        }));
        assert!(!survives(bench, Bench::reset));
    });
}

#[test]
fn nothing_else_cancels_a_reservation() {
    check(|bench| {
        assert!(survives(bench, |_| ()));
        assert!(survives(bench, |b| _ = b.access(1, 6, Kind::Store(15), 1)));
        assert!(survives(bench, |b| _ = b.access(5, 6, Kind::Load, 1)));
        assert!(survives(bench, |b| _ = b.access(5, 6, Kind::Atomic(LR), 1)));
        assert!(survives(bench, |b| _ = b.access(2, 22, Kind::Store(15), 1)));
        assert!(survives(bench, |b| b.write_line(1, u64::MAX, 1)));
        assert!(survives(bench, |b| {
            assert_eq!(b.access(7, 6, Kind::Atomic(SC), 1), 1);
        }));
        assert!(survives(bench, |b| {
            b.clock(Inputs {
                trap: [Some(2), Some(1)],
                ..Inputs::default()
            });
        }));
    });
}

#[test]
fn a_line_that_is_written_during_an_atomic_operation_stays() {
    check(|bench| {
        for delay in 0..6 {
            for strobe in [u64::MAX, 0b0110 << 8, 0xf << 4] {
                bench.write_line(0, u64::MAX, 0);
                let mut inputs = Inputs::default();
                inputs.words[1] = Some(offer(3, 2, Kind::Atomic(ADD), 0x0101_0101));
                assert!(bench.clock(inputs).takes[1]);
                bench.idle(delay);
                // As long as lines are written, it waits.
                for _ in 0..3 {
                    bench.clock(written(0, strobe, 7));
                }
                bench.idle(16);
                let bytes = [0, 1, 2, 3].map(|byte| if strobe >> (8 + byte) & 1 == 1 { 7 } else { 1 });
                assert_eq!(bench.load(2), u32::from_le_bytes(bytes));
            }
        }
    });
}

/// Lets all HPUs offer in every n-th of their slots, as pipelines do, and returns when each was served.
fn slots(
    bench: &mut Bench<ClusterL1Small>,
    clocks: u64,
    every: u64,
    kind: impl Fn(usize) -> Option<Kind>,
) -> Vec<Vec<u64>> {
    let mut served = vec![vec![0]; 2 * THREADS];
    for clock in 0..clocks {
        let thread = clock as usize % THREADS;
        let offers = (clock / THREADS as u64).is_multiple_of(every);
        let words = [0, 1].map(|own| {
            let kind = kind(THREADS * own + thread).filter(|_| offers);
            kind.map(|kind| offer(thread, 0, kind, 1))
        });
        let outputs = bench.clock(Inputs {
            words,
            ..Inputs::default()
        });
        for own in (0..2).filter(|own| outputs.takes[*own]) {
            served[THREADS * own + thread].push(clock);
        }
    }
    served.iter_mut().for_each(|clocks_of| clocks_of.push(clocks));
    served
}

fn longest(served: &[u64]) -> u64 {
    served.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
}

#[test]
fn none_starves_and_no_count_is_lost() {
    check(|bench| {
        bench.access(0, 0, Kind::Store(15), 0);
        let served = slots(bench, 4000, 1, |_| Some(Kind::Atomic(ADD)));
        let counts: usize = served.iter().map(|clocks| clocks.len() - 2).sum();
        bench.idle(16);
        assert_eq!(bench.load(0) as usize, counts);
        assert!(served.iter().all(|clocks| longest(clocks) <= 80), "{served:?}");
        // A load or store of the same bank goes through between the atomic operations of all others.
        for hpu in 0..2 * THREADS {
            for kind in [Kind::Load, Kind::Store(15)] {
                let kinds = |other| Some(if other == hpu { kind } else { Kind::Atomic(ADD) });
                let served = slots(bench, 600, 1, kinds);
                assert!(longest(&served[hpu]) <= 32, "{hpu} {served:?}");
            }
        }
    });
}

#[test]
fn pipelines_that_meet_take_turns() {
    check(|bench| {
        for kind in [Kind::Load, Kind::Store(15)] {
            for every in [1, 2, 3, 4, 8] {
                let served = slots(bench, 400 * every, every, |_| Some(kind));
                let most = 2 * THREADS as u64 * every;
                assert!(served.iter().all(|clocks| longest(clocks) <= most), "{served:?}");
            }
        }
        // A load and a store of one bank, or of two, do not meet.
        let served = slots(bench, 400, 1, |hpu| {
            Some(if hpu < THREADS {
                Kind::Load
            } else {
                Kind::Store(15)
            })
        });
        assert!(served.iter().all(|clocks| longest(clocks) <= 4), "{served:?}");
    });
}

#[test]
fn a_reset_ends_an_open_operation() {
    check(|bench| {
        bench.write_line(0, u64::MAX, 0);
        bench.idle(1);
        bench.clock(Inputs {
            words: [Some(offer(0, 0, Kind::Atomic(ADD), 1)), None],
            ..Inputs::default()
        });
        bench.reset();
        assert_eq!(bench.load(0), 0);
    });
}
