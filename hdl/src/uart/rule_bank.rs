//! The rules that the console holds for the matching engine.

use crate::ingress::pkt_match::MatchShape;
use spinneret_verilog::prelude::*;

/// Bits of a word index that are kept; the engine gets 32.
const INDEX: usize = 8;
/// Bits of mask, start and end.
const WORD: usize = 32;
/// Bits of a rule: {index, mask, start, end}.
pub(super) const ENTRY: usize = INDEX + 3 * WORD;
/// A rule that matches nothing: its range starts after its end.
const NOTHING: u64 = 1 << WORD;

/// Holds the rules, each of which is written as a whole.
///
/// A rule comes in network order and leaves as the engine's configuration has it: index plain; mask, start and end
/// byte-swapped. After reset every rule matches nothing.
#[hardware(
    shape: MatchShape,
    rules = shape.all_rules(),
    reset = Word::new(0, ENTRY - 2 * WORD),
    reset = Word::cat(&[reset, Word::new(NOTHING >> WORD, WORD), Word::zero(WORD)]),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct RuleBank {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, bool>,
    /// Writes the rule.
    pub write: Wire<In, bool>,
    /// Its number, ruleset-major.
    pub number: Wire<In, 8>,
    /// {index, mask, start, end}.
    pub entry: Wire<In, { ENTRY }>,
    /// Word numbers, 32 bits a rule.
    pub idx: Wire<Out, { WORD * rules }>,
    /// Masks, byte-swapped.
    pub mask: Wire<Out, { WORD * rules }>,
    /// Range starts, byte-swapped.
    pub start: Wire<Out, { WORD * rules }>,
    /// Range ends, byte-swapped.
    pub limit: Wire<Out, { WORD * rules }>,
    #[new(vec![Reg::reset_to(reset); rules])]
    rules: Vec<Reg>,
}

impl Logic for RuleBank {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.rules);
        self.idx.next = 0.into();
        self.mask.next = 0.into();
        self.start.next = 0.into();
        self.limit.next = 0.into();
        for rule in 0..self.rules.len() {
            if self.write.val() & (self.number.val() == rule as u64) {
                self.rules[rule].d.next = self.entry.val();
            }
            self.idx.next.set_slice(
                WORD * rule,
                WORD,
                self.rules[rule].q.val().slice(3 * WORD, INDEX).resize(WORD),
            );
            self.mask.next.set_slice(
                WORD * rule,
                WORD,
                self.rules[rule].q.val().slice(2 * WORD, WORD).swap_bytes(),
            );
            self.start.next.set_slice(
                WORD * rule,
                WORD,
                self.rules[rule].q.val().slice(WORD, WORD).swap_bytes(),
            );
            self.limit.next.set_slice(
                WORD * rule,
                WORD,
                self.rules[rule].q.val().slice(0, WORD).swap_bytes(),
            );
        }
    }
}
