//! What a generated register block has.

use crate::parameters::Parameters;
use spinneret_regmap::model::{Registers, Variant};
use spinneret_regmap::{CONTEXTS, RULES_PER_RULESET, RULESETS, caps, registers};
use spinneret_sim::model::Model;

/// Prefix of the parameters that give constants.
const CONSTANT: &str = "caps_";

/// What a generated register block has.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Which registers there are.
    pub variant: Variant,
    /// PsPIN clusters.
    pub clusters: u32,
    /// Message processing queues.
    pub queues: u32,
    /// Bits of an address.
    pub address_width: u32,
    /// Offset and value of each constant.
    constants: Vec<(u32, u32)>,
}

impl Layout {
    /// The layout of a model, from the parameters that it was generated with.
    ///
    /// # Panics
    /// If the model is none of the register block's.
    pub fn of<M: Model>() -> Self {
        let values = Parameters::of::<M>();
        let number = |name| u32::try_from(values.get(name)).expect("parameters of registers have 32 bits");
        let known = [
            ("rulesets", RULESETS),
            ("rules", RULES_PER_RULESET),
            ("contexts", CONTEXTS),
            ("clusters", number("num_clusters")),
            ("mpqs", number("num_mpq")),
        ];
        let parameters = values.iter().filter_map(|(name, value)| {
            let constant = name.strip_prefix(CONSTANT)?;
            Some((constant, u32::try_from(*value).ok()?))
        });
        let constants = known.into_iter().chain(parameters);
        Self {
            variant: match number("extended") {
                0 => Variant::DropIn,
                _ => Variant::Extended,
            },
            clusters: number("num_clusters"),
            queues: number("num_mpq"),
            address_width: number("address_width"),
            constants: constants
                .map(|(name, value)| (caps::offset(name).expect("the table has every constant"), value))
                .collect(),
        }
    }

    /// Whether there are the registers that the public design does not have.
    pub fn is_extended(&self) -> bool {
        self.variant == Variant::Extended
    }

    /// Registers after a reset, with the constants in place.
    pub fn registers(&self) -> Registers {
        let mut registers = Registers::new(self.variant).with_counts(self.clusters, self.queues);
        for (offset, value) in &self.constants {
            registers.show(*offset, *value);
        }
        registers
    }

    /// The offsets of all words that there are.
    pub fn words(&self) -> Vec<u32> {
        registers()
            .filter(|register| self.is_extended() || !register.extension)
            .flat_map(|register| register.words().map(|word| word.offset()))
            .collect()
    }
}
