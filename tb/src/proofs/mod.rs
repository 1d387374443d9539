//! Formal proofs of the blocks' generated text, by yosys, yosys-smtbmc and z3.
//!
//! A harness in `tb/proofs/` instantiates a block and states its contract as assertions; [`proofs`] says
//! with which parameters. [`prepare`] generates the block's text and turns both into a problem for the
//! solver; [`Problem::solve`] solves it.

mod question;
pub mod riscv_formal;
mod translate;
mod twins;

pub use question::{Ledger, Mutation, Outcome, Question, Verdict, mutations, questions};
pub use translate::{Problem, prepare, prepare_broken, text};

use std::sync::LazyLock;

/// A proof method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// For all times: checked for this many cycles from the start, and by temporal induction over at most as
    /// many.
    Induction(u32),
    /// For all traffic in this many cycles from the start only.
    Bounded(u32),
}

impl Method {
    /// Cycles from the start that are checked one by one.
    pub fn cycles(self) -> u32 {
        match self {
            Self::Induction(cycles) | Self::Bounded(cycles) => cycles,
        }
    }
}

/// A block with parameters, and the property that is proven about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Name, also of the folder that the proof leaves.
    pub name: &'static str,
    /// Name of the block in the catalog.
    pub block: &'static str,
    /// Parameter values; the harness sees each as a macro in capitals.
    pub settings: Vec<(&'static str, u64)>,
    /// Choices, which the harness sees as macros `NAME_VALUE`. `harness=NAME` names another harness than that of the block,
    /// `solver=NAME` another solver than z3. `rules=UNIT` gives the harness the module `hpu_rules` with the effects of the
    /// instructions that this unit executes, from the table of instructions.
    pub choices: Vec<(&'static str, &'static str)>,
    /// Proof method.
    pub method: Method,
    /// Whether it takes about a minute at most, so that `./dev test` runs it.
    pub fast: bool,
    /// The proven property, in a few words.
    pub shows: &'static str,
}

/// The choice of clocks, as `20:24`, in which breaches of broken texts are looked for: later than those that a proof by induction has
/// to check from the start.
const FOUND: &str = "found";

impl Proof {
    /// The value of a choice, if it is made.
    pub(crate) fn choice(&self, name: &str) -> Option<&'static str> {
        let mut choices = self.choices.iter();
        choices.find(|choice| choice.0 == name).map(|choice| choice.1)
    }

    /// Name of the harness: `tb/proofs/NAME.sv` with the module `NAME_proof`.
    pub(crate) fn harness(&self) -> &'static str {
        self.choice("harness").unwrap_or(self.block)
    }

    /// The solver that yosys-smtbmc runs.
    pub(crate) fn solver(&self) -> &'static str {
        self.choice("solver").unwrap_or("z3")
    }
}

/// The proof of that name.
pub fn find(name: &str) -> Option<&'static Proof> {
    proofs().iter().find(|proof| proof.name == name)
}

/// All proofs of `tb/proofs/proofs.txt`, simple blocks first.
///
/// # Panics
/// If the file is malformed.
pub fn proofs() -> &'static [Proof] {
    static PROOFS: LazyLock<Vec<Proof>> = LazyLock::new(|| {
        let text = include_str!("../../proofs/proofs.txt");
        let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.starts_with('#'));
        let proof = |paragraph| parse(paragraph).unwrap_or_else(|| panic!("proofs.txt: {paragraph}"));
        paragraphs.map(proof).collect()
    });
    &PROOFS
}

fn parse(paragraph: &'static str) -> Option<Proof> {
    let mut lines = paragraph.lines();
    let name = lines.next()?;
    let (name, block) = name.split_once(" of ").unwrap_or((name, name));
    let method = lines.next()?;
    let (method, fast) = match method.strip_suffix(", slow") {
        Some(method) => (method, false),
        None => (method, true),
    };
    let (method, cycles) = method.split_once(' ')?;
    let cycles = cycles.parse().ok()?;
    let shows = lines.next_back()?;
    let (mut settings, mut choices) = (Vec::new(), Vec::new());
    for setting in lines.flat_map(str::split_whitespace) {
        let (name, value) = setting.split_once('=')?;
        match value.parse() {
            Ok(number) => settings.push((name, number)),
            Err(_) => choices.push((name, value)),
        }
    }
    Some(Proof {
        name,
        block,
        settings,
        choices,
        method: match method {
            "induction" => Method::Induction(cycles),
            "bounded" => Method::Bounded(cycles),
            _ => return None,
        },
        fast,
        shows,
    })
}

#[cfg(test)]
mod tests {
    use super::{Method, Proof, parse};

    #[test]
    fn reads_all_parts_of_a_proof() {
        let proof = Proof {
            name: "fifo_2",
            block: "fifo",
            settings: vec![("width", 2), ("depth", 4), ("block", 1)],
            choices: vec![("check", "order")],
            method: Method::Bounded(12),
            fast: false,
            shows: "order, no loss",
        };
        let text = "fifo_2 of fifo\nbounded 12, slow\nwidth=2 depth=4\ncheck=order block=1\norder, no loss";
        assert_eq!(parse(text), Some(proof));
        for wrong in [
            "",
            "fifo",
            "fifo\ninduction x\nwidth=2\nshows",
            "fifo\ninduction 2\nwidth\nshows",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
