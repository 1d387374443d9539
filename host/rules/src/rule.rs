//! One entry of a ruleset: a name, a name with a value, or raw numbers.

use crate::named::{self, Meaning, NamedRule, describe, range, whole};
use crate::{Problem, did_you_mean};
use spinneret_regmap::matching::{Rule, WORD_BYTES};
use std::ops::Range;
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of a raw rule.
const RAW_KEYS: [&str; 4] = ["idx", "mask", "start", "end"];
/// The key that says from where a rule counts, and its only value.
const RELATIVE: &str = "relative";
const IP_PAYLOAD: &str = "ip-payload";
/// The key of a rule that has a name and no value, but counts from the IP payload.
const NAME: &str = "name";
/// Minimum offset of the IP payload: after an untagged Ethernet header and the shortest IP header.
const FIRST_PAYLOAD_START: usize = 14 + 20;
const EXAMPLES: &str = "write a name such as \"ipv4\", a table such as { udp-dport = 9330 }, \
                        or { idx = 3, mask = 0xffff0000, start = 0x08000000, end = 0x08000000 }";

/// The rules that an entry stands for, checked against what the matcher can do.
pub(super) fn parse(entry: &Spanned<DeValue<'_>>, params: &MatcherParams) -> Result<Vec<Rule>, Problem> {
    let span = entry.span();
    let rules = match entry.get_ref() {
        DeValue::String(name) => by_name(name, false, &span)?,
        DeValue::Table(table) => by_table(table, &span)?,
        other => {
            return Err(Problem::new(
                span,
                format!("a rule cannot be {}: {EXAMPLES}", describe(other)),
            ));
        }
    };
    rules
        .into_iter()
        .map(|rule| inspected(rule, params, &span))
        .collect()
}

fn by_name(name: &str, relative: bool, span: &Range<usize>) -> Result<Vec<Rule>, Problem> {
    match meaning(lookup(name, span)?, relative, span)? {
        Meaning::Plain(rule) => Ok(vec![rule]),
        Meaning::Slmp => Ok(named::slmp(None)),
        Meaning::Valued { example, .. } => {
            let problem = format!("{name:?} needs a value: write {{ {name} = {example} }}");
            Err(Problem::new(span.clone(), problem))
        }
    }
}

/// The meaning of a name, relative to the frame or to the IP payload.
fn meaning(rule: &NamedRule, relative: bool, span: &Range<usize>) -> Result<Meaning, Problem> {
    if !relative {
        return Ok(rule.meaning);
    }
    rule.in_ip_payload.ok_or_else(|| {
        let name = rule.name;
        let help = match rule.meaning {
            Meaning::Slmp => {
                "{ udp-dport = 9330, relative = \"ip-payload\" } finds SLMP behind any IP header"
            }
            _ => "write it without relative",
        };
        Problem::new(
            span.clone(),
            format!("{name:?} does not look into the IP payload: {help}"),
        )
    })
}

fn by_table(table: &DeTable<'_>, span: &Range<usize>) -> Result<Vec<Rule>, Problem> {
    let relative = table.get(RELATIVE).map_or(Ok(false), is_relative)?;
    if table.keys().any(|key| RAW_KEYS.contains(&key.get_ref().as_ref())) {
        return raw(table, relative, span).map(|rule| vec![rule]);
    }
    let mut entries = table.iter().filter(|(key, _)| key.get_ref() != RELATIVE);
    match (entries.next(), entries.next()) {
        (Some((key, value)), None) if key.get_ref() == NAME => by_name_of_key(value, relative),
        (Some((key, value)), None) => by_name_and_value(key, value, relative),
        (None, _) => Err(Problem::new(
            span.clone(),
            format!("the rule is empty: {EXAMPLES}"),
        )),
        (Some(_), Some(_)) => {
            let problem =
                "a rule has one name: write each in its own braces, { ip-proto = 17 }, { udp-dport = 9330 }";
            Err(Problem::new(span.clone(), problem))
        }
    }
}

fn is_relative(value: &Spanned<DeValue<'_>>) -> Result<bool, Problem> {
    if value.get_ref().as_str() == Some(IP_PAYLOAD) {
        return Ok(true);
    }
    let found = describe(value.get_ref());
    let problem = format!(
        "relative must be \"{IP_PAYLOAD}\", not {found}: leave it out to count from the start of the frame"
    );
    Err(Problem::new(value.span(), problem))
}

/// `{ name = "slmp-eom", relative = "ip-payload" }`.
fn by_name_of_key(value: &Spanned<DeValue<'_>>, relative: bool) -> Result<Vec<Rule>, Problem> {
    match value.get_ref().as_str() {
        Some(name) => by_name(name, relative, &value.span()),
        None => {
            let found = describe(value.get_ref());
            let problem = format!("\"name\" of a rule must be text, not {found}: {EXAMPLES}");
            Err(Problem::new(value.span(), problem))
        }
    }
}

fn by_name_and_value(
    key: &Spanned<toml::de::DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    relative: bool,
) -> Result<Vec<Rule>, Problem> {
    let rule = lookup(key.get_ref(), &key.span())?;
    let ports_or_numbers = |limit| {
        let numbers = range(rule.name, value.span(), value.get_ref(), limit)?;
        Ok((*numbers.start(), *numbers.end()))
    };
    match meaning(rule, relative, &key.span())? {
        Meaning::Plain(_) => {
            let name = rule.name;
            let right = if relative {
                format!("{{ {NAME} = \"{name}\", {RELATIVE} = \"{IP_PAYLOAD}\" }}")
            } else {
                format!("\"{name}\", without braces")
            };
            let problem = format!("{name:?} takes no value: write it as {right}");
            Err(Problem::new(key.span(), problem))
        }
        Meaning::Valued { limit, make, .. } => {
            let (first, last) = ports_or_numbers(limit)?;
            Ok(vec![make(first, last)])
        }
        Meaning::Slmp => Ok(named::slmp(Some(ports_or_numbers(0xffff)?))),
    }
}

fn lookup(name: &str, span: &Range<usize>) -> Result<&'static NamedRule, Problem> {
    named::find(name).ok_or_else(|| {
        let hint = did_you_mean(name, &named::names());
        Problem::new(span.clone(), format!("there is no rule {name:?}: {hint}"))
    })
}

fn raw(table: &DeTable<'_>, relative: bool, span: &Range<usize>) -> Result<Rule, Problem> {
    for key in table.keys() {
        let name = key.get_ref().as_ref();
        if !RAW_KEYS.contains(&name) && name != RELATIVE {
            let problem = format!("a raw rule has idx, mask, start and end, but not {name:?}");
            return Err(Problem::new(key.span(), problem));
        }
    }
    let field = |name: &str| {
        let value = table.get(name).ok_or_else(|| {
            let problem = format!("{name:?} is missing: a raw rule needs idx, mask, start and end");
            Problem::new(span.clone(), problem)
        })?;
        whole(name, value.span(), value.get_ref(), u32::MAX)
    };
    let rule = Rule {
        idx: field("idx")?,
        mask: field("mask")?,
        start: field("start")?,
        end: field("end")?,
        relative,
    };
    possible(rule, span)
}

/// Refuses raw rules that look as if they matched something and never do; FALSE (0, 0, 1, 0) says what it is.
fn possible(rule: Rule, span: &Range<usize>) -> Result<Rule, Problem> {
    if is_never(&rule) || rule.can_match() {
        return Ok(rule);
    }
    let Rule { mask, start, end, .. } = rule;
    let reason = if start > end {
        format!("start {start:#x} is greater than end {end:#x}")
    } else {
        format!("mask {mask:#x} leaves no value from start {start:#x} to end {end:#x}")
    };
    let help =
        "mask, start and end are plain numbers in network byte order; write \"never\" if nothing is to match";
    Err(Problem::new(
        span.clone(),
        format!("the rule can never match: {reason}; {help}"),
    ))
}

/// Whether a rule is FALSE, from wherever it counts.
fn is_never(rule: &Rule) -> bool {
    let Rule { relative, .. } = *rule;
    *rule
        == Rule {
            relative,
            ..Rule::NEVER
        }
}

fn inspected(rule: Rule, params: &MatcherParams, span: &Range<usize>) -> Result<Rule, Problem> {
    if rule.relative && !params.ip_relative {
        let problem = "the rule counts from the IP payload, and the matcher does not know where that is: \
                       use a matcher that was generated with ip_relative = 1";
        return Err(Problem::new(span.clone(), problem));
    }
    let (words, what, start) = if rule.relative {
        let words = params.inspected_payload_words(FIRST_PAYLOAD_START);
        (words, "an IP payload without VLAN tag", FIRST_PAYLOAD_START)
    } else {
        (params.inspected_words(), "a frame", 0)
    };
    if is_never(&rule) || (rule.idx as usize) < words {
        return Ok(rule);
    }
    let idx = rule.idx;
    let inspected = match words.checked_sub(1) {
        Some(last) => format!(
            "words 0 to {last} (bytes 0 to {} of {what})",
            words * WORD_BYTES - 1
        ),
        None => format!("no word of {what}, which starts at byte {start}"),
    };
    let problem = format!(
        "the rule looks at word {idx}, but the matcher inspects {inspected}: \
         use a smaller idx, or a matcher that inspects more bytes (--inspected-bytes)"
    );
    Err(Problem::new(span.clone(), problem))
}

// Sizes of a matching engine.

/// Sizes of a matching engine, as its hardware was generated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatcherParams {
    /// Width of the stream in bits: a power of two from 64 to 1024.
    pub data_width_bits: usize,
    /// Number of rulesets, 1 to 4: the tag has two bits for the ruleset.
    pub rulesets: usize,
    /// Rules of a ruleset with the end-of-message rule, which is the last: 2 to 8.
    pub rules_per_ruleset: usize,
    /// Bytes of a frame that must be inspected, 4 to 256; whole beats are.
    pub inspected_bytes: usize,
    /// Whether rules may count from the start of the IP payload, and the message id does.
    pub ip_relative: bool,
}

impl MatcherParams {
    /// The reference configuration: 512 bit, 4 rulesets of 3 rules and the end-of-message rule, words 0 to 31.
    pub const REFERENCE: Self = Self {
        data_width_bits: 512,
        rulesets: 4,
        rules_per_ruleset: 4,
        inspected_bytes: 66,
        ip_relative: false,
    };
    /// The sizes of the board configuration: as the reference configuration, with rules relative to the IP payload.
    pub const BOARD: Self = Self {
        ip_relative: true,
        ..Self::REFERENCE
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
            (2..=8).contains(&rules),
            "2 to 8, the last being end of message",
        )?;
        let inspected = self.inspected_bytes;
        check(
            "inspected bytes",
            inspected,
            (4..=256).contains(&inspected),
            "4 to 256",
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

    /// Whole words of an IP payload that rules can look at, counted from its word 0, if the payload starts at an offset.
    pub fn inspected_payload_words(&self, payload_start: usize) -> usize {
        let inspected_bytes = self.inspected_words() * WORD_BYTES;
        inspected_bytes.saturating_sub(payload_start) / WORD_BYTES
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
