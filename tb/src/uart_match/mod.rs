//! The matching engine behind a serial line: a host, and a model of what the console answers.

mod host;
mod model;

pub use host::{Host, Setup};
pub use model::{ConsoleModel, Led, OK_HELLO_BYTES};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_regmap::matching::Rule;

/// Commands and codes, as the documentation of the protocol gives them.
pub mod code {
    /// Asks who is there.
    pub const HELLO: u8 = 0;
    /// Writes one rule.
    pub const RULE: u8 = 1;
    /// Puts the rules into force, or out of it.
    pub const CONTROL: u8 = 2;
    /// Has a packet matched.
    pub const PACKET: u8 = 3;
    /// The command was carried out.
    pub const DONE: u8 = 0;
    /// There is no such command.
    pub const UNKNOWN_COMMAND: u8 = 0xe1;
    /// The command does not have this length.
    pub const WRONG_LENGTH: u8 = 0xe2;
    /// A byte of the payload is out of its range.
    pub const WRONG_VALUE: u8 = 0xe3;
    /// The frame broke off.
    pub const TIMEOUT: u8 = 0xe4;
    /// A byte had no stop bit.
    pub const FRAMING: u8 = 0xe5;
    /// Bytes came before the answer had ended.
    pub const OVERRUN: u8 = 0xe6;
}

/// A frame of the protocol.
///
/// # Panics
/// If the payload has more than 255 bytes.
pub fn frame(command: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("a payload has at most 255 bytes");
    [&[command, length], payload].concat()
}

/// The frame that writes a rule.
///
/// # Panics
/// If the rule's word index has more than 8 bits.
pub fn rule_frame(number: u8, rule: &Rule) -> Vec<u8> {
    let index = u8::try_from(rule.idx).expect("the protocol has 8 bits for a word index");
    let mut payload = vec![number, index];
    for value in [rule.mask, rule.start, rule.end] {
        payload.extend(value.to_be_bytes());
    }
    frame(code::RULE, &payload)
}

/// Bytes of few distinct values, so that rules match now and then.
pub fn random_bytes(rng: &mut ChaCha8Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| rng.random_range(0..4)).collect()
}
