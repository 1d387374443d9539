//! One entry of a ruleset: a name, a name with a value, or raw numbers.

use super::error::Problem;
use super::named::{self, Meaning, NamedRule};
use super::number::{describe, range, whole};
use super::suggest::did_you_mean;
use spinneret_regmap::matching::{Rule, WORD_BYTES};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of a raw rule.
const RAW_KEYS: [&str; 4] = ["idx", "mask", "start", "end"];
const EXAMPLES: &str = "write a name such as \"ipv4\", a table such as { udp-dport = 9330 }, \
                        or { idx = 3, mask = 0xffff0000, start = 0x08000000, end = 0x08000000 }";

/// The rules that an entry stands for, checked against the words that the matcher inspects.
pub(super) fn parse(entry: &Spanned<DeValue<'_>>, inspected_words: usize) -> Result<Vec<Rule>, Problem> {
    let span = entry.span();
    let rules = match entry.get_ref() {
        DeValue::String(name) => by_name(name, &span)?,
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
        .map(|rule| inspected(rule, inspected_words, &span))
        .collect()
}

fn by_name(name: &str, span: &Range<usize>) -> Result<Vec<Rule>, Problem> {
    match lookup(name, span)?.meaning {
        Meaning::Plain(rule) => Ok(vec![rule]),
        Meaning::Slmp => Ok(named::slmp(None)),
        Meaning::Valued { example, .. } => {
            let problem = format!("{name:?} needs a value: write {{ {name} = {example} }}");
            Err(Problem::new(span.clone(), problem))
        }
    }
}

fn by_table(table: &DeTable<'_>, span: &Range<usize>) -> Result<Vec<Rule>, Problem> {
    if table.keys().any(|key| RAW_KEYS.contains(&key.get_ref().as_ref())) {
        return raw(table, span).map(|rule| vec![rule]);
    }
    let mut entries = table.iter();
    match (entries.next(), entries.next()) {
        (Some((key, value)), None) => by_name_and_value(key, value),
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

fn by_name_and_value(
    key: &Spanned<toml::de::DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
) -> Result<Vec<Rule>, Problem> {
    let rule = lookup(key.get_ref(), &key.span())?;
    let ports_or_numbers = |limit| {
        let numbers = range(rule.name, value.span(), value.get_ref(), limit)?;
        Ok((*numbers.start(), *numbers.end()))
    };
    match rule.meaning {
        Meaning::Plain(_) => {
            let problem = format!(
                "{:?} takes no value: write it as \"{}\", without braces",
                rule.name, rule.name
            );
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

fn raw(table: &DeTable<'_>, span: &Range<usize>) -> Result<Rule, Problem> {
    for key in table.keys() {
        let name = key.get_ref().as_ref();
        if !RAW_KEYS.contains(&name) {
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
    };
    possible(rule, span)
}

/// Refuses raw rules that look as if they matched something and never do; FALSE (0, 0, 1, 0) says what it is.
fn possible(rule: Rule, span: &Range<usize>) -> Result<Rule, Problem> {
    if rule == Rule::NEVER || rule.can_match() {
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

fn inspected(rule: Rule, words: usize, span: &Range<usize>) -> Result<Rule, Problem> {
    if rule == Rule::NEVER || (rule.idx as usize) < words {
        return Ok(rule);
    }
    let (idx, last, bytes) = (rule.idx, words - 1, words * WORD_BYTES - 1);
    let problem = format!(
        "the rule looks at word {idx}, but the matcher inspects words 0 to {last} (bytes 0 to {bytes} of a frame): \
         use a smaller idx, or a matcher that inspects more bytes (--inspected-bytes)"
    );
    Err(Problem::new(span.clone(), problem))
}
