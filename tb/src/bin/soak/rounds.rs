//! Rounds of traffic, each with its own seed and a new simulation.

use anyhow::{Context, Result, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use spinneret_sim::seed::Seed;
use std::ops::AddAssign;
use std::panic::{self, AssertUnwindSafe};
use std::time::Instant;

/// What the rounds depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    /// What all random choices depend on.
    pub(crate) seed: u64,
    /// Frames, or what else is counted, of all rounds together.
    pub(crate) count: u64,
    /// Number of the first round.
    pub(crate) first: u64,
    /// What is counted, in the plural.
    pub(crate) unit: &'static str,
}

impl Rounds {
    /// Runs rounds of that many frames until all are sent, and adds up what they return.
    pub(crate) fn run<T: Default + AddAssign>(
        self,
        frames_per_round: u64,
        run_round: impl Fn(Seed, u64, u64) -> T,
    ) -> Result<T> {
        let template = format!(
            "{{bar:40}} {{pos}}/{{len}} {}, {{per_sec}}, {{eta}} left",
            self.unit
        );
        let style =
            ProgressStyle::with_template(&template).context("the progress bar's template is wrong")?;
        let progress = ProgressBar::new(self.count).with_style(style);
        let start = Instant::now();
        let (mut total, mut left) = (T::default(), self.count);
        for round in self.first.. {
            if left == 0 {
                break;
            }
            let frames = left.min(frames_per_round);
            let seed = Seed(self.seed.wrapping_add(round.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            // A difference panics with what differs; the seed and the round say how to see it again.
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| run_round(seed, round, frames)));
            let repeat = format!("--seed {} --round {round} --count {frames}", self.seed);
            total += outcome.map_err(|_| anyhow!("round {round} failed: repeat with {repeat}"))?;
            progress.inc(frames);
            left -= frames;
        }
        progress.finish_and_clear();
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{seconds:.1} s, {:.0} {} a second",
            self.count as f64 / seconds,
            self.unit
        );
        Ok(total)
    }
}
