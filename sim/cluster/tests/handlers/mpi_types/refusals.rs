//! What is not a segment of an awaited message changes nothing, and is counted.

use super::receiver::{Message, Receiver};
use super::trees;
use crate::slmp::frame::{ACK, EOM, SYN, Segment};
use spinneret_mpi::nic::memory::Counter;
use std::slice;

const UNIT: u32 = 100;

/// A message of 450 bytes in five segments, none of which has come.
fn posted() -> (Receiver, Message) {
    let mut receiver = Receiver::new();
    let message = receiver.post(2, &trees::hvector(9, 90, trees::bytes(50), 800), 1, UNIT);
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
    let next = receiver.post(2, &trees::bytes(300), 1, UNIT);
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
        messages.push(receiver.post(2, &trees::bytes(300), 1, UNIT));
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
