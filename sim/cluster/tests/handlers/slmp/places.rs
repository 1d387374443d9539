//! Several messages at once, and the host that takes them and gives them up.

use super::frame::{Ack, SYN, Segment, Transfer};
use super::receiver::{CLOSED, COMPLETE, FREE, MESSAGE_ID, OPEN, RELEASED, Receiver, STATE, USERS};
use spinneret_slmp::Confirm;
use spinneret_slmp::memory::Cause;

const UNIT: usize = 100;
const CAPACITY: u32 = 4000;

fn receiver(places: usize) -> Receiver {
    Receiver::new(places, CAPACITY, Confirm::Memory)
}

fn states(receiver: &Receiver, places: usize) -> Vec<u32> {
    (0..places).map(|place| receiver.get(place, STATE)).collect()
}

/// Segments of all messages in turns.
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
        let mut transfers = [10, 13].map(|segments| Transfer::new(77, segments * UNIT + 1, UNIT));
        match differs {
            "address" => transfers[0].source = [10, 0, 0, 9],
            "port" => transfers[0].port = 4321,
            _ => transfers[0].source = [11, 0, 0, 1],
        }
        // The same id makes the same bytes; the senders' are to differ.
        transfers[0].bytes.reverse();
        let mut receiver = receiver(8);
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
        let mut receiver = receiver(places);
        for number in 0..places as u32 {
            // All begin their search at the last place.
            receiver.send(&[Segment::new(SYN, 7 + 8 * number, 0, &[3; UNIT])]);
            let open = states(&receiver, places)
                .iter()
                .filter(|state| **state == OPEN)
                .count();
            assert_eq!(open, number as usize + 1);
            assert_eq!(receiver.get(places - 1, STATE), OPEN);
        }
        let further = Segment::new(SYN, 7 + 8 * places as u32, 0, &[3; UNIT]);
        assert_eq!(receiver.receive(&further.frame()), (Cause::NoRoom, vec![]));
    }
}

#[test]
fn a_released_place_is_used_anew_when_no_place_is_free() {
    let mut receiver = receiver(2);
    let [first, second, third] = [0, 4, 8].map(|id| Transfer::new(id, 33 * UNIT, UNIT));
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
    let transfer = Transfer::new(3, 5 * UNIT, UNIT);
    let mut receiver = receiver(4);
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
        let mut receiver = receiver(1);
        if is_released {
            receiver.send(&Transfer::new(1, UNIT, UNIT).segments());
            assert!(receiver.take(0).is_some());
        }
        receiver.bench.host_clocks = host_clocks;
        let transfer = Transfer::new(2, 40 * UNIT, UNIT);
        let acks = receiver.send_at_once(&transfer.segments());
        assert_eq!((acks.len(), receiver.count(Cause::NoRoom)), (40, 0));
        assert_eq!(receiver.take(0), Some((2, transfer.bytes)));
    }
}

/// A place in which somebody still works is not given to another message.
#[test]
fn a_released_place_with_users_is_not_used_anew() {
    let mut receiver = receiver(1);
    receiver.send(&Transfer::new(1, UNIT, UNIT).segments());
    assert!(receiver.take(0).is_some());
    receiver.set(0, USERS, 1);
    let segment = Segment::new(SYN, 2, 0, &[1; UNIT]);
    assert_eq!(receiver.receive(&segment.frame()), (Cause::NoRoom, vec![]));
    assert_eq!(receiver.get(0, STATE), RELEASED);
    receiver.set(0, USERS, 0);
    assert_eq!(receiver.receive(&segment.frame()).0, Cause::Accepted);
}

/// A message that is too long for the place leaves the released message in it.
#[test]
fn a_refused_message_leaves_the_place_as_it_was() {
    let mut receiver = receiver(1);
    let transfer = Transfer::new(1, UNIT, UNIT);
    receiver.send(&transfer.segments());
    assert!(receiver.take(0).is_some());
    let segment = Segment::new(SYN, 2, CAPACITY, &[1; UNIT]);
    assert_eq!(receiver.receive(&segment.frame()), (Cause::TooLong, vec![]));
    let (cause, acks) = receiver.receive(&transfer.segments()[0].frame());
    assert_eq!((cause, acks.len()), (Cause::Duplicate, 1));
}

/// The host gives a message up while its segments come, after each number of clocks.
#[test]
fn the_host_closes_a_place_in_traffic() {
    let transfer = Transfer::new(5, 39 * UNIT, UNIT);
    let other = Transfer::new(9, 12 * UNIT, UNIT);
    for clocks in (0..2600).step_by(130) {
        let mut receiver = receiver(2);
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
        // The host waits until nobody works on the place, and nothing is written to it from then on.
        receiver.run_until("nobody is in the place", |receiver| {
            receiver.get(place, USERS) == 0
        });
        let (before, completion) = (receiver.written_to(place), receiver.completion(place));
        // Meanwhile somebody may look at the place and go away again, so `users` is not looked at any more.
        receiver.bench.run();
        assert_eq!(receiver.written_to(place), before, "closed after {clocks} clocks");
        assert_eq!(receiver.completion(place), completion);
        assert_eq!(receiver.get(place, STATE), CLOSED);
        let sum = [Cause::Accepted, Cause::Duplicate, Cause::GivenUp].map(|cause| receiver.count(cause));
        assert_eq!(sum.iter().sum::<u32>(), 2 + 39 + 12);
        // What has a completion came whole, though nobody may have told the sender.
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
