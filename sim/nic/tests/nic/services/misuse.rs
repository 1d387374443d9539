//! Errors of handlers, and their effect on them and on others.

use super::{Answer, Bench, Kind};
use crate::kit::{self, ok};
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::{Config, Ending, Event, WATCHDOG};
use spinneret_nic::nic::NicConfig;
use spinneret_nic::services::{ServiceTimes, TimedServices};
use spinneret_rpc::clib::refused;
use spinneret_rpc::server::End;
use spinneret_rpc::{Copies, Emissary, Offer, Refusal, Services, opcode};
use std::rc::Rc;
use std::time::Duration;

#[test]
fn file_calls_are_confined_to_the_folder() {
    let bench = Bench::new();
    let folder = ok(tempfile::tempdir());
    let inner = folder.path().join("inner");
    ok(std::fs::create_dir(&inner));
    let mut services = bench.services(&Offer::default(), Some(&inner));
    let answer = bench.ask(&mut services, Kind::Outside, 0, 0);
    let failed = u32::MAX;
    assert_eq!(answer.rest[..8], [0, 0, 0, failed, failed, failed, 0, failed]);
    assert!(!folder.path().join("outside").exists());
    let (counts, _) = ok(services.close());
    for (refusal, times) in [
        (refused::OUTSIDE, 2),
        (refused::NOT_ALLOWED, 2),
        (refused::STANDARD, 1),
        (refused::HANDLE, 2),
    ] {
        assert_eq!(counts.of(refusal), times, "{refusal}: {counts:?}");
    }
}

#[test]
fn an_unknown_call_returns_its_packet() {
    let bench = Bench::new();
    let mut services = bench.services(&Offer::default(), None);
    let answer = bench.ask(&mut services, Kind::Unknown, 0, 0);
    assert_eq!(answer.number, 77);
    let answer = bench.ask(&mut services, Kind::Increments, 1, 1);
    assert_eq!(answer.rest[0], 2);
    let (counts, _) = ok(services.close());
    assert_eq!(counts.of(Refusal::UNKNOWN_OPCODE), 1);
}

/// A NIC whose only HPU gets all packets, so that a port is used again.
fn one_hpu(watchdog: u64) -> Bench {
    let config = NicConfig::default();
    let cluster = Config {
        clusters: 1,
        hpus: 1,
        watchdog,
        ..config.cluster
    };
    Bench::with(NicConfig { cluster, ..config })
}

fn endings(bench: &Bench) -> Vec<Ending> {
    let events = bench.simulated.borrow_mut().take_events();
    let endings = events.into_iter().filter_map(|event| match event {
        Event::Finished(run) => Some(run.ending),
        _ => None,
    });
    endings.collect()
}

#[test]
fn a_port_is_usable_after_a_handler_died_during_a_call() {
    for kind in [Kind::Fault, Kind::Endless] {
        for copies in [Copies::Words, Copies::Bits, Copies::Host] {
            let bench = one_hpu(20_000);
            let offer = Offer {
                copies,
                ..Offer::default()
            };
            let mut services = match copies {
                Copies::Words | Copies::Bits => bench.services(&offer, None),
                Copies::Host => {
                    let add = |server: &mut spinneret_rpc::Server<_>| {
                        let calls = Rc::new(spinneret_rpc::TestCalls);
                        server.add(opcode::LIBC, calls);
                    };
                    ok(Services::on_thread(bench.context(1), &Offer::default(), add))
                }
            };
            let mut expected = 0;
            for round in 0..4 {
                bench.push(1, kind, 0, 0, &[]);
                ok(services.wait(Duration::from_micros(700)));
                assert_eq!(bench.answers(), []);
                let answer = bench.ask(&mut services, Kind::Echo, 100 + round, 300);
                assert_eq!((answer.number, answer.rest[0]), (100 + round, 0), "{kind:?}");
                expected += 1;
            }
            let failed = endings(&bench)
                .into_iter()
                .filter(|ending| *ending != Ending::Done);
            let failed: Vec<Ending> = failed.collect();
            assert_eq!(failed.len(), 4);
            if kind == Kind::Endless {
                assert!(failed.iter().all(|ending| *ending == Ending::Failed(WATCHDOG)));
            }
            let (counts, _) = ok(services.close());
            assert_eq!(counts.of(Refusal::ABANDONED), expected);
            assert_eq!(counts.calls, 8);
        }
    }
}

#[test]
fn garbage_in_a_mailbox_stops_only_its_port() {
    for has_called in [false, true] {
        let bench = one_hpu(1_000_000);
        let mut services = bench.services(&Offer::default(), None);
        if has_called {
            bench.ask(&mut services, Kind::Increments, 1, 1);
        }
        for value in [2, u32::MAX, 0x8000_0000] {
            bench.ask(&mut services, Kind::Garbage, value, 0);
            ok(services.wait(Duration::from_micros(5)));
            // A call in the middle of which its handler ends makes the next one look at what is there.
            bench.push(1, Kind::Fault, 0, 0, &[]);
            ok(services.wait(Duration::from_micros(50)));
            let answer = bench.ask(&mut services, Kind::Increments, 2, 5);
            assert_eq!(answer.rest[0], 7);
        }
        let (counts, _) = ok(services.close());
        assert_eq!(counts.of(Refusal::MAILBOX), 3);
    }
}

#[test]
fn handlers_without_services_get_errors_and_continue() {
    let bench = Bench::new();
    let context = bench.context(1);
    let refused = |answers: Vec<Answer>| {
        assert_eq!((answers.len(), answers[0].number), (1, u32::MAX));
    };
    bench.push(1, Kind::Puts, 0, 0, b"nobody");
    ok(bench.nic.wait(Duration::from_micros(100)));
    refused(bench.answers());
    let mut services = ok(Services::open(context, &Offer::default(), bench.add(None)));
    bench.push(1, Kind::Puts, 0, 0, b"somebody");
    bench.wait(&mut services, 1);
    assert_eq!(bench.output.take(), "somebody\n");
}

#[test]
fn closing_services_wakes_a_waiting_handler() {
    let bench = Bench::new();
    let _other = bench.context(2);
    let services = bench.services(&Offer::default(), None);
    bench.push(1, Kind::Increments, 1, 1, &[]);
    // Without polls, the request stays.
    ok(bench.nic.wait(Duration::from_micros(20)));
    assert_eq!(bench.answers(), []);
    drop(services);
    let answers = bench.answers();
    assert_eq!(answers.len(), 1);
    assert_eq!([answers[0].rest[0], answers[0].rest[1]], [u32::MAX; 2]);
}

#[test]
fn exit_is_reported_and_ends_only_its_handler() {
    let bench = Bench::new();
    let mut services = bench.services(&Offer::default(), None);
    bench.push(1, Kind::Exit, 7, 0, &[]);
    // A program that is in no cache yet takes some 100 us.
    ok(services.wait(Duration::from_micros(200)));
    assert_eq!(endings(&bench), [Ending::Done]);
    let answer = bench.ask(&mut services, Kind::Increments, 1, 1);
    assert_eq!(answer.rest[0], 2);
    let (_, end) = ok(services.close());
    assert_eq!(end, Some(End::Exit(7)));
}

#[test]
fn a_deferred_call_blocks_no_other_and_can_be_abandoned() {
    let bench = Bench::new();
    let (reader, writer) = ok(std::io::pipe());
    let config = spinneret_rpc::clib::Config {
        input: Some(Box::new(reader)),
        ..Default::default()
    };
    let add = |server: &mut spinneret_rpc::Server<_>| {
        let libc = ok(spinneret_rpc::Libc::new(spinneret_rpc::Version::V23, config));
        server.add(opcode::LIBC, Rc::new(libc));
        server.add(opcode::LIBC, Rc::new(spinneret_rpc::TestCalls));
    };
    let mut services = ok(Services::open(bench.context(1), &Offer::default(), add));
    bench.push(1, Kind::Hold, 0, 0, &[]);
    ok(services.wait(Duration::from_micros(20)));
    for _ in 0..4 {
        let answer = bench.ask(&mut services, Kind::Increments, 1, 1);
        assert_eq!(answer.rest[0], 2);
    }
    let parked = (0..16).filter(|port| ok(services.abandon(*port))).count();
    assert_eq!(parked, 1);
    drop(writer);
}

#[test]
fn too_little_host_memory_is_refused() {
    let bench = Bench::new();
    let program = kit::program("tests/rpc");
    let rules = spinneret_host::Ruleset::never();
    let options = spinneret_host::Options {
        host_bytes: 65536,
        ..Default::default()
    };
    let context = ok(bench.nic.open_context(&program, "rpc", &rules, &options));
    let error = Services::open(context, &Offer::default(), |_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "calls need 67008 bytes of host memory, and context 0 has 65536: open it with more (Options::host_bytes)"
    );
    let program = kit::program("tests/contexts");
    let context = ok(bench.nic.open_context(&program, "count", &rules, &options));
    let error = Services::open(context, &Offer::default(), |_| ()).unwrap_err();
    assert!(error.to_string().contains("no variable `__spin_rpc`"), "{error}");
}

/// Clocks of a call of one HPU whose host looks after another context as well, into whose mailboxes, headers and packets
/// another writes random bytes all the time, or does not.
fn clocks_beside_another_context(offer: &Offer, is_under_fire: bool) -> f64 {
    const CALLS: u32 = 300;
    const LIMIT_PS: u64 = 20_000_000_000;
    let bench = Bench::new();
    let victim = bench.context(2);
    let memory = victim.host_memory();
    let services = Services::open(victim, offer, bench.add(None));
    let victim = ok(services);
    let buffer = victim.announcement();
    let layout = buffer.layout;
    let mut paced = TimedServices::new(vec![bench.services(offer, None), victim], ServiceTimes::default());
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut clocks = 0;
    // The first round brings the program into the cache.
    for calls in [50, CALLS] {
        bench.push(1, Kind::Noops, calls, 0, &[]);
        let mut answers = Vec::new();
        while answers.is_empty() {
            let now_ps = bench.simulated.borrow().now_ps();
            assert!(now_ps < LIMIT_PS, "{calls} calls are not done");
            let next_ps = ok(paced.poll(now_ps));
            for port in (0..layout.ports()).filter(|_| is_under_fire) {
                let mut bytes = [0; 64];
                random.fill_bytes(&mut bytes);
                let (offset, length) = match random.random_range(0..3) {
                    0 => (layout.packet(port), 64),
                    1 => (layout.header(port), 16),
                    _ => (layout.secondary(port), 4),
                };
                if length == 4 {
                    // Most are as a call would have it.
                    bytes[..4].copy_from_slice(&u32::to_le_bytes(random.random_range(0..3)));
                }
                ok(memory.write(buffer.offset + offset, &bytes[..length]));
            }
            ok(bench.simulated.borrow_mut().run_until(next_ps));
            answers = bench.answers();
        }
        clocks = answers[0].number;
    }
    let services = paced.into_services();
    let counts: Vec<_> = services
        .into_iter()
        .map(|services| ok(services.close()).0)
        .collect();
    assert_eq!(
        (counts[0].calls, counts[0].refusals.len()),
        (u64::from(50 + CALLS), 0)
    );
    assert_eq!(counts[1].refusals.is_empty(), !is_under_fire, "{counts:?}");
    f64::from(clocks) / f64::from(CALLS)
}

#[test]
fn random_bytes_in_one_context_slow_another_by_less_than_a_tenth() {
    for copies in [Copies::Words, Copies::Bits, Copies::Host] {
        let offer = Offer {
            copies,
            ..Offer::default()
        };
        let [calm, fire] =
            [false, true].map(|is_under_fire| clocks_beside_another_context(&offer, is_under_fire));
        println!("{copies:?}: {calm:.1} clocks a call, {fire:.1} beside a context under fire");
        assert!(fire < 1.1 * calm, "{copies:?}: {calm} and {fire} clocks a call");
    }
}

/// `ANY_CALL` of `runtime/tests/rpc`.
const ANY_CALL: u32 = 19;
/// Clocks of a handler. One that waits for an answer that does not come is ended then.
const LIMIT_CLOCKS: u64 = 10_000;
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

/// Random calls from handlers on all HPUs at once; every HPU can still make a call after it.
fn storm(seed: u64, rounds: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let config = NicConfig::default();
    let cluster = Config {
        watchdog: LIMIT_CLOCKS,
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
fn calls_of_any_opcode_do_not_disturb_others() {
    for seed in 0..seeds() {
        storm(seed, 3);
    }
}

fn seeds() -> u64 {
    let more = std::env::var("SPINNERET_RPC_SEEDS").ok();
    more.and_then(|seeds| seeds.parse().ok()).unwrap_or(2)
}
