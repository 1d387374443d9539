//! Meetings of two HPUs, or of an HPU and the host, that take a certain distance of clocks to happen. Nightly tests try all
//! distances, others one in three or in seven.

use super::receiver::{CLOSED, COMPLETE, OPEN, RELEASED, Receiver, STATE, USERS};
use super::{ACK, Ack, Checksum, EOM, SYN, Segment, Transfer};
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_skip::stride;
use spinneret_slmp::memory::{COMPLETED, Cause};
use spinneret_slmp::{Confirm, Received, ReceiverConfig, Verdict};
use std::collections::BTreeSet;
use std::time::Duration;

const UNIT: usize = 100;
const CAPACITY: u32 = 1000;

/// Sends two segments with a distance in clocks.
fn send_apart(receiver: &mut Receiver, segments: [&Segment; 2], clocks: u32) {
    receiver.push(&segments[0].frame());
    for _ in 0..clocks {
        receiver.bench.clock();
    }
    receiver.push(&segments[1].frame());
    receiver.bench.run();
}

/// The second one looks for the message before the first one has opened it, and for room after that.
#[test]
fn two_segments_open_a_message_in_the_last_place() {
    for mut receiver in Receiver::each(1, CAPACITY, Confirm::Memory) {
        let segments = Transfer::new(7, 2 * UNIT, UNIT).segments();
        for clocks in (0..700).step_by(stride(3)) {
            receiver.prepare(CAPACITY, Confirm::Memory);
            send_apart(&mut receiver, [&segments[0], &segments[1]], clocks);
            assert_eq!(receiver.count(Cause::Accepted), 2, "{clocks} clocks apart");
            assert_eq!(receiver.acks().len(), 2, "{clocks} clocks apart");
        }
    }
}

/// The end has come, and two segments would both lead to it, but not together.
#[test]
fn two_segments_say_how_long_segments_are() {
    let mut receiver = Receiver::new(1, CAPACITY, Confirm::Memory);
    let end = Segment::new(EOM | SYN, 3, 2 * UNIT as u32, &[1; 10]);
    let long = Segment::new(SYN, 3, 0, &[2; UNIT]);
    let short = Segment::new(SYN, 3, 50, &[3; UNIT / 2]);
    for clocks in 0..150 {
        for segments in [[&long, &short], [&short, &long]] {
            receiver.prepare(CAPACITY, Confirm::Memory);
            receiver.send(std::slice::from_ref(&end));
            send_apart(&mut receiver, segments, clocks);
            let counts = [Cause::Accepted, Cause::Misplaced].map(|cause| receiver.count(cause));
            assert_eq!(counts, [2, 1], "{clocks} clocks apart");
            // Which of them is first is a matter of what each HPU has to fetch.
            let acks = receiver.acks();
            let has_won = segments.iter().any(|segment| acks == [Ack::of(segment)]);
            assert!(has_won, "{clocks} clocks apart: {acks:?}");
        }
    }
}

/// Whichever is counted last sees that it is, and the other one does not.
#[test]
fn the_end_and_the_last_other_segment_come_together() {
    for mut receiver in Receiver::each(1, CAPACITY, Confirm::Memory) {
        // With the first ones an HPU of spinneret's own remembers the message.
        let transfer = Transfer::new(6, 6 * UNIT, UNIT);
        let segments = transfer.segments();
        let (first, [other, end]) = segments.split_last_chunk().expect("there are more");
        for clocks in (0..500).step_by(stride(3)) {
            for segments in [[other, end], [end, other]] {
                receiver.prepare(CAPACITY, Confirm::Memory);
                receiver.bench.host_clocks = u64::from(clocks % 7 * 20);
                receiver.send(first);
                send_apart(&mut receiver, segments, clocks);
                let what = format!("{clocks} clocks apart");
                assert_eq!(receiver.counters()[COMPLETED], 1, "{what}");
                assert_eq!(receiver.acks().last(), Some(&Ack::of(end)), "{what}");
                assert_eq!(receiver.take(0), Some((6, transfer.bytes.clone())), "{what}");
            }
        }
    }
}

/// Once the host sees no user of a place that it has closed, no segment is accepted for it, and all its acknowledgements
/// were sent before.
#[test]
fn the_host_closes_a_place_in_every_clock_of_a_segment() {
    for mut receiver in Receiver::each(1, CAPACITY, Confirm::Memory) {
        let segments = Transfer::new(5, 5 * UNIT, UNIT).segments();
        let mut taken = [[0; 2]; 3];
        // The first segment opens the message, and an HPU of spinneret's own remembers it at the last one.
        for (case, number, clocks) in [(0, 0), (1, 1), (2, 3)].into_iter().flat_map(|(case, number)| {
            (0..7200)
                .step_by(stride(7))
                .map(move |clocks| (case, number, clocks))
        }) {
            receiver.prepare(CAPACITY, Confirm::Memory);
            receiver.send(&segments[..number]);
            let before = receiver.count(Cause::Accepted);
            receiver.push(&segments[number].frame());
            for _ in 0..clocks {
                receiver.bench.clock();
            }
            if receiver.get(0, STATE) != OPEN {
                receiver.bench.run();
                assert_eq!((number, receiver.acks().len()), (0, 1), "it was not opened yet");
                continue;
            }
            receiver.set(0, STATE, CLOSED);
            receiver.run_until("nobody is in the place", |receiver| receiver.get(0, USERS) == 0);
            let (accepted, written) = (receiver.count(Cause::Accepted), receiver.written());
            receiver.bench.run();
            let what = format!("segment {number}, closed after {clocks} clocks");
            assert_eq!(receiver.count(Cause::Accepted), accepted, "{what}");
            assert_eq!(receiver.written(), written, "{what}");
            assert_eq!(receiver.acks().len(), (accepted - before) as usize, "{what}");
            taken[case][(accepted - before) as usize] += 1;
        }
        assert!(
            taken.as_flattened().iter().all(|count| *count > 20 / stride(7)),
            "{taken:?}"
        );
    }
}

/// A duplicate of the message that was in a place is never confused with one of the message that gets the place.
#[test]
fn a_duplicate_and_a_new_message_meet_in_a_released_place() {
    for mut receiver in Receiver::each(1, CAPACITY, Confirm::Memory) {
        let [old, new] = [16, 24].map(|message| Transfer::new(message, 2 * UNIT, UNIT));
        let duplicate = &old.segments()[1];
        for clocks in (0..500).step_by(stride(3)) {
            for is_first in [false, true] {
                receiver.prepare(CAPACITY, Confirm::Memory);
                receiver.send(&old.segments());
                assert!(receiver.take(0).is_some());
                let segments = new.segments();
                let pair = match is_first {
                    true => [duplicate, &segments[0]],
                    false => [&segments[0], duplicate],
                };
                send_apart(&mut receiver, pair, clocks);
                let refused = receiver.count(Cause::NoRoom);
                let what = format!("{clocks} clocks apart");
                assert!(refused <= 1, "{what}: one of them has the place");
                assert_eq!(receiver.acks().len(), 2 - refused as usize, "{what}");
                receiver.send(&segments);
                assert_eq!(receiver.take(0), Some((24, new.bytes.clone())), "{what}");
            }
        }
    }
}

/// Runs until a completion is there: a message is complete, and its handler does not know yet that the host can see it.
fn run_to_completion(transfer: &Transfer) -> Receiver {
    let mut receiver = Receiver::new(1, CAPACITY, Confirm::Memory);
    for segment in transfer.segments() {
        receiver.push(&segment.frame());
    }
    receiver.run_until("the completion is there", |receiver| {
        receiver.completion(0).is_some()
    });
    assert_ne!(receiver.get(0, USERS), 0, "the handler is at work");
    receiver
}

#[test]
fn the_host_may_take_a_message_as_soon_as_its_completion_is_there() {
    let transfer = Transfer::new(2, 3 * UNIT, UNIT);
    let mut receiver = run_to_completion(&transfer);
    assert_eq!(receiver.take(0), Some((2, transfer.bytes.clone())));
    receiver.bench.run();
    assert_eq!([STATE, USERS].map(|word| receiver.get(0, word)), [RELEASED, 0]);
    assert_eq!(
        receiver.acks().last(),
        transfer.segments().last().map(Ack::of).as_ref()
    );
}

#[test]
fn given_up_message_gets_no_late_acknowledgement() {
    let transfer = Transfer::new(2, 3 * UNIT, UNIT);
    let mut receiver = run_to_completion(&transfer);
    receiver.set(0, STATE, CLOSED);
    receiver.bench.run();
    assert_eq!([STATE, USERS].map(|word| receiver.get(0, word)), [CLOSED, 0]);
    assert!(receiver.acks().iter().all(|ack| ack.flags & EOM == 0));
    // The host sees that it came whole, and may take it after all; the sender's next question is answered then.
    assert_eq!(receiver.take(0), Some((2, transfer.bytes.clone())));
    let end = &transfer.segments()[2];
    assert_eq!(
        receiver.receive(&end.frame()),
        (Cause::Duplicate, vec![Ack::of(end)])
    );
}

const SHORT_UNIT: usize = 24;
const SMALL_CAPACITY: u32 = 500;
const PLACES: usize = 3;
const NOW: Duration = Duration::ZERO;

/// Short messages of four senders, some with the same id, one with an end that looks like all others.
fn transfers(random: &mut ChaCha8Rng, count: u32) -> Vec<Transfer> {
    let transfer = |number: u32| {
        let unit = random.random_range(1..=SHORT_UNIT);
        let length = random.random_range(0..=SMALL_CAPACITY.min(12 * unit as u32)) as usize;
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
pub(super) fn spoil(segment: &mut Segment, random: &mut ChaCha8Rng) {
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

/// The reaction of the receiver for programs, the reference for the handlers, to a segment.
pub(super) fn reference(model: &mut spinneret_slmp::Receiver, segment: &Segment) -> (Cause, Vec<Ack>) {
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
    for mut receiver in Receiver::each(PLACES, SMALL_CAPACITY, Confirm::Memory) {
        let mut seen = BTreeSet::new();
        for seed in (0..100).step_by(stride(4)) {
            let random = &mut ChaCha8Rng::seed_from_u64(seed);
            let confirm = *[Confirm::Memory, Confirm::Stored]
                .choose(random)
                .expect("there are two");
            receiver.prepare(SMALL_CAPACITY, confirm);
            let config = ReceiverConfig {
                places: PLACES,
                capacity_bytes: SMALL_CAPACITY as usize,
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
}

/// Takes what is complete; it has to be one of the messages as they were sent.
fn take_all(receiver: &mut Receiver, transfers: &[Transfer], taken: &mut BTreeSet<usize>, what: &str) {
    while let Some((message, bytes)) = receiver.take_any() {
        let is_it = |transfer: &Transfer| transfer.message == message && transfer.bytes == bytes;
        let found = transfers.iter().position(is_it);
        taken.insert(found.unwrap_or_else(|| panic!("{what}: message {message} was not sent so")));
    }
}

/// Gives up messages that are no longer sent, so that others get their places.
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

/// Senders that repeat all segments until the message is acknowledged, everything at once on all HPUs, with
/// a host that is slow and takes messages at any time.
#[test]
fn everything_arrives_however_segments_meet() {
    for mut receiver in Receiver::each(PLACES, SMALL_CAPACITY, Confirm::Memory) {
        for seed in (0..60).step_by(stride(2)) {
            let random = &mut ChaCha8Rng::seed_from_u64(seed);
            let confirm = *[Confirm::Memory, Confirm::Stored]
                .choose(random)
                .expect("there are two");
            receiver.prepare(SMALL_CAPACITY, confirm);
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
}

/// Senders that contradict themselves, all at once: nothing breaks, and their answers are counted.
#[test]
fn nothing_breaks_when_senders_contradict_themselves() {
    for mut receiver in Receiver::each(PLACES, SMALL_CAPACITY, Confirm::Memory) {
        for seed in (0..60).step_by(stride(2)) {
            let random = &mut ChaCha8Rng::seed_from_u64(seed);
            receiver.prepare(SMALL_CAPACITY, Confirm::Memory);
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
}
