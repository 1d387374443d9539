//! The rules of a matching engine, complete, and as its inputs hold them.

use spinneret_rules::{MatcherParams, RuleFile, Ruleset};
use thiserror::Error;

/// A complete set of rules for a matcher: every ruleset has every rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleTable {
    rulesets: Vec<Ruleset>,
}

impl RuleTable {
    /// Fills up rulesets to what the matcher has: unused rules change nothing, unused rulesets never match.
    ///
    /// # Errors
    /// If there are more rulesets or more rules than the matcher has, or a rule counts from the IP payload and the
    /// matcher does not know where that is.
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
        /// How many were given.
        given: usize,
        /// How many there are.
        available: usize,
    },
    /// A rule counts from the IP payload, and the matcher does not know where that is.
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
        /// How many rules were given.
        given: usize,
        /// How many there are.
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
