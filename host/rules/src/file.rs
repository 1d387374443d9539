//! Rule files: what the matching engine is to look for, in TOML.
//!
//! The format is described in `docs/rules.md`. A file holds up to as many rulesets as the matcher has;
//! each joins up to three rules by AND or OR and may name an end-of-message rule. Everything that a
//! person can get wrong is an error that names the file, the line, the ruleset and the rule, and says
//! what to write instead.
//!
//! ```
//! use spinneret_rules::{MatcherParams, RuleFile};
//!
//! let text = b"[[ruleset]]\nrules = ['ipv4', { ip-proto = 17 }, { udp-dport = '5000-5999' }]\n";
//! let file = RuleFile::parse("ports.toml", text, &MatcherParams::REFERENCE)?;
//! assert_eq!(file.rulesets.len(), 1);
//! # Ok::<(), spinneret_rules::RuleFileError>(())
//! ```

use crate::document;
use crate::error::RuleFileError;
use crate::params::MatcherParams;
use crate::ruleset::NamedRuleset;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Largest rule file that is read; the largest sensible one has a few kilobytes.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// A rule file that has been read and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// The rulesets in the order of the file; the first one that matches a frame wins.
    pub rulesets: Vec<NamedRuleset>,
}

impl RuleFile {
    /// Reads and checks a rule file for a matcher of the given sizes.
    ///
    /// # Errors
    /// If the file cannot be read, is not a rule file, or asks for what the matcher does not have.
    pub fn read(path: &Path, params: &MatcherParams) -> Result<Self, RuleFileError> {
        let name = path.display().to_string();
        let unreadable = |source| RuleFileError::Unreadable {
            file: name.clone(),
            source,
        };
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(MAX_FILE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        Self::parse(&name, &bytes, params)
    }

    /// Checks the contents of a rule file; `name` is what errors call the file.
    ///
    /// # Errors
    /// If the bytes are not a rule file, or ask for what the matcher does not have.
    pub fn parse(name: &str, bytes: &[u8], params: &MatcherParams) -> Result<Self, RuleFileError> {
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(RuleFileError::TooLarge {
                file: name.to_owned(),
            });
        }
        let text =
            std::str::from_utf8(bytes).map_err(|error| RuleFileError::not_utf8(name, bytes, &error))?;
        let rulesets = document::parse(text, params).map_err(|problem| problem.in_file(name, text))?;
        Ok(Self { rulesets })
    }

    /// Whether a rule counts from the IP payload, so that the matcher must have the option `ip_relative`.
    pub fn is_relative(&self) -> bool {
        self.rulesets.iter().any(|named| named.ruleset.is_relative())
    }
}
