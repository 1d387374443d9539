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

/// A command in the queue, as [`CommandFields`] says: checked alone, in front of the queue.
#[kernel]
pub(super) fn command(shape: EgressShape, id: Sig, source: Sig, length: Sig) -> Sig {
    let fields = CommandFields::new(shape);
    let outside = source.width() - source.width().min(shape.address);
    pack!(fields {
        address: source.resize(shape.address),
        last: length.slice(0, shape.length()) - 1,
        id,
        wrong_address: if outside > 0 {
            source.slice(shape.address, outside).any()
        } else {
            false
        },
        wrong_length: length > shape.max_frame || !length.any(),
    })
}

/// Computes which lines a frame is in, and how its beats come of them, as [`PlanFields`] says.
///
/// A line is as many bytes of memory as a beat has, and starts at a multiple of them. A frame of B beats has
/// B lines, or B + 1 if it reaches further into its last line than it starts in its first.
#[kernel]
pub(super) fn plan(shape: EgressShape, command: Sig) -> Sig {
    let asked = CommandFields::new(shape).of(command);
    let (plan, frame, answer) = (PlanFields::new(shape), shape.frame(), AnswerFields::new(shape));
    let (offset, line) = asked.address.split_at(shape.offset());
    let (tail, whole_lines) = asked.last.split_at(shape.offset());
    /// The frame goes beyond the highest address: one part of the sum is more than what the other one leaves.
    let wraps = asked.address > !asked.last.resize(shape.address);
    /// The last beat reaches into another line than it starts in.
    let crosses = offset > !tail;
    /// Beats minus 1.
    let whole = whole_lines.resize(shape.beats());
    pack!(plan {
        line,
        frame: pack!(frame {
            lines: whole + crosses.word().resize(shape.beats()),
            offset,
            tail,
            even: !crosses,
        }),
        beats: whole + 1,
        // A wrong length comes before a wrong address.
        answer: pack!(answer {
            id: asked.id,
            refused: asked.wrong_length || asked.wrong_address || wraps,
            wrong_address: !asked.wrong_length,
        }),
    })
}
