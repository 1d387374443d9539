//! Answers, byte by byte.

use super::protocol::PACKET_ANSWER_BYTES;
use crate::stream::StreamOut;
use spinneret_verilog::prelude::*;

/// Bits of a byte.
const BYTE: usize = 8;
/// Bits of the longest payload.
pub(super) const PAYLOAD: usize = BYTE * PACKET_ANSWER_BYTES;
/// Bits of the number of bytes of an answer.
const COUNT: usize = 4;

/// Sends {code, length, payload} as bytes.
///
/// # Contract
/// - `start` takes an answer while `busy` is low; `busy` is high until its last byte has been taken.
/// - The payload starts with the most significant byte of `payload`; only `length` bytes of it are sent.
#[hardware]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct AnswerWriter {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, bool>,
    /// Takes the answer.
    pub start: Wire<In, bool>,
    /// Its code.
    pub code: Wire<In, { BYTE }>,
    /// Bytes of its payload.
    pub length: Wire<In, { COUNT }>,
    /// Its payload.
    pub payload: Wire<In, { PAYLOAD }>,
    /// An answer is being sent.
    pub busy: Wire<Out, bool>,
    /// Bytes.
    pub m: StreamOut<{ BYTE }>,
    bytes: Reg<{ 2 * BYTE + PAYLOAD }>,
    left: Reg<{ COUNT }, Reset>,
    is_busy: Wire<Local, bool>,
}

impl Logic for AnswerWriter {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.left);
        clocked!(self.clk => self.bytes);
        self.is_busy.next = self.left.q.val() != 0;
        if !self.is_busy.val() {
            self.bytes.d.next = cat!(
                self.code.val(),
                self.length.val().resize(BYTE),
                self.payload.val()
            );
            if self.start.val() {
                self.left.d.next = self.length.val() + 2;
            }
        } else if self.m.ready.val() {
            self.bytes.d.next = cat!(self.bytes.q.val().slice(0, BYTE + PAYLOAD), lit(0, BYTE));
            self.left.d.next = self.left.q.val() - 1;
        }
        self.busy.next = self.is_busy.val();
        self.m.valid.next = self.is_busy.val();
        self.m.data.next = self.bytes.q.val().slice(BYTE + PAYLOAD, BYTE);
    }
}
