//! Types of all kinds, over good and bad cables; ranks that send to one.

use super::{Exchange, LIMIT, Work, bytes, exchange, hindexed, hvector, open, ranks, receive, room, send};
use crate::kit::ok;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_fabric::Faults;
use spinneret_fabric::topology::{ip_of, mac_of};
use spinneret_host::{Address, Nic};
use spinneret_mpi::layout::Shape;
use spinneret_mpi::library::{Config, From, To};
use spinneret_mpi::{Layout, Overlap, Rank};
use spinneret_mpi_sys::Tree;
use spinneret_nic::{Simulated, mpi};
use std::sync::Mutex;
use std::time::Duration;

/// Messages of an exchange.
const MESSAGES: usize = 16;
/// Bytes of a message at most.
const MOST_BYTES: u64 = 20_000;

fn random_tree(random: &mut ChaCha8Rng, depth: u32) -> Tree {
    let inner = match depth {
        0 => bytes(random.random_range(1..200)),
        _ => random_tree(random, depth - 1),
    };
    let reach = inner.bounds.extent.abs() + 200;
    if random.random_bool(0.6) {
        let count = random.random_range(1..7);
        let stride = (reach + random.random_range(0..50)) * if random.random_bool(0.2) { -1 } else { 1 };
        return hvector(count, stride, inner, stride.abs() * count);
    }
    let mut at = 0;
    let blocks: Vec<(i64, i64)> = (0..random.random_range(1..12))
        .map(|_| {
            let start = at + random.random_range(0..100);
            let length = random.random_range(1..3);
            at = start + length * reach;
            (length, start)
        })
        .collect();
    hindexed(&blocks, inner, at)
}

/// A type that may be received, by the interpreter.
fn random_layout(random: &mut ChaCha8Rng) -> Layout {
    loop {
        let depth = random.random_range(0..4);
        let tree = random_tree(random, depth);
        let layout = Layout::of(&tree, random.random_range(1..4)).expect("it has a layout");
        if layout.bytes() <= MOST_BYTES && layout.overlap() == Overlap::None {
            return layout;
        }
    }
}

/// SPINNERET_MPI_CASES asks for more than two exchanges of 16 types.
#[test]
fn random_types_over_a_faulty_cable() {
    let cases = std::env::var("SPINNERET_MPI_CASES");
    let cases: u64 = cases.map_or(2, |cases| cases.parse().expect("SPINNERET_MPI_CASES is a number"));
    for seed in 0..cases {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let layouts: Vec<Layout> = (0..MESSAGES).map(|_| random_layout(&mut random)).collect();
        let how = Exchange {
            window: 1 << random.random_range(0..6),
            unit: random.random_range(400..=1462),
            faults: Faults {
                loss: 0.05,
                duplication: 0.01,
                reordering: 0.01,
                ..Faults::default()
            },
            seed,
            rounds: 2,
            ..Exchange::of(layouts)
        };
        let done = exchange(&how);
        assert_eq!(
            (done.counts.placed, done.counts.unpacked),
            (2 * MESSAGES as u64, 0)
        );
    }
}

/// Tables that do not fit into handler memory: the host puts those messages in place, and says how many.
#[test]
fn types_that_do_not_fit_are_unpacked_by_the_host() {
    let mut random = ChaCha8Rng::seed_from_u64(77);
    let mut layouts = Vec::new();
    while layouts.len() < 4 {
        let layout = random_layout(&mut random);
        if matches!(layout.shape(), Shape::Table(_)) == layouts.len().is_multiple_of(2) {
            layouts.push(layout);
        }
    }
    let how = Exchange {
        table_bytes: 64,
        rounds: 2,
        ..Exchange::of(layouts)
    };
    let done = exchange(&how);
    assert_eq!((done.counts.placed, done.counts.unpacked), (4, 4));
}

/// Three ranks send to one that takes messages from all; those of each come in their order.
#[test]
fn any_source_and_any_tag() {
    let layout = || Layout::of(&hvector(20, 60, bytes(40), 0), 1).expect("it has a layout");
    let sends = |own: u8| {
        move |nic: &Simulated| {
            let mut rank = open(nic, 4, Config::default());
            for tag in 0..2_u8 {
                let to = To {
                    rank: 0,
                    tag: tag.into(),
                    communicator: 7,
                };
                let request = send(&mut rank, &layout(), 16 * own + tag, to);
                rank.start(request).expect("it is not active");
                rank.free(request).expect("it ends by itself");
            }
            rank.run_for(Duration::from_millis(1)).expect("the NIC is there");
        }
    };
    let receives = move |nic: &Simulated| {
        let mut rank = open(nic, 4, Config::default());
        let layout = layout();
        let (origin, _) = room(&layout);
        let any = |communicator| From {
            rank: None,
            tag: None,
            communicator,
        };
        let mut start = |communicator| {
            let (request, buffer) = receive(&mut rank, &layout, any(communicator));
            rank.start(request).expect("it is not active");
            (request, buffer)
        };
        // One of another communicator, which gets nothing.
        let other = start(8);
        let requests: Vec<_> = (0..6).map(|_| start(7)).collect();
        let mut tags = vec![Vec::new(); 4];
        for (request, buffer) in requests {
            let status = rank
                .wait(request, LIMIT)
                .unwrap_or_else(|error| panic!("{error}"));
            let mut found = vec![0; 40];
            rank.read(&buffer, origin as u32, &mut found)
                .expect("it is there");
            assert_eq!(found, [16 * status.rank as u8 + status.tag as u8; 40]);
            tags[status.rank].push(status.tag);
        }
        assert_eq!(tags, [vec![], vec![0, 1], vec![0, 1], vec![0, 1]]);
        assert!(rank.test(other.0).expect("it is active").is_none());
    };
    ranks(
        Faults::default(),
        1,
        vec![
            Box::new(receives),
            Box::new(sends(1)),
            Box::new(sends(2)),
            Box::new(sends(3)),
        ],
    );
}

/// Barriers one after the other.
const BARRIERS: usize = 3;
/// Ranks: as many that the last round does not reach as far as the others.
const SIZE: usize = 3;

fn open_rank(nic: &Simulated, own: usize) -> Rank<Simulated> {
    let addresses: Vec<Address> = (0..SIZE)
        .map(|rank| Address {
            mac: mac_of(rank),
            ip: ip_of(rank),
        })
        .collect();
    let nic = Nic::new(nic.clone()).expect("it is a NIC");
    let config = Config {
        patience: LIMIT,
        ..Config::default()
    };
    let world = (own, (0..SIZE).collect());
    ok(Rank::new(&nic, &ok(mpi::program()), &addresses, world, config))
}

#[test]
fn a_barrier_waits_for_all() {
    let times: Mutex<Vec<[Duration; 2]>> = Mutex::default();
    let work = |own: usize| -> Work<'_> {
        let times = &times;
        Box::new(move |nic: &Simulated| {
            let mut rank = open_rank(nic, own);
            let world = rank.world();
            for barrier in 0..BARRIERS {
                let late = Duration::from_micros((own * 7 + barrier * 13) as u64 % 50);
                rank.library().nic().compute(late).expect("it is there");
                let come = rank.library().nic().now();
                rank.barrier(&world)
                    .unwrap_or_else(|error| panic!("rank {own}: {error}"));
                let left = rank.library().nic().now();
                times.lock().expect("nobody panicked").push([come, left]);
            }
            rank.close().unwrap_or_else(|error| panic!("rank {own}: {error}"));
        })
    };
    let faults = Faults {
        loss: 0.02,
        ..Faults::default()
    };
    ranks(faults, 3, (0..SIZE).map(work).collect());
    let mut times = times.into_inner().expect("nobody panicked");
    assert_eq!(times.len(), SIZE * BARRIERS);
    times.sort();
    for barrier in times.chunks(SIZE) {
        let last = barrier.iter().map(|[come, _]| come).max();
        assert!(barrier.iter().all(|[_, left]| Some(left) >= last), "{barrier:?}");
    }
}
