//! Operations on a HER, one after another.

use super::shape::{ADDRESS, COMMAND_ID, HOST_ADDRESS, MESSAGE_ID, operation};
use spinneret_verilog::prelude::*;

/// A word of stdout that says that the host refused something: its lowest bits are the response.
pub(super) const FAILURE: u64 = 0xdead_0000;

/// The steps, in their order.
const FETCH: u64 = 0;
const COPY: u64 = 1;
const SEND: u64 = 2;
const PRINT: u64 = 3;
const ANSWER: u64 = 4;
const STEP_BITS: usize = 3;

/// A HER as it waits: {payload handler address, its lowest bits; handler memory; host memory; message id; size
/// that handlers see; size; address}.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HerFields;

impl HerFields {
    pub(super) const ADDRESS: usize = 0;
    pub(super) const SIZE: usize = Self::ADDRESS + ADDRESS;
    pub(super) const XFER_SIZE: usize = Self::SIZE + ADDRESS;
    pub(super) const MESSAGE: usize = Self::XFER_SIZE + ADDRESS;
    pub(super) const HOST: usize = Self::MESSAGE + MESSAGE_ID;
    pub(super) const HANDLER: usize = Self::HOST + HOST_ADDRESS;
    pub(super) const OPERATIONS: usize = Self::HANDLER + ADDRESS;
    pub(super) const WIDTH: usize = Self::OPERATIONS + operation::COUNT;
}

/// Leads a HER through its steps: read from the host, copy to the host, send, print, feedback.
#[hardware]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct HerSequencer {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Address of a HER's packet; all of a HER stays until its feedback is taken.
    pub her_addr: Wire<In, { ADDRESS }>,
    /// Bytes of the packet.
    pub her_size: Wire<In, { ADDRESS }>,
    /// Its message id.
    pub her_message: Wire<In, { MESSAGE_ID }>,
    /// Its operations.
    pub her_operations: Wire<In, { operation::COUNT }>,
    /// The HER is there.
    pub her_valid: Wire<In, bool>,
    /// It is done in this cycle.
    pub her_done: Wire<Out, bool>,
    /// The read from the host begins.
    pub fetch_start: Wire<Out, bool>,
    /// It ends.
    pub fetch_done: Wire<In, bool>,
    /// The copy to the host begins.
    pub copy_start: Wire<Out, bool>,
    /// It ends.
    pub copy_done: Wire<In, bool>,
    /// The host refused something.
    pub failed: Wire<In, bool>,
    /// With `failed`: its response.
    pub code: Wire<In, 2>,
    /// Id of a command.
    pub command_id: Wire<Out, { COMMAND_ID }>,
    /// Address of what it sends.
    pub command_source: Wire<Out, { ADDRESS }>,
    /// Its bytes.
    pub command_length: Wire<Out, { ADDRESS }>,
    /// It is there.
    pub command_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub command_ready: Wire<In, bool>,
    /// A response is there.
    pub response_valid: Wire<In, bool>,
    /// Id of its command.
    pub response_id: Wire<In, { COMMAND_ID }>,
    /// A word for stdout.
    pub word: Wire<Out, { ADDRESS }>,
    /// It is there; there is no ready.
    pub word_valid: Wire<Out, bool>,
    /// The feedback is there.
    pub feedback_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub feedback_ready: Wire<In, bool>,
    step: Reg<{ STEP_BITS }, Reset>,
    /// The step has begun.
    begun: Reg<bool, Reset>,
    command: Reg<{ COMMAND_ID }, Reset>,
    /// The command is offered, or waits for its response.
    offers: Reg<bool, Reset>,
    sent: Reg<bool, Reset>,
    answers: Reg<bool, Reset>,
    /// The step is to be done for this HER.
    wanted: Wire<Local, bool>,
    begins: Wire<Local, bool>,
    ends: Wire<Local, bool>,
    taken: Wire<Local, bool>,
}

impl Logic for HerSequencer {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.step, self.begun, self.command, self.offers, self.sent, self.answers);
        self.taken.next = self.answers.q.val() && self.feedback_ready.val();
        /// Whether the step is to be done, and whether it ends in this clock.
        self.wanted.next = true;
        self.ends.next = self.taken.val();
        if self.step.q.val() == FETCH {
            self.wanted.next = self.her_operations.val().get_bit(operation::FETCH);
            self.ends.next = self.fetch_done.val();
        } else if self.step.q.val() == COPY {
            self.wanted.next =
                self.her_operations.val().get_bit(operation::COPY) && self.her_size.val().any();
            self.ends.next = self.copy_done.val();
        } else if self.step.q.val() == SEND {
            self.wanted.next = self.her_operations.val().get_bit(operation::SEND);
            self.ends.next = self.sent.q.val()
                && self.response_valid.val()
                && self.response_id.val() == self.command.q.val();
        } else if self.step.q.val() == PRINT {
            self.wanted.next = self.her_operations.val().get_bit(operation::PRINT);
            self.ends.next = true;
        }
        self.begins.next = self.her_valid.val() && self.wanted.val() && !self.begun.q.val();
        if self.begins.val() {
            self.begun.d.next = true;
        }
        if self.her_valid.val() && (!self.wanted.val() || (self.begun.q.val() && self.ends.val())) {
            self.begun.d.next = false;
            self.step.d.next = self.step.q.val() + 1;
            if self.step.q.val() == ANSWER {
                self.step.d.next = FETCH.into();
            }
        }
        self.fetch_start.next = self.begins.val() && self.step.q.val() == FETCH;
        self.copy_start.next = self.begins.val() && self.step.q.val() == COPY;
        /// A command has the number after that of the one before.
        if self.offers.q.val() && self.command_ready.val() {
            self.offers.d.next = false;
            self.sent.d.next = true;
        }
        if self.begins.val() && self.step.q.val() == SEND {
            self.offers.d.next = true;
        }
        if self.begun.q.val() && self.ends.val() && self.step.q.val() == SEND {
            self.sent.d.next = false;
            self.command.d.next = self.command.q.val() + 1;
        }
        self.command_id.next = self.command.q.val();
        self.command_source.next = self.her_addr.val();
        self.command_length.next = self.her_size.val();
        self.command_valid.next = self.offers.q.val();
        /// Failures are printed when they happen.
        if self.failed.val() {
            self.word.next = cat!(lit(FAILURE >> 2, ADDRESS - 2), self.code.val());
        } else {
            self.word.next = self.her_message.val().resize(ADDRESS);
        }
        self.word_valid.next = self.failed.val() || (self.begins.val() && self.step.q.val() == PRINT);
        if self.begins.val() && self.step.q.val() == ANSWER {
            self.answers.d.next = true;
        }
        if self.taken.val() {
            self.answers.d.next = false;
        }
        self.feedback_valid.next = self.answers.q.val();
        self.her_done.next = self.taken.val();
    }
}
