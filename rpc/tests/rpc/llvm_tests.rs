//! What LLVM's own tests of its RPC check, with our client against our server: threads for threads of a GPU.

use crate::support::handler::Handler;
use crate::support::{Bench, from_environment};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spinneret_rpc::Version;
use spinneret_rpc::clib::Config;
use std::thread;
use std::time::Duration;

/// Runs this in so many threads, each with its number, against a server of each version.
fn in_threads(ports: u32, threads: u64, run: impl Fn(&Bench, u64) + Sync) {
    for version in Version::ALL {
        let bench = Bench::start(version, ports, Config::default);
        thread::scope(|scope| {
            for number in 0..threads {
                let (bench, run) = (&bench, &run);
                scope.spawn(move || run(bench, number));
            }
        });
        let (counts, end) = bench.stop();
        assert!(counts.refusals.is_empty() && end.is_none(), "{counts:?}");
    }
}

#[test]
fn increments_of_many_threads_give_what_each_asked_for() {
    in_threads(8, 8, |bench, thread| {
        let handler = Handler(&bench.client);
        let (mut count, wanted) = (0, 10 + 10 * (thread % 4) + 10 * (thread / 4));
        for _ in 0..wanted {
            count = handler.increment(count);
        }
        assert_eq!(count, wanted);
    });
}

#[test]
fn calls_without_an_answer_among_others() {
    in_threads(4, 4, |bench, thread| {
        let handler = Handler(&bench.client);
        for round in 0..200 {
            handler.noop();
            if round % 10 == 0 {
                let value = thread % 2 * 1000 + round;
                assert_eq!(handler.increment(value), value + 1);
            }
        }
    });
}

#[test]
fn any_mirrored_order_of_sends_and_receives() {
    in_threads(3, 3, |bench, _| {
        for round in 0..50 {
            assert_eq!(Handler(&bench.client).interface(round % 2 == 0), 9);
        }
    });
}

#[test]
fn streams_come_back() {
    in_threads(4, 4, |bench, thread| {
        let handler = Handler(&bench.client);
        let long: Vec<u8> = (0..251).map(|byte| byte as u8).collect();
        assert_eq!(handler.echo(&long), long);
        for length in 0..128_usize {
            let bytes: Vec<u8> = (0..length).map(|at| (at as u64 + thread) as u8).collect();
            assert_eq!(handler.echo(&bytes), bytes);
        }
    });
}

#[test]
fn bursts_and_pauses_of_threads_that_diverge() {
    let rounds = from_environment("SPINNERET_RPC_ROUNDS", 128);
    in_threads(4, 6, |bench, thread| {
        let mut random = ChaCha8Rng::seed_from_u64(thread);
        let handler = Handler(&bench.client);
        for _ in 0..rounds {
            if random.random_range(0..8) == 0 {
                thread::sleep(Duration::from_micros(random.random_range(0..200)));
            }
            let mut count = thread;
            let burst = random.random_range(1..=8);
            for _ in 0..burst {
                count = handler.increment(count);
            }
            assert_eq!(count, thread + burst);
        }
    });
}

#[test]
fn more_threads_than_ports_take_turns() {
    in_threads(1, 4, |bench, thread| {
        for round in 0..50 {
            assert_eq!(
                Handler(&bench.client).increment(thread * 100 + round),
                thread * 100 + round + 1
            );
        }
    });
}
