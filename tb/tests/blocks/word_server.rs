//! `word_server`: HPUs of two clusters, with a memory whose other users write between their accesses, and each line of its contract.

mod bench;

use bench::{Bench, HPUS, Request, THREADS};
use spinneret_models::{WordServer, WordServerSingle, WordServerWide};
use spinneret_regmap::pspin::{HANDLER_BASE, PACKET_BASE, STDOUT, l1_address};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::hpu_memory::{ADD, AMOS, Kind, LR, SC};

fn random_request(rng: &mut ChaCha8Rng, clusters: usize) -> Request {
    let word = 4 * rng.random_range(0..3);
    let kind = match rng.random_range(0..10) {
        0..2 => Kind::Load,
        2 => Kind::Store(rng.random_range(1..16)),
        3 => Kind::Store(15),
        4..6 => Kind::Atomic(AMOS[rng.random_range(0..AMOS.len())]),
        6..8 => Kind::Atomic(LR),
        _ => Kind::Atomic(SC),
    };
    let (address, kind) = match rng.random_range(0..12) {
        0..6 => (HANDLER_BASE + word, kind),
        6..8 => (PACKET_BASE + word, kind),
        8 => (HANDLER_BASE + 4 * rng.random_range(0..1 << 18), kind),
        9 => (l1_address(rng.random_range(0..clusters), word), kind),
        10 => (l1_address(15, word), kind),
        _ => (STDOUT + 4 * rng.random_range(0..1 << 10), Kind::Store(15)),
    };
    Request {
        hpu: rng.random_range(0..HPUS * clusters),
        address,
        kind,
        data: rng.random(),
    }
}

fn random_traffic<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("traffic");
    let mut bench = Bench::<M>::new(run);
    let mut wins = [0; 2];
    for clock in 0..30_000 {
        if clock % 1000 == 0 {
            bench.ready = [1.0, 0.7, 0.2][rng.random_range(0..3)];
            bench.others = [0.0, 0.3][rng.random_range(0..2)];
        }
        let request = random_request(&mut rng, bench.clusters);
        if rng.random_bool(0.8) {
            bench.offer(request);
        }
        bench.clock();
        for outcome in bench.got.iter_mut().filter_map(Option::take) {
            if let Some(word @ 0..2) = outcome.word {
                wins[word as usize] += 1;
            }
        }
    }
    let seen = [bench.printed.len() as u32, bench.failures, wins[0], wins[1]];
    assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
    bench.finish();
}

#[test]
fn random_accesses_are_those_of_the_model() {
    run_test(0x0001_3c57, random_traffic::<WordServer>);
}

#[test]
fn random_accesses_of_a_single_cluster_are_those_of_the_model() {
    run_test(0x0002_3c57, random_traffic::<WordServerSingle>);
}

#[test]
fn random_accesses_of_eight_clusters_are_those_of_the_model() {
    run_test(0x0004_3c57, random_traffic::<WordServerWide>);
}

/// A case for a line of the contract.
fn check(test: impl Fn(&mut Bench<WordServer>)) {
    case(0x0003_3c57, Bench::new, test);
}

#[test]
fn an_access_is_taken_in_each_clock_and_ports_take_turns() {
    check(|bench| {
        let mut longest = 0;
        for clock in 0..64 {
            for hpu in 0..2 * HPUS {
                bench.offer(Request {
                    hpu,
                    address: HANDLER_BASE + 4 * hpu as u32,
                    kind: if hpu % 2 == 0 { Kind::Load } else { Kind::Store(15) },
                    data: clock,
                });
            }
            let before = bench.served.len();
            bench.clock();
            longest = if bench.served.len() > before {
                longest + 1
            } else {
                0
            };
        }
        assert!(longest > 32, "{longest}");
        assert!(
            bench
                .served
                .windows(4)
                .all(|ports| (0..4).all(|port| ports.contains(&port)))
        );
    });
}

#[test]
fn no_count_is_lost_between_the_writes_of_others() {
    check(|bench| {
        (bench.ready, bench.others) = (0.5, 0.2);
        let counter = HANDLER_BASE + 60;
        for _ in 0..3000 {
            let hpu = bench.rng.random_range(0..2 * HPUS);
            bench.offer(Request {
                hpu,
                address: counter,
                kind: Kind::Atomic(ADD),
                data: 1,
            });
            bench.clock();
        }
        bench.drain();
        assert!(bench.served.len() > 100);
        assert_eq!(bench.load(counter) as usize, bench.served.len());
    });
}

#[test]
fn operations_of_a_line_follow_each_other_and_others_have_their_turns() {
    check(|bench| {
        let counter = HANDLER_BASE + 60;
        for _ in 0..2000 {
            for hpu in 0..2 * HPUS {
                let is_counting = hpu >= THREADS;
                bench.offer(Request {
                    hpu,
                    address: counter - if is_counting { 8 * (hpu % 2) as u32 } else { 4 },
                    kind: if is_counting {
                        Kind::Atomic(ADD)
                    } else {
                        Kind::Load
                    },
                    data: 1,
                });
            }
            bench.clock();
        }
        let counted = bench.served.iter().filter(|port| **port != 0).count();
        // An operation that reads takes nine clocks, and seven that follow it take three each.
        assert!(counted > 2000 * 8 / 33, "{counted} in 2000 clocks");
        let waits = bench.served.split(|port| *port == 0).map(<[usize]>::len).max();
        assert!(waits <= Some(7 + 3 * 8), "a port waited for {waits:?} others");
        bench.drain();
        let counted = bench.served.iter().filter(|port| **port != 0).count();
        let sum = bench.load(counter) + bench.load(counter - 8);
        assert_eq!(sum as usize, counted);
    });
}

#[test]
fn ports_with_operations_of_a_word_are_served_alike() {
    check(|bench| {
        for _ in 0..2000 {
            for hpu in 0..2 * HPUS {
                bench.offer(Request {
                    hpu,
                    address: HANDLER_BASE + 60,
                    kind: Kind::Atomic(ADD),
                    data: 1,
                });
            }
            bench.clock();
        }
        let of_port = |wanted| bench.served.iter().filter(|port| **port == wanted).count();
        let counts = [0, 1, 2, 3].map(of_port);
        assert!(
            counts.iter().all(|count| count.abs_diff(counts[0]) <= 2),
            "{counts:?}"
        );
        bench.drain();
    });
}

#[test]
fn accesses_of_others_cancel_a_reservation() {
    check(|bench| {
        let address = PACKET_BASE + 8;
        let cases = [
            (9, 8, Kind::Load, true),
            (9, 8, Kind::Atomic(LR), true),
            (9, 8, Kind::Atomic(SC), true),
            (9, 12, Kind::Store(15), true),
            (1, 8, Kind::Store(15), true),
            (1, 8, Kind::Atomic(ADD), true),
            (9, 8, Kind::Store(1), false),
            (0, 8, Kind::Store(15), false),
            (4, 8, Kind::Atomic(ADD), false),
        ];
        for (hpu, offset, kind, survives) in cases {
            bench.access(1, address, Kind::Atomic(LR), 0);
            bench.access(hpu, PACKET_BASE + offset, kind, 5);
            let answer = bench.access(1, address, Kind::Atomic(SC), 6).word;
            assert_eq!(answer, Some(u32::from(!survives)), "{hpu} {kind:?}");
            // It is dropped in any case.
            assert_eq!(bench.access(1, address, Kind::Atomic(SC), 7).word, Some(1));
        }
        // Of two, the first one wins.
        for hpu in [1, 9] {
            bench.access(hpu, address, Kind::Atomic(LR), 0);
        }
        assert_eq!(bench.access(9, address, Kind::Atomic(SC), 8).word, Some(0));
        assert_eq!(bench.access(1, address, Kind::Atomic(SC), 9).word, Some(1));
        assert_eq!(bench.access(1, address, Kind::Load, 0).word, Some(8));
    });
}

#[test]
fn characters_say_of_whom_they_are() {
    check(|bench| {
        for (cluster, hpu) in [(0, 0), (1, 7), (2, 0), (1, 0)] {
            let address = STDOUT + (cluster << 7) + (hpu << 3);
            bench.access(3, address, Kind::Store(15), 0x1234_5600 + u32::from(b'a'));
        }
        assert_eq!(bench.printed, [0x61, 0x1_0761, 0x1_0061]);
    });
}

#[test]
fn a_reset_forgets_accesses_and_reservations() {
    check(|bench| {
        bench.access(1, HANDLER_BASE, Kind::Atomic(LR), 0);
        bench.ready = 0.0;
        bench.offer(Request {
            hpu: 2,
            address: HANDLER_BASE,
            kind: Kind::Atomic(ADD),
            data: 1,
        });
        bench.clock();
        bench.clock();
        assert_eq!(bench.sim.get("hold"), 1);
        bench.sim.reset();
        assert_eq!((bench.sim.get("hold"), bench.sim.get("read_valid")), (0, 0));
        bench.inside.clear();
        bench.reserved.fill(None);
        bench.ready = 1.0;
        assert_eq!(bench.access(1, HANDLER_BASE, Kind::Atomic(SC), 3).word, Some(1));
    });
}
