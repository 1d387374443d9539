//! A small receiver, and what it has to say to a segment.

use super::{ALICE, EOM, ID, SYN, datagram};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::wire::{Flags, Header};
use spinneret_slmp::{Confirm, Receiver, ReceiverConfig};
use std::time::Duration;

/// Two places of 1000 bytes.
pub fn receiver(confirm: Confirm) -> Receiver {
    let config = ReceiverConfig {
        places: 2,
        capacity_bytes: 1000,
        confirm,
    };
    Receiver::new(config).expect("two places are few enough")
}

/// Gives the receiver a segment of `message` and checks what it is counted under and answered with.
#[track_caller]
pub fn gives(receiver: &mut Receiver, header: Header, payload: &[u8], cause: Cause, acks: &[Header]) {
    let before = receiver.counters().clone();
    let outcome = receiver.receive(Duration::ZERO, ALICE, &datagram(header, payload));
    assert_eq!(
        (outcome.cause, outcome.acks().collect::<Vec<_>>()),
        (cause, acks.to_vec())
    );
    for one in Cause::ALL {
        let expected = before[*one] + u64::from(*one == cause);
        assert_eq!(receiver.counters()[*one], expected, "the counter {one:?}");
    }
    assert_eq!(
        receiver.counters().acks_sent(),
        before.acks_sent() + acks.len() as u64
    );
}

/// Gives the receiver one segment a line and checks what it is counted under and answered with:
/// `FLAGS OFFSET PAYLOAD -> CAUSE`, then `, FLAGS OFFSET` for each acknowledgement.
///
/// Flags are `-`, `SYN`, `EOM` or `EOM+SYN`. `#ID` before them names another message than most tests have.
#[track_caller]
pub fn exchange(receiver: &mut Receiver, script: &str) {
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (segment, outcome) = line.split_once(" -> ").expect(line);
        let (message_id, segment) = match segment.strip_prefix('#').and_then(|rest| rest.split_once(' ')) {
            Some((id, segment)) => (id.parse().expect(line), segment),
            None => (ID, segment),
        };
        let mut outcome = outcome.split(", ");
        let cause = outcome.next().expect(line);
        let cause = Cause::ALL
            .iter()
            .find(|one| format!("{one:?}") == cause)
            .expect(line);
        let acks: Vec<Header> = outcome
            .map(|ack| header(message_id, ack).0.acknowledgement())
            .collect();
        let (header, payload) = header(message_id, segment);
        gives(receiver, header, payload.as_bytes(), *cause, &acks);
    }
}

/// Reads `FLAGS OFFSET`, and what follows.
fn header(message_id: u32, text: &str) -> (Header, &str) {
    let mut words = text.split(' ');
    let flags = match words.next() {
        Some("-") => Flags::NONE,
        Some("SYN") => SYN,
        Some("EOM") => EOM,
        Some("EOM+SYN") => EOM | SYN,
        other => panic!("flags {other:?} in {text}"),
    };
    let header = Header {
        flags,
        message_id,
        offset: words.next().expect(text).parse().expect(text),
    };
    (header, words.next().unwrap_or_default())
}

pub fn taken(receiver: &mut Receiver) -> Option<Vec<u8>> {
    receiver.take_complete().map(|received| received.data)
}
