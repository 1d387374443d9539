//! Frames of bytes, and everything that can be wrong with them.

use super::{BYTE, Timing, protocol};
use spinneret_verilog::prelude::*;

/// Where a command is.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum Frame {
    /// The next byte is a command.
    Command,
    /// The next byte is the length of the payload.
    Length,
    /// The next byte is one of the payload.
    Payload,
    /// Something is wrong; bytes are dropped until there is a pause.
    Drain,
    /// The frame is complete, or what was wrong is known; waits until that is answered.
    Hold,
}

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
#[module(timing: Timing)]
pub(crate) struct CommandReader {
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
    #[new(Reg::reset_to(Frame::Command))]
    state: Reg<Frame>,
    command_value: Reg<{ BYTE }>,
    length_value: Reg<{ BYTE }>,
    fault_value: Reg<{ BYTE }, Reset>,
    /// Bytes of the payload that are still to come.
    left: Reg<{ BYTE }>,
    /// Clocks since the last byte.
    quiet: Reg<{ timing.quiet_width() }, Reset>,
    /// Something came in while the frame was not answered.
    lost: Reg<bool, Reset>,
}

#[kernel(
    CommandReader {
        data, valid, broken, answered, command, length, fault, payload_valid, at_start, done, state, command_value,
        length_value, fault_value, left, quiet, lost, timing
    },
)]
fn update() {
    let came = valid || broken;
    let is_quiet = quiet == timing.quiet_clocks - 1;
    quiet = quiet + 1;
    if came || state == Frame::Command || state == Frame::Hold {
        quiet = 0;
    }
    match state {
        Frame::Command => {
            fault_value = 0;
            command_value = data;
            if valid {
                state = Frame::Length;
            }
        }
        Frame::Length => {
            length_value = data;
            left = data;
            if valid && data == 0 {
                state = Frame::Hold;
            } else if valid {
                state = Frame::Payload;
            }
        }
        Frame::Payload => {
            if valid {
                left = left - 1;
                if left == 1 {
                    state = Frame::Hold;
                }
            }
        }
        Frame::Drain | Frame::Hold => {}
    }
    /// A pause within a frame ends it, and ends what is dropped.
    if is_quiet && !came {
        state = Frame::Hold;
        if state != Frame::Drain {
            fault_value = protocol::TIMEOUT;
        }
    }
    if broken && state != Frame::Hold {
        state = Frame::Drain;
        if state != Frame::Drain {
            fault_value = protocol::FRAMING;
        }
    }
    if state == Frame::Hold {
        lost = lost || came;
        if answered {
            lost = false;
            state = Frame::Command;
            if lost || came {
                state = Frame::Drain;
                fault_value = protocol::OVERRUN;
            }
        }
    }
    command = command_value;
    length = length_value;
    fault = fault_value;
    payload_valid = valid && state == Frame::Payload;
    at_start = state == Frame::Length;
    done = state == Frame::Hold;
}
