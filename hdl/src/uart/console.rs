//! A matching engine that is configured, fed and asked over a serial line.
//!
//! ```text
//!            +--------------+    +---------------+    +-----------+     +-----------------+
//!  uart_rx =>| UartReceiver |===>| CommandReader |===>| RuleBank  |====>|                 |
//!            +--------------+    +---------------+    +-----------+     |                 |
//!                                   payload ||        +--------------+  | pspin_pkt_match |
//!                                           ++=======>| PacketBuffer |=>|                 |
//!                                                     +--------------+  +-----------------+
//!            +-----------------+    +--------------+                         | result
//!  uart_tx <=| UartTransmitter |<===| AnswerWriter |<========================+
//!            +-----------------+    +--------------+
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

use super::answer_writer::PAYLOAD as ANSWER;
use super::rule_bank::ENTRY;
use super::{
    AnswerWriter, CommandReader, ConsoleShape, PacketBuffer, RuleBank, UartReceiver, UartTransmitter,
    protocol,
};
use crate::entry::ParameterError;
use crate::ingress::pkt_match::PspinPktMatch;
use spinneret_verilog::prelude::*;

/// Bits of a byte.
const BYTE: usize = 8;
/// Bits of the state.
const STATE: usize = 2;
/// Bits of the counter that the lowest LEDs show.
const COUNTER: usize = 4;

/// Waits for a frame.
const LISTEN: u64 = 0;
/// A packet is in the engine.
const MATCH: u64 = 1;
/// The answer starts.
const ANSWERING: u64 = 2;
/// The answer is being sent.
const SENDING: u64 = 3;

/// A matching engine after a serial line.
#[hardware(shape: ConsoleShape, error = ParameterError, engine = shape.engine(), timing = shape.timing)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct UartMatch {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, bool>,
    /// Serial line from the host; it may change at any time.
    pub uart_rx: Wire<In, bool>,
    /// Serial line to the host.
    pub uart_tx: Wire<Out, bool>,
    /// LEDs, 1 is on.
    pub leds: Wire<Out, 8>,
    receiver: UartReceiver<{ timing }>,
    reader: CommandReader<{ timing }>,
    rules: RuleBank<{ engine }>,
    packet: PacketBuffer<{ engine.axis() }>,
    engine: Checked<PspinPktMatch<{ engine }>>,
    answer: AnswerWriter,
    transmitter: UartTransmitter<{ timing }>,
    state: Reg<{ STATE }, Reset>,
    /// The last bytes of the payload, the last one lowest.
    recent: Reg<{ BYTE * protocol::RULE_BYTES }>,
    valid: Reg<bool, Reset>,
    mode: Reg<{ engine.rulesets }, Reset>,
    code: Reg<{ BYTE }>,
    answer_length: Reg<4>,
    answer_payload: Reg<{ ANSWER }>,
    heartbeat: Reg<{ shape.heartbeat_bits + 1 }, Reset>,
    counter: Reg<{ COUNTER }, Reset>,
    failed: Reg<bool, Reset>,
    matched: Reg<bool, Reset>,
    command: Wire<Local, { BYTE }>,
    length: Wire<Local, { BYTE }>,
    /// The immediate answer to a frame.
    verdict: Wire<Local, { BYTE }>,
    accept: Wire<Local, bool>,
    is_unmatched: Wire<Local, bool>,
}

impl Logic for UartMatch {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape.engine();
        let (sets, id) = (shape.rulesets, shape.message_id_width);
        let rule_bits = BYTE * protocol::RULE_BYTES;
        clocked!(self.clk, self.rst => self.receiver, self.reader, self.rules, self.packet, self.answer,
            self.transmitter, self.state, self.valid, self.mode, self.heartbeat, self.counter, self.failed,
            self.matched);
        clocked!(self.clk => self.recent, self.code, self.answer_length, self.answer_payload);
        self.engine.clk.next = self.clk.val();
        self.engine.rstn.next = !self.rst.val();
        /// From the line to frames.
        self.receiver.line.next = self.uart_rx.val();
        connect!(self.receiver => self.reader; data, valid, broken);
        self.packet.data.next = self.receiver.data.val();
        self.packet.store.next = self.reader.payload_valid.val();
        self.packet.restart.next = self.reader.at_start.val();
        self.packet.length.next = self.reader.length.val();
        if self.reader.payload_valid.val() {
            self.recent.d.next = cat!(
                self.recent.q.val().slice(0, rule_bits - BYTE),
                self.receiver.data.val()
            );
        }
        /// The answer to a frame.
        connect!(self.reader => self; command, length);
        self.verdict.next = lit(protocol::DONE as u64, BYTE);
        if self.reader.fault.val() != 0 {
            self.verdict.next = self.reader.fault.val();
        } else if self.command.val() > protocol::PACKET as u64 {
            self.verdict.next = lit(protocol::UNKNOWN_COMMAND as u64, BYTE);
        } else if ((self.command.val() == protocol::HELLO as u64) & (self.length.val() != 0))
            | ((self.command.val() == protocol::RULE as u64)
                & (self.length.val() != protocol::RULE_BYTES as u64))
            | ((self.command.val() == protocol::CONTROL as u64)
                & (self.length.val() != protocol::CONTROL_BYTES as u64))
            | ((self.command.val() == protocol::PACKET as u64) & (self.length.val() == 0))
        {
            self.verdict.next = lit(protocol::WRONG_LENGTH as u64, BYTE);
        } else if ((self.command.val() == protocol::RULE as u64)
            & (self.recent.q.val().slice(ENTRY, BYTE) >= shape.all_rules() as u64))
            | ((self.command.val() == protocol::CONTROL as u64)
                & ((self.recent.q.val().slice(BYTE, BYTE) > 1)
                    | (self.recent.q.val().slice(0, BYTE) >= 1_u64 << sets)))
        {
            self.verdict.next = lit(protocol::WRONG_VALUE as u64, BYTE);
        }
        self.accept.next = (self.state.q.val() == LISTEN)
            & self.reader.done.val()
            & (self.verdict.val() == protocol::DONE as u64);
        /// Commands.
        self.rules.write.next = self.accept.val() & (self.command.val() == protocol::RULE as u64);
        self.rules.number.next = self.recent.q.val().slice(ENTRY, BYTE);
        self.rules.entry.next = self.recent.q.val().slice(0, ENTRY);
        if self.accept.val() & (self.command.val() == protocol::CONTROL as u64) {
            self.valid.d.next = self.recent.q.val().get_bit(BYTE);
            self.mode.d.next = self.recent.q.val().slice(0, sets);
        }
        self.packet.play.next = self.accept.val() & (self.command.val() == protocol::PACKET as u64);
        /// The engine.
        self.engine.match_valid.next = self.valid.q.val();
        self.engine.match_mode.next = self.mode.q.val();
        self.engine.match_idx.next = self.rules.idx.val();
        self.engine.match_mask.next = self.rules.mask.val();
        self.engine.match_start.next = self.rules.start.val();
        self.engine.match_end.next = self.rules.limit.val();
        connect!(self.packet.m => self.engine.s_axis_nic_rx);
        self.engine.m_axis_nic_rx.tready.next = true;
        self.engine.m_axis_pspin_rx.tready.next = true;
        self.engine.packet_meta_ready.next = true;
        self.is_unmatched.next =
            self.engine.m_axis_nic_rx.tvalid.val() & self.engine.m_axis_nic_rx.tlast.val();
        /// Answers.
        if self.state.q.val() == LISTEN {
            self.code.d.next = self.verdict.val();
            self.answer_length.d.next = 0.into();
            self.answer_payload.d.next = cat!(
                lit(protocol::VERSION as u64, BYTE),
                lit(sets as u64, BYTE),
                lit(shape.rules as u64, BYTE),
                lit((4 * shape.words()) as u64, BYTE),
                lit(0, ANSWER - 4 * BYTE)
            );
            if self.accept.val() & (self.command.val() == protocol::HELLO as u64) {
                self.answer_length.d.next = lit(protocol::HELLO_ANSWER_BYTES as u64, 4);
            }
            if self.packet.play.val() {
                self.state.d.next = lit(MATCH, STATE);
            } else if self.reader.done.val() {
                self.state.d.next = lit(ANSWERING, STATE);
            }
        }
        if self.state.q.val() == MATCH {
            self.answer_length.d.next = lit(protocol::PACKET_ANSWER_BYTES as u64, 4);
            if self.engine.packet_meta_valid.val() {
                self.answer_payload.d.next = cat!(
                    lit(1, BYTE),
                    self.engine.packet_meta_tag.val().slice(0, 2).resize(BYTE),
                    self.engine.packet_meta_tag.val().slice(2, 1).resize(BYTE),
                    self.engine.packet_meta_tag.val().slice(3, id).resize(4 * BYTE)
                );
                self.matched.d.next = true;
                self.counter.d.next = self.counter.q.val() + 1;
                self.state.d.next = lit(ANSWERING, STATE);
            } else if self.is_unmatched.val() {
                self.answer_payload.d.next = 0.into();
                self.matched.d.next = false;
                self.state.d.next = lit(ANSWERING, STATE);
            }
        }
        self.answer.start.next = self.state.q.val() == ANSWERING;
        self.answer.code.next = self.code.q.val();
        self.answer.length.next = self.answer_length.q.val();
        self.answer.payload.next = self.answer_payload.q.val();
        if self.state.q.val() == ANSWERING {
            self.failed.d.next = self.code.q.val() != protocol::DONE as u64;
            self.state.d.next = lit(SENDING, STATE);
        }
        connect!(self.answer.m => self.transmitter.s);
        self.uart_tx.next = self.transmitter.line.val();
        /// The last byte has left when the transmitter is ready again.
        self.reader.answered.next = false;
        if (self.state.q.val() == SENDING) & !self.answer.busy.val() & self.transmitter.s.ready.val() {
            self.reader.answered.next = true;
            self.state.d.next = lit(LISTEN, STATE);
        }
        self.heartbeat.d.next = self.heartbeat.q.val() + 1;
        self.leds.next = cat!(
            self.heartbeat.q.val().get_bit(self._shape.heartbeat_bits),
            self.matched.q.val(),
            self.failed.q.val(),
            self.valid.q.val(),
            self.counter.q.val()
        );
    }
}
