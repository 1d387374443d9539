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
