//! What a command asks for, and whether it can be done.

use super::EgressShape;
use spinneret_verilog::prelude::*;

/// Judges a command by itself; combinational, in front of the queue.
#[hardware(shape: EgressShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct CommandIntake {
    /// Id of the command.
    pub id: Wire<In, { shape.command_id() }>,
    /// Address of the first byte.
    pub source: Wire<In, { shape.source }>,
    /// Number of bytes.
    pub length: Wire<In, { shape.address }>,
    /// {length is wrong, address is wrong, id, length minus 1, address}.
    pub command: Wire<Out, { shape.command() }>,
    wrong_length: Wire<Local, bool>,
    wrong_address: Wire<Local, bool>,
    last: Wire<Local, { shape.length() }>,
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
#[hardware(shape: EgressShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FramePlanner {
    /// A command from the intake.
    pub command: Wire<In, { shape.command() }>,
    /// {address is wrong, refused, id, beats, frame, first line}.
    pub plan: Wire<Out, { shape.plan() }>,
    address: Wire<Local, { shape.address }>,
    last: Wire<Local, { shape.length() }>,
    /// The frame goes beyond the highest address.
    wraps: Wire<Local, bool>,
    /// The last beat reaches into another line than it starts in.
    crosses: Wire<Local, bool>,
    /// Beats minus 1.
    whole: Wire<Local, { shape.beats() }>,
    lines: Wire<Local, { shape.beats() }>,
    wrong_length: Wire<Local, bool>,
    wrong_address: Wire<Local, bool>,
}

impl Logic for FramePlanner {
    #[kernel]
    fn update(&mut self) {
        let (address, length) = (self._shape.address, self._shape.length());
        let (offset, beats, id) = (
            self._shape.offset(),
            self._shape.beats(),
            self._shape.command_id(),
        );
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
