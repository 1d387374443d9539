//! Rule files.

use super::files::{Files, NAME, root, seed, seeds};
use crate::Target;
use spinneret_regmap::CONTEXTS;
use spinneret_rules::{MatcherParams, RuleFile};

/// Reads a rule file for the matching engine of a board.
pub(super) fn target() -> anyhow::Result<Box<dyn Target>> {
    let mut good = seeds("sim/captures", &["toml"])?;
    for example in ["aggregate", "filter", "icmp_ping", "slmp", "udp_ping"] {
        good.push(seed(
            &root().join("runtime/examples").join(example).join("rules.toml"),
        )?);
    }
    Ok(Files::target(good, read))
}

fn read(input: &[u8]) -> Result<bool, String> {
    match RuleFile::parse(NAME, input, &MatcherParams::BOARD) {
        Ok(rules) if rules.rulesets.len() > CONTEXTS as usize => {
            Err(format!("{} rulesets were taken", rules.rulesets.len()))
        }
        Ok(_) => Ok(true),
        Err(error) if error.to_string().contains(NAME) => Ok(false),
        Err(error) => Err(format!("the file is not named in: {error}")),
    }
}
