//! Everything that can go wrong on the way from a command line to files.

use spinneret_hdl::entry::ParameterError;
use std::fmt;
use std::io;
use thiserror::Error;

/// What was refused, where, and what to do; the text is one sentence.
#[derive(Debug, Error)]
pub enum Error {
    /// A name that is in no list.
    #[error("there is no {kind} `{name}`: {advice}")]
    UnknownName {
        /// What the name should have been: `configuration`, `board` or `module`.
        kind: &'static str,
        /// The name as given.
        name: String,
        /// The nearest name, or all of them.
        advice: Advice,
    },
    /// The application block cannot be made.
    #[error(transparent)]
    App(#[from] spinneret_hdl::app::AppError),
    /// A crossing between clocks whose constraints cannot be written.
    #[error(transparent)]
    Constraints(#[from] spinneret_hdl::cdc::XdcError),
    /// An option that has no meaning with the others.
    #[error("`{option}` has no meaning here, as {because}: leave it out")]
    UselessOption {
        /// The option.
        option: &'static str,
        /// Why not.
        because: &'static str,
    },
    /// A frequency that is no number.
    #[error(
        "`--cluster-mhz {text}` is no frequency: write a number of MHz with at most 6 decimals, such as 40 or 62.5"
    )]
    NoFrequency {
        /// The text as given.
        text: String,
    },
    /// A clock that cannot be made.
    #[error(transparent)]
    Clock(#[from] spinneret_bsp::ultrascale::MmcmError),
    /// A tree that the board cannot be built in.
    #[error(transparent)]
    Checkout(#[from] crate::board::corundum::error::CheckoutError),
    /// A `--set` that is not `name=value` or `module.name=value`.
    #[error("`--set {text}` is malformed: {reason}; write `name=value` or `module.name=value`")]
    MalformedSetting {
        /// The setting as given.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The same parameter set twice.
    #[error("`--set {name}` is given twice: keep one of the two")]
    DuplicateSetting {
        /// Name as given, with the module if there was one.
        name: String,
    },
    /// A `--prefix` that no name can begin with.
    #[error(
        "`--prefix {text}` is not the beginning of a name: write letters, digits and `_`, no digit first, such as wide_"
    )]
    MalformedPrefix {
        /// The prefix as given.
        text: String,
    },
    /// A setting for a module that is not generated.
    #[error("`--set {setting}` names module `{module}`, which is not selected: add `--module {module}`")]
    SettingOfUnselectedModule {
        /// Name as given.
        setting: String,
        /// The module in it.
        module: String,
    },
    /// A setting of a parameter that no selected module has.
    #[error("no selected module has a parameter `{name}`: {advice}")]
    UnknownParameter {
        /// Name as given, with the module if there was one.
        name: String,
        /// The nearest name, or all of them.
        advice: Advice,
    },
    /// A value that a block refuses.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The back-end cannot translate a block.
    #[error("module `{module}` cannot be translated: {source}")]
    Backend {
        /// Name of the block.
        module: &'static str,
        /// What the back-end says.
        source: spinneret_verilog::Error,
    },
    /// A file of the output directory that gen-verilog did not write is in the way.
    #[error(
        "{path} is in the way and was not written by gen-verilog: move it away or choose another `--out`"
    )]
    Foreign {
        /// The file as shown to people.
        path: String,
    },
    /// The file system says no.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// File or directory as shown to people.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// No place to write to.
    #[error(
        "this is not inside a checkout of spinneret, so there is no gen/verilog to use: change into the \
         checkout or choose a directory with `--out`"
    )]
    NoWorkspace,
}

/// What to write instead of an unknown name.
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

impl fmt::Display for Advice {
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
