//! The matching engine: which frames go to the handlers, and with what metadata.
//!
//! ```text
//! frame -> words that exist and are inspected -> rules 0..R-2 of each ruleset, joined by AND or OR
//!                                             -> lowest ruleset that matches -> its last rule: end of message
//! ```
//!
//! A word exists if all four of its bytes are in the frame; a rule on a word that does not exist, or that
//! lies beyond the inspected beats, never matches, whatever its mask. Rules are latched while no packet is
//! in the matcher, so a frame sees one set of rules from its first to its last beat: the model takes whole
//! frames and needs no more state than the latched table.
//!
//! Not modelled: time, backpressure and the stream's side band (tid, tdest, tuser).

use spinneret_regmap::matching::{Rule, WORD_BYTES};
use thiserror::Error;

/// First byte of the message id in a frame.
pub const MESSAGE_ID_OFFSET: usize = 44;

/// Sizes of a matching engine, as its hardware was generated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatcherParams {
    /// Width of the stream in bits: a power of two from 64 to 1024.
    pub data_width_bits: usize,
    /// Number of rulesets, 1 to 4: the tag has two bits for the ruleset.
    pub rulesets: usize,
    /// Rules of a ruleset with the end-of-message rule, which is the last: 2 to 16.
    pub rules_per_ruleset: usize,
    /// Bytes of a frame that must be inspected, 1 to 256; whole beats are.
    pub inspected_bytes: usize,
}

impl MatcherParams {
    /// The reference configuration: 512 bit, 4 rulesets of 3 rules and the end-of-message rule, words 0 to 31.
    pub const REFERENCE: Self = Self {
        data_width_bits: 512,
        rulesets: 4,
        rules_per_ruleset: 4,
        inspected_bytes: 66,
    };

    /// Checks that hardware can be generated with these sizes.
    ///
    /// # Errors
    /// Names the first parameter that is out of its range, and the range.
    pub fn validate(&self) -> Result<(), ParamsError> {
        let power = self.data_width_bits.is_power_of_two();
        let check = |parameter, value, possible, wanted| {
            if possible {
                Ok(())
            } else {
                Err(ParamsError {
                    parameter,
                    value,
                    wanted,
                })
            }
        };
        let width = self.data_width_bits;
        check(
            "data width",
            width,
            power && (64..=1024).contains(&width),
            "a power of two from 64 to 1024",
        )?;
        check(
            "rulesets",
            self.rulesets,
            (1..=4).contains(&self.rulesets),
            "1 to 4",
        )?;
        let rules = self.rules_per_ruleset;
        check(
            "rules per ruleset",
            rules,
            (2..=16).contains(&rules),
            "2 to 16, the last being end of message",
        )?;
        let inspected = self.inspected_bytes;
        check(
            "inspected bytes",
            inspected,
            (1..=256).contains(&inspected),
            "1 to 256",
        )
    }

    /// Bytes of one beat of the stream.
    pub fn beat_bytes(&self) -> usize {
        self.data_width_bits / 8
    }

    /// Beats that a frame takes on the stream.
    pub fn beats(&self, frame_bytes: usize) -> usize {
        frame_bytes.div_ceil(self.beat_bytes())
    }

    /// Words of a frame that rules can look at, counted from word 0: those of the beats that are inspected.
    pub fn inspected_words(&self) -> usize {
        self.beats(self.inspected_bytes) * self.beat_bytes() / WORD_BYTES
    }
}

/// A size that no hardware can be generated with.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{parameter} {value} is not possible for the matcher: it must be {wanted}")]
pub struct ParamsError {
    /// Which size.
    pub parameter: &'static str,
    /// Its value.
    pub value: usize,
    /// The values that are possible.
    pub wanted: &'static str,
}

/// How the rules of a ruleset are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// All rules must match.
    And,
    /// One rule must match.
    Or,
}

impl Mode {
    /// The mode bit of the ruleset.
    pub fn bit(self) -> u32 {
        match self {
            Self::And => 0,
            Self::Or => 1,
        }
    }

    /// The rule that changes nothing when it is joined with others in this mode.
    pub fn neutral_rule(self) -> Rule {
        match self {
            Self::And => Rule::ALWAYS,
            Self::Or => Rule::NEVER,
        }
    }
}

/// Rules that decide together whether a frame matches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleSet {
    /// How the rules are joined.
    pub mode: Mode,
    /// The rules that decide the match.
    pub rules: Vec<Rule>,
    /// Marks the last frame of a message; does not decide the match.
    pub end_of_message: Rule,
}

impl RuleSet {
    /// A ruleset that matches no frame.
    pub fn never() -> Self {
        Self {
            mode: Mode::Or,
            rules: Vec::new(),
            end_of_message: Rule::NEVER,
        }
    }
}

/// A complete set of rules for a matcher: every ruleset has every rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleTable {
    rulesets: Vec<RuleSet>,
}

impl RuleTable {
    /// Fills up rulesets to what the matcher has: unused rules change nothing, unused rulesets never match.
    ///
    /// # Errors
    /// If there are more rulesets or more rules than the matcher has.
    pub fn new(params: &MatcherParams, mut rulesets: Vec<RuleSet>) -> Result<Self, TableError> {
        if rulesets.len() > params.rulesets {
            return Err(TableError::Rulesets {
                given: rulesets.len(),
                available: params.rulesets,
            });
        }
        rulesets.resize_with(params.rulesets, RuleSet::never);
        let available = params.rules_per_ruleset.saturating_sub(1);
        for (ruleset, set) in rulesets.iter_mut().enumerate() {
            if set.rules.len() > available {
                return Err(TableError::Rules {
                    ruleset,
                    given: set.rules.len(),
                    available,
                });
            }
            set.rules.resize(available, set.mode.neutral_rule());
        }
        Ok(Self { rulesets })
    }

    /// The rulesets, lowest first; each has all its rules.
    pub fn rulesets(&self) -> &[RuleSet] {
        &self.rulesets
    }

    /// The values of the matcher's rule inputs, in the byte order of the registers.
    pub fn port_values(&self) -> PortValues {
        let mut ports = PortValues::default();
        for (index, set) in self.rulesets.iter().enumerate() {
            ports.mode |= set.mode.bit() << index;
            for rule in set.rules.iter().chain([&set.end_of_message]) {
                let registers = rule.to_registers();
                ports.idx.push(registers.idx);
                ports.mask.push(registers.mask);
                ports.start.push(registers.start);
                ports.end.push(registers.end);
            }
        }
        ports
    }
}

/// More rules than the matcher has.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TableError {
    /// Too many rulesets.
    #[error("{given} rulesets are given, but the matcher has {available}")]
    Rulesets {
        /// How many were given.
        given: usize,
        /// How many there are.
        available: usize,
    },
    /// Too many rules in a ruleset.
    #[error(
        "ruleset {ruleset} has {given} rules, but the matcher has {available} besides the end-of-message rule"
    )]
    Rules {
        /// The ruleset, counted from 0.
        ruleset: usize,
        /// How many rules were given.
        given: usize,
        /// How many there are.
        available: usize,
    },
}

/// The values of the matcher's rule inputs: word `rules_per_ruleset * ruleset + rule` of each vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortValues {
    /// `match_mode`: one bit per ruleset.
    pub mode: u32,
    /// `match_idx`, least significant word first.
    pub idx: Vec<u32>,
    /// `match_mask`, least significant word first, each byte-swapped.
    pub mask: Vec<u32>,
    /// `match_start`, least significant word first, each byte-swapped.
    pub start: Vec<u32>,
    /// `match_end`, least significant word first, each byte-swapped.
    pub end: Vec<u32>,
}

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchResult {
    /// To the network card, without metadata.
    Bypass,
    /// To the handlers.
    Matched {
        /// The lowest ruleset that matches, counted from 0.
        ruleset: u8,
        /// Whether the frame ends its message.
        eom: bool,
        /// Frame bytes 44 to 47, first byte least significant; 0 if the frame ends before byte 48.
        message_id: u32,
        /// Size of the frame in bytes.
        size: u32,
    },
}

impl MatchResult {
    /// The tag of the frame's metadata: ruleset in bits 1:0, end of message in bit 2, message id above.
    pub fn tag(&self) -> Option<u64> {
        match *self {
            Self::Bypass => None,
            Self::Matched {
                ruleset,
                eom,
                message_id,
                ..
            } => Some(u64::from(message_id) << 3 | u64::from(eom) << 2 | u64::from(ruleset)),
        }
    }

    /// The result that the metadata of a matched frame means; `None` if tag bits above the message id are set.
    pub fn from_metadata(tag: u64, size: u32) -> Option<Self> {
        let message_id = u32::try_from(tag >> 3).ok()?;
        Some(Self::Matched {
            ruleset: (tag & 3) as u8,
            eom: tag & 4 != 0,
            message_id,
            size,
        })
    }
}

/// The model: sizes, and the rules that are latched.
#[derive(Clone, Debug)]
pub struct ReferenceMatcher {
    inspected_words: usize,
    latched: Option<RuleTable>,
}

impl ReferenceMatcher {
    /// A matcher without rules: every frame goes to the network card.
    ///
    /// # Errors
    /// If no such hardware can be generated.
    pub fn new(params: &MatcherParams) -> Result<Self, ParamsError> {
        params.validate()?;
        Ok(Self {
            inspected_words: params.inspected_words(),
            latched: None,
        })
    }

    /// Latches rules for the frames that follow; `None` is `match_valid` = 0.
    pub fn latch(&mut self, rules: Option<RuleTable>) {
        self.latched = rules;
    }

    /// Where a frame goes.
    pub fn classify(&self, frame: &[u8]) -> MatchResult {
        let rulesets = self.latched.as_ref().map_or(&[][..], RuleTable::rulesets);
        let Some((ruleset, set)) = rulesets
            .iter()
            .enumerate()
            .find(|(_, set)| self.set_matches(set, frame))
        else {
            return MatchResult::Bypass;
        };
        MatchResult::Matched {
            ruleset: ruleset as u8,
            eom: self.rule_matches(&set.end_of_message, frame),
            message_id: message_id(frame),
            size: frame.len() as u32,
        }
    }

    fn set_matches(&self, set: &RuleSet, frame: &[u8]) -> bool {
        let mut matches = set.rules.iter().map(|rule| self.rule_matches(rule, frame));
        match set.mode {
            Mode::And => matches.all(|matched| matched),
            Mode::Or => matches.any(|matched| matched),
        }
    }

    fn rule_matches(&self, rule: &Rule, frame: &[u8]) -> bool {
        let idx = rule.idx as usize;
        idx < self.inspected_words
            && word(frame, idx).is_some_and(|bytes| rule.matches_word(u32::from_be_bytes(bytes)))
    }
}

/// The word of that index, if all of it is in the frame.
fn word(frame: &[u8], idx: usize) -> Option<[u8; WORD_BYTES]> {
    frame.get(idx * WORD_BYTES..)?.first_chunk().copied()
}

fn message_id(frame: &[u8]) -> u32 {
    word(frame, MESSAGE_ID_OFFSET / WORD_BYTES).map_or(0, u32::from_le_bytes)
}
