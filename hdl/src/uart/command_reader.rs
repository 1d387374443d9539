//! Frames of bytes, and everything that can be wrong with them.

use super::{Timing, protocol};
use spinneret_verilog::prelude::*;

/// Bits of a byte.
const BYTE: usize = 8;
/// Bits of the state.
const STATE: usize = 3;

/// The next byte is a command.
const COMMAND: u64 = 0;
/// The next byte is the length of the payload.
const LENGTH: u64 = 1;
/// The next byte is one of the payload.
const PAYLOAD: u64 = 2;
/// Something is wrong; bytes are dropped until there is a pause.
const DRAIN: u64 = 3;
/// The frame is complete, or what was wrong is known; waits until that is answered.
const HOLD: u64 = 4;

/// Takes frames of {command, length, payload} from a receiver, one at a time.
///
/// ```text
///              command          length > 0             last byte
///   +-> COMMAND -----> LENGTH -----------> PAYLOAD ---------------> HOLD --+
///   |      |             |  \ 0 or quiet      | quiet             ^  ^     | answered
///   |      +-------------+---\----------------+-------> DRAIN ----+  |     |
///   |               broken    \               broken     ^   quiet   |     |
///   |                          +-------------------------|-----------+     |
///   +----------------------------------------------------+-----------------+
///                                         with bytes in the meantime
/// ```
///
/// # Contract
/// - `payload_valid` marks the bytes of the payload as they arrive. `done` is high from the end of a frame until
///   `answered`; `command`, `length` and `fault` are stable meanwhile. `fault` is 0, or names the error.
/// - For any input, `done` rises after the frame, or after a pause of the given number of clocks.
/// - Bytes that arrive while `done` is high are dropped, and reported as the next fault.
#[hardware(timing: Timing)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct CommandReader {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, bool>,
    /// A byte.
    pub data: Wire<In, { BYTE }>,
    /// The byte is there.
    pub valid: Wire<In, bool>,
    /// Something that is no byte came in.
    pub broken: Wire<In, bool>,
    /// The frame has been answered.
    pub answered: Wire<In, bool>,
    /// The request of the frame.
    pub command: Wire<Out, { BYTE }>,
    /// Bytes of its payload.
    pub length: Wire<Out, { BYTE }>,
    /// Its error; 0 if there is none.
    pub fault: Wire<Out, { BYTE }>,
    /// `data` is a byte of the payload.
    pub payload_valid: Wire<Out, bool>,
    /// The next byte of a payload is the first of its frame.
    pub at_start: Wire<Out, bool>,
    /// The frame is complete.
    pub done: Wire<Out, bool>,
    state: Reg<{ STATE }, Reset>,
    command_value: Reg<{ BYTE }>,
    length_value: Reg<{ BYTE }>,
    fault_value: Reg<{ BYTE }, Reset>,
    /// Bytes of the payload that are still to come.
    left: Reg<{ BYTE }>,
    /// Clocks since the last byte.
    quiet: Reg<{ timing.quiet_width() }, Reset>,
    is_quiet: Wire<Local, bool>,
    /// Something came in while the frame was not answered.
    lost: Reg<bool, Reset>,
    came: Wire<Local, bool>,
}

impl Logic for CommandReader {
    #[kernel]
    fn update(&mut self) {
        let last_quiet = self._timing.quiet_clocks as u64 - 1;
        clocked!(self.clk, self.rst => self.state, self.fault_value, self.quiet, self.lost);
        clocked!(self.clk => self.command_value, self.length_value, self.left);
        self.came.next = self.valid.val() | self.broken.val();
        self.is_quiet.next = self.quiet.q.val() == last_quiet;
        self.quiet.d.next = self.quiet.q.val() + 1;
        if self.came.val() | (self.state.q.val() == COMMAND) | (self.state.q.val() == HOLD) {
            self.quiet.d.next = 0.into();
        }
        self.payload_valid.next = self.valid.val() & (self.state.q.val() == PAYLOAD);
        if self.state.q.val() == COMMAND {
            self.fault_value.d.next = 0.into();
            self.command_value.d.next = self.data.val();
            if self.valid.val() {
                self.state.d.next = lit(LENGTH, STATE);
            }
        }
        if self.state.q.val() == LENGTH {
            self.length_value.d.next = self.data.val();
            self.left.d.next = self.data.val();
            if self.valid.val() & (self.data.val() == 0) {
                self.state.d.next = lit(HOLD, STATE);
            } else if self.valid.val() {
                self.state.d.next = lit(PAYLOAD, STATE);
            }
        }
        if self.payload_valid.val() {
            self.left.d.next = self.left.q.val() - 1;
            if self.left.q.val() == 1 {
                self.state.d.next = lit(HOLD, STATE);
            }
        }
        /// A pause within a frame ends it, and ends what is dropped.
        if self.is_quiet.val() & !self.came.val() {
            self.state.d.next = lit(HOLD, STATE);
            if self.state.q.val() != DRAIN {
                self.fault_value.d.next = lit(protocol::TIMEOUT as u64, BYTE);
            }
        }
        if self.broken.val() & (self.state.q.val() != HOLD) {
            self.state.d.next = lit(DRAIN, STATE);
            if self.state.q.val() != DRAIN {
                self.fault_value.d.next = lit(protocol::FRAMING as u64, BYTE);
            }
        }
        if self.state.q.val() == HOLD {
            self.lost.d.next = self.lost.q.val() | self.came.val();
            if self.answered.val() {
                self.lost.d.next = false;
                self.state.d.next = lit(COMMAND, STATE);
                if self.lost.q.val() | self.came.val() {
                    self.state.d.next = lit(DRAIN, STATE);
                    self.fault_value.d.next = lit(protocol::OVERRUN as u64, BYTE);
                }
            }
        }
        self.command.next = self.command_value.q.val();
        self.length.next = self.length_value.q.val();
        self.fault.next = self.fault_value.q.val();
        self.at_start.next = self.state.q.val() == LENGTH;
        self.done.next = self.state.q.val() == HOLD;
    }
}
