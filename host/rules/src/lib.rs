//! Rulesets: which packets go to handlers, for applications, rule files and testbenches.
//!
//! - [`Ruleset`]: rules, how they are joined, and which packets end a message;
//! - [`RuleFile`]: rulesets in TOML, as `docs/rules.md` describes them;
//! - [`MatcherParams`]: sizes of the matching engine that rules are for.

#![forbid(unsafe_code)]

mod document;
mod named;
mod rule;

pub use document::{MAX_FILE_BYTES, RuleFile};
pub use rule::{MatcherParams, ParamsError};
pub use spinneret_regmap::matching::Rule;

use spinneret_regmap::RULES_PER_RULESET;
use std::fmt;
use std::ops::Range;
use std::str::Utf8Error;
use thiserror::Error;

/// Rules that decide whether a packet matches; the last one of the hardware's marks the end of messages.
const DECIDING_RULES: usize = RULES_PER_RULESET as usize - 1;

/// How the rules of a ruleset are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Join {
    /// All of them have to match.
    #[default]
    And,
    /// One of them has to match.
    Or,
}

impl Join {
    /// The bit of the ruleset in the registers.
    pub const fn bit(self) -> u32 {
        match self {
            Self::And => 0,
            Self::Or => 1,
        }
    }

    /// Returns the join of a register bit.
    pub const fn of_bit(bit: u32) -> Self {
        match bit & 1 {
            0 => Self::And,
            _ => Self::Or,
        }
    }

    /// The rule that changes nothing when it is joined with others.
    pub const fn neutral_rule(self) -> Rule {
        match self {
            Self::And => Rule::ALWAYS,
            Self::Or => Rule::NEVER,
        }
    }
}

/// Which packets go to handlers, and which of them ends a message.
///
/// ```
/// use spinneret_rules::{Rule, Ruleset};
///
/// let slmp = Ruleset::all()
///     .rule(Rule::IPV4)
///     .rule(Rule::ip_protocol(17, 17))
///     .rule(Rule::udp_destination_port(9330, 9330))
///     .end_of_message(Rule::SLMP_END_OF_MESSAGE);
/// assert!(slmp.check().is_ok());
/// assert!(Ruleset::any().check().is_ok(), "it matches nothing");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ruleset {
    /// How the rules are joined.
    pub join: Join,
    /// The rules that decide the match.
    pub rules: Vec<Rule>,
    /// Marks the last packet of a message; does not decide the match.
    pub end_of_message: Rule,
}

/// A ruleset with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRuleset {
    /// The name in the file, if there is one.
    pub name: Option<String>,
    /// The rules as they are written, without unused ones.
    pub ruleset: Ruleset,
}

/// Why the hardware does not support a ruleset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesetError {
    /// Too many rules.
    #[error("a ruleset has at most {DECIDING_RULES} rules and the one that ends messages, not {0}")]
    TooMany(usize),
    /// A rule that no packet can match, unless it is marked as such.
    #[error(
        "rule {number} matches nothing: no value of mask {mask:#010x} is from {start:#010x} to {end:#010x}"
    )]
    Never {
        /// Which rule, from 1.
        number: usize,
        /// Its mask.
        mask: u32,
        /// Its smallest value.
        start: u32,
        /// Its largest value.
        end: u32,
    },
}

impl Ruleset {
    /// The default end-of-message rule: all packets, so that every packet is a message of its own, and the context's
    /// handlers can be changed at any time. The public cluster joins such messages if they meet in a queue, and may
    /// keep some until more come: there, handlers that need no end want [`Rule::NEVER`], and a message without end keeps its
    /// handlers.
    pub const USUAL_END: Rule = Rule::ALWAYS;

    /// Packets that match all rules; with no rule at all, every packet.
    pub fn all() -> Self {
        Self::joined(Join::And)
    }

    /// Packets that match one of the rules or more; with no rule at all, none.
    pub fn any() -> Self {
        Self::joined(Join::Or)
    }

    /// Matches no packet and ends no message, for unused rulesets of the hardware.
    pub fn never() -> Self {
        Self::any().end_of_message(Rule::NEVER)
    }

    fn joined(join: Join) -> Self {
        Self {
            join,
            rules: Vec::new(),
            end_of_message: Self::USUAL_END,
        }
    }

    /// With one more rule.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// A packet that matches this ends its message, instead of [`Self::USUAL_END`].
    #[must_use]
    pub fn end_of_message(mut self, rule: Rule) -> Self {
        self.end_of_message = rule;
        self
    }

    /// Checks that the hardware supports the ruleset, and that each rule can match a packet.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self) -> Result<(), RulesetError> {
        if self.rules.len() > DECIDING_RULES {
            return Err(RulesetError::TooMany(self.rules.len()));
        }
        let never = self
            .rules
            .iter()
            .position(|rule| !rule.can_match() && *rule != Rule::NEVER);
        match never {
            Some(position) => {
                let Rule { mask, start, end, .. } = self.rules[position];
                Err(RulesetError::Never {
                    number: position + 1,
                    mask,
                    start,
                    end,
                })
            }
            None => Ok(()),
        }
    }

    /// Whether a rule counts from the IP payload.
    pub fn is_relative(&self) -> bool {
        self.end_of_message.relative || self.rules.iter().any(|rule| rule.relative)
    }

    /// The rule for a place in the hardware, of which the last one ends messages; places that no rule was given for change
    /// nothing.
    pub fn at(&self, place: usize) -> Rule {
        match place {
            DECIDING_RULES => self.end_of_message,
            place => self.rules.get(place).copied().unwrap_or(self.join.neutral_rule()),
        }
    }
}

/// Why a rule file was refused.
#[derive(Debug, Error)]
pub enum RuleFileError {
    /// The file cannot be opened or read.
    #[error("{0}: cannot read the rule file: {1}")]
    Unreadable(String, #[source] std::io::Error),
    /// The file is larger than any rule file.
    #[error("{0}: larger than 1 MiB, so it is no rule file; docs/rules.md describes the format")]
    TooLarge(String),
    /// The file is not text.
    #[error("{0}:{1}: byte {2} is not UTF-8 text; docs/rules.md describes the format")]
    NotUtf8(String, usize, usize),
    /// The text says something that it must not.
    #[error("{0}:{1}: {2}{3}")]
    Invalid(String, usize, Place, String),
}

impl RuleFileError {
    fn not_utf8(file: &str, bytes: &[u8], error: &Utf8Error) -> Self {
        let offset = error.valid_up_to();
        Self::NotUtf8(file.to_owned(), line_of(bytes, offset), offset)
    }
}

/// The part of a rule file that an error is about; nothing is named for the file as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of the ruleset, counted from 0 as the hardware does.
    pub ruleset: Option<usize>,
    /// Name of the ruleset, if the file gives one.
    pub name: Option<String>,
    /// The rule of the ruleset.
    pub rule: Option<RulePlace>,
}

/// A rule of a ruleset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulePlace {
    /// Entry of `rules`, counted from 0.
    Number(usize),
    /// The end-of-message rule.
    EndOfMessage,
}

/// Shows `ruleset 0 ("slmp"), rule 2: `, or nothing.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(ruleset) = self.ruleset else {
            return Ok(());
        };
        write!(f, "ruleset {ruleset}")?;
        if let Some(name) = &self.name {
            write!(f, " ({name:?})")?;
        }
        match self.rule {
            Some(RulePlace::Number(rule)) => write!(f, ", rule {rule}: "),
            Some(RulePlace::EndOfMessage) => f.write_str(", end-of-message rule: "),
            None => f.write_str(": "),
        }
    }
}

/// A problem at a position of the text, before the file is known.
#[derive(Debug)]
struct Problem {
    span: Range<usize>,
    place: Place,
    text: String,
}

impl Problem {
    fn new(span: Range<usize>, text: impl Into<String>) -> Self {
        Self {
            span,
            place: Place::default(),
            text: text.into(),
        }
    }

    /// Says which ruleset the problem is in.
    fn in_ruleset(mut self, ruleset: usize, name: Option<&str>) -> Self {
        self.place.ruleset = Some(ruleset);
        self.place.name = name.map(str::to_owned);
        self
    }

    /// Says which rule of its ruleset the problem is in.
    fn in_rule(mut self, rule: RulePlace) -> Self {
        self.place.rule = Some(rule);
        self
    }

    fn in_file(self, file: &str, text: &str) -> RuleFileError {
        RuleFileError::Invalid(
            file.to_owned(),
            line_of(text.as_bytes(), self.span.start),
            self.place,
            self.text,
        )
    }
}

/// Line of a byte, counted from 1.
fn line_of(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|byte| **byte == b'\n').count()
}

// Suggestions for unknown names.

/// Suggestion to append to an error about an unknown name: the nearest known name, or all of them.
fn did_you_mean(unknown: &str, known: &[&str]) -> String {
    let nearest = known.iter().map(|name| (distance(unknown, name), name)).min();
    match nearest {
        Some((edits, name)) if edits <= 2.max(name.len() / 3) => format!("did you mean \"{name}\"?"),
        _ => format!("known are {}", known.join(", ")),
    }
}

/// Number of letters to insert, delete or replace to get from one name to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().take(MAX_LETTERS).enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()] + from.chars().count().saturating_sub(MAX_LETTERS)
}

/// Longer names are not compared letter by letter: no known name comes near.
const MAX_LETTERS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_rules_are_neutral() {
        let one = Ruleset::all().rule(Rule::IPV4);
        assert_eq!(
            [one.at(0), one.at(1), one.at(2)],
            [Rule::IPV4, Rule::ALWAYS, Rule::ALWAYS]
        );
        let one = Ruleset::any().rule(Rule::IPV4);
        assert_eq!(
            [one.at(0), one.at(1), one.at(2)],
            [Rule::IPV4, Rule::NEVER, Rule::NEVER]
        );
        assert_eq!(one.at(3), Rule::ALWAYS, "every packet is a message");
        assert_eq!(
            one.end_of_message(Rule::SLMP_END_OF_MESSAGE).at(3),
            Rule::SLMP_END_OF_MESSAGE
        );
    }

    #[test]
    fn rejects_rules_beyond_the_hardware() {
        let four = (0..4).fold(Ruleset::all(), |rules, _| rules.rule(Rule::IPV4));
        assert_eq!(four.check(), Err(RulesetError::TooMany(4)));
        let empty = Ruleset::all()
            .rule(Rule::IPV4)
            .rule(Rule::udp_destination_port(9, 8));
        let message = empty.check().unwrap_err().to_string();
        assert!(message.starts_with("rule 2 matches nothing"), "{message}");
        assert!(
            Ruleset::all().rule(Rule::NEVER).check().is_ok(),
            "somebody means it"
        );
    }

    #[test]
    fn counts_edits() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("ipv4", "ipv4"), 0);
        assert_eq!(distance("udp-port", "udp-dport"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn suggests_the_nearest_name_or_lists_all() {
        let known = ["ipv4", "udp-dport"];
        assert_eq!(did_you_mean("udp-port", &known), "did you mean \"udp-dport\"?");
        assert_eq!(did_you_mean("IPv4", &known), "did you mean \"ipv4\"?");
        assert_eq!(did_you_mean("something", &known), "known are ipv4, udp-dport");
    }
}
