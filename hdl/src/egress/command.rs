//! A command, and its checks.

use super::shape::{AnswerFields, CommandFields, EgressShape, PlanFields};
use spinneret_verilog::prelude::*;

/// Commands, where they come from.
#[interface(CommandIn, command_id: usize, source: usize, size: usize)]
pub struct CommandOut {
    /// The command is taken in this cycle.
    pub ready: Wire<In, bool>,
    /// It is there.
    pub valid: Wire<Out, bool>,
    /// Its id.
    pub id: Wire<Out, { command_id }>,
    /// Network id.
    pub nid: Wire<Out, 32>,
    /// Flow id.
    pub fid: Wire<Out, 32>,
    /// Address of the first byte.
    pub src_addr: Wire<Out, { source }>,
    /// Number of bytes.
    pub length: Wire<Out, { size }>,
    /// For the user.
    pub user_ptr: Wire<Out, 64>,
}

/// Checks a command; combinational, in front of the queue.
#[hardware(shape: EgressShape, fields: CommandFields = CommandFields::new(shape))]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct CommandIntake {
    /// Id of the command.
    pub id: Wire<In, { shape.command_id() }>,
    /// Address of the first byte.
    pub source: Wire<In, { shape.source }>,
    /// Number of bytes.
    pub length: Wire<In, { shape.address }>,
    /// The command, as [`CommandFields`] says.
    pub command: Wire<Out, { fields.width }>,
    wrong_length: Wire<Local, bool>,
    wrong_address: Wire<Local, bool>,
    last: Wire<Local, { shape.length() }>,
}

impl Logic for CommandIntake {
    #[kernel]
    fn update(&mut self) {
        let (address, source) = (self._shape.address, self._shape.source);
        let most = self._shape.max_frame as u64;
        let fields = self._fields;
        self.wrong_length.next = self.length.val() > most || !self.length.val().any();
        if source > address {
            self.wrong_address.next = self.source.val().slice(address, source - address).any();
        } else {
            self.wrong_address.next = false;
        }
        self.last.next = self.length.val().slice(0, self._shape.length()) - 1;
        self.command.next = pack!(fields {
            address: self.source.val().resize(address),
            last: self.last.val(),
            id: self.id.val(),
            wrong_address: self.wrong_address.val(),
            wrong_length: self.wrong_length.val(),
        });
    }
}

/// Computes the lines of a frame, and how its beats come of them; combinational, after the queue.
///
/// A line is as many bytes of memory as a beat has, and starts at a multiple of them. A frame of B beats has
/// B lines, or B + 1 if it reaches further into its last line than it starts in its first.
#[hardware(
    shape: EgressShape,
    asked: CommandFields = CommandFields::new(shape),
    answer: AnswerFields = AnswerFields::new(shape),
    plan: PlanFields = PlanFields::new(shape),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FramePlanner {
    /// A command from the intake.
    pub command: Wire<In, { asked.width }>,
    /// Its plan, as [`PlanFields`] says.
    pub plan: Wire<Out, { plan.width }>,
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
        let (offset, beats) = (self._shape.offset(), self._shape.beats());
        let (asked, answer, plan, frame) = (self._asked, self._answer, self._plan, self._shape.frame());
        self.address.next = self.command.val().field(asked.address);
        self.last.next = self.command.val().field(asked.last);
        /// A sum is too large when one part is more than what the other one leaves.
        self.wraps.next = self.address.val() > !self.last.val().resize(address);
        self.crosses.next = self.address.val().slice(0, offset) > !self.last.val().slice(0, offset);
        self.wrong_length.next = self.command.val().flag(asked.wrong_length);
        self.wrong_address.next = self.command.val().flag(asked.wrong_address) || self.wraps.val();
        self.whole.next = self.last.val().slice(offset, length - offset).resize(beats);
        self.lines.next = self.whole.val() + word(self.crosses.val()).resize(beats);
        /// A wrong length takes precedence over a wrong address.
        self.plan.next = pack!(plan {
            line: self.address.val().slice(offset, address - offset),
            frame: pack!(frame {
                lines: self.lines.val(),
                offset: self.address.val().slice(0, offset),
                tail: self.last.val().slice(0, offset),
                even: !self.crosses.val(),
            }),
            beats: self.whole.val() + 1,
            answer: pack!(answer {
                id: self.command.val().field(asked.id),
                refused: self.wrong_length.val() || self.wrong_address.val(),
                wrong_address: !self.wrong_length.val(),
            }),
        });
    }
}
