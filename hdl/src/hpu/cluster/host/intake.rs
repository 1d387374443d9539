//! Takes commands of clusters in turn, and gives each to what does it.

use super::super::HOST_ADDRESS;
use super::super::steps::LONGEST;
use super::super::{COMMAND_WORDS, CommandIn, OFFSET, WORD};
use super::bursts::{BYTES, HOST_LINE};
use super::{CopyQueue, DirectFields, NoteFields, OWN_ID};
use crate::egress::CommandOut;
use crate::stream::StreamOut;
use spinneret_regmap::message_id::{CONTEXT_BITS, ID_BITS};
use spinneret_verilog::prelude::*;

/// The most bytes of words.
pub(super) const DIRECT_BYTES: usize = 16;
/// Ways of a command: one bit each.
const OUTLETS: usize = 5;

/// Takes commands of clusters in turn. A command is decoded for a clock before it can be taken.
#[module(
    clusters: usize,
    id: usize = address_width(clusters) + OWN_ID,
    queued: CopyQueue = CopyQueue::new(clusters),
    words_of: DirectFields = DirectFields::new(clusters),
    note_of: NoteFields = NoteFields::new(clusters),
)]
pub struct HostIntake {
    /// Commands of each cluster.
    pub command: [CommandIn; clusters],
    /// A command is done.
    pub done: Wire<In, bool>,
    /// Its id.
    pub done_id: Wire<In, { id }>,
    /// Copies to the host, as [`CopyQueue`] says.
    pub to_host: StreamOut<{ queued.width }>,
    /// Copies from the host.
    pub from_host: StreamOut<{ queued.width }>,
    /// Words for the host, as [`DirectFields`] says.
    pub direct: StreamOut<{ words_of.width }>,
    /// Packets to be sent.
    pub send: CommandOut<{ id }, { HOST_ADDRESS }, { WORD }>,
    /// Ids of commands that do nothing.
    pub nothing: StreamOut<{ id }>,
    /// The cluster whose turn it is.
    turn: Reg<{ address_width(clusters) }, Reset>,
    held_direct: Reg<{ words_of.width }>,
    holds_direct: Reg<bool, Reset>,
    held_send_id: Reg<{ id }>,
    held_send: Reg<{ COMMAND_WORDS * WORD }>,
    holds_send: Reg<bool, Reset>,
    held_nothing: Reg<{ id }>,
    holds_nothing: Reg<bool, Reset>,
    /// The command has been decoded.
    known: [Reg<bool, Reset>; clusters],
}

/// A word of a command.
#[kernel]
fn word(words: Sig, number: usize) -> Sig {
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

#[kernel(HostIntake, suffix = clusters)]
fn update() {
    turn = turn + 1;
    let (done_own, done_cluster) = reg(done_id).split_at(OWN_ID);
    let done_now = reg_reset(done, false);
    if direct.ready {
        holds_direct = false;
    }
    if send.ready {
        holds_send = false;
    }
    if nothing.ready {
        holds_nothing = false;
    }
    let rooms = word_of([
        to_host.ready,
        from_host.ready,
        !holds_direct,
        !holds_send,
        !holds_nothing,
    ]);
    let mut outlets = Vec::new();
    for (number, command) in command.iter().enumerate() {
        let class = reg(outlet(command.kind, command.words));
        let goes = if known[number] && turn == number {
            class & rooms
        } else {
            constant(lit(0, OUTLETS))
        };
        command.ready = goes.any();
        known[number] = command.valid && !goes.any();
        outlets.push(goes);
        command.done = done_now && done_cluster == number;
        command.done_id = done_own;
    }
    let goes = outlets
        .iter()
        .copied()
        .reduce(|a, b| a | b)
        .expect("there are clusters");
    let pick = |of: Vec<Sig>| {
        let places: Vec<_> = of
            .iter()
            .enumerate()
            .map(|(number, value)| (turn == number, *value))
            .collect();
        first(&places[1..], of[0])
    };
    let words = pick(command.iter().map(|command| command.words).collect());
    let own_id = pick(command.iter().map(|command| command.id).collect());
    let queue = pick(command.iter().map(|command| command.queue).collect());
    let id_now = cat!(turn, own_id);
    let note = pack!(note_of {
        id: id_now,
        context: queue.slice(ID_BITS as usize, CONTEXT_BITS as usize),
    });
    let host = words.slice(0, HOST_ADDRESS);
    let copy = pack!(queued {
        host,
        memory: word(words, 2),
        bytes: word(words, 3).slice(0, BYTES),
        note,
    });
    (to_host.valid, from_host.valid) = (goes[0], goes[1]);
    (to_host.data, from_host.data) = (copy, copy);
    if goes[2] {
        holds_direct = true;
        let size = word(words, 2).slice(1, 5);
        held_direct = pack!(words_of {
            line: host.slice(OFFSET, HOST_LINE),
            strobe: word_of((0..DIRECT_BYTES).map(|lane| size > lane)),
            data: words.slice(3 * WORD, 8 * DIRECT_BYTES),
            note,
        });
    }
    (direct.valid, direct.data) = (holds_direct, held_direct);
    if goes[3] {
        holds_send = true;
        (held_send_id, held_send) = (id_now, words);
    }
    send.valid = holds_send;
    send.id = held_send_id;
    send.nid = word(held_send, 0);
    send.fid = word(held_send, 1);
    send.src_addr = held_send.slice(2 * WORD, 2 * WORD);
    send.length = word(held_send, 4);
    send.user_ptr = held_send.slice(5 * WORD, 2 * WORD);
    if goes[4] {
        holds_nothing = true;
        held_nothing = id_now;
    }
    (nothing.valid, nothing.data) = (holds_nothing, held_nothing);
}
