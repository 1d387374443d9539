//! The rules of docs/host/slmp.md for the life of a message at its receiver: delivered, remembered, forgotten, given up.

use crate::support::receiving::{exchange, receiver, taken};
use crate::support::{ALICE, EOM, ID, SYN, datagram, header, ms};
use spinneret_slmp::memory::Cause;
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
fn the_place_of_a_message_that_is_done_with_is_used_anew() {
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
fn a_complete_message_keeps_its_place_until_it_is_taken() {
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
