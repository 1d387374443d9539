//! Parameters of the control registers.

use super::entry::{CONSTANTS, ENTRY, parameters};
use crate::entry::{Checked, Config, ParameterError, Values};
use spinneret_regmap::{CONTEXTS, RULES_PER_RULESET, RULESETS, Word};

/// Parameters of the control registers, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegsShape {
    /// Width of an address in bits.
    pub address: usize,
    /// PsPIN clusters.
    pub clusters: usize,
    /// Message processing queues.
    pub queues: usize,
    /// Whether there are the registers that the public design does not have.
    pub extended: bool,
    /// Constants that software can read, by the name of their register.
    constants: Vec<(&'static str, u64)>,
}

impl RegsShape {
    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(ENTRY.name, &parameters(Config::Reference), values)?;
        let get = |name: &str| checked.get(name);
        let mut constants = vec![
            ("rulesets", RULESETS.into()),
            ("rules", RULES_PER_RULESET.into()),
            ("contexts", CONTEXTS.into()),
            ("clusters", get("num_clusters")),
            ("mpqs", get("num_mpq")),
        ];
        constants.extend(CONSTANTS.iter().map(|c| (c.register, get(c.parameter))));
        Ok(Self {
            address: get("address_width") as usize,
            clusters: get("num_clusters") as usize,
            queues: get("num_mpq") as usize,
            extended: get("extended") == 1,
            constants,
        })
    }

    /// What a word of the constants reads as: what the table says, or else what was generated.
    ///
    /// # Panics
    /// If the table has a constant that this block knows no value of.
    pub(super) fn constant(&self, word: Word) -> u64 {
        let name = word.register.name;
        let generated = self.constants.iter().find(|(own, _)| *own == name);
        match (word.reset(), generated) {
            (Some(value), _) => value.into(),
            (None, Some((_, value))) => *value,
            (None, None) => panic!("caps.{name} has no value"),
        }
    }
}
