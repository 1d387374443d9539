//! Reference model of the matching engine: which frames go to the handlers, and with what metadata.
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

use spinneret_regmap::matching::{Rule, WORD_BYTES};
use spinneret_rules::{Join, MatcherParams, ParamsError, RuleFile, Ruleset};
use thiserror::Error;

/// First byte of the message id in a frame.
pub const MESSAGE_ID_OFFSET: usize = 44;
/// First byte of the message id in an IP payload: behind the UDP header and the flags of SLMP.
pub const MESSAGE_ID_OFFSET_IN_IP_PAYLOAD: usize = 10;

/// The decision about a frame.
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

/// The reference model: sizes, and the latched rules.
#[derive(Clone, Debug)]
pub struct ReferenceMatcher {
    inspected_bytes: usize,
    ip_relative: bool,
    latched: Option<RuleTable>,
}

impl ReferenceMatcher {
    /// Creates a matcher without rules: every frame goes to the network card.
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

    /// Decides about a frame.
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
    /// Returns the word at an offset, if it is completely inside of the frame.
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

/// Bytes of an Ethernet header without tags.
const ETHERNET_BYTES: usize = 14;
/// Bytes of a VLAN tag.
const TAG_BYTES: usize = 4;
/// Most VLAN tags in a row.
const MAX_TAGS: usize = 2;
/// Tag protocol identifiers: of a customer's and of a provider's VLAN.
const TAGS: [u16; 2] = [0x8100, 0x88a8];
/// Ethernet type of IPv4.
const IPV4: u16 = 0x0800;
/// Ethernet type of IPv6.
const IPV6: u16 = 0x86dd;
/// Bytes of the IPv6 header; extension headers are payload.
const IPV6_BYTES: usize = 40;
/// Fewest words of an IPv4 header.
const MIN_IHL: u8 = 5;

/// The offset of the first byte of the IPv4 or IPv6 payload, behind up to two VLAN tags.
///
/// `None` if the frame is not IP: another Ethernet type, a third tag, a version that is not that of the type, an
/// IPv4 header length below 5, or the frame ends before the first byte of the IP header. A frame that ends later than
/// that, but within the IP header, is IP and has no byte of payload: the offset lies behind its end.
///
/// ```
/// use spinneret_packets::reference::matcher::ip_payload_start;
///
/// let mut frame = vec![0; 64];
/// frame[12..15].copy_from_slice(&[0x08, 0x00, 0x46]);
/// assert_eq!(ip_payload_start(&frame), Some(14 + 24));
/// ```
pub fn ip_payload_start(frame: &[u8]) -> Option<usize> {
    let mut header = ETHERNET_BYTES;
    let mut kind = type_before(frame, header)?;
    for _ in 0..MAX_TAGS {
        if TAGS.contains(&kind) {
            header += TAG_BYTES;
            kind = type_before(frame, header)?;
        }
    }
    let first = *frame.get(header)?;
    let (version, ihl) = (first >> 4, first & 0xf);
    match (kind, version) {
        (IPV4, 4) if ihl >= MIN_IHL => Some(header + 4 * usize::from(ihl)),
        (IPV6, 6) => Some(header + IPV6_BYTES),
        _ => None,
    }
}

/// The sum of the 16-bit words of the IP payload in memory order, from its start to the end of the frame, modulo 0xffff: RFC 1071
/// without the inversion. It is 0 if there is no payload or all of its bytes are 0, else at least 1.
///
/// ```
/// use spinneret_packets::reference::matcher::ip_payload_sum;
///
/// let mut frame = vec![0; 37];
/// frame[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
/// frame[34..].copy_from_slice(&[0xff, 0xff, 2]);
/// assert_eq!(ip_payload_sum(&frame), 2);
/// ```
pub fn ip_payload_sum(frame: &[u8]) -> u32 {
    let payload = ip_payload_start(frame).and_then(|start| frame.get(start..));
    let words = payload.unwrap_or_default().chunks(2);
    let words = words.map(|pair| u32::from(pair[0]) | u32::from(*pair.get(1).unwrap_or(&0)) << 8);
    match words.map(u64::from).sum::<u64>() {
        0 => 0,
        sum => ((sum - 1) % 0xffff + 1) as u32,
    }
}

/// The Ethernet type in the two bytes before an offset.
fn type_before(frame: &[u8], offset: usize) -> Option<u16> {
    let bytes = frame.get(offset - 2..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}

/// A complete set of rules for a matcher: every ruleset has every rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleTable {
    rulesets: Vec<Ruleset>,
}

impl RuleTable {
    /// Fills up rulesets to the matcher's size: unused rules change nothing, unused rulesets never match.
    ///
    /// # Errors
    /// If there are more rulesets or rules than the matcher has, or a rule is relative to the IP payload and the
    /// matcher lacks that option.
    pub fn new(params: &MatcherParams, mut rulesets: Vec<Ruleset>) -> Result<Self, TableError> {
        if rulesets.len() > params.rulesets {
            return Err(TableError::Rulesets {
                given: rulesets.len(),
                available: params.rulesets,
            });
        }
        rulesets.resize_with(params.rulesets, Ruleset::never);
        let available = params.rules_per_ruleset.saturating_sub(1);
        for (ruleset, set) in rulesets.iter_mut().enumerate() {
            if set.rules.len() > available {
                return Err(TableError::Rules {
                    ruleset,
                    given: set.rules.len(),
                    available,
                });
            }
            if set.is_relative() && !params.ip_relative {
                return Err(TableError::Relative { ruleset });
            }
            set.rules.resize(available, set.join.neutral_rule());
        }
        Ok(Self { rulesets })
    }

    /// The rulesets of a rule file.
    ///
    /// # Errors
    /// If the matcher has fewer rulesets or rules than the one that the file was checked for.
    pub fn of(params: &MatcherParams, file: &RuleFile) -> Result<Self, TableError> {
        let rulesets = file.rulesets.iter().map(|named| named.ruleset.clone());
        Self::new(params, rulesets.collect())
    }

    /// The rulesets, lowest first; each has all its rules.
    pub fn rulesets(&self) -> &[Ruleset] {
        &self.rulesets
    }

    /// The values of the matcher's rule inputs, in the byte order of the registers.
    pub fn port_values(&self) -> PortValues {
        let mut ports = PortValues::default();
        for (index, set) in self.rulesets.iter().enumerate() {
            ports.mode |= set.join.bit() << index;
            for rule in set.rules.iter().chain([&set.end_of_message]) {
                let registers = rule.to_registers();
                ports.idx.push(registers.idx);
                ports.mask.push(registers.mask);
                ports.start.push(registers.start);
                ports.end.push(registers.end);
                ports.relative.push(registers.relative == 1);
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
        /// Number of rulesets given.
        given: usize,
        /// Number of rulesets available.
        available: usize,
    },
    /// A rule is relative to the IP payload, and the matcher lacks that option.
    #[error(
        "a rule of ruleset {ruleset} counts from the IP payload, but the matcher is one without the option ip_relative"
    )]
    Relative {
        /// The ruleset, counted from 0.
        ruleset: usize,
    },
    /// Too many rules in a ruleset.
    #[error(
        "ruleset {ruleset} has {given} rules, but the matcher has {available} besides the end-of-message rule"
    )]
    Rules {
        /// The ruleset, counted from 0.
        ruleset: usize,
        /// Number of rules given.
        given: usize,
        /// Number of rules available.
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
    /// `match_relative`, least significant bit first; a matcher without the option has no such input.
    pub relative: Vec<bool>,
}
