//! The bytes that the console and its host exchange.
//!
//! Either side sends frames of {code, length, payload of that many bytes}. The host sends a command and waits for
//! its answer. Numbers of several bytes come with the most significant byte first.
//!
//! | command | payload | payload of the answer |
//! |---|---|---|
//! | [`HELLO`] | none | protocol version, rulesets, rules of a ruleset, inspected bytes |
//! | [`RULE`] | rule number (ruleset-major), word index, mask (4), start (4), end (4) | none |
//! | [`CONTROL`] | valid (0 or 1), mode (bit s: ruleset s joins by OR) | none |
//! | [`PACKET`] | the packet, 1 to 255 bytes | matched (0 or 1), ruleset, end of message (0 or 1), message id (4) |
//!
//! The code of an answer is [`DONE`], or says what was wrong; then it has no payload. Nothing has changed then.

/// Asks who is there.
pub const HELLO: u8 = 0x00;
/// Writes one rule.
pub const RULE: u8 = 0x01;
/// Puts the rules into force, or out of it.
pub const CONTROL: u8 = 0x02;
/// Has a packet matched.
pub const PACKET: u8 = 0x03;

/// The command was carried out.
pub const DONE: u8 = 0x00;
/// There is no such command.
pub const UNKNOWN_COMMAND: u8 = 0xe1;
/// The command does not have this length.
pub const WRONG_LENGTH: u8 = 0xe2;
/// A byte of the payload is out of its range.
pub const WRONG_VALUE: u8 = 0xe3;
/// The frame broke off; the line was quiet for too long.
pub const TIMEOUT: u8 = 0xe4;
/// A byte had no stop bit. Everything up to a pause has been dropped.
pub const FRAMING: u8 = 0xe5;
/// Bytes came before the answer to the last command had ended. They, and everything up to a pause, have been dropped.
pub const OVERRUN: u8 = 0xe6;

/// Version of these definitions.
pub const VERSION: u8 = 1;
/// Bytes of a rule's payload.
pub const RULE_BYTES: usize = 14;
/// Bytes of the payload of [`CONTROL`].
pub const CONTROL_BYTES: usize = 2;
/// Bytes of the payload of the answer to [`HELLO`].
pub const HELLO_ANSWER_BYTES: usize = 4;
/// Bytes of the payload of the answer to [`PACKET`].
pub const PACKET_ANSWER_BYTES: usize = 7;
