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
//! With the option `ip_relative` a rule may count its word from the start of the IP payload; such a rule never
//! matches a frame without one. The message id is then that of SLMP behind any IP header.
//!
//! Not modelled: time, backpressure and the stream's side band (tid, tdest, tuser).

mod payload;
mod table;

pub use payload::ip_payload_start;
pub use table::{PortValues, RuleTable, TableError};

use spinneret_regmap::matching::{Rule, WORD_BYTES};
use spinneret_rules::{Join, MatcherParams, ParamsError, Ruleset};

/// First byte of the message id in a frame.
pub const MESSAGE_ID_OFFSET: usize = 44;
/// First byte of the message id in an IP payload: behind the UDP header and the flags of SLMP.
pub const MESSAGE_ID_OFFSET_IN_IP_PAYLOAD: usize = 10;

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
        /// Frame bytes 44 to 47, or bytes 10 to 13 of the IP payload if the option `ip_relative` is on and the frame
        /// is IP; first byte least significant; 0 if the frame ends before them.
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
    inspected_bytes: usize,
    ip_relative: bool,
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
            inspected_bytes: params.inspected_words() * WORD_BYTES,
            ip_relative: params.ip_relative,
            latched: None,
        })
    }

    /// Latches rules for the frames that follow; `None` is `match_valid` = 0.
    pub fn latch(&mut self, rules: Option<RuleTable>) {
        self.latched = rules;
    }

    /// Where a frame goes.
    pub fn classify(&self, frame: &[u8]) -> MatchResult {
        let payload = if self.ip_relative {
            ip_payload_start(frame)
        } else {
            None
        };
        let frame = Headers { frame, payload };
        let rulesets = self.latched.as_ref().map_or(&[][..], RuleTable::rulesets);
        let Some((ruleset, set)) = rulesets
            .iter()
            .enumerate()
            .find(|(_, set)| self.set_matches(set, &frame))
        else {
            return MatchResult::Bypass;
        };
        MatchResult::Matched {
            ruleset: ruleset as u8,
            eom: self.rule_matches(&set.end_of_message, &frame),
            message_id: frame.message_id(),
            size: frame.frame.len() as u32,
        }
    }

    fn set_matches(&self, set: &Ruleset, frame: &Headers<'_>) -> bool {
        let mut matches = set.rules.iter().map(|rule| self.rule_matches(rule, frame));
        match set.join {
            Join::And => matches.all(|matched| matched),
            Join::Or => matches.any(|matched| matched),
        }
    }

    fn rule_matches(&self, rule: &Rule, frame: &Headers<'_>) -> bool {
        let origin = match (rule.relative && self.ip_relative, frame.payload) {
            (false, _) => 0,
            (true, Some(payload)) => payload,
            (true, None) => return false,
        };
        let offset = (rule.idx as usize)
            .saturating_mul(WORD_BYTES)
            .saturating_add(origin);
        offset.saturating_add(WORD_BYTES) <= self.inspected_bytes
            && frame
                .word(offset)
                .is_some_and(|bytes| rule.matches_word(u32::from_be_bytes(bytes)))
    }
}

/// A frame, and where its IP payload starts if that matters.
struct Headers<'f> {
    frame: &'f [u8],
    payload: Option<usize>,
}

impl Headers<'_> {
    /// The word at that offset, if all of it is in the frame.
    fn word(&self, offset: usize) -> Option<[u8; WORD_BYTES]> {
        self.frame.get(offset..)?.first_chunk().copied()
    }

    fn message_id(&self) -> u32 {
        let offset = self.payload.map_or(MESSAGE_ID_OFFSET, |payload| {
            payload + MESSAGE_ID_OFFSET_IN_IP_PAYLOAD
        });
        self.word(offset).map_or(0, u32::from_le_bytes)
    }
}
