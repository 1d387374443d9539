//! Errors are sentences: what was refused, where, and what to do.

use anyhow::anyhow;
use std::fmt::{self, Display};
use std::io;

/// Returns a function that says what could not be done with a file, and why.
pub(crate) fn failed(action: &str, path: impl Display) -> impl FnOnce(io::Error) -> anyhow::Error {
    move |source| anyhow!("cannot {action} {path}: {source}")
}

/// Returns the error for a name that is in no list.
pub(crate) fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> anyhow::Error {
    anyhow!("there is no {kind} `{name}`: {}", Advice::new(name, known))
}

/// Returns a function that says which block the back-end cannot translate.
pub(crate) fn backend(module: &str) -> impl FnOnce(spinneret_verilog::Error) -> anyhow::Error {
    move |source| anyhow!("module `{module}` cannot be translated: {source}")
}

/// Suggestion for an unknown name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// One name is near.
    DidYouMean(String),
    /// Nothing is near; these exist.
    OneOf(Vec<String>),
}

impl Advice {
    /// The nearest of `known` to `name` if it is near enough to be a slip, else all of them.
    pub fn new<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        const NEAR: f64 = 0.8;
        let known: Vec<&str> = known.into_iter().collect();
        let scored = known
            .iter()
            .map(|candidate| (strsim::jaro_winkler(name, candidate), *candidate));
        match scored.max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((score, nearest)) if score >= NEAR => Self::DidYouMean(nearest.to_owned()),
            _ => Self::OneOf(known.into_iter().map(str::to_owned).collect()),
        }
    }
}

impl Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DidYouMean(name) => write!(f, "did you mean `{name}`?"),
            Self::OneOf(names) if names.is_empty() => f.write_str("there are none"),
            Self::OneOf(names) => write!(f, "choose one of {}", names.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_a_near_name_and_lists_all_for_a_far_one() {
        let known = ["reference", "board"];
        assert_eq!(
            Advice::new("refrence", known).to_string(),
            "did you mean `reference`?"
        );
        assert_eq!(
            Advice::new("xyz", known).to_string(),
            "choose one of reference, board"
        );
        assert_eq!(Advice::new("xyz", []).to_string(), "there are none");
    }
}
