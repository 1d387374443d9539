//! A small receiver, and what it has to say to a segment.

use super::{ALICE, datagram};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::wire::Header;
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

pub fn taken(receiver: &mut Receiver) -> Option<Vec<u8>> {
    receiver.take_complete().map(|received| received.data)
}
