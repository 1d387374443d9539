//! What can be wrong with a rule file, and where.

use std::fmt;
use std::ops::Range;
use std::str::Utf8Error;
use thiserror::Error;

/// Why a rule file was refused.
#[derive(Debug, Error)]
pub enum RuleFileError {
    /// The file cannot be opened or read.
    #[error("{file}: cannot read the rule file: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is larger than any rule file.
    #[error("{file}: larger than 1 MiB, so it is no rule file; docs/rules.md describes the format")]
    TooLarge {
        /// The file.
        file: String,
    },
    /// The file is not text.
    #[error("{file}:{line}: byte {offset} is not UTF-8 text; docs/rules.md describes the format")]
    NotUtf8 {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: usize,
        /// Offset of the first byte that is wrong, counted from 0.
        offset: usize,
    },
    /// The text says something that it must not.
    #[error("{file}:{line}: {place}{problem}")]
    Invalid {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: usize,
        /// Ruleset and rule.
        place: Place,
        /// What is wrong, and what to write instead.
        problem: String,
    },
}

impl RuleFileError {
    pub(super) fn not_utf8(file: &str, bytes: &[u8], error: &Utf8Error) -> Self {
        let offset = error.valid_up_to();
        Self::NotUtf8 {
            file: file.to_owned(),
            line: line_of(bytes, offset),
            offset,
        }
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
pub(super) struct Problem {
    span: Range<usize>,
    place: Place,
    text: String,
}

impl Problem {
    pub(super) fn new(span: Range<usize>, text: impl Into<String>) -> Self {
        Self {
            span,
            place: Place::default(),
            text: text.into(),
        }
    }

    /// Says which ruleset the problem is in.
    pub(super) fn in_ruleset(mut self, ruleset: usize, name: Option<&str>) -> Self {
        self.place.ruleset = Some(ruleset);
        self.place.name = name.map(str::to_owned);
        self
    }

    /// Says which rule of its ruleset the problem is in.
    pub(super) fn in_rule(mut self, rule: RulePlace) -> Self {
        self.place.rule = Some(rule);
        self
    }

    pub(super) fn in_file(self, file: &str, text: &str) -> RuleFileError {
        RuleFileError::Invalid {
            file: file.to_owned(),
            line: line_of(text.as_bytes(), self.span.start),
            place: self.place,
            problem: self.text,
        }
    }
}

/// Line of a byte, counted from 1.
fn line_of(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|byte| **byte == b'\n').count()
}

// The name that was probably meant.

/// A question to append to an error about an unknown name: the nearest known one, or all of them.
pub(super) fn did_you_mean(unknown: &str, known: &[&str]) -> String {
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
