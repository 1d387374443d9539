//! The rules of docs/host/slmp.md for the life of a message at its receiver: delivered, remembered, forgotten, given up.

use crate::support::receiving::{gives, receiver, taken};
use crate::support::{ALICE, EOM, ID, SYN, ack, datagram, header, ms};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::wire::{Flags, Header};
use spinneret_slmp::{
    Confirm, GivenUp, MessageKey, NotWaiting, Receiver, ReceiverConfig, ReceiverConfigError, Verdict,
};

const KEY: MessageKey = MessageKey {
    from: ALICE,
    message_id: ID,
};

#[test]
fn eom_waits_until_the_message_is_stored() {
    let mut receiver = receiver(Confirm::Stored);
    gives(&mut receiver, header(EOM | SYN, 2), b"c", Cause::Accepted, &[]);
    gives(
        &mut receiver,
        header(SYN, 0),
        b"ab",
        Cause::Accepted,
        &[ack(SYN, 0)],
    );
    assert_eq!(
        receiver.confirm(ms(0), &KEY, Verdict::Stored),
        Err(NotWaiting(KEY)),
        "it was not taken yet"
    );
    assert_eq!(taken(&mut receiver), Some(b"abc".to_vec()));
    gives(
        &mut receiver,
        header(SYN, 0),
        b"ab",
        Cause::Duplicate,
        &[ack(SYN, 0)],
    );
    gives(&mut receiver, header(EOM | SYN, 2), b"c", Cause::Duplicate, &[]);
    assert_eq!(receiver.confirm(ms(0), &KEY, Verdict::Stored), Ok(()));
    gives(
        &mut receiver,
        header(EOM | SYN, 2),
        b"c",
        Cause::Duplicate,
        &[ack(EOM | SYN, 2)],
    );
    assert_eq!(
        receiver.confirm(ms(0), &KEY, Verdict::Stored),
        Err(NotWaiting(KEY)),
        "once is enough"
    );
}

#[test]
fn a_message_that_was_not_stored_is_never_confirmed() {
    let mut receiver = receiver(Confirm::Stored);
    gives(&mut receiver, header(EOM | SYN, 0), b"a", Cause::Accepted, &[]);
    assert_eq!(taken(&mut receiver), Some(b"a".to_vec()));
    assert_eq!(receiver.confirm(ms(0), &KEY, Verdict::Refused), Ok(()));
    gives(&mut receiver, header(EOM | SYN, 0), b"a", Cause::GivenUp, &[]);
    receiver.free_given_up();
    gives(&mut receiver, header(EOM | SYN, 0), b"a", Cause::Accepted, &[]);
    assert_eq!(
        taken(&mut receiver),
        Some(b"a".to_vec()),
        "the sender may try again"
    );
}

#[test]
fn messages_are_taken_in_the_order_of_their_completion() {
    let mut receiver = receiver(Confirm::Stored);
    for message_id in [5, 3] {
        let header = Header {
            message_id,
            ..header(EOM, 0)
        };
        gives(&mut receiver, header, &[message_id as u8], Cause::Accepted, &[]);
    }
    assert_eq!(
        [taken(&mut receiver), taken(&mut receiver)],
        [Some(vec![5]), Some(vec![3])]
    );
}

#[test]
fn the_place_of_a_message_that_is_done_with_is_used_anew() {
    let mut receiver = receiver(Confirm::Memory);
    let of = |message_id, flags| Header {
        message_id,
        ..header(flags, 0)
    };
    gives(&mut receiver, of(1, EOM), b"a", Cause::Accepted, &[]);
    assert_eq!(taken(&mut receiver), Some(b"a".to_vec()));
    // There is a free place, so the message is remembered.
    gives(&mut receiver, of(2, Flags::NONE), b"b", Cause::Accepted, &[]);
    gives(
        &mut receiver,
        of(1, EOM | SYN),
        b"a",
        Cause::Duplicate,
        &[of(1, EOM | SYN).acknowledgement()],
    );
    // There is none, so it is forgotten; what was in its place does not shine through.
    gives(&mut receiver, of(3, Flags::NONE), b"cc", Cause::Accepted, &[]);
    gives(&mut receiver, of(1, EOM | SYN), b"a", Cause::NoRoom, &[]);
    let end = Header {
        message_id: 3,
        ..header(EOM, 2)
    };
    gives(&mut receiver, end, b"c", Cause::Accepted, &[]);
    assert_eq!(taken(&mut receiver), Some(b"ccc".to_vec()));
}

#[test]
fn a_complete_message_keeps_its_place_until_it_is_taken() {
    let mut receiver = receiver(Confirm::Memory);
    let of = |message_id| Header {
        message_id,
        ..header(EOM, 0)
    };
    gives(&mut receiver, of(1), b"a", Cause::Accepted, &[]);
    gives(&mut receiver, of(2), b"b", Cause::Accepted, &[]);
    gives(&mut receiver, of(3), b"c", Cause::NoRoom, &[]);
    assert_eq!(taken(&mut receiver), Some(b"a".to_vec()));
    gives(&mut receiver, of(3), b"c", Cause::Accepted, &[]);
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
    gives(&mut receiver, header(EOM, 0), b"a", Cause::Accepted, &[]);
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
    gives(
        &mut receiver,
        header(EOM | SYN, 0),
        b"a",
        Cause::Duplicate,
        &[ack(EOM | SYN, 0)],
    );
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
