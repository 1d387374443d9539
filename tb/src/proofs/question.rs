//! What the solver is asked, and what it has answered before.

use super::mutations::{Mutation, mutations};
use super::translate::{inputs, prepare, prepare_broken, text};
use super::{Method, Proof, Verdict, find, proofs};
use anyhow::{Context as _, Result, ensure};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};

/// Something that the solver is asked.
#[derive(Clone, Debug)]
pub enum Question {
    /// Whether a proof holds.
    Holds(&'static Proof),
    /// Whether a proof finds out that its block is broken.
    FindsOut(Mutation),
}

/// All questions: every proof, then every broken block.
pub fn questions() -> impl Iterator<Item = Question> {
    let broken = mutations().into_iter().map(Question::FindsOut);
    proofs().map(Question::Holds).chain(broken)
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds(proof) => f.write_str(proof.name),
            Self::FindsOut(mutation) => {
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
    /// Whether the answer takes about a minute at most.
    pub fn is_fast(&self) -> bool {
        match self {
            Self::Holds(proof) => proof.fast,
            Self::FindsOut(_) => true,
        }
    }

    /// The proof, and the text that it is about.
    fn problem(&self) -> Result<(&'static Proof, String)> {
        match self {
            Self::Holds(proof) => Ok((proof, text(proof)?)),
            Self::FindsOut(mutation) => {
                let name = mutation.proof;
                let proof = find(name).with_context(|| format!("there is no proof {name}"))?;
                let good = text(proof)?;
                let broken = good.replacen(&mutation.from, &mutation.to, 1);
                ensure!(good != broken, "{name} has nothing like this: {}", mutation.from);
                Ok((proof, broken))
            }
        }
    }

    /// What tells this question from all others: a digest of everything that the solver is given.
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
            Self::FindsOut(_) => format!("broken, {method}"),
        };
        let mut digest = Sha256::new();
        for part in [asked, inputs(proof, matches!(self, Self::Holds(_)))?, text] {
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
        let Self::FindsOut(_) = self else {
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

/// Questions that were answered as they should be, by their keys.
#[derive(Clone, Debug, Default)]
pub struct Ledger(BTreeSet<String>);

impl Ledger {
    /// Where it is kept.
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

    /// Whether a question need not be asked again. One in sixteen is asked nevertheless, so that a wrong ledger is found out.
    pub fn spares(&self, key: &str) -> bool {
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
                Question::FindsOut(mutation) => format!("{} finds out", mutation.proof),
            };
            writeln!(text, "{} {name}", question.key()?)?;
        }
        let path = Self::path();
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}
