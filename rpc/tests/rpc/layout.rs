//! Layouts, compared with the offsets in LLVM's headers.

use crate::support::{Bench, Handler, from_environment};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use spinneret_rpc::clib::Config;
use spinneret_rpc::{Announcement, Layout, LayoutError, Version, layout};
use std::thread;
use std::time::Duration;

/// Ports, lanes, then primary, secondary, header, packet and total.
type Row = (u32, u32, [u32; 5]);

const V22: [Row; 6] = [
    (1, 1, [0, 4, 8, 24, 88]),
    (15, 1, [0, 60, 120, 360, 1320]),
    (16, 1, [0, 64, 128, 384, 1408]),
    (16, 32, [0, 64, 128, 384, 33152]),
    (32, 1, [0, 128, 256, 768, 2816]),
    (64, 1, [0, 256, 512, 1536, 5632]),
];

const V23: [Row; 6] = [
    (1, 1, [64, 68, 72, 88, 152]),
    (15, 1, [64, 124, 184, 424, 1384]),
    (16, 1, [64, 128, 192, 448, 1472]),
    (16, 32, [64, 128, 192, 448, 33216]),
    (32, 1, [64, 192, 320, 832, 2880]),
    (64, 1, [64, 320, 576, 1600, 5696]),
];

#[test]
fn parts_lie_where_llvm_has_them() {
    for (version, rows) in [(Version::V22, V22), (Version::V23, V23)] {
        for (ports, lanes, expected) in rows {
            let layout = Layout::with_lanes(version, ports, lanes).unwrap();
            let places = [
                layout.primary(0),
                layout.secondary(0),
                layout.header(0),
                layout.packet(0),
                layout.bytes(),
            ];
            assert_eq!(places, expected, "{version:?}, {ports} ports, {lanes} lanes");
        }
    }
}

#[test]
fn ports_follow_one_another() {
    for version in Version::ALL {
        let layout = Layout::with_lanes(version, 15, 32).unwrap();
        for port in 0..15 {
            assert_eq!(layout.primary(port), layout.primary(0) + 4 * port);
            assert_eq!(layout.secondary(port), layout.secondary(0) + 4 * port);
            assert_eq!(layout.header(port), layout.header(0) + 16 * port);
            assert_eq!(layout.packet(port), layout.packet(0) + 64 * 32 * port);
        }
    }
}

#[test]
fn impossible_layouts_are_refused() {
    for (version, most) in [(Version::V22, 4096), (Version::V23, 16384)] {
        assert!(Layout::new(version, most).is_ok());
        for ports in [0, most + 1, u32::MAX] {
            assert_eq!(
                Layout::new(version, ports),
                Err(LayoutError::Ports { ports, most })
            );
        }
        for lanes in [0, 2, 16, 33, 128] {
            assert_eq!(
                Layout::with_lanes(version, 1, lanes),
                Err(LayoutError::Lanes(lanes))
            );
        }
    }
    let error = Layout::new(Version::V22, 5000).unwrap_err();
    assert_eq!(error.to_string(), "5000 ports: give 1 to 4096");
}

#[test]
fn memory_that_was_never_written_is_no_announcement() {
    assert_eq!(Announcement::from_words([0; 4]), Err(LayoutError::Version(0)));
    let words = Announcement {
        layout: Layout::new(Version::V23, 16).unwrap(),
        offset: 0x1_0000,
    }
    .to_words();
    assert_eq!(words, [0x5250_4317, 0x1_0000, 16, 1]);
    assert_eq!(
        Announcement::from_words([words[0], 0x1_0020, 16, 1]),
        Err(LayoutError::Offset(0x1_0020))
    );
}

proptest! {
    #[test]
    fn announcements_come_back(
        is_new in any::<bool>(), ports in 1_u32..4096, lanes in 0_usize..3, line in 0_u32..1 << 26
    ) {
        let layout = Layout::with_lanes(Version::ALL[usize::from(is_new)], ports, [1, 32, 64][lanes]).unwrap();
        let announcement = Announcement { layout, offset: line * 64 };
        prop_assert_eq!(Announcement::from_words(announcement.to_words()), Ok(announcement));
    }

    #[test]
    fn any_words_are_read_or_refused(words in any::<[u32; 4]>()) {
        if let Ok(announcement) = Announcement::from_words(words) {
            prop_assert_eq!(announcement.to_words(), words);
        }
    }

    #[test]
    fn streams_come_back_in_as_many_packets_as_llvm_sends(bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
        let (mut join, mut back, mut packets) = (layout::Join::default(), Vec::new(), 0);
        for part in layout::Cut::new(&bytes) {
            packets += 1;
            let is_last = join.take(&part, |now| back.extend_from_slice(now));
            prop_assert_eq!(is_last, back.len() == bytes.len());
        }
        prop_assert_eq!(packets, layout::packets(bytes.len() as u64));
        prop_assert_eq!(join.length(), Some(bytes.len() as u64));
        prop_assert_eq!(back, bytes);
    }
}

#[test]
fn packets_of_a_stream() {
    for (bytes, packets) in [
        (0, 1),
        (1, 1),
        (56, 1),
        (57, 2),
        (120, 2),
        (121, 3),
        (1024, 17),
        (64 << 10, 1025),
    ] {
        assert_eq!(layout::packets(bytes), packets, "{bytes} bytes");
    }
}

// The checks of LLVM's own tests of its RPC, with our client against our server: threads for threads of a GPU.

/// Runs `run` in `threads` threads, each with its number, against a server of each version.
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

#[test]
fn the_header_of_handlers_is_up_to_date() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/include/spin_rpc_abi.h");
    let mut wanted = String::new();
    spinneret_rpc::place::c_header(&mut wanted).expect("strings take every text");
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted)
            .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "runtime/include/spin_rpc_abi.h differs from the tables of spinneret-rpc: \
         run `SPINNERET_UPDATE_DOCS=1 cargo test -p spinneret-rpc --test rpc up_to_date`"
    );
}
