//! Handlers that call any opcode with any bytes, and wait for answers that do not come.

use crate::support::{Bench, Kind, ok};
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::Config;
use spinneret_nic::nic::NicConfig;
use spinneret_rpc::{Emissary, Offer, Services, opcode};
use std::rc::Rc;
use std::time::Duration;

/// `ANY_CALL` of `runtime/tests/rpc`.
const ANY_CALL: u32 = 19;
/// Clocks of a handler. One that waits for an answer that does not come is ended then.
const WATCHDOG: u64 = 10_000;
/// Random calls before a right one is tried.
const TOGETHER: usize = 32;

/// An opcode: one of those that there are, one of their neighbours, or any.
fn any_opcode(rng: &mut ChaCha8Rng) -> u32 {
    let classes = [opcode::LIBC, opcode::SPINNERET, opcode::EMISSARY, b'u', 0, 0xff];
    let class = *classes.choose(rng).expect("there are some");
    match rng.random_range(0..8) {
        0 => rng.random(),
        1 => u32::from(class) << 24 | rng.random_range(0..1 << 24),
        _ => u32::from(class) << 24 | rng.random_range(0..2 + opcode::LIBC_CALLS),
    }
}

/// Bytes as calls have them, lengths, handles and text among them, or any.
fn any_bytes(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let numbers = [
        0,
        1,
        3,
        8,
        56,
        57,
        64,
        4096,
        u64::from(u32::MAX),
        1 << 63,
        u64::MAX,
    ];
    let words = (0..6).flat_map(|_| match rng.random_range(0..3) {
        0 => numbers.choose(rng).expect("there are some").to_le_bytes(),
        1 => *b"../x%s%n",
        _ => rng.random(),
    });
    words.collect()
}

/// What is asked at random, from handlers on all HPUs at once; after it every HPU can still make a call.
fn storm(seed: u64, rounds: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let config = NicConfig::default();
    let cluster = Config {
        watchdog: WATCHDOG,
        ..config.cluster
    };
    let bench = Bench::with(NicConfig { cluster, ..config });
    let folder = ok(tempfile::tempdir());
    let inner = folder.path().join("inner");
    ok(std::fs::create_dir(&inner));
    let add = bench.add(Some(&inner));
    let mut services = ok(Services::open(bench.context(1), &Offer::default(), |server| {
        add(server);
        server.add(opcode::EMISSARY, Rc::new(Emissary::default()));
    }));
    for round in 0..rounds {
        for _ in 0..TOGETHER {
            let steps = rng.random_range(0..9_u32) << 24 | rng.random_range(0..1 << 8);
            // Most begin as calls do.
            let steps = steps | u32::from(rng.random_ratio(7, 8));
            let numbers = [ANY_CALL, any_opcode(&mut rng), steps];
            bench.push_to(1, numbers, &any_bytes(&mut rng));
            ok(services.wait(Duration::from_micros(3)));
        }
        // Twice the watchdog, as an HPU may get two of them, one after the other.
        ok(services.wait(Duration::from_micros(600)));
        bench.answers();
        for number in 0..16 {
            bench.push(1, Kind::Increments, 1, number, &[]);
        }
        let answers = bench.wait(&mut services, 16);
        let mut results: Vec<u32> = answers.iter().map(|answer| answer.rest[0]).collect();
        results.sort_unstable();
        assert_eq!(
            results,
            (1..17).collect::<Vec<u32>>(),
            "seed {seed}, round {round}"
        );
    }
    let outside: Vec<_> = ok(std::fs::read_dir(folder.path())).collect();
    assert_eq!(outside.len(), 1, "seed {seed}: {outside:?}");
    let (counts, _) = ok(services.close());
    assert!(
        counts.calls > 0 && !counts.refusals.is_empty(),
        "seed {seed}: {counts:?}"
    );
}

#[test]
fn calls_of_any_opcode_harm_no_other_call() {
    for seed in 0..seeds() {
        storm(seed, 3);
    }
}

fn seeds() -> u64 {
    let more = std::env::var("SPINNERET_RPC_SEEDS").ok();
    more.and_then(|seeds| seeds.parse().ok()).unwrap_or(2)
}
