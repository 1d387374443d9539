//! Messages arrive whole, in whatever order their segments come.

use super::receiver::{CLOSED, COMPLETE, DONE, FREE, MESSAGE_ID, OPEN, RELEASED, Receiver, STATE, USERS};
use super::{ACK, Ack, Checksum, EOM, SYN, Segment, Transfer};
use spinneret_slmp::Confirm;
use spinneret_slmp::memory::{ACKS_SENT, COMPLETED, Cause, DONE_END};

const UNIT: usize = 200;
const CAPACITY: u32 = 20_000;

fn receiver() -> Receiver {
    Receiver::new(8, CAPACITY, Confirm::Memory)
}

/// The message is complete and all of its segments were acknowledged, EOM last; nothing else was written.
fn check_arrived(receiver: &mut Receiver, transfer: &Transfer, acks: &[Ack]) {
    let place = transfer.message as usize % 8;
    let length = transfer.bytes.len() as u32;
    assert_eq!(receiver.completion(place), Some((transfer.message, length)));
    assert_eq!(
        [STATE, USERS, DONE].map(|word| receiver.get(place, word)),
        [COMPLETE, 0, DONE_END | transfer.segments().len() as u32]
    );
    assert_eq!(receiver.region(place, length).as_ref(), Some(&transfer.bytes));
    let completion = 64 * place as u32..64 * place as u32 + 8;
    let region = receiver.get(place, super::receiver::REGION);
    let wanted = [completion, region..region + length];
    let wanted: Vec<_> = wanted.into_iter().filter(|range| !range.is_empty()).collect();
    assert_eq!(receiver.written(), wanted);

    let segments = transfer.segments();
    let mut wanted: Vec<Ack> = segments.iter().map(Ack::of).collect();
    assert_eq!(acks.last(), wanted.last(), "EOM is acknowledged last");
    let mut sent = acks.to_vec();
    wanted.sort();
    sent.sort();
    assert_eq!(sent, wanted);
    let counters = receiver.counters();
    assert_eq!(counters[Cause::Accepted as usize] as usize, segments.len());
    assert_eq!(
        (counters[ACKS_SENT] as usize, counters[COMPLETED]),
        (segments.len(), 1)
    );
}

#[test]
fn segments_come_in_order() {
    for length in [1, UNIT - 1, UNIT, UNIT + 1, 3 * UNIT, 40 * UNIT + 7] {
        let transfer = Transfer::new(0xabcd_0003, length, UNIT);
        let mut receiver = receiver();
        let acks = receiver.send(&transfer.segments());
        check_arrived(&mut receiver, &transfer, &acks);
    }
}

#[test]
fn an_empty_message_is_a_message() {
    let transfer = Transfer::new(5, 0, UNIT);
    let mut receiver = receiver();
    let acks = receiver.send(&transfer.segments());
    check_arrived(&mut receiver, &transfer, &acks);
}

#[test]
fn segments_come_in_reverse() {
    let transfer = Transfer::new(1, 70 * UNIT + 50, UNIT);
    let mut segments = transfer.segments();
    segments.reverse();
    let mut receiver = receiver();
    let acks = receiver.send(&segments);
    check_arrived(&mut receiver, &transfer, &acks);
}

#[test]
fn the_end_comes_first_and_all_others_at_once() {
    let transfer = Transfer::new(0, 15 * UNIT + 1, UNIT);
    let mut segments = transfer.segments();
    segments.rotate_right(1);
    for host_clocks in [0, 100, 1000] {
        let mut receiver = receiver();
        receiver.bench.host_clocks = host_clocks;
        let acks = receiver.send_at_once(&segments);
        check_arrived(&mut receiver, &transfer, &acks);
    }
}

#[test]
fn all_segments_come_at_once_on_all_hpus() {
    for seed in 0..20 {
        let transfer = Transfer::new(seed, 47 * UNIT + 100, UNIT);
        let mut segments = transfer.segments();
        segments.rotate_left(2 * seed as usize);
        let mut receiver = receiver();
        let acks = receiver.send_at_once(&segments);
        check_arrived(&mut receiver, &transfer, &acks);
        let hpus: std::collections::BTreeSet<_> = receiver.bench.runs().map(|run| run.hpu).collect();
        assert_eq!(hpus.len(), 16);
    }
}

#[test]
fn a_segment_that_comes_many_times_is_taken_once() {
    let transfer = Transfer::new(9, 4 * UNIT + 3, UNIT);
    for segment in transfer.segments() {
        let mut receiver = receiver();
        let acks = receiver.send_at_once(&vec![segment.clone(); 32]);
        assert_eq!(
            [Cause::Accepted, Cause::Duplicate].map(|cause| receiver.count(cause)),
            [1, 31]
        );
        // EOM is not delivered, so it is not acknowledged.
        let wanted = if segment.flags & EOM == 0 { 32 } else { 0 };
        assert_eq!(acks, vec![Ack::of(&segment); wanted]);
        assert_eq!(receiver.get(1, DONE) & !DONE_END, 1);
    }
}

#[test]
fn repeated_segments_of_a_complete_message_are_acknowledged_again() {
    let transfer = Transfer::new(2, 3 * UNIT, UNIT);
    let mut receiver = receiver();
    receiver.send(&transfer.segments());
    for segment in transfer.segments() {
        let (cause, acks) = receiver.receive(&segment.frame());
        assert_eq!((cause, acks), (Cause::Duplicate, vec![Ack::of(&segment)]));
    }
    assert_eq!(receiver.get(2, DONE), DONE_END | 3);
}

#[test]
fn only_segments_that_ask_are_acknowledged() {
    let transfer = Transfer::new(2, 4 * UNIT, UNIT);
    let mut segments = transfer.segments();
    for segment in &mut segments[1..] {
        segment.flags &= !SYN;
    }
    let mut receiver = receiver();
    let twice = [segments.clone(), segments.clone()].concat();
    assert_eq!(receiver.send(&twice), vec![Ack::of(&segments[0]); 2]);
    assert_eq!(receiver.completion(2), Some((2, 4 * UNIT as u32)));
}

/// The segment that completes the message answers for EOM, whether it asked for an answer itself or not. Its own answer
/// may still be under way, in the same memory.
#[test]
fn the_last_to_come_acknowledges_the_end() {
    for (asks, send_clocks) in [(0, 0), (SYN, 0), (SYN, 700)] {
        let transfer = Transfer::new(2, 2 * UNIT, UNIT);
        let [mut first, end] = <[Segment; 2]>::try_from(transfer.segments()).expect("there are two");
        first.flags = asks;
        let mut receiver = receiver();
        receiver.bench.send_clocks = send_clocks;
        assert_eq!(receiver.send(std::slice::from_ref(&end)), []);
        let acks = receiver.send(std::slice::from_ref(&first));
        let own = (asks != 0).then(|| Ack::of(&first));
        assert_eq!(acks, own.into_iter().chain([Ack::of(&end)]).collect::<Vec<_>>());
        assert_eq!(acks.last().map(|ack| ack.flags), Some(EOM | SYN | ACK));
    }
}

/// However slow the host is, nothing says that a message is there before it is.
#[test]
fn the_end_is_acknowledged_after_all_bytes_are_there() {
    let transfer = Transfer::new(4, 15 * UNIT + 9, UNIT);
    let mut receiver = receiver();
    receiver.bench.host_clocks = 3000;
    for segment in transfer.segments().iter().rev() {
        receiver.push(&segment.frame());
    }
    while receiver.bench.freed.len() < 16 {
        receiver.bench.clock();
        if receiver.acks().iter().any(|ack| ack.flags & EOM != 0) {
            assert_eq!(
                receiver.region(4, transfer.bytes.len() as u32).as_ref(),
                Some(&transfer.bytes)
            );
            assert_eq!(receiver.completion(4), Some((4, transfer.bytes.len() as u32)));
            return;
        }
    }
    panic!("the end was not acknowledged");
}

#[test]
fn with_confirm_stored_the_end_is_acknowledged_after_the_host_has_stored_it() {
    let transfer = Transfer::new(6, 3 * UNIT, UNIT);
    let segments = transfer.segments();
    let mut receiver = Receiver::new(8, CAPACITY, Confirm::Stored);
    let acks = receiver.send(&segments);
    assert_eq!(acks, segments[..2].iter().map(Ack::of).collect::<Vec<_>>());
    assert_eq!(receiver.send(&segments[2..]), [], "complete, but not stored");
    assert_eq!(receiver.send(&segments[..1]), [Ack::of(&segments[0])]);
    assert_eq!(receiver.take(6), Some((6, transfer.bytes.clone())));
    assert_eq!(receiver.acks(), [], "nothing is sent when the host stores");
    assert_eq!(receiver.send(&segments[2..]), [Ack::of(&segments[2])]);
}

#[test]
fn udp_checksums_are_verified_for_all_lengths() {
    let mut receiver = Receiver::new(1, 100_000, Confirm::Memory);
    for length in (1..=130).chain([255, 256, 257, 1023, 1024, 1460, 1461, 1462]) {
        let mut transfer = Transfer::new(length as u32, length, 1462);
        for (checksum, wanted) in [
            (Checksum::Wrong, Cause::UdpChecksum),
            (Checksum::Right, Cause::Accepted),
            (Checksum::None, Cause::Duplicate),
        ] {
            transfer.checksum = checksum;
            let (cause, _) = receiver.receive(&transfer.segments()[0].frame());
            assert_eq!(cause, wanted, "{length} bytes, {checksum:?}");
        }
        assert_eq!(receiver.take(0), Some((transfer.message, transfer.bytes)));
    }
}

const SHORT_UNIT: usize = 100;
const SMALL_CAPACITY: u32 = 4000;

fn small_receiver(places: usize) -> Receiver {
    Receiver::new(places, SMALL_CAPACITY, Confirm::Memory)
}

fn states(receiver: &Receiver, places: usize) -> Vec<u32> {
    (0..places).map(|place| receiver.get(place, STATE)).collect()
}

/// Segments of all messages in turn.
fn mixed(transfers: &[Transfer]) -> Vec<Segment> {
    let all: Vec<_> = transfers.iter().map(Transfer::segments).collect();
    let most = all.iter().map(Vec::len).max().unwrap_or(0);
    (0..most)
        .flat_map(|number| {
            all.iter()
                .filter_map(move |segments| segments.get(number).cloned())
        })
        .collect()
}

#[test]
fn messages_of_the_same_id_from_two_senders_are_two_messages() {
    for differs in ["address", "port", "half an address"] {
        let mut transfers = [10, 13].map(|segments| Transfer::new(77, segments * SHORT_UNIT + 1, SHORT_UNIT));
        match differs {
            "address" => transfers[0].source = [10, 0, 0, 9],
            "port" => transfers[0].port = 4321,
            _ => transfers[0].source = [11, 0, 0, 1],
        }
        // The same id makes the same bytes; the senders' are to differ.
        transfers[0].bytes.reverse();
        let mut receiver = small_receiver(8);
        let segments = mixed(&transfers);
        let mut acks = receiver.send_at_once(&segments);
        let mut wanted: Vec<Ack> = segments.iter().map(Ack::of).collect();
        acks.sort();
        wanted.sort();
        assert_eq!(acks, wanted, "another {differs}");
        let mut taken: Vec<_> = std::iter::from_fn(|| receiver.take_any()).collect();
        taken.sort_by_key(|(_, bytes)| bytes.len());
        let wanted = transfers.map(|transfer| (transfer.message, transfer.bytes));
        assert_eq!(taken, wanted, "another {differs}");
    }
}

#[test]
fn all_places_are_used_from_the_ids_place_on() {
    for places in 1..=8 {
        let mut receiver = small_receiver(places);
        for number in 0..places as u32 {
            // All begin their search at the last place.
            receiver.send(&[Segment::new(SYN, 7 + 8 * number, 0, &[3; SHORT_UNIT])]);
            let open = states(&receiver, places)
                .iter()
                .filter(|state| **state == OPEN)
                .count();
            assert_eq!(open, number as usize + 1);
            assert_eq!(receiver.get(places - 1, STATE), OPEN);
        }
        let further = Segment::new(SYN, 7 + 8 * places as u32, 0, &[3; SHORT_UNIT]);
        assert_eq!(receiver.receive(&further.frame()), (Cause::NoRoom, vec![]));
    }
}

#[test]
fn reuses_released_place_when_none_is_free() {
    let mut receiver = small_receiver(2);
    let [first, second, third] = [0, 4, 8].map(|id| Transfer::new(id, 33 * SHORT_UNIT, SHORT_UNIT));
    receiver.send(&first.segments());
    assert_eq!(receiver.take(0), Some((0, first.bytes.clone())));
    receiver.send(&second.segments());
    assert_eq!(
        states(&receiver, 2),
        [RELEASED, COMPLETE],
        "a free place is taken first"
    );
    let acks = receiver.send_at_once(&third.segments());
    assert_eq!((states(&receiver, 2), acks.len()), (vec![COMPLETE; 2], 33));
    assert_eq!(receiver.take(0), Some((8, third.bytes)));
    assert_eq!(receiver.take(1), Some((4, second.bytes)));
}

#[test]
fn a_late_duplicate_of_a_released_message_is_acknowledged() {
    let transfer = Transfer::new(3, 5 * SHORT_UNIT, SHORT_UNIT);
    let mut receiver = small_receiver(4);
    receiver.send(&transfer.segments());
    let place = (0..4).find(|place| receiver.get(*place, STATE) == COMPLETE);
    let place = place.expect("it is complete");
    assert_eq!(receiver.take(place), Some((3, transfer.bytes.clone())));
    let written = receiver.written();
    for segment in transfer.segments() {
        let (cause, acks) = receiver.receive(&segment.frame());
        assert_eq!((cause, acks), (Cause::Duplicate, vec![Ack::of(&segment)]));
    }
    assert_eq!(
        (receiver.get(place, STATE), receiver.completion(place)),
        (RELEASED, None)
    );
    assert_eq!(receiver.written(), written);
}

/// Many HPUs open the same message in the last place that can be had; none of them finds it taken.
#[test]
fn one_place_is_enough_for_all_hpus() {
    for (host_clocks, is_released) in [(0, false), (0, true), (700, false), (700, true)] {
        let mut receiver = small_receiver(1);
        if is_released {
            receiver.send(&Transfer::new(1, SHORT_UNIT, SHORT_UNIT).segments());
            assert!(receiver.take(0).is_some());
        }
        receiver.bench.host_clocks = host_clocks;
        let transfer = Transfer::new(2, 40 * SHORT_UNIT, SHORT_UNIT);
        let acks = receiver.send_at_once(&transfer.segments());
        assert_eq!((acks.len(), receiver.count(Cause::NoRoom)), (40, 0));
        assert_eq!(receiver.take(0), Some((2, transfer.bytes)));
    }
}

/// A place that an HPU still uses is not given to another message.
#[test]
fn does_not_reuse_released_place_with_users() {
    let mut receiver = small_receiver(1);
    receiver.send(&Transfer::new(1, SHORT_UNIT, SHORT_UNIT).segments());
    assert!(receiver.take(0).is_some());
    receiver.set(0, USERS, 1);
    let segment = Segment::new(SYN, 2, 0, &[1; SHORT_UNIT]);
    assert_eq!(receiver.receive(&segment.frame()), (Cause::NoRoom, vec![]));
    assert_eq!(receiver.get(0, STATE), RELEASED);
    receiver.set(0, USERS, 0);
    assert_eq!(receiver.receive(&segment.frame()).0, Cause::Accepted);
}

/// A message that is too long for the place leaves the released message in it.
#[test]
fn a_refused_message_leaves_the_place_as_it_was() {
    let mut receiver = small_receiver(1);
    let transfer = Transfer::new(1, SHORT_UNIT, SHORT_UNIT);
    receiver.send(&transfer.segments());
    assert!(receiver.take(0).is_some());
    let segment = Segment::new(SYN, 2, SMALL_CAPACITY, &[1; SHORT_UNIT]);
    assert_eq!(receiver.receive(&segment.frame()), (Cause::TooLong, vec![]));
    let (cause, acks) = receiver.receive(&transfer.segments()[0].frame());
    assert_eq!((cause, acks.len()), (Cause::Duplicate, 1));
}

/// The host gives a message up while its segments come, after each number of clocks.
#[test]
fn the_host_closes_a_place_in_traffic() {
    let transfer = Transfer::new(5, 39 * SHORT_UNIT, SHORT_UNIT);
    let other = Transfer::new(9, 12 * SHORT_UNIT, SHORT_UNIT);
    for clocks in (0..2600).step_by(130) {
        let mut receiver = small_receiver(2);
        receiver.bench.host_clocks = 300;
        receiver.send(&[transfer.segments()[0].clone(), other.segments()[0].clone()]);
        let place = (0..2)
            .find(|place| receiver.get(*place, MESSAGE_ID) == 5)
            .expect("it is open");
        for segment in mixed(&[transfer.clone(), other.clone()]) {
            receiver.push(&segment.frame());
        }
        for _ in 0..clocks {
            receiver.bench.clock();
        }
        receiver.set(place, STATE, CLOSED);
        // The host waits until no HPU uses the place, and nothing is written to it from then on.
        receiver.run_until("nobody is in the place", |receiver| {
            receiver.get(place, USERS) == 0
        });
        let (before, completion) = (receiver.written_to(place), receiver.completion(place));
        // Meanwhile an HPU may enter the place and leave it again, so `users` is not checked any more.
        receiver.bench.run();
        assert_eq!(receiver.written_to(place), before, "closed after {clocks} clocks");
        assert_eq!(receiver.completion(place), completion);
        assert_eq!(receiver.get(place, STATE), CLOSED);
        let sum = [Cause::Accepted, Cause::Duplicate, Cause::GivenUp].map(|cause| receiver.count(cause));
        assert_eq!(sum.iter().sum::<u32>(), 2 + 39 + 12);
        // A message with a completion is complete, even if the sender got no acknowledgement.
        if completion.is_some() {
            let region = receiver.region(place, transfer.bytes.len() as u32);
            assert_eq!(region.as_ref(), Some(&transfer.bytes));
        } else {
            assert!(receiver.count(Cause::GivenUp) > 0);
        }
        // The other message was not disturbed, and the place can be used again.
        let acks = receiver.acks().into_iter().filter(|ack| ack.message == 9);
        assert_eq!(acks.count(), 12);
        assert_eq!(receiver.take(1 - place), Some((9, other.bytes.clone())));
        let (cause, acks) = receiver.receive(&transfer.segments()[1].frame());
        assert_eq!((cause, acks), (Cause::GivenUp, vec![]));
        receiver.clear(place);
        receiver.bench.host.clear();
        let acks = receiver.send_at_once(&transfer.segments());
        assert_eq!(acks.len(), 39);
        assert_eq!(receiver.take_any(), Some((5, transfer.bytes.clone())));
        assert_eq!(
            states(&receiver, 2)
                .iter()
                .filter(|state| **state == FREE)
                .count(),
            0
        );
    }
}
