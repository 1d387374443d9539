//! The rules of docs/host/slmp.md for segments and their acknowledgements, one by one.

use crate::support::receiving::{exchange, gives, receiver, taken};
use crate::support::{ALICE, BOB, EOM, ID, SYN, ack, datagram, header, pattern};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::wire::Header;
use spinneret_slmp::{Confirm, MessageKey, Received, Receiver, ReceiverConfig};
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
