//! Messages arrive whole, in whatever order their segments come.

use super::frame::{ACK, Ack, Checksum, EOM, SYN, Segment, Transfer};
use super::receiver::{COMPLETE, DONE, Receiver, STATE, USERS};
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
