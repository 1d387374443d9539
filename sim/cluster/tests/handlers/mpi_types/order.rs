//! Segments in any order, twice, of odd sizes, in both clusters at once: bytes land where the interpreter says.

use super::receiver::{FULL, Message, Receiver};
use super::trees;
use crate::slmp::frame::{EOM, Segment};
use proptest::prelude::{Strategy as _, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_mpi::nic::NicLayout;
use spinneret_mpi::nic::memory::{Counter, SLOTS};
use spinneret_mpi::{Layout, Overlap};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Random types; PROPTEST_CASES can ask for more.
const CASES: u32 = 200;
/// Bytes of a message, and of the memory that it lies in, at most.
const MOST_BYTES: u64 = 30_000;
const MOST_MEMORY: i64 = 1 << 22;

/// Sends messages at once, as [`deliver`] does, and compares what was written with what the interpreter says.
fn exchange(receiver: &mut Receiver, messages: &[Message], random: &mut ChaCha8Rng) {
    deliver(receiver, messages, random);
    let mut expected = BTreeMap::new();
    messages
        .iter()
        .for_each(|message| message.expected(&mut expected));
    assert!(
        receiver.written() == expected,
        "what was written is not what the interpreter says"
    );
}

/// Sends messages at once, shuffled, some segments twice, to both clusters, until all are complete.
pub(super) fn deliver(receiver: &mut Receiver, messages: &[Message], random: &mut ChaCha8Rng) {
    receiver.bench.host.clear();
    let mut segments: Vec<Segment> = messages.iter().flat_map(Message::segments).collect();
    let total = segments.len();
    for number in 0..total {
        if random.random_bool(0.1) {
            segments.push(segments[number].clone());
        }
    }
    segments.shuffle(random);
    let clusters: Vec<u32> = segments.iter().map(|_| random.random_range(0..16)).collect();
    let [before, done] = [Counter::Accepted, Counter::Completed].map(|counter| receiver.count(counter));
    let acks = receiver.send(&segments, |number| clusters[number]);
    for message in messages {
        let counters = Counter::ALL
            .iter()
            .map(|counter| receiver.count(*counter))
            .collect::<Vec<_>>();
        assert!(
            receiver.is_complete(message),
            "message {:#x}: {counters:?}",
            message.id
        );
        let ends = acks
            .iter()
            .filter(|ack| ack.message == message.id && ack.flags & EOM != 0);
        assert!(ends.count() >= 1, "the end is acknowledged");
    }
    assert_eq!(receiver.count(Counter::Accepted) - before, total as u32);
    assert_eq!(receiver.count(Counter::Completed) - done, messages.len() as u32);
}

#[test]
fn random_types_land_where_they_belong() {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let cases = config.cases.max(CASES);
    let config = Config { cases, ..config };
    // The cluster goes on from case to case, as it would.
    let receiver = RefCell::new(Receiver::new());
    let kinds = RefCell::new(BTreeMap::new());
    // Of one run are few of those that are made of others.
    let tree = prop_oneof![1 => (1..150_i64).prop_map(trees::bytes), 19 => trees::any()];
    let input = (tree, 1..4_u64, 1..FULL, any::<u64>());
    let result = TestRunner::new(config).run(&input, |(tree, count, unit, seed)| {
        let layout = Layout::of(&tree, count).expect("it has a layout");
        let is_large = layout.bytes() > MOST_BYTES || layout.end() - layout.first() > MOST_MEMORY;
        if is_large || layout.overlap() != Overlap::None {
            return Ok(());
        }
        let mut words = [0; spinneret_mpi::nic::memory::request::SIZE / 4];
        NicLayout::new(&layout).expect("it fits").put(&mut words, 0, 0);
        *kinds.borrow_mut().entry(words[10]).or_insert(0) += 1;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let unit = unit.max(layout.bytes() as u32 / 60);
        let slot = random.random_range(0..SLOTS);
        let mut receiver = receiver.borrow_mut();
        receiver.bench.host_clocks = random.random_range(0..60);
        let message = receiver.post_layout(slot, layout, unit.min(FULL));
        exchange(&mut receiver, &[message], &mut random);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let kinds = kinds.into_inner();
    println!("types by kind (5 is a table): {kinds:?}");
    assert!((0..=5).all(|kind| kinds.contains_key(&kind)), "{kinds:?}");
    assert!(kinds.values().sum::<u32>() > cases / 2, "{kinds:?}");
}

#[test]
fn sixteen_messages_at_once_and_again() {
    let mut receiver = Receiver::new();
    receiver.bench.host_clocks = 18;
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for round in 0..3 {
        let messages: Vec<Message> = (0..SLOTS)
            .map(|slot| {
                let tree = match slot % 3 {
                    0 => trees::bytes(9000),
                    1 => trees::hvector(40, 200, trees::bytes(130), 8000),
                    _ => trees::hindexed(&[(3, 0), (1, 700), (2, 400)], trees::bytes(90), 1000),
                };
                receiver.post(slot, &tree, 2 + round, 700)
            })
            .collect();
        exchange(&mut receiver, &messages, &mut random);
    }
}

/// Copies are equal because the sender packs with the same type.
#[test]
fn the_complex_type_of_the_paper_overlaps_itself() {
    let mut receiver = Receiver::new();
    let mut message = receiver.post(3, &trees::complex(), 1, FULL);
    let pieces: Vec<_> = message.layout.place(0, u64::MAX).collect();
    for piece in pieces {
        for byte in 0..piece.bytes {
            let place = piece.start as u64 + byte;
            message.bytes[(piece.offset + byte) as usize] = (place % 251) as u8;
        }
    }
    exchange(&mut receiver, &[message], &mut ChaCha8Rng::seed_from_u64(1));
}

#[test]
fn a_message_of_nothing_is_complete_with_its_end() {
    let mut receiver = Receiver::new();
    let message = receiver.post(0, &trees::bytes(5), 0, FULL);
    exchange(&mut receiver, &[message], &mut ChaCha8Rng::seed_from_u64(1));
}
