//! Runs the solver and reads what it says.

use super::translate::{Problem, missing};
use super::{Method, Proof};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The solver gives up after this time, in seconds.
const LIMIT: u32 = 600;

/// What became of a proof.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The proof.
    pub proof: Proof,
    /// Time that the solver took.
    pub time: Duration,
    /// The result.
    pub verdict: Verdict,
}

/// The result of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Holds for all times: by induction over this many cycles.
    Proven(u32),
    /// Holds for this many cycles after the start.
    Bounded(u32),
    /// Does not hold, or not by induction.
    Failed {
        /// The assertion, or the cover statement that cannot be reached.
        property: String,
        /// Whether it failed from the start, that is, really; else induction is too weak.
        from_start: bool,
        /// A waveform of the counterexample; none for a cover statement.
        trace: Option<PathBuf>,
    },
}

impl Outcome {
    /// Whether all that was to be shown is shown.
    pub fn holds(&self) -> bool {
        !matches!(self.verdict, Verdict::Failed { .. })
    }
}

impl Problem {
    /// Solves the problem: from the start, by induction if that is the method, and whether the harness's
    /// cover statements can be reached, so that its assumptions do not exclude everything.
    ///
    /// # Errors
    /// yosys-smtbmc or z3 is missing, or gives up.
    pub fn solve(&self) -> Result<Outcome> {
        let start = Instant::now();
        let verdict = self.verdict()?;
        Ok(Outcome {
            proof: self.proof,
            time: start.elapsed(),
            verdict,
        })
    }

    fn verdict(&self) -> Result<Verdict> {
        let cycles = self.proof.method.cycles();
        let base = self.run("counterexample.vcd", &[])?;
        if !passed(&base) {
            return self.failed(&base, Some("counterexample.vcd"), true);
        }
        let covered = self.run("cover.vcd", &["-c"])?;
        if !passed(&covered) {
            return self.failed(&covered, None, true);
        }
        let Method::Induction(_) = self.proof.method else {
            return Ok(Verdict::Bounded(cycles));
        };
        let induction = self.run("induction.vcd", &["-i"])?;
        if !passed(&induction) {
            return self.failed(&induction, Some("induction.vcd"), false);
        }
        // The solver counts down from the first step that it tries to the one that it needs.
        let said = said(&induction);
        let step = after(&said, "Trying induction in step ")
            .last()
            .and_then(|rest| rest.trim_end_matches('.').parse::<u32>().ok())
            .context("yosys-smtbmc does not say how far its induction went")?;
        Ok(Verdict::Proven(cycles - step))
    }

    fn run(&self, trace: &str, options: &[&str]) -> Result<Output> {
        // Without --unroll, z3 takes for ever on some of these problems.
        let output = Command::new("yosys-smtbmc")
            .args(["-s", "z3", "--unroll", "--noprogress", "--timeout"])
            .arg(LIMIT.to_string())
            .args(["-t", &self.proof.method.cycles().to_string()])
            .args(["--dump-vcd", trace])
            .args(options)
            .arg("problem.smt2")
            .current_dir(&self.folder)
            .output()
            .map_err(|error| missing("yosys-smtbmc", &error))?;
        let said = said(&output);
        if !said.contains("Status: PASSED") && !said.contains("Status: FAILED") {
            let name = self.proof.name;
            if said.contains("not found") || said.contains("No such file") {
                bail!("{name}: z3 cannot be run: install it with `./dev setup`");
            }
            let last = said.lines().next_back().unwrap_or("it said nothing");
            bail!("{name}: yosys-smtbmc gives no answer within {LIMIT} s: {last}");
        }
        Ok(output)
    }

    fn failed(&self, output: &Output, trace: Option<&str>, from_start: bool) -> Result<Verdict> {
        let said = said(output);
        let property = after(&said, "Assert failed in ")
            .chain(after(&said, "Unreached cover statement at "))
            .next()
            .unwrap_or("a property that the solver does not name");
        Ok(Verdict::Failed {
            property: property.rsplit(": ").next().unwrap_or(property).to_owned(),
            from_start,
            trace: trace
                .map(|file| self.folder.join(file))
                .filter(|file| file.exists()),
        })
    }
}

fn passed(output: &Output) -> bool {
    output.status.success() && said(output).contains("Status: PASSED")
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// What follows a phrase, on each line that has it.
fn after<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines()
        .filter_map(move |line| line.split_once(phrase).map(|(_, rest)| rest.trim()))
}
