//! What a model was generated with.

use spinneret_hdl::catalog;
use spinneret_hdl::entry::Values;
use spinneret_rules::MatcherParams;
use spinneret_sim::model::Model;
use std::ops::Deref;

/// The parameters that a model was generated with.
#[derive(Clone, Debug)]
pub struct Parameters {
    model: &'static str,
    values: Values,
}

impl Parameters {
    /// Those of a model in the catalog.
    ///
    /// # Panics
    /// If there is no such model.
    pub fn of<M: Model>() -> Self {
        let mut models = catalog::simulated().into_iter();
        let found = models.find(|(name, _, _)| name == M::NAME);
        let (_, _, values) = found.unwrap_or_else(|| panic!("{} is not in the catalog", M::NAME));
        let model = M::NAME;
        Self { model, values }
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// If the model has no such parameter.
    pub fn get(&self, name: &str) -> u64 {
        let value = self.values.get(name).copied();
        value.unwrap_or_else(|| panic!("{} has no parameter {name}", self.model))
    }

    /// Sizes of the matching engine that the model is, or has in it.
    ///
    /// # Panics
    /// If there is none.
    pub fn matcher(&self) -> MatcherParams {
        let size = |name| self.get(name) as usize;
        MatcherParams {
            data_width_bits: size("data_width"),
            rulesets: size("rulesets"),
            rules_per_ruleset: size("rules"),
            inspected_bytes: size("inspected_bytes"),
            ip_relative: self.get("ip_relative") == 1,
        }
    }
}

impl Deref for Parameters {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.values
    }
}
