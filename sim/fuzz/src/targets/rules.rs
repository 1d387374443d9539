//! Rule files.

use super::{root, seeds};
use crate::mutate::damaged;
use crate::{Fed, Target};
use anyhow::Context as _;
use rand_chacha::ChaCha8Rng;
use spinneret_regmap::CONTEXTS;
use spinneret_sim::reference::matcher::MatcherParams;
use spinneret_sim::rules::RuleFile;

/// Reads a rule file for the matching engine of a board.
pub(super) struct Rules {
    seeds: Vec<Vec<u8>>,
}

impl Rules {
    pub(super) fn new() -> anyhow::Result<Self> {
        let mut all = seeds("sim/captures", &["toml"])?;
        for example in ["aggregate", "filter", "icmp_ping", "slmp", "udp_ping"] {
            let file = root().join("runtime/examples").join(example).join("rules.toml");
            all.push(std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?);
        }
        Ok(Self { seeds: all })
    }
}

impl Target for Rules {
    fn pieces(&self) -> &'static str {
        "files"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        damaged(&self.seeds, rng)
    }

    fn run(&mut self, input: &[u8]) -> Result<Fed, String> {
        let mut fed = Fed {
            pieces: 1,
            understood: 0,
        };
        match RuleFile::parse("fuzzed", input, &MatcherParams::BOARD) {
            Ok(rules) if rules.rulesets.len() > CONTEXTS as usize => {
                return Err(format!("{} rulesets were taken", rules.rulesets.len()));
            }
            Ok(_) => fed.understood = 1,
            Err(error) if error.to_string().contains("fuzzed") => {}
            Err(error) => return Err(format!("the file is not named in: {error}")),
        }
        Ok(fed)
    }
}
