//! Packets of the tests: those that match a context, and those that match nothing.

use spinneret_regmap::matching::{Rule, WORD_BYTES};
use spinneret_regmap::message_id;
use spinneret_sim::prelude::*;

/// First byte of a packet for context 0; the next values are for the others.
const MARK: u8 = 0xa0;
/// Execution contexts.
pub const CONTEXTS: usize = 4;
/// Bytes of the message id.
const MESSAGE_ID: std::ops::Range<usize> = 44..48;
/// Width of the tag in `tuser` of a frame to the wire, above the error bit.
const TAG_BITS: u32 = 16;

/// The rule that matches packets for that context.
pub fn rule(context: usize) -> Rule {
    Rule::equal(0, 0xff00_0000, u32::from(MARK) << 24 | (context as u32) << 24)
}

/// The context whose rule a packet matches. A packet that ends within the word that a rule looks at matches nothing.
pub fn context(bytes: &[u8]) -> Option<usize> {
    if bytes.len() < WORD_BYTES {
        return None;
    }
    let number = usize::from(bytes.first()?.checked_sub(MARK)?);
    (number < CONTEXTS).then_some(number)
}

/// The message id of a packet's HER: eight bits of its own, with those of the context between them.
pub fn message_id(bytes: &[u8], context: usize) -> u32 {
    let own = if bytes.len() >= MESSAGE_ID.end {
        u32::from(bytes[MESSAGE_ID.start])
    } else {
        0
    };
    message_id::compose(own.into(), context as u32) as u32
}

/// Random bytes that match nothing.
pub fn unmatched(rng: &mut ChaCha8Rng, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    rng.fill_bytes(&mut bytes);
    bytes[0] &= 0x7f;
    bytes
}

/// Random bytes for that context.
pub fn matched(rng: &mut ChaCha8Rng, context: usize, size: usize) -> Vec<u8> {
    let mut bytes = unmatched(rng, size);
    bytes[0] = MARK + context as u8;
    bytes
}

/// A packet from the wire with random side band and no error.
pub fn from_wire(rng: &mut ChaCha8Rng, bytes: Vec<u8>) -> Frame {
    Frame::new(bytes)
        .with_id(rng.random_range(0..2))
        .with_dest(rng.random_range(0..256))
        .with_user(rng.random::<u128>() >> 31 & !1)
}

/// The same with the error bit.
#[must_use]
pub fn marked_bad(frame: Frame) -> Frame {
    let user = frame.user | 1;
    frame.with_user(user)
}

/// A frame of the host with random side band: its tag has the highest bit set.
pub fn from_host(rng: &mut ChaCha8Rng, bytes: Vec<u8>) -> Frame {
    let user = u128::from(rng.random::<u16>() | 1 << (TAG_BITS - 1)) << 1 | u128::from(rng.random_bool(0.1));
    Frame::new(bytes)
        .with_id(rng.random_range(0..1 << 12))
        .with_dest(rng.random_range(0..16))
        .with_user(user)
}

/// The tag of a frame to the wire.
pub fn tag(frame: &Frame) -> u64 {
    (frame.user >> 1) as u64 & ((1 << TAG_BITS) - 1)
}

/// Returns whether a tag belongs to the host.
pub fn is_host_tag(tag: u64) -> bool {
    tag >> (TAG_BITS - 1) == 1
}

/// A size in bytes: mostly small, some at the borders of beats and slots, at most 1536.
pub fn random_size(rng: &mut ChaCha8Rng) -> usize {
    match rng.random_range(0..10) {
        0 => rng.random_range(1..=64),
        1 => 64 * rng.random_range(1..=24),
        2 => rng.random_range(126..=130),
        3 => rng.random_range(1490..=1536),
        4 => rng.random_range(64..=1536),
        _ => rng.random_range(60..=300),
    }
}
