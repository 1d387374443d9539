//! Random segments, of senders that do everything wrong, and of senders that do everything right at the same time.

use super::frame::{ACK, Ack, Checksum, EOM, SYN, Segment, Transfer};
use super::receiver::{CLOSED, COMPLETE, OPEN, Receiver, STATE, USERS};
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_slmp::memory::{COMPLETED, Cause};
use spinneret_slmp::{Confirm, Received, ReceiverConfig, Verdict};
use std::collections::BTreeSet;
use std::time::Duration;

const UNIT: usize = 24;
const CAPACITY: u32 = 500;
const PLACES: usize = 3;
const NOW: Duration = Duration::ZERO;

/// Short messages of four senders, some with the same id, one with an end that looks like all others.
fn transfers(random: &mut ChaCha8Rng, count: u32) -> Vec<Transfer> {
    let transfer = |number: u32| {
        let unit = random.random_range(1..=UNIT);
        let length = random.random_range(0..=CAPACITY.min(12 * unit as u32)) as usize;
        let mut transfer = Transfer::new(number % 5 + 8 * (number % 2), length, unit);
        transfer.port = 1000 + (number % 3) as u16;
        transfer.source[3] = (number / 3) as u8;
        transfer.checksum = if number.is_multiple_of(4) {
            Checksum::Right
        } else {
            Checksum::None
        };
        transfer.bytes.iter_mut().for_each(|byte| *byte ^= number as u8);
        transfer
    };
    (0..count).map(transfer).collect()
}

/// Makes something else of a segment.
fn spoil(segment: &mut Segment, random: &mut ChaCha8Rng) {
    match random.random_range(0..9) {
        0 => segment.flags ^= EOM,
        1 => segment.flags ^= SYN,
        2 => segment.flags |= ACK,
        3 => {
            segment.offset = segment
                .offset
                .wrapping_add(random.random_range(0..30))
                .wrapping_sub(15)
        }
        4 => segment.offset = segment.offset.wrapping_add(24 * random.random_range(0..30)),
        5 => segment
            .payload
            .truncate(random.random_range(0..=segment.payload.len())),
        6 => segment.payload.push(0x5a),
        7 => segment.checksum = Checksum::Wrong,
        _ => segment.offset = random.random(),
    }
}

/// What the receiver for programs, the reference for the handlers, does with a segment.
fn reference(model: &mut spinneret_slmp::Receiver, segment: &Segment) -> (Cause, Vec<Ack>) {
    let before = model.counters().clone();
    let answers = model.receive_frame(NOW, &segment.frame());
    let is_it = |cause: &&Cause| model.counters()[**cause] != before[**cause];
    let cause = *Cause::ALL.iter().find(is_it).expect("each segment has one cause");
    // It fills frames up to the shortest of Ethernet, which the NIC does for handlers.
    (
        cause,
        answers.iter().map(|frame| Ack::read(&frame[..52])).collect(),
    )
}

/// One segment after the other, and the host in between: all is as in the reference.
#[test]
fn storms_do_what_the_reference_does() {
    let mut receiver = Receiver::new(PLACES, CAPACITY, Confirm::Memory);
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let confirm = *[Confirm::Memory, Confirm::Stored]
            .choose(random)
            .expect("there are two");
        receiver.prepare(CAPACITY, confirm);
        let config = ReceiverConfig {
            places: PLACES,
            capacity_bytes: CAPACITY as usize,
            confirm,
        };
        let mut model = spinneret_slmp::Receiver::new(config).expect("there are few places");
        let segments: Vec<Segment> = transfers(random, 7).iter().flat_map(Transfer::segments).collect();
        for step in 0..300 {
            let mut segment = segments.choose(random).expect("there are some").clone();
            if random.random_ratio(1, 4) {
                spoil(&mut segment, random);
            }
            let found = receiver.receive(&segment.frame());
            seen.insert(found.0 as u32);
            let wanted = reference(&mut model, &segment);
            assert_eq!(found, wanted, "seed {seed}, step {step}: {segment:?}");
            let place = random.random_range(0..PLACES);
            match random.random_range(0..20) {
                0..3 => match model.take_complete() {
                    Some(Received { key, data }) => {
                        let is_it = |place: &usize| {
                            receiver.completion(*place).is_some() && receiver.key(*place) == key
                        };
                        let place = (0..PLACES)
                            .find(is_it)
                            .expect("it is complete in the handlers' memory as well");
                        assert_eq!(
                            receiver.take(place),
                            Some((key.message_id, data)),
                            "seed {seed}, step {step}"
                        );
                        if confirm == Confirm::Stored {
                            model.confirm(NOW, &key, Verdict::Stored).expect("it was taken");
                        }
                    }
                    None => assert_eq!(receiver.take_any(), None, "seed {seed}, step {step}"),
                },
                3 if receiver.get(place, STATE) == OPEN => {
                    let given_up = model.give_up(NOW, &receiver.key(place));
                    assert!(given_up.is_some(), "seed {seed}, step {step}: it is open");
                    model.free_given_up();
                    receiver.set(place, STATE, CLOSED);
                    receiver.clear(place);
                }
                _ => {}
            }
            for place in 0..PLACES {
                let is_complete = receiver.get(place, STATE) == COMPLETE;
                assert_eq!(receiver.completion(place).is_some(), is_complete);
            }
        }
    }
    assert!(seen.len() >= 8, "the storms reach most causes: {seen:?}");
}

/// Takes what is complete; it has to be one of the messages as they were sent.
fn take_all(receiver: &mut Receiver, transfers: &[Transfer], taken: &mut BTreeSet<usize>, what: &str) {
    while let Some((message, bytes)) = receiver.take_any() {
        let is_it = |transfer: &Transfer| transfer.message == message && transfer.bytes == bytes;
        let found = transfers.iter().position(is_it);
        taken.insert(found.unwrap_or_else(|| panic!("{what}: message {message} was not sent so")));
    }
}

/// Gives up what nobody sends any more, so that others get its place.
fn give_up_all(receiver: &mut Receiver) {
    for place in 0..PLACES {
        if receiver.get(place, STATE) == OPEN {
            receiver.set(place, STATE, CLOSED);
            receiver.clear(place);
        }
    }
}

fn check_at_rest(receiver: &Receiver, pushed: u32, what: &str) {
    for place in 0..PLACES {
        assert_eq!(receiver.get(place, USERS), 0, "{what}: place {place}");
    }
    let counted: u32 = Cause::ALL.iter().map(|cause| receiver.count(*cause)).sum();
    assert_eq!(counted, pushed, "{what}: each segment has one cause");
}

/// Senders that repeat all segments until they are told that the message is there, everything at once on all HPUs, with
/// a host that is slow and takes messages at any time.
#[test]
fn everything_arrives_however_segments_meet() {
    let mut receiver = Receiver::new(PLACES, CAPACITY, Confirm::Memory);
    for seed in 0..60 {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let confirm = *[Confirm::Memory, Confirm::Stored]
            .choose(random)
            .expect("there are two");
        receiver.prepare(CAPACITY, confirm);
        let transfers = transfers(random, 6);
        let (mut taken, mut told, mut pushed) = (BTreeSet::new(), BTreeSet::new(), 0);
        for round in 0.. {
            let what = format!("seed {seed}, round {round}");
            assert!(round < 40, "{what}: it does not get on");
            let open = (0..transfers.len()).filter(|number| !told.contains(number));
            // As many as there are places have a chance to go on together.
            let mut segments: Vec<Segment> = open
                .take(PLACES + 1)
                .flat_map(|number| transfers[number].segments())
                .collect();
            if segments.is_empty() {
                break;
            }
            segments.extend(segments.clone().into_iter().filter(|_| random.random_ratio(1, 3)));
            segments.shuffle(random);
            receiver.bench.host_clocks = random.random_range(0..400);
            for segment in segments {
                receiver.push(&segment.frame());
                pushed += 1;
                for _ in 0..random.random_range(0..60) {
                    receiver.bench.clock();
                }
                if random.random_ratio(1, 30) {
                    take_all(&mut receiver, &transfers, &mut taken, &what);
                }
            }
            receiver.bench.run();
            take_all(&mut receiver, &transfers, &mut taken, &what);
            for ack in receiver.acks().iter().filter(|ack| ack.flags & EOM != 0) {
                let is_it = |transfer: &Transfer| transfer.segments().last().map(Ack::of) == Some(*ack);
                let number = transfers.iter().position(is_it).expect("some message ends so");
                assert!(
                    taken.contains(&number),
                    "{what}: an end is acknowledged when all is there"
                );
                told.insert(number);
            }
            check_at_rest(&receiver, pushed, &what);
            give_up_all(&mut receiver);
        }
        assert_eq!(taken.len(), transfers.len(), "seed {seed}");
    }
}

/// Senders that contradict themselves, all at once: nothing breaks, and what they are told is counted.
#[test]
fn nothing_breaks_when_senders_contradict_themselves() {
    let mut receiver = Receiver::new(PLACES, CAPACITY, Confirm::Memory);
    for seed in 0..60 {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        receiver.prepare(CAPACITY, Confirm::Memory);
        receiver.bench.host_clocks = random.random_range(0..300);
        let segments: Vec<Segment> = transfers(random, 4).iter().flat_map(Transfer::segments).collect();
        let (mut ends, mut completed) = (0, 0);
        for _ in 0..300 {
            let mut segment = segments.choose(random).expect("there are some").clone();
            if random.random_ratio(1, 2) {
                spoil(&mut segment, random);
            }
            receiver.push(&segment.frame());
            if random.random_ratio(1, 40) {
                completed += u32::from(receiver.take_any().is_some());
            }
        }
        receiver.bench.run();
        check_at_rest(&receiver, 300, &format!("seed {seed}"));
        ends += receiver.acks().iter().filter(|ack| ack.flags & EOM != 0).count();
        // take() has seen to it that every byte of these messages was written.
        while receiver.take_any().is_some() {
            completed += 1;
        }
        assert_eq!(receiver.counters()[COMPLETED], completed, "seed {seed}");
        assert!(
            ends == 0 || completed > 0,
            "seed {seed}: an end is acknowledged when all is there"
        );
    }
}
