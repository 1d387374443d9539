//! Every cause for which a receiver refuses a segment: nothing is acknowledged, and nothing changes but the counter.

use crate::support::{ALICE, EOM, ID, SYN, ack, datagram, header, pattern};
use proptest::prelude::*;
use spinneret_slmp::memory::{Cause, MAX_SEGMENTS};
use spinneret_slmp::wire::{Flags, Header, MAX_PAYLOAD};
use spinneret_slmp::{Confirm, MessageKey, Receiver, ReceiverConfig};
use std::time::Duration;

const NONE: Flags = Flags::NONE;

/// Segments that came: flags, offset, bytes.
type Known = &'static [(Flags, u32, usize)];

fn receiver(capacity_bytes: usize) -> Receiver {
    let config = ReceiverConfig {
        places: 1,
        capacity_bytes,
        confirm: Confirm::Memory,
    };
    Receiver::new(config).expect("one place is few enough")
}

/// A receiver that has accepted these segments: flags, offset, bytes.
fn after(segments: &[(Flags, u32, usize)]) -> Receiver {
    let mut receiver = receiver(100_000);
    for (flags, offset, bytes) in segments {
        let outcome = receiver.receive(
            Duration::ZERO,
            ALICE,
            &datagram(header(*flags, *offset), &pattern(*bytes)),
        );
        assert_eq!(outcome.cause, Cause::Accepted, "{flags:?} at {offset}");
    }
    receiver
}

/// All that a receiver knows but its counters, which stand last.
fn state(receiver: &Receiver) -> String {
    let text = format!("{receiver:?}");
    let (state, _) = text.split_once("counters: ").expect("a receiver has counters");
    state.to_owned()
}

#[track_caller]
fn refuses(receiver: &mut Receiver, bytes: &[u8], cause: Cause) {
    let (before, counted) = (state(receiver), receiver.counters().clone());
    let outcome = receiver.receive(Duration::from_secs(1), ALICE, bytes);
    assert_eq!(outcome.cause, cause);
    assert_eq!(outcome.acks().count(), 0, "it was acknowledged");
    assert_eq!(state(receiver), before, "it has left a trace");
    assert_eq!(receiver.counters()[cause], counted[cause] + 1);
    assert_eq!(receiver.counters().refused(), counted.refused() + 1);
}

#[track_caller]
fn refuses_segment(known: &[(Flags, u32, usize)], flags: Flags, offset: u32, bytes: usize, cause: Cause) {
    refuses(
        &mut after(known),
        &datagram(header(flags | SYN, offset), &pattern(bytes)),
        cause,
    );
}

#[test]
fn counts_short_datagrams_as_malformed() {
    for bytes in 0..10 {
        refuses(&mut after(&[(NONE, 0, 4)]), &pattern(bytes), Cause::Malformed);
    }
}

#[test]
fn counts_acknowledgements_as_not_a_segment() {
    for flags in [Flags::ACK, Flags::ACK | SYN, Flags::ACK | EOM | SYN] {
        refuses_segment(&[], flags, 0, 4, Cause::NotASegment);
        refuses_segment(&[(NONE, 0, 4)], flags, 4, 4, Cause::NotASegment);
    }
}

#[test]
fn counts_impossible_offsets_as_misplaced() {
    let long = MAX_PAYLOAD + 1;
    let cases: [(Known, Flags, u32, usize); 20] = [
        (&[], NONE, 0, 0),                              // empty, and not EOM
        (&[], NONE, 4, 0),                              //
        (&[], EOM, 4, 0),                               // empty EOM of a message that is not empty
        (&[(NONE, 0, 4)], EOM, 0, 0),                   //
        (&[(NONE, 0, 4)], EOM, 4, 0),                   //
        (&[(NONE, 0, 4)], NONE, 4, 0),                  //
        (&[], NONE, 0, long),                           // no segment is so long
        (&[], EOM, 0, long),                            //
        (&[], NONE, 5, 4),                              // offset is no multiple of its length
        (&[(NONE, 0, 4)], NONE, 6, 4),                  // offset is no multiple of S
        (&[(NONE, 0, 4)], EOM, 6, 4),                   //
        (&[(NONE, 0, 4)], NONE, 4, 3),                  // shorter than S, and not EOM
        (&[(NONE, 0, 4)], NONE, 4, 5),                  // longer
        (&[(NONE, 0, 4)], NONE, 0, 2),                  // at an offset that is there already
        (&[(NONE, 0, 4)], EOM, 4, 5),                   // EOM longer than S
        (&[(EOM, 8, 4)], NONE, 3, 3),                   // S does not lead to the EOM segment
        (&[(EOM, 8, 4)], NONE, 0, 2),                   // the EOM segment is longer than S
        (&[], NONE, MAX_SEGMENTS as u32, 1),            // more segments than bits
        (&[(NONE, 0, 1)], EOM, MAX_SEGMENTS as u32, 1), //
        (&[(EOM, MAX_SEGMENTS as u32, 1)], NONE, 0, 1), //
    ];
    for (known, flags, offset, bytes) in cases {
        refuses_segment(known, flags, offset, bytes, Cause::Misplaced);
    }
}

#[test]
fn as_many_segments_as_the_bitmap_has_bits_are_a_message() {
    let mut receiver = receiver(100_000);
    let last = MAX_SEGMENTS as u32 - 1;
    for offset in (0..last).rev() {
        let outcome = receiver.receive(
            Duration::ZERO,
            ALICE,
            &datagram(header(NONE, offset), &[offset as u8]),
        );
        assert_eq!(outcome.cause, Cause::Accepted);
    }
    let outcome = receiver.receive(
        Duration::ZERO,
        ALICE,
        &datagram(header(EOM | SYN, last), &[last as u8]),
    );
    assert_eq!(outcome.acks().collect::<Vec<_>>(), [ack(EOM | SYN, last)]);
    let data: Vec<u8> = (0..=last).map(|at| at as u8).collect();
    assert_eq!(receiver.take_complete().map(|received| received.data), Some(data));
}

#[test]
fn counts_oversize_segments_as_too_long() {
    let cases: [(Known, Flags, u32, usize); 6] = [
        (&[], NONE, 99_990, 30),
        (&[], EOM, 99_990, 11),
        (&[], EOM, u32::MAX, 1),
        (&[], EOM, u32::MAX - 1461, 1462),
        (&[(NONE, 0, 1000)], NONE, 100_000, 1000),
        (&[(NONE, 0, 1000)], EOM, 100_000, 1),
    ];
    for (known, flags, offset, bytes) in cases {
        refuses_segment(known, flags, offset, bytes, Cause::TooLong);
    }
    for (flags, offset) in [(NONE, 99_968), (EOM, 99_968)] {
        assert_eq!(
            after(&[(flags, offset, 32)]).counters()[Cause::Accepted],
            1,
            "the last byte is there"
        );
    }
}

#[test]
fn counts_contradictions_of_the_end_as_beyond_end() {
    let cases: [(Known, Flags, u32, usize); 9] = [
        (&[(EOM, 8, 4)], NONE, 8, 4),                // in the place of EOM
        (&[(EOM, 8, 4)], NONE, 12, 4),               // behind it
        (&[(EOM, 8, 4), (NONE, 0, 4)], NONE, 16, 4), //
        (&[(EOM, 8, 4)], EOM, 12, 4),                // another EOM later,
        (&[(EOM, 8, 4)], EOM, 4, 4),                 // earlier,
        (&[(EOM, 8, 4)], EOM, 8, 3),                 // shorter,
        (&[(EOM, 8, 4)], EOM, 8, 5),                 // longer
        (&[(NONE, 8, 4)], EOM, 8, 4),                // an EOM before what is there
        (&[(NONE, 8, 4)], EOM, 4, 4),                //
    ];
    for (known, flags, offset, bytes) in cases {
        refuses_segment(known, flags, offset, bytes, Cause::BeyondEnd);
    }
}

#[test]
fn counts_excess_messages_as_no_room() {
    let other = Header {
        message_id: ID + 1,
        ..header(SYN, 0)
    };
    refuses(
        &mut after(&[(NONE, 0, 4)]),
        &datagram(other, b"abcd"),
        Cause::NoRoom,
    );
    // What could not be a message anyway is counted as that.
    refuses(
        &mut after(&[(NONE, 0, 4)]),
        &datagram(other, b""),
        Cause::Misplaced,
    );
}

#[test]
fn counts_segments_of_closing_messages_as_given_up() {
    let mut receiver = after(&[(NONE, 0, 4)]);
    let key = MessageKey {
        from: ALICE,
        message_id: ID,
    };
    assert!(receiver.give_up(Duration::ZERO, &key).is_some());
    refuses(&mut receiver, &datagram(header(SYN, 4), b"efgh"), Cause::GivenUp);
    refuses(
        &mut receiver,
        &datagram(header(EOM | SYN, 4), b"e"),
        Cause::GivenUp,
    );
    let other = Header {
        message_id: ID + 1,
        ..header(SYN, 0)
    };
    refuses(&mut receiver, &datagram(other, b"abcd"), Cause::NoRoom);
    receiver.free_given_up();
    assert_eq!(
        receiver
            .receive(Duration::ZERO, ALICE, &datagram(other, b"abcd"))
            .cause,
        Cause::Accepted
    );
}

/// Small numbers, so that segments fit each other often.
fn any_segment() -> impl Strategy<Value = (u16, u32, u32, usize, bool)> {
    let flags = prop_oneof![8 => 0_u16..4, 1 => 0_u16..8];
    (flags, 0_u32..3, 0_u32..7, 0_usize..4, any::<bool>())
}

proptest! {
    #[test]
    fn every_segment_is_counted_once_and_no_message_is_made_up(
        segments in prop::collection::vec(any_segment(), 1..200), stored: bool,
    ) {
        let confirm = if stored { Confirm::Stored } else { Confirm::Memory };
        let config = ReceiverConfig { places: 2, capacity_bytes: 12, confirm };
        let mut receiver = Receiver::new(config).expect("two places are few enough");
        let message = pattern(12);
        let (mut acks, mut complete) = (0, 0);
        for (flags, id, place, bytes, takes) in &segments {
            let offset = place * (*bytes as u32).max(1);
            let header = Header { flags: Flags::from_bits(flags << 13), message_id: *id, offset };
            let payload: Vec<u8> = (0..*bytes).map(|at| message[(offset as usize + at) % 12]).collect();
            let outcome = receiver.receive(Duration::ZERO, ALICE, &datagram(header, &payload));
            acks += outcome.acks().count() as u64;
            prop_assert!(outcome.acks().all(|ack| ack.flags.contains(Flags::ACK | SYN)));
            if *takes && let Some(received) = receiver.take_complete() {
                complete += 1;
                // Whatever came together is a piece of what senders have.
                prop_assert_eq!(&received.data[..], &message[..received.data.len()]);
                if stored {
                    receiver.confirm(Duration::ZERO, &received.key, spinneret_slmp::Verdict::Stored).expect("it waits");
                }
            }
        }
        let counted: u64 = Cause::ALL.iter().map(|cause| receiver.counters()[*cause]).sum();
        prop_assert_eq!(counted, segments.len() as u64);
        prop_assert_eq!(receiver.counters().acks_sent(), acks);
        prop_assert!(receiver.counters().completed() >= complete);
    }

    #[test]
    fn arbitrary_datagrams_and_frames_never_panic(
        all in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 1..50),
    ) {
        let mut receiver = receiver(1000);
        for bytes in all {
            let _ = receiver.receive(Duration::ZERO, ALICE, &bytes);
            let _ = receiver.receive_frame(Duration::ZERO, &bytes);
            let _ = receiver.take_complete();
        }
    }
}
