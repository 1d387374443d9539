//! Takes commands of clusters in turn, and gives each to what does it.

use super::super::steps::LONGEST;
use super::super::{COMMAND_WORDS, CommandIn, WORD};
use super::queues::DIRECT_BYTES;
use super::{HostShape, NoteFields, OWN_ID, Traffic};
use crate::stream::StreamOut;
use spinneret_verilog::prelude::*;

/// Ways of a command: one bit each.
const OUTLETS: usize = 5;
/// That of commands that do nothing.
const NOTHING: usize = OUTLETS - 1;

/// Takes commands of clusters in turn. A command is decoded for a clock before it can be taken, and is at the outputs in the clock after.
#[module(
    shape: HostShape,
    clusters: usize = shape.clusters,
    id: usize = shape.id(),
    note_of: NoteFields = NoteFields::new(shape.queues(Traffic::Copies)),
)]
pub struct HostIntake {
    /// Commands of each cluster.
    pub command: [CommandIn; clusters],
    /// A command is done.
    pub done: Wire<In, bool>,
    /// Its id.
    pub done_id: Wire<In, { id }>,
    /// A copy to the host is taken.
    pub to_host: Wire<Out, bool>,
    /// A copy from the host is.
    pub from_host: Wire<Out, bool>,
    /// Words for the host are.
    pub direct: Wire<Out, bool>,
    /// A packet to be sent is.
    pub send: Wire<Out, bool>,
    /// Whose it is, as [`NoteFields`] says.
    pub whose: Wire<Out, { note_of.width }>,
    /// Its words.
    pub words: Wire<Out, { COMMAND_WORDS * WORD }>,
    /// Ids of commands that do nothing.
    pub nothing: StreamOut<{ id }>,
    /// The cluster whose turn it is.
    turn: Reg<{ address_width(clusters) }, Reset>,
    held_nothing: Reg<{ id }>,
    holds_nothing: Reg<bool, Reset>,
    /// The command has been decoded.
    known: [Reg<bool, Reset>; clusters],
}

/// A word of a command.
#[kernel]
pub(super) fn word(words: Sig, number: usize) -> Sig {
    words.slice(WORD * number, WORD)
}

/// Where a command goes: one bit.
#[kernel]
fn outlet(kind: Sig, words: Sig) -> Sig {
    let bytes = word(words, 3);
    let copies = kind == 0 && bytes.any() && bytes <= 1_u64 << LONGEST;
    let goes_out = word(words, 4)[0];
    let size = word(words, 2).slice(1, 9);
    let is_direct = kind == 2 && word(words, 2)[0] && size.any() && size <= DIRECT_BYTES;
    let is_send = kind == 1;
    let does_nothing = !copies && !is_direct && !is_send;
    word_of([
        copies && goes_out,
        copies && !goes_out,
        is_direct,
        is_send,
        does_nothing,
    ])
}

#[kernel(HostIntake, suffix = format!("{clusters}_{}", shape.contexts.contexts))]
fn update() {
    turn = turn + 1;
    let (done_own, done_cluster) = reg(done_id).split_at(OWN_ID);
    let done_now = reg_reset(done, false);
    if nothing.ready {
        holds_nothing = false;
    }
    let mut outlets = Vec::new();
    for (number, command) in command.iter().enumerate() {
        let class = reg(outlet(command.kind, command.words));
        let goes = if known[number] && turn == number && !(class[NOTHING] && holds_nothing) {
            class
        } else {
            constant(lit(0, OUTLETS))
        };
        command.ready = goes.any();
        known[number] = command.valid && !goes.any();
        outlets.push(goes);
        command.done = done_now && done_cluster == number;
        command.done_id = done_own;
    }
    let goes = or_all(outlets.iter().copied());
    let pick = |of: Vec<Sig>| {
        let places: Vec<_> = of
            .iter()
            .enumerate()
            .map(|(number, value)| (turn == number, *value))
            .collect();
        first(&places[1..], of[0])
    };
    let own_id = pick(command.iter().map(|command| command.id).collect());
    let queue = pick(command.iter().map(|command| command.queue).collect());
    words = reg(pick(command.iter().map(|command| command.words).collect()));
    whose = reg(pack!(note_of {
        id: cat!(turn, own_id),
        owner: queue.slice(shape.contexts.own(), shape.contexts.context()),
    }));
    let given = reg_reset(goes.slice(0, NOTHING), 0);
    (to_host, from_host) = (given[0], given[1]);
    (direct, send) = (given[2], given[3]);
    if goes[NOTHING] {
        holds_nothing = true;
        held_nothing = cat!(turn, own_id);
    }
    (nothing.valid, nothing.data) = (holds_nothing, held_nothing);
}
