//! Segments in any order, twice, of odd sizes, in both clusters at once: bytes land where the interpreter says.

use super::receiver::{self, FULL, Message, Receiver};
use crate::slmp::{ACK, EOM, SYN, Segment};
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
use std::slice;

/// Random types; PROPTEST_CASES can ask for more.
const CASES: u32 = 200;
/// Maximum number of bytes of a message, and of the memory around it.
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
    let tree = prop_oneof![1 => (1..150_i64).prop_map(receiver::bytes), 19 => receiver::any()];
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
                    0 => receiver::bytes(9000),
                    1 => receiver::hvector(40, 200, receiver::bytes(130), 8000),
                    _ => receiver::hindexed(&[(3, 0), (1, 700), (2, 400)], receiver::bytes(90), 1000),
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
    let mut message = receiver.post(3, &receiver::complex(), 1, FULL);
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
    let message = receiver.post(0, &receiver::bytes(5), 0, FULL);
    exchange(&mut receiver, &[message], &mut ChaCha8Rng::seed_from_u64(1));
}

const UNIT: u32 = 100;

/// A message of 450 bytes in five segments, none of which has come.
fn posted() -> (Receiver, Message) {
    let mut receiver = Receiver::new();
    let message = receiver.post(2, &receiver::hvector(9, 90, receiver::bytes(50), 800), 1, UNIT);
    (receiver, message)
}

/// One frame comes, and is counted under one cause; it is neither acknowledged nor written.
fn refuse(receiver: &mut Receiver, segment: &Segment, wanted: Counter, what: &str) {
    let before: Vec<u32> = Counter::ALL
        .iter()
        .map(|counter| receiver.count(*counter))
        .collect();
    let host = receiver.bench.host.clone();
    let acks = receiver.send(slice::from_ref(segment), |_| 0);
    assert!(acks.is_empty(), "{what}: {acks:?}");
    assert_eq!(receiver.bench.host, host, "{what}: something was written");
    for (counter, before) in Counter::ALL.iter().zip(before) {
        let more = receiver.count(*counter) - before;
        assert_eq!(more, u32::from(*counter == wanted), "{what}: {counter:?}");
    }
}

#[test]
fn segments_that_are_none_of_the_message() {
    let (mut receiver, message) = posted();
    let segments = message.segments();
    let full = |offset: u32| Segment::new(SYN, message.id, offset, &[9; UNIT as usize]);
    let end = |offset: u32, bytes: usize| Segment::new(SYN | EOM, message.id, offset, &vec![9; bytes]);
    let mut other_host = segments[0].clone();
    other_host.source = [10, 0, 0, 9];
    let mut other_port = segments[0].clone();
    other_port.port ^= 1;
    let mut other_id = segments[0].clone();
    other_id.message += 16;
    let mut no_slot = segments[0].clone();
    no_slot.message = 5;
    let mut no_id = segments[0].clone();
    no_id.message = 0;
    let mut ack = segments[0].clone();
    ack.flags |= ACK;
    // In a cluster that knows the message, and in one that does not.
    for _ in 0..2 {
        for (segment, wanted, what) in [
            (&other_host, Counter::Foreign, "another host"),
            (&other_port, Counter::Foreign, "another port"),
            (&other_id, Counter::Unknown, "another message"),
            (&no_slot, Counter::Unknown, "a slot that awaits nothing"),
            (&no_id, Counter::Unknown, "no id"),
            (&ack, Counter::NotASegment, "an acknowledgement"),
            (&full(500), Counter::TooLong, "behind the end"),
            (&full(400), Counter::TooLong, "over the end"),
            (&full(u32::MAX - 10), Counter::TooLong, "far behind the end"),
            (&full(50), Counter::Misplaced, "between two segments"),
            (&end(100, 100), Counter::Misplaced, "an end in the middle"),
            (&end(400, 40), Counter::Misplaced, "an end that is too short"),
            (&end(450, 0), Counter::Misplaced, "an empty end"),
            (&end(400, 51), Counter::TooLong, "an end that is too long"),
            (
                &Segment::new(SYN, message.id, 400, &[9; 50]),
                Counter::Misplaced,
                "a last segment that is no end",
            ),
            (
                &Segment::new(SYN, message.id, 100, &[9; 99]),
                Counter::Misplaced,
                "a short segment",
            ),
        ] {
            refuse(&mut receiver, segment, wanted, what);
        }
        let acks = receiver.send(&segments[..1], |_| 0);
        assert_eq!(acks.len(), 1);
    }
    receiver.send(&segments[1..], |_| 1);
    assert!(receiver.is_complete(&message));
}

#[test]
fn what_comes_after_the_end_is_answered_and_not_written() {
    let (mut receiver, message) = posted();
    let segments = message.segments();
    receiver.send(&segments[..4], |_| 0);
    let acks = receiver.send(&segments[4..], |_| 0);
    assert_eq!(acks.len(), 1);
    assert!(receiver.is_complete(&message));
    // The host may use its memory again, and late segments come, also to the cluster that does not know the message.
    receiver.bench.host.clear();
    for cluster in [0, 1] {
        let acks = receiver.send(&segments, |_| cluster);
        assert_eq!(acks.len(), 5);
    }
    let mut foreign = segments[0].clone();
    foreign.port ^= 1;
    refuse(&mut receiver, &foreign, Counter::Foreign, "another port");
    // The next message is awaited, and segments of the last one still come.
    let next = receiver.post(2, &receiver::bytes(300), 1, UNIT);
    for cluster in [0, 1] {
        assert_eq!(receiver.send(&segments, |_| cluster).len(), 5);
    }
    refuse(&mut receiver, &foreign, Counter::Foreign, "another port");
    assert!(receiver.written().is_empty());
    receiver.send(&next.segments(), |number| number as u32);
    assert!(receiver.is_complete(&next));
    assert_eq!(receiver.send(&segments, |_| 0).len(), 5);
}

/// A sender whose last acknowledgement was lost asks again, even if the slot has had other messages since.
#[test]
fn the_last_five_messages_of_a_slot_are_remembered_in_both_clusters() {
    let (mut receiver, message) = posted();
    let mut messages = vec![message];
    for _ in 0..6 {
        let last = &messages[messages.len() - 1];
        receiver.send(&last.segments(), |_| 0);
        assert!(receiver.is_complete(last));
        messages.push(receiver.post(2, &receiver::bytes(300), 1, UNIT));
    }
    receiver.bench.host.clear();
    for cluster in [0, 1] {
        for past in &messages[1..6] {
            let mut segment = past.segments()[0].clone();
            assert_eq!(receiver.send(slice::from_ref(&segment), |_| cluster).len(), 1);
            segment.port ^= 1;
            refuse(&mut receiver, &segment, Counter::Foreign, "another port");
        }
    }
    refuse(
        &mut receiver,
        &messages[0].segments()[0],
        Counter::Unknown,
        "six messages ago",
    );
    assert!(receiver.written().is_empty());
}

#[test]
fn nothing_is_taken_before_the_host_is_ready() {
    let (mut receiver, message) = posted();
    receiver.write(0, 0);
    let acks = receiver.send(&message.segments(), |_| 0);
    assert!(acks.is_empty());
    assert!(receiver.bench.host.is_empty());
}
