//! Rules and a packet that the console holds for the matching engine.

use super::BYTE;
use crate::ingress::pkt_match::MatchShape;
use crate::stream::{AxisOut, AxisShape};
use spinneret_verilog::prelude::*;

/// Bits of mask, start and end.
const WORD: usize = 32;

/// A rule as it comes over the line, and as it is kept.
#[record]
pub(super) struct RuleEntry {
    /// Last word in the range.
    pub limit: Field<{ WORD }>,
    /// First word in the range.
    pub start: Field<{ WORD }>,
    /// Bits of the word that count.
    pub mask: Field<{ WORD }>,
    /// Word number; the engine gets 32 bits.
    pub index: Field<{ BYTE }>,
}

/// A rule that matches nothing, as the engine takes it: its range starts at 1 and ends at 0.
const NOTHING: u64 = 1_u64.swap_bytes();

/// Holds the rules, each of which is written as a whole.
///
/// A rule comes in network order and leaves as the engine's configuration has it: index plain; mask, start and end
/// byte-swapped. After reset every rule matches nothing.
#[module(
    shape: MatchShape,
    rules = shape.all_rules(),
    layout: RuleEntry = RuleEntry::new(),
)]
pub(super) struct RuleBank {
    /// Writes the rule.
    pub write: Wire<In, bool>,
    /// Its number, ruleset-major.
    pub number: Wire<In, 8>,
    /// {index, mask, start, end}.
    pub entry: Wire<In, { layout.width }>,
    /// Word numbers, 32 bits a rule.
    pub idx: Wire<Out, { WORD * rules }>,
    /// Masks, byte-swapped.
    pub mask: Wire<Out, { WORD * rules }>,
    /// Range starts, byte-swapped.
    pub start: Wire<Out, { WORD * rules }>,
    /// Range ends, byte-swapped.
    pub limit: Wire<Out, { WORD * rules }>,
    #[new(Reg::reset_to(lit(NOTHING, layout.width)))]
    rules: [Reg; rules],
}

#[kernel(RuleBank { write, number, entry, idx, mask, start, limit, rules, layout })]
fn update() {
    /// The rule as the engine takes it.
    let swapped = pack!(layout {
        index: entry.field(layout.index),
        mask: entry.field(layout.mask).swap_bytes(),
        start: entry.field(layout.start).swap_bytes(),
        limit: entry.field(layout.limit).swap_bytes()
    });
    for (place, rule) in rules.iter().enumerate() {
        if write && number == place {
            *rule = swapped;
        }
        idx.slice(WORD * place, WORD) = rule.field(layout.index).resize(WORD);
        mask.slice(WORD * place, WORD) = rule.field(layout.mask);
        start.slice(WORD * place, WORD) = rule.field(layout.start);
        limit.slice(WORD * place, WORD) = rule.field(layout.limit);
    }
}

/// Bits of the number of a byte of a packet.
const NUMBER: usize = 8;
/// Bytes of the longest packet, and one more.
const BYTES: usize = 1 << NUMBER;

/// Collects bytes, and plays them as one packet on request.
///
/// A packet is played only when it is complete, so that one which breaks off never reaches the engine.
///
/// # Contract
/// - `store` puts `data` after what is there; `restart` discards everything.
/// - `play` plays `length` bytes, 1 to 255, which have been stored before: a beat every second clock at best. It
///   counts only while nothing is being played.
/// - A packet has tid, tdest and tuser 0.
#[module(shape: AxisShape, bytes: usize = shape.keep(), beats = BYTES / bytes)]
pub(super) struct PacketBuffer {
    /// The next byte is the first of a packet.
    pub restart: Wire<In, bool>,
    /// A byte.
    pub data: Wire<In, { BYTE }>,
    /// The byte is there.
    pub store: Wire<In, bool>,
    /// Plays what is there.
    pub play: Wire<In, bool>,
    /// Bytes that are played.
    pub length: Wire<In, { NUMBER }>,
    /// The packet.
    pub m: AxisOut<{ shape }>,
    memory: ByteRam<{ RamStyle::Block }, { beats }, { bytes }>,
    /// Number of the next byte.
    next_byte: Reg<{ NUMBER }, Reset>,
    playing: Reg<bool, Reset>,
    /// The beat is at the output of the memory.
    there: Reg<bool, Reset>,
    /// Number of the beat.
    beat: Reg<{ address_width(beats) }>,
}

#[kernel(
    PacketBuffer { restart, data, store, play, length, m, memory, next_byte, playing, there, beat, bytes },
)]
fn update() {
    let (lane, place) = next_byte.split_at(address_width(bytes));
    /// A byte goes into its lane of its beat.
    let lanes = word_of((0..bytes).map(|byte| store && lane == byte));
    memory.write_enable = lanes;
    memory.write_addr = place;
    memory.write_data = cat_all(&vec![data; bytes]);
    if restart {
        next_byte = 0;
    } else if store {
        next_byte = next_byte + 1;
    }

    let last_byte = length - 1;
    let (last_lane, last_beat) = last_byte.split_at(address_width(bytes));
    let is_last = beat == last_beat;
    /// A beat is fetched, then offered until it is taken.
    memory.read_addr = beat;
    memory.read_enable = playing && !there;
    if !playing {
        playing = play;
        beat = 0;
    } else if !there {
        there = true;
    } else if m.tready {
        there = false;
        beat = beat + 1;
        playing = !is_last;
    }
    m.tdata = memory.read_data;
    m.tkeep = word_of((0..bytes).map(|byte| !is_last || last_lane >= byte));
    m.tvalid = there;
    m.tlast = is_last;
    m.tid = 0;
    m.tdest = 0;
    m.tuser = 0;
}
