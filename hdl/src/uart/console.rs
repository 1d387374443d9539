//! A matching engine that is configured, fed and asked over a serial line.
//!
//! ```text
//!            +--------------+    +---------------+    +-----------+     +-----------------+
//!  uart_rx =>| UartReceiver |===>| CommandReader |===>| RuleBank  |====>|                 |
//!            +--------------+    +---------------+    +-----------+     |                 |
//!                                   payload ||        +--------------+  | pspin_pkt_match |
//!                                           ++=======>| PacketBuffer |=>|                 |
//!                                                     +--------------+  +-----------------+
//!            +-----------------+    +----------------+                       | result
//!  uart_tx <=| UartTransmitter |<===| shift register |<======================+
//!            +-----------------+    +----------------+
//! ```
//!
//! # Contract
//! - **Protocol:** [`super::protocol`]; every command gets one answer, in order. A command changes what it asks for
//!   just before its answer starts.
//! - **Rules** written while they are in force count from the next packet on. After reset none is in force, and every
//!   one matches nothing.
//! - **Packets** go through [`PspinPktMatch`] whole, beat for beat as on a wire.
//! - **Message id:** bytes 44 to 47 of the packet as they are in it.
//! - **LEDs:** 0 to 3 count matched packets; 4 rules are in force; 5 the last answer was an error; 6 the last packet
//!   matched; 7 changes as [`ConsoleShape::heartbeat_bits`] says.
//! - **Bad input** is answered with a code and changes nothing. A frame that breaks off, or a byte without a stop bit,
//!   is answered after a pause of the line; then the next byte is a command. No input stops the console for longer.
//! - **Reset:** as at power-up.
//!
//! Source: FPsPIN, section III, for the rules; 8N1 serial lines as in any UART.

use super::frames::CommandReader;
use super::line::{UartReceiver, UartTransmitter};
use super::store::{PacketBuffer, RuleBank, RuleEntry};
use super::{BYTE, ConsoleShape, protocol};
use crate::entry::ParameterError;
use crate::ingress::pkt_match::{MatchShape, PspinPktMatch};
use spinneret_verilog::prelude::*;

/// Bits of the longest payload of an answer.
const ANSWER: usize = BYTE * protocol::PACKET_ANSWER_BYTES;
/// Bits of the number of bytes of an answer.
const COUNT: usize = 4;
/// Bits of the counter that the lowest LEDs show.
const COUNTER: usize = 4;

/// States of the console.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum Phase {
    /// Waits for a frame.
    Listen,
    /// A packet is in the engine.
    Match,
    /// The answer starts.
    Answer,
    /// The answer is being sent.
    Send,
}

/// A matching engine after a serial line.
#[module(shape: ConsoleShape, error = ParameterError, matching: MatchShape = shape.engine(), timing = shape.timing)]
pub struct UartMatch {
    /// Serial line from the host; it may change at any time.
    pub uart_rx: Wire<In, bool>,
    /// Serial line to the host.
    pub uart_tx: Wire<Out, bool>,
    /// LEDs, 1 is on.
    pub leds: Wire<Out, 8>,
    receiver: UartReceiver<{ timing }>,
    reader: CommandReader<{ timing }>,
    rules: RuleBank<{ matching }>,
    packet: PacketBuffer<{ matching.axis() }>,
    engine: Checked<PspinPktMatch<{ matching }>>,
    transmitter: UartTransmitter<{ timing }>,
    #[new(Reg::reset_to(Phase::Listen))]
    state: Reg<Phase>,
    /// The last bytes of the payload, the last one lowest.
    recent: Reg<{ BYTE * protocol::RULE_BYTES }>,
    valid: Reg<bool, Reset>,
    mode: Reg<{ matching.rulesets }, Reset>,
    code: Reg<{ BYTE }>,
    answer_length: Reg<{ COUNT }>,
    answer_payload: Reg<{ ANSWER }>,
    /// {code, length, payload} of the answer that is being sent.
    bytes: Reg<{ 2 * BYTE + ANSWER }>,
    /// Bytes of it that are still to be taken.
    left: Reg<{ COUNT }, Reset>,
    heartbeat: Reg<{ shape.heartbeat_bits + 1 }, Reset>,
    counter: Reg<{ COUNTER }, Reset>,
    failed: Reg<bool, Reset>,
    matched: Reg<bool, Reset>,
}

#[kernel(
    UartMatch {
        rst, uart_rx, uart_tx, leds, receiver, reader, rules, packet, engine, transmitter, state, recent, valid,
        mode, code, answer_length, answer_payload, bytes, left, heartbeat, counter, failed, matched, shape, matching
    },
)]
fn update() {
    let (sets, layout) = (shape.rulesets, RuleEntry::new());
    /// From the line to frames.
    receiver.line = uart_rx;
    reader.data = receiver.data;
    reader.valid = receiver.valid;
    reader.broken = receiver.broken;
    packet.data = receiver.data;
    packet.store = reader.payload_valid;
    packet.restart = reader.at_start;
    packet.length = reader.length;
    if reader.payload_valid {
        recent = cat!(recent.slice(0, recent.width() - BYTE), receiver.data);
    }
    let rule = recent.slice(layout.width, BYTE);
    let (control_mode, control_valid) = (recent.slice(0, BYTE), recent.slice(BYTE, BYTE));

    let (wrong_length, wrong_value) = (wire_bit(), wire_bit());
    wrong_value = false;
    match reader.command {
        protocol::HELLO => wrong_length = reader.length != 0,
        protocol::RULE => {
            wrong_length = reader.length != protocol::RULE_BYTES;
            wrong_value = rule >= matching.all_rules();
        }
        protocol::CONTROL => {
            wrong_length = reader.length != protocol::CONTROL_BYTES;
            wrong_value = control_valid > 1 || control_mode >= 1_usize << sets;
        }
        _ => wrong_length = reader.length == 0,
    }
    /// The immediate answer to a frame.
    let verdict = wire(BYTE);
    verdict = if reader.fault != 0 {
        reader.fault
    } else if reader.command > protocol::PACKET {
        protocol::UNKNOWN_COMMAND
    } else if wrong_length {
        protocol::WRONG_LENGTH
    } else if wrong_value {
        protocol::WRONG_VALUE
    } else {
        protocol::DONE
    };
    let accept = state == Phase::Listen && reader.done && verdict == protocol::DONE;

    /// Commands.
    rules.write = accept && reader.command == protocol::RULE;
    rules.number = rule;
    rules.entry = recent.slice(0, layout.width);
    if accept && reader.command == protocol::CONTROL {
        valid = control_valid[0];
        mode = control_mode.slice(0, sets);
    }
    packet.play = accept && reader.command == protocol::PACKET;

    /// The engine.
    engine.rstn = !rst;
    engine.match_valid = valid;
    engine.match_mode = mode;
    engine.match_idx = rules.idx;
    engine.match_mask = rules.mask;
    engine.match_start = rules.start;
    engine.match_end = rules.limit;
    engine.s_axis_nic_rx = packet.m;
    engine.m_axis_nic_rx.tready = true;
    engine.m_axis_pspin_rx.tready = true;
    engine.packet_meta_ready = true;
    let is_unmatched = engine.m_axis_nic_rx.tvalid && engine.m_axis_nic_rx.tlast;
    let tag = engine.packet_meta_tag;

    let is_sending = left != 0;
    /// The last byte of an answer has left.
    let answered = state == Phase::Send && !is_sending && transmitter.s.ready;
    match state {
        Phase::Listen => {
            code = verdict;
            answer_length = 0;
            if accept && reader.command == protocol::HELLO {
                answer_length = protocol::HELLO_ANSWER_BYTES;
            }
            answer_payload = cat!(
                lit(protocol::VERSION as u64, BYTE),
                lit(sets as u64, BYTE),
                lit(shape.rules as u64, BYTE),
                lit((4 * matching.words()) as u64, BYTE),
                lit(0, ANSWER - 4 * BYTE)
            );
            if packet.play {
                state = Phase::Match;
            } else if reader.done {
                state = Phase::Answer;
            }
        }
        Phase::Match => {
            answer_length = protocol::PACKET_ANSWER_BYTES;
            if engine.packet_meta_valid {
                answer_payload = cat!(
                    lit(1, BYTE),
                    tag[0..2].resize(BYTE),
                    tag[2..3].resize(BYTE),
                    tag.slice(3, matching.message_id_width).resize(4 * BYTE)
                );
                matched = true;
                counter = counter + 1;
                state = Phase::Answer;
            } else if is_unmatched {
                answer_payload = 0;
                matched = false;
                state = Phase::Answer;
            }
        }
        Phase::Answer => {
            failed = code != protocol::DONE;
            state = Phase::Send;
        }
        Phase::Send => {
            if answered {
                state = Phase::Listen;
            }
        }
    }
    reader.answered = answered;
    if !is_sending {
        bytes = cat!(code, answer_length.resize(BYTE), answer_payload);
        if state == Phase::Answer {
            left = answer_length + 2;
        }
    } else if transmitter.s.ready {
        bytes = bytes << BYTE;
        left = left - 1;
    }
    transmitter.s.data = bytes.slice(BYTE + ANSWER, BYTE);
    transmitter.s.valid = is_sending;
    uart_tx = transmitter.line;

    heartbeat = heartbeat + 1;
    leds = cat!(heartbeat[shape.heartbeat_bits], matched, failed, valid, counter);
}
