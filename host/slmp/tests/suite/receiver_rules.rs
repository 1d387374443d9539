//! The rules of docs/host/slmp.md for segments and their acknowledgements, one by one.

use crate::support::{
    ALICE, BOB, EOM, ID, SYN, ack, datagram, exchange, gives, header, ms, pattern, receiver, taken,
};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::wire::Header;
use spinneret_slmp::{
    Confirm, GivenUp, MessageKey, NotWaiting, Received, Receiver, ReceiverConfig, ReceiverConfigError,
    Verdict,
};
use std::time::Duration;

#[test]
fn segments_come_in_any_order_and_each_is_acknowledged_when_it_comes() {
    let message = pattern(25);
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut receiver = receiver(Confirm::Memory);
        for (number, segment) in order.into_iter().enumerate() {
            let (offset, is_end) = (10 * segment, segment == 2);
            let flags = if is_end { EOM | SYN } else { SYN };
            let mut acks = if is_end {
                Vec::new()
            } else {
                vec![ack(SYN, offset)]
            };
            // The segment that completes the message brings the acknowledgement of EOM with it.
            acks.extend((number == 2).then(|| ack(EOM | SYN, 20)));
            let payload = &message[offset as usize..message.len().min(offset as usize + 10)];
            gives(
                &mut receiver,
                header(flags, offset),
                payload,
                Cause::Accepted,
                &acks,
            );
        }
        assert_eq!(taken(&mut receiver), Some(message.clone()), "{order:?}");
        assert_eq!(taken(&mut receiver), None, "it is given once");
        assert_eq!(receiver.counters().completed(), 1);
    }
}

#[test]
fn only_segments_with_syn_are_acknowledged() {
    let mut receiver = receiver(Confirm::Memory);
    exchange(
        &mut receiver,
        "- 0 ab -> Accepted
         - 0 ab -> Duplicate
         EOM 4 e -> Accepted
         SYN 2 cd -> Accepted, SYN 2
         EOM 4 e -> Duplicate
         - 0 ab -> Duplicate",
    );
    assert_eq!(taken(&mut receiver), Some(b"abcde".to_vec()));
}

#[test]
fn duplicates_are_acknowledged_and_not_written() {
    let mut receiver = receiver(Confirm::Memory);
    exchange(
        &mut receiver,
        "SYN 0 ab -> Accepted, SYN 0
         SYN 0 XX -> Duplicate, SYN 0
         EOM+SYN 4 e -> Accepted
         EOM+SYN 4 X -> Duplicate
         SYN 2 cd -> Accepted, SYN 2, EOM+SYN 4",
    );
    for _ in 0..2 {
        exchange(
            &mut receiver,
            "SYN 2 XX -> Duplicate, SYN 2
             EOM+SYN 4 X -> Duplicate, EOM+SYN 4",
        );
    }
    assert_eq!(taken(&mut receiver), Some(b"abcde".to_vec()));
    // The message is done with, and still remembered.
    exchange(
        &mut receiver,
        "SYN 2 XX -> Duplicate, SYN 2
         EOM+SYN 4 X -> Duplicate, EOM+SYN 4",
    );
    assert_eq!(taken(&mut receiver), None);
}

#[test]
fn one_segment_is_a_message_and_so_is_an_empty_one() {
    for length in [0, 1, 1000] {
        let mut receiver = receiver(Confirm::Memory);
        let message = pattern(length);
        gives(
            &mut receiver,
            header(EOM | SYN, 0),
            &message,
            Cause::Accepted,
            &[ack(EOM | SYN, 0)],
        );
        assert_eq!(taken(&mut receiver), Some(message));
    }
}

#[test]
fn a_last_segment_may_be_full() {
    let mut receiver = receiver(Confirm::Memory);
    exchange(
        &mut receiver,
        "SYN 0 ab -> Accepted, SYN 0
         EOM+SYN 2 cd -> Accepted, EOM+SYN 2",
    );
    assert_eq!(taken(&mut receiver), Some(b"abcd".to_vec()));
}

#[test]
fn a_message_is_known_by_address_port_and_id() {
    let mut receiver = Receiver::new(ReceiverConfig::default()).expect("the default is good");
    let mut other_port = ALICE;
    other_port.set_port(7);
    let other_id = Header {
        message_id: ID + 1,
        ..header(EOM, 0)
    };
    let messages = [
        (ALICE, header(EOM, 0)),
        (BOB, header(EOM, 0)),
        (other_port, header(EOM, 0)),
        (ALICE, other_id),
    ];
    for (number, (from, header)) in messages.into_iter().enumerate() {
        let outcome = receiver.receive(Duration::ZERO, from, &datagram(header, &[number as u8]));
        assert_eq!(outcome.cause, Cause::Accepted);
    }
    for (number, (from, header)) in messages.into_iter().enumerate() {
        let key = MessageKey {
            from,
            message_id: header.message_id,
        };
        assert_eq!(
            receiver.take_complete(),
            Some(Received {
                key,
                data: vec![number as u8]
            })
        );
    }
}

const KEY: MessageKey = MessageKey {
    from: ALICE,
    message_id: ID,
};

#[test]
fn eom_waits_until_the_message_is_stored() {
    let mut receiver = receiver(Confirm::Stored);
    exchange(
        &mut receiver,
        "EOM+SYN 2 c -> Accepted
         SYN 0 ab -> Accepted, SYN 0",
    );
    assert_eq!(
        receiver.confirm(ms(0), &KEY, Verdict::Stored),
        Err(NotWaiting(KEY)),
        "it was not taken yet"
    );
    assert_eq!(taken(&mut receiver), Some(b"abc".to_vec()));
    exchange(
        &mut receiver,
        "SYN 0 ab -> Duplicate, SYN 0
         EOM+SYN 2 c -> Duplicate",
    );
    assert_eq!(receiver.confirm(ms(0), &KEY, Verdict::Stored), Ok(()));
    exchange(&mut receiver, "EOM+SYN 2 c -> Duplicate, EOM+SYN 2");
    assert_eq!(
        receiver.confirm(ms(0), &KEY, Verdict::Stored),
        Err(NotWaiting(KEY)),
        "once is enough"
    );
}

#[test]
fn a_message_that_was_not_stored_is_never_confirmed() {
    let mut receiver = receiver(Confirm::Stored);
    exchange(&mut receiver, "EOM+SYN 0 a -> Accepted");
    assert_eq!(taken(&mut receiver), Some(b"a".to_vec()));
    assert_eq!(receiver.confirm(ms(0), &KEY, Verdict::Refused), Ok(()));
    exchange(&mut receiver, "EOM+SYN 0 a -> GivenUp");
    receiver.free_given_up();
    exchange(&mut receiver, "EOM+SYN 0 a -> Accepted");
    assert_eq!(
        taken(&mut receiver),
        Some(b"a".to_vec()),
        "the sender may try again"
    );
}

#[test]
fn messages_are_taken_in_the_order_of_their_completion() {
    let mut receiver = receiver(Confirm::Stored);
    exchange(
        &mut receiver,
        "#5 EOM 0 a -> Accepted
         #3 EOM 0 b -> Accepted",
    );
    assert_eq!(
        [taken(&mut receiver), taken(&mut receiver)],
        [Some(b"a".to_vec()), Some(b"b".to_vec())]
    );
}

#[test]
fn reuses_the_place_of_a_released_message() {
    let mut receiver = receiver(Confirm::Memory);
    exchange(&mut receiver, "#1 EOM 0 a -> Accepted");
    assert_eq!(taken(&mut receiver), Some(b"a".to_vec()));
    // There is a free place, so the message is remembered.
    exchange(
        &mut receiver,
        "#2 - 0 b -> Accepted
         #1 EOM+SYN 0 a -> Duplicate, EOM+SYN 0",
    );
    // There is none, so it is forgotten; what was in its place does not shine through.
    exchange(
        &mut receiver,
        "#3 - 0 cc -> Accepted
         #1 EOM+SYN 0 a -> NoRoom
         #3 EOM 2 c -> Accepted",
    );
    assert_eq!(taken(&mut receiver), Some(b"ccc".to_vec()));
}

#[test]
fn complete_message_keeps_its_place_until_taken() {
    let mut receiver = receiver(Confirm::Memory);
    exchange(
        &mut receiver,
        "#1 EOM 0 a -> Accepted
         #2 EOM 0 b -> Accepted
         #3 EOM 0 c -> NoRoom",
    );
    assert_eq!(taken(&mut receiver), Some(b"a".to_vec()));
    exchange(&mut receiver, "#3 EOM 0 c -> Accepted");
}

#[test]
fn a_message_without_progress_is_given_up() {
    let mut receiver = receiver(Confirm::Memory);
    let at = |receiver: &mut Receiver, milliseconds, header, payload: &[u8]| {
        receiver
            .receive(ms(milliseconds), ALICE, &datagram(header, payload))
            .cause
    };
    assert_eq!(at(&mut receiver, 0, header(SYN, 0), b"ab"), Cause::Accepted);
    assert_eq!(at(&mut receiver, 60, header(EOM, 6), b"g"), Cause::Accepted);
    assert_eq!(at(&mut receiver, 100, header(SYN, 0), b"ab"), Cause::Duplicate);
    assert_eq!(receiver.expire(ms(159), ms(100)), None);
    let given_up = GivenUp {
        key: KEY,
        bytes: 3,
        length: Some(7),
    };
    assert_eq!(
        receiver.expire(ms(160), ms(100)),
        Some(given_up),
        "a duplicate is no progress"
    );
    assert_eq!(receiver.expire(ms(160), ms(100)), None);
    // Late segments do not open it anew, until as much time has passed again.
    assert_eq!(at(&mut receiver, 161, header(SYN, 2), b"cd"), Cause::GivenUp);
    assert_eq!(receiver.expire(ms(259), ms(100)), None);
    assert_eq!(at(&mut receiver, 259, header(SYN, 2), b"cd"), Cause::GivenUp);
    assert_eq!(receiver.expire(ms(260), ms(100)), None);
    assert_eq!(at(&mut receiver, 260, header(SYN, 2), b"cd"), Cause::Accepted);
    let again = GivenUp {
        key: KEY,
        bytes: 2,
        length: None,
    };
    assert_eq!(
        receiver.give_up(ms(261), &KEY),
        Some(again),
        "nothing is left of the first"
    );
    assert_eq!(receiver.give_up(ms(261), &KEY), None);
}

#[test]
fn complete_messages_do_not_expire() {
    let mut receiver = receiver(Confirm::Stored);
    exchange(&mut receiver, "EOM 0 a -> Accepted");
    assert_eq!(receiver.expire(ms(1000), ms(100)), None);
    assert_eq!(receiver.give_up(ms(1000), &KEY), None);
    assert_eq!(taken(&mut receiver), Some(b"a".to_vec()));
    assert_eq!(receiver.expire(ms(2000), ms(100)), None);
    assert_eq!(receiver.confirm(ms(2000), &KEY, Verdict::Stored), Ok(()));
    assert_eq!(
        receiver.expire(ms(3000), ms(100)),
        None,
        "and what is done with stays remembered"
    );
    exchange(&mut receiver, "EOM+SYN 0 a -> Duplicate, EOM+SYN 0");
}

#[test]
fn a_receiver_has_one_to_eight_places() {
    for places in [0, 9] {
        let config = ReceiverConfig {
            places,
            ..ReceiverConfig::default()
        };
        assert_eq!(
            Receiver::new(config).map(|_| ()),
            Err(ReceiverConfigError::Places(places))
        );
    }
    assert_eq!(
        ReceiverConfigError::Places(9).to_string(),
        "a receiver cannot know 9 messages at once: set `places` to 1 to 8"
    );
}
