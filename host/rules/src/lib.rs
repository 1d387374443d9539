//! Which packets go to handlers: what applications, rule files and testbenches mean by a ruleset.
//!
//! - [`Ruleset`]: rules, how they are joined, and which packets end a message;
//! - [`RuleFile`]: rulesets in TOML, as `docs/rules.md` describes them;
//! - [`MatcherParams`]: sizes of the matching engine that rules are for.
#![forbid(unsafe_code)]

mod document;
mod error;
mod named;
mod rule;
mod ruleset;

pub use document::{MAX_FILE_BYTES, RuleFile};
pub use error::{Place, RuleFileError};
pub use rule::{MatcherParams, ParamsError};
pub use ruleset::{Join, NamedRuleset, Ruleset, RulesetError};
pub use spinneret_regmap::matching::Rule;
