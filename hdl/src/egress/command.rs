//! What a command asks for, and whether it can be done.

use super::EgressShape;
use spinneret_verilog::prelude::*;

/// Judges a command by itself; combinational, in front of the queue.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct CommandIntake {
    /// Id of the command.
    pub id: Wire<In>,
    /// Address of the first byte.
    pub source: Wire<In>,
    /// Number of bytes.
    pub length: Wire<In>,
    /// {length is wrong, address is wrong, id, length minus 1, address}.
    pub command: Wire<Out>,
    wrong_length: Wire<Local, bool>,
    wrong_address: Wire<Local, bool>,
    last: Wire<Local>,
    _shape: EgressShape,
}

impl CommandIntake {
    /// An intake for commands of the given shape.
    pub fn new(shape: EgressShape) -> Self {
        Self {
            id: Wire::word(shape.command_id),
            source: Wire::word(shape.source),
            length: Wire::word(shape.address),
            command: Wire::word(shape.command()),
            wrong_length: Wire::bit(),
            wrong_address: Wire::bit(),
            last: Wire::word(shape.length()),
            _shape: shape,
        }
    }
}

impl Logic for CommandIntake {
    #[kernel]
    fn update(&mut self) {
        let (address, source) = (self._shape.address, self._shape.source);
        let most = self._shape.max_frame as u64;
        self.wrong_length.next = self.length.val() > most || !self.length.val().any();
        if source > address {
            self.wrong_address.next = self.source.val().slice(address, source - address).any();
        } else {
            self.wrong_address.next = false;
        }
        self.last.next = self.length.val().slice(0, self._shape.length()) - 1;
        self.command.next = cat!(
            self.wrong_length.val(),
            self.wrong_address.val(),
            self.id.val(),
            self.last.val(),
            self.source.val().resize(address)
        );
    }
}

/// Computes which lines a frame lies in, and how its beats come of them; combinational, behind the queue.
///
/// A line is as many bytes of memory as a beat has, and starts at a multiple of them. A frame of B beats lies
/// in B lines, or in B + 1 if it reaches further into its last line than it starts in its first.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FramePlanner {
    /// A command from the intake.
    pub command: Wire<In>,
    /// {address is wrong, refused, id, beats, frame, first line}.
    pub plan: Wire<Out>,
    address: Wire<Local>,
    last: Wire<Local>,
    /// The frame goes beyond the highest address.
    wraps: Wire<Local, bool>,
    /// The last beat reaches into another line than it starts in.
    crosses: Wire<Local, bool>,
    /// Beats minus 1.
    whole: Wire<Local>,
    lines: Wire<Local>,
    wrong_length: Wire<Local, bool>,
    wrong_address: Wire<Local, bool>,
    _shape: EgressShape,
}

impl FramePlanner {
    /// A planner for commands of the given shape.
    pub fn new(shape: EgressShape) -> Self {
        Self {
            command: Wire::word(shape.command()),
            plan: Wire::word(shape.plan()),
            address: Wire::word(shape.address),
            last: Wire::word(shape.length()),
            wraps: Wire::bit(),
            crosses: Wire::bit(),
            whole: Wire::word(shape.beats()),
            lines: Wire::word(shape.beats()),
            wrong_length: Wire::bit(),
            wrong_address: Wire::bit(),
            _shape: shape,
        }
    }
}

impl Logic for FramePlanner {
    #[kernel]
    fn update(&mut self) {
        let (address, length) = (self._shape.address, self._shape.length());
        let (offset, beats, id) = (self._shape.offset(), self._shape.beats(), self._shape.command_id);
        self.address.next = self.command.val().slice(0, address);
        self.last.next = self.command.val().slice(address, length);
        /// A sum is too large when one part is more than what the other one leaves.
        self.wraps.next = self.address.val() > !self.last.val().resize(address);
        self.crosses.next = self.address.val().slice(0, offset) > !self.last.val().slice(0, offset);
        self.wrong_length.next = self.command.val().get_bit(address + length + id + 1);
        self.wrong_address.next = self.command.val().get_bit(address + length + id) || self.wraps.val();
        self.whole.next = self.last.val().slice(offset, length - offset).resize(beats);
        self.lines.next = self.whole.val() + word(self.crosses.val()).resize(beats);
        /// A wrong length is told before a wrong address.
        self.plan.next = cat!(
            !self.wrong_length.val(),
            self.wrong_length.val() || self.wrong_address.val(),
            self.command.val().slice(address + length, id),
            self.whole.val() + 1,
            !self.crosses.val(),
            self.last.val().slice(0, offset),
            self.address.val().slice(0, offset),
            self.lines.val(),
            self.address.val().slice(offset, address - offset)
        );
    }
}
