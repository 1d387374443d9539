//! Meetings of two HPUs, or of an HPU and the host, that take a certain distance of clocks to happen: all are tried.

use super::frame::{Ack, EOM, SYN, Segment, Transfer};
use super::receiver::{CLOSED, OPEN, RELEASED, Receiver, STATE, USERS};
use spinneret_slmp::Confirm;
use spinneret_slmp::memory::{COMPLETED, Cause};

const UNIT: usize = 100;
const CAPACITY: u32 = 1000;

/// Two segments come so many clocks apart.
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
    let mut receiver = Receiver::new(1, CAPACITY, Confirm::Memory);
    let segments = Transfer::new(7, 2 * UNIT, UNIT).segments();
    for clocks in 0..700 {
        receiver.prepare(CAPACITY, Confirm::Memory);
        send_apart(&mut receiver, [&segments[0], &segments[1]], clocks);
        assert_eq!(receiver.count(Cause::Accepted), 2, "{clocks} clocks apart");
        assert_eq!(receiver.acks().len(), 2, "{clocks} clocks apart");
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
    let mut receiver = Receiver::new(1, CAPACITY, Confirm::Memory);
    let transfer = Transfer::new(6, 3 * UNIT, UNIT);
    let [first, other, end] = <[Segment; 3]>::try_from(transfer.segments()).expect("there are three");
    for clocks in 0..500 {
        for segments in [[&other, &end], [&end, &other]] {
            receiver.prepare(CAPACITY, Confirm::Memory);
            receiver.bench.host_clocks = u64::from(clocks % 7 * 20);
            receiver.send(std::slice::from_ref(&first));
            send_apart(&mut receiver, segments, clocks);
            let what = format!("{clocks} clocks apart");
            assert_eq!(receiver.counters()[COMPLETED], 1, "{what}");
            assert_eq!(receiver.acks().last(), Some(&Ack::of(&end)), "{what}");
            assert_eq!(receiver.take(0), Some((6, transfer.bytes.clone())), "{what}");
        }
    }
}

/// From when the host sees nobody in a place that it has closed, nobody takes anything for it, and who was told that a
/// segment is there was told so before.
#[test]
fn the_host_closes_a_place_in_every_clock_of_a_segment() {
    let mut receiver = Receiver::new(1, CAPACITY, Confirm::Memory);
    let segments = Transfer::new(5, 3 * UNIT, UNIT).segments();
    let mut taken = [[0; 2]; 2];
    // The first segment opens the message.
    for (number, clocks) in [0, 1]
        .into_iter()
        .flat_map(|number| (0..3600).map(move |clocks| (number, clocks)))
    {
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
        taken[number][(accepted - before) as usize] += 1;
    }
    assert!(taken.as_flattened().iter().all(|count| *count > 20), "{taken:?}");
}

/// A duplicate of the message that was in a place is never taken for one of the message that gets the place.
#[test]
fn a_duplicate_and_a_new_message_meet_in_a_released_place() {
    let mut receiver = Receiver::new(1, CAPACITY, Confirm::Memory);
    let [old, new] = [16, 24].map(|message| Transfer::new(message, 2 * UNIT, UNIT));
    let duplicate = &old.segments()[1];
    for clocks in 0..500 {
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
fn who_is_given_up_in_the_last_moment_is_told_nothing() {
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
