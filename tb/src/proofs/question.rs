//! Questions for the solver, mutations of blocks, and recorded answers.

use super::translate::{Problem, inputs, missing, prepare, prepare_broken, text};
use super::{Method, Proof, find, proofs};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::env;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Something that the solver is asked.
#[derive(Clone, Debug)]
pub enum Question {
    /// Whether a proof holds.
    Holds(&'static Proof),
    /// Whether a proof detects a mutation.
    Detects(Mutation),
}

/// All questions: every proof, then every broken block.
pub fn questions() -> impl Iterator<Item = Question> {
    let broken = mutations().into_iter().map(Question::Detects);
    proofs().iter().map(Question::Holds).chain(broken)
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds(proof) => f.write_str(proof.name),
            Self::Detects(mutation) => {
                let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                let Mutation {
                    proof,
                    breaks,
                    from,
                    to,
                } = mutation;
                write!(
                    f,
                    "{proof} ({breaks}) with {} instead of {}",
                    line(to),
                    line(from)
                )
            }
        }
    }
}

impl Question {
    /// Returns whether the answer takes about a minute at most.
    pub fn is_fast(&self) -> bool {
        match self {
            Self::Holds(proof) => proof.fast,
            Self::Detects(_) => true,
        }
    }

    /// The proof, and the text that it is about.
    fn problem(&self) -> Result<(&'static Proof, String)> {
        match self {
            Self::Holds(proof) => Ok((proof, text(proof)?)),
            Self::Detects(mutation) => {
                let name = mutation.proof;
                let proof = find(name).with_context(|| format!("there is no proof {name}"))?;
                let good = text(proof)?;
                let broken = good.replacen(&mutation.from, &mutation.to, 1);
                ensure!(good != broken, "{name} has nothing like this: {}", mutation.from);
                Ok((proof, broken))
            }
        }
    }

    /// Returns a digest of the solver's input, which identifies the question. Comments do not count.
    ///
    /// # Errors
    /// The block cannot be generated, or a harness cannot be read.
    pub fn key(&self) -> Result<String> {
        let (proof, text) = self.problem()?;
        let method = match proof.method {
            Method::Induction(cycles) => format!("induction {cycles}"),
            Method::Bounded(cycles) => format!("bounded {cycles}"),
        };
        let asked = match self {
            Self::Holds(_) => method,
            Self::Detects(_) => format!("broken, {method}"),
        };
        let mut digest = Sha256::new();
        let inputs = inputs(proof, &text, matches!(self, Self::Holds(_)))?;
        for part in [asked, inputs, text] {
            let part = without_comments(&part);
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        let mut key = String::new();
        for byte in &digest.finalize()[..16] {
            write!(key, "{byte:02x}")?;
        }
        Ok(key)
    }

    /// Asks the solver: nothing if all is as it should be, else what is not.
    ///
    /// # Errors
    /// A tool is missing, refuses what it is given, or gives up.
    pub fn ask(&self, folder: &Path) -> Result<Option<String>> {
        let (proof, text) = self.problem()?;
        let Self::Detects(_) = self else {
            let outcome = prepare(proof, folder)?.solve()?;
            let why = format!("{self}: {:?}", outcome.verdict);
            return Ok((!outcome.holds()).then_some(why));
        };
        let folder = folder.join(self.key()?);
        Ok(match prepare_broken(proof, &text, &folder)?.solve()?.verdict {
            Verdict::Failed {
                from_start: true,
                trace: Some(_),
                ..
            } => None,
            Verdict::Failed { property, .. } => Some(format!("{self} fails by induction only: {property}")),
            _ => Some(format!("{self} is proven")),
        })
    }
}

/// Returns a text in SystemVerilog without comments and empty lines.
fn without_comments(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim_end());
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Questions that were answered as they should be, by their keys.
#[derive(Clone, Debug, Default)]
pub struct Ledger(BTreeSet<String>);

impl Ledger {
    /// Path of the ledger.
    pub fn path() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs/answered.txt")
    }

    /// The ledger of the repository.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read() -> Result<Self> {
        let path = Self::path();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let keys = text.lines().filter(|line| !line.starts_with('#'));
        Ok(Self(
            keys.filter_map(|line| line.split_whitespace().next())
                .map(str::to_owned)
                .collect(),
        ))
    }

    /// Returns whether the recorded answer suffices. One question in sixteen is asked anyway, to detect a wrong ledger.
    pub fn may_skip(&self, key: &str) -> bool {
        !key.starts_with('0') && self.0.contains(key)
    }

    /// Writes the ledger of these questions, which were answered as they should be.
    ///
    /// # Errors
    /// If a key cannot be made, or the file not written.
    pub fn write(questions: &[Question]) -> Result<()> {
        let mut text = String::from(
            "# Questions that the solver has answered as it should, by a digest of what it was given; `./dev prove --record`\n\
             # writes this, and `./dev test` asks again what is not here, and one in sixteen of the others.\n",
        );
        for question in questions {
            let name = match question {
                Question::Holds(proof) => format!("{} holds", proof.name),
                Question::Detects(mutation) => format!("{} finds out", mutation.proof),
            };
            writeln!(text, "{} {name}", question.key()?)?;
        }
        let path = Self::path();
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The folder of yices, which is installed first if it is not there.
pub(super) fn yices() -> Result<&'static str> {
    static FOLDER: LazyLock<Result<String, String>> = LazyLock::new(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/yices.sh");
        let output = Command::new(&script)
            .output()
            .map_err(|error| format!("{}: {error}", script.display()))?;
        let said = if output.status.success() {
            output.stdout
        } else {
            output.stderr
        };
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        if output.status.success() {
            Ok(said)
        } else {
            Err(said)
        }
    });
    FOLDER
        .as_deref()
        .map_err(|why| anyhow!("yices cannot be installed: {why}"))
}

/// The solver gives up after this time, in seconds.
const LIMIT: u32 = 600;

/// The result of a proof.
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
        /// Whether the failure is reachable from reset; if not, induction is too weak.
        from_start: bool,
        /// A waveform of the counterexample; none for a cover statement.
        trace: Option<PathBuf>,
    },
}

impl Outcome {
    /// Returns whether the proof is complete.
    pub fn holds(&self) -> bool {
        !matches!(self.verdict, Verdict::Failed { .. })
    }
}

impl Problem {
    /// Solves the problem: from the start, by induction if that is the method, and whether the harness's
    /// cover statements can be reached, so that its assumptions do not exclude everything.
    ///
    /// # Errors
    /// yosys-smtbmc or the solver is missing, or gives up.
    pub fn solve(&self) -> Result<Outcome> {
        let start = Instant::now();
        let verdict = self.verdict()?;
        Ok(Outcome {
            proof: self.proof.clone(),
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
        let solver = self.proof.solver();
        // Without --unroll, z3 does not finish on some of these problems.
        let unroll = (solver == "z3").then_some("--unroll");
        let mut command = Command::new("yosys-smtbmc");
        if solver == "yices" {
            command.env("PATH", format!("{}:{}", yices()?, env::var("PATH")?));
        }
        let output = command
            .args(["-s", solver])
            .args(unroll)
            .args(["--noprogress", "--timeout"])
            .arg(LIMIT.to_string())
            .args(["-t", &self.clocks])
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
                bail!("{name}: {solver} cannot be run: install it with `./dev setup`");
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

pub(super) fn passed(output: &Output) -> bool {
    output.status.success() && said(output).contains("Status: PASSED")
}

pub(super) fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Returns the rest of each line after a phrase.
fn after<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines()
        .filter_map(move |line| line.split_once(phrase).map(|(_, rest)| rest.trim()))
}

/// A change of a block's text that breaks a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// The proof that has to find it out.
    pub proof: &'static str,
    /// The broken promise, as a sentence.
    pub breaks: &'static str,
    /// The text that is replaced where it stands first.
    pub from: String,
    /// The new text.
    pub to: String,
}

/// All mutations.
pub fn mutations() -> Vec<Mutation> {
    parse(include_str!("../../proofs/mutations.txt"))
}

/// A paragraph begins with the name of its proof; a mutation is a sentence, lines with `-` and lines with `+`.
fn parse(text: &'static str) -> Vec<Mutation> {
    let mut all: Vec<Mutation> = Vec::new();
    let (mut proof, mut breaks) = ("", "");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let is_new = all.last().is_none_or(|mutation| mutation.breaks != breaks);
        let (removed, added) = (line.strip_prefix("- "), line.strip_prefix("+ "));
        if line.is_empty() {
            proof = "";
        } else if proof.is_empty() {
            proof = line;
        } else if let Some(part) = removed.or(added) {
            if is_new {
                all.push(Mutation {
                    proof,
                    breaks,
                    from: String::new(),
                    to: String::new(),
                });
            }
            if let Some(mutation) = all.last_mut() {
                let text = if removed.is_some() {
                    &mut mutation.from
                } else {
                    &mut mutation.to
                };
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(part.strip_suffix('$').unwrap_or(part));
            }
        } else {
            breaks = line;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{Mutation, mutations, parse};

    #[test]
    fn reads_texts_of_several_lines_and_spaces_at_their_end() {
        let text = "# comment\n\nfifo\nForgets.\n- a <= 1;\n-   b\n+ a <= 0;\n+   b\nShows.\n- hit = x & $\n+ hit = $\n\nslots\nLoses.\n- c\n+ d\n";
        let mutation = |proof, breaks, from: &str, to: &str| Mutation {
            proof,
            breaks,
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let expected = [
            mutation("fifo", "Forgets.", "a <= 1;\n  b", "a <= 0;\n  b"),
            mutation("fifo", "Shows.", "hit = x & ", "hit = "),
            mutation("slots", "Loses.", "c", "d"),
        ];
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn every_mutation_names_a_proof_and_changes_text() {
        for mutation in mutations() {
            assert!(crate::proofs::find(mutation.proof).is_some(), "{mutation:?}");
            assert!(
                !mutation.from.is_empty() && mutation.from != mutation.to,
                "{mutation:?}"
            );
        }
    }
}
