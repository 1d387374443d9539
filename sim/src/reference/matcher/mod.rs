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

mod params;
mod table;

pub use params::{MatcherParams, ParamsError};
pub use table::{Mode, PortValues, RuleSet, RuleTable, TableError};

use spinneret_regmap::matching::{Rule, WORD_BYTES};

/// First byte of the message id in a frame.
pub const MESSAGE_ID_OFFSET: usize = 44;

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
