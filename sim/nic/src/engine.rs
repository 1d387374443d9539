//! Which matcher does the work.

use crate::models::{PspinPktMatch, PspinPktMatchIp, PspinPktMatchIpW64, PspinPktMatchW64};
use clap::ValueEnum;
use spinneret_packets::matching::{Checked, Matcher, MatcherError, ModelMatcher, VerilatedMatcher};
use spinneret_packets::reference::matcher::RuleTable;
use spinneret_rules::{MatcherParams, ParamsError};
use spinneret_sim::model::Model;

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
        params.validate().map_err(unfit)?;
        match self {
            Self::Model => checked(
                ModelMatcher::new(params, rules.clone()).map_err(unfit)?,
                params,
                rules,
            ),
            Self::Hardware => hardware(params, rules),
        }
    }
}

fn unfit(error: ParamsError) -> MatcherError {
    MatcherError::Unfit(error.to_string())
}

/// The Verilated block of these sizes.
fn hardware(params: &MatcherParams, rules: &RuleTable) -> Result<Box<dyn Matcher>, MatcherError> {
    let data_width_bits = 64;
    let wide = [MatcherParams::REFERENCE, MatcherParams::BOARD];
    let narrow = wide.map(|wide| MatcherParams {
        data_width_bits,
        ..wide
    });
    match *params {
        sizes if sizes == wide[0] => verilated::<PspinPktMatch>(params, rules),
        sizes if sizes == wide[1] => verilated::<PspinPktMatchIp>(params, rules),
        sizes if sizes == narrow[0] => verilated::<PspinPktMatchW64>(params, rules),
        sizes if sizes == narrow[1] => verilated::<PspinPktMatchIpW64>(params, rules),
        _ => Err(MatcherError::NotBuilt {
            data_width_bits: params.data_width_bits,
            inspected_bytes: params.inspected_bytes,
        }),
    }
}

fn verilated<M: Model + 'static>(
    params: &MatcherParams,
    rules: &RuleTable,
) -> Result<Box<dyn Matcher>, MatcherError> {
    checked(
        VerilatedMatcher::new(M::with_seed(SEED), params, rules)?,
        params,
        rules,
    )
}

fn checked<M: Matcher + 'static>(
    matcher: M,
    params: &MatcherParams,
    rules: &RuleTable,
) -> Result<Box<dyn Matcher>, MatcherError> {
    let checked = Checked::new(matcher, params, rules.clone());
    Ok(Box::new(checked.map_err(unfit)?))
}
