//! Which matcher does the work.

use super::{Checked, Matcher, MatcherError, ModelMatcher, VerilatedMatcher};
use crate::model::Model;
use crate::models::{PspinPktMatch, PspinPktMatchW64};
use crate::reference::matcher::{MatcherParams, ParamsError, RuleTable};
use clap::ValueEnum;

/// Seed of the values that registers without a reset start with.
const SEED: u64 = 1;

/// What does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// The generated hardware, run by Verilator and compared with its model packet by packet
    Hardware,
    /// The reference model alone
    Model,
}

impl Engine {
    /// A matcher of these sizes with these rules, beside its reference model.
    ///
    /// # Errors
    /// If no such hardware can be generated, or none of these sizes was built in.
    pub fn matcher(
        self,
        params: &MatcherParams,
        rules: &RuleTable,
    ) -> Result<Box<dyn Matcher>, MatcherError> {
        let unfit = |error: ParamsError| MatcherError::Unfit(error.to_string());
        params.validate().map_err(unfit)?;
        let narrow = MatcherParams {
            data_width_bits: 64,
            ..MatcherParams::REFERENCE
        };
        match self {
            Self::Model => checked(
                ModelMatcher::new(params, rules.clone()).map_err(unfit)?,
                params,
                rules,
            ),
            Self::Hardware if *params == MatcherParams::REFERENCE => checked(
                VerilatedMatcher::new(PspinPktMatch::with_seed(SEED), params, rules)?,
                params,
                rules,
            ),
            Self::Hardware if *params == narrow => checked(
                VerilatedMatcher::new(PspinPktMatchW64::with_seed(SEED), params, rules)?,
                params,
                rules,
            ),
            Self::Hardware => Err(MatcherError::NotBuilt {
                data_width_bits: params.data_width_bits,
                inspected_bytes: params.inspected_bytes,
            }),
        }
    }
}

fn checked<M: Matcher + 'static>(
    matcher: M,
    params: &MatcherParams,
    rules: &RuleTable,
) -> Result<Box<dyn Matcher>, MatcherError> {
    let checked = Checked::new(matcher, params, rules.clone());
    Ok(Box::new(
        checked.map_err(|error| MatcherError::Unfit(error.to_string()))?,
    ))
}
