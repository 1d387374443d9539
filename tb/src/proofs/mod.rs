//! Formal proofs of the blocks' generated text, by yosys, yosys-smtbmc and z3.
//!
//! A harness in `tb/proofs/` instantiates a block and states its contract as assertions; [`proofs`] says
//! with which parameters. [`prepare`] generates the block's text and turns both into a problem for the
//! solver; [`Problem::solve`] solves it.

mod list;
mod mutations;
mod question;
mod translate;

pub use list::proofs;
pub use mutations::{Mutation, mutations};
pub use question::{Ledger, Outcome, Question, Verdict, questions};
pub use translate::{Problem, prepare, prepare_broken, text};

/// How far a proof reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// For all times: checked for this many cycles from the start, and by temporal induction over at most as
    /// many.
    Induction(u32),
    /// For all traffic in this many cycles from the start only.
    Bounded(u32),
}

impl Method {
    /// Cycles from the start that are looked at one by one.
    pub fn cycles(self) -> u32 {
        match self {
            Self::Induction(cycles) | Self::Bounded(cycles) => cycles,
        }
    }
}

/// A block with parameters, and what is proven about it.
#[derive(Clone, Copy, Debug)]
pub struct Proof {
    /// Name, also of the folder that the proof leaves.
    pub name: &'static str,
    /// Name of the block in the catalog; its harness is `tb/proofs/BLOCK.sv` with the module `BLOCK_proof`.
    pub block: &'static str,
    /// Parameter values; the harness sees each as a macro in capitals.
    pub settings: &'static [(&'static str, u64)],
    /// How far it reaches.
    pub method: Method,
    /// Whether it takes about a minute at most, so that `./dev test` runs it.
    pub fast: bool,
    /// What is shown, in a few words.
    pub shows: &'static str,
}

impl Proof {
    /// A proof by induction over that many cycles, with the name of the block.
    const fn of(
        block: &'static str,
        settings: &'static [(&'static str, u64)],
        cycles: u32,
        shows: &'static str,
    ) -> Self {
        Self {
            name: block,
            block,
            settings,
            method: Method::Induction(cycles),
            fast: true,
            shows,
        }
    }

    /// The same with another name.
    const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// The same, which takes minutes.
    const fn slow(self) -> Self {
        Self { fast: false, ..self }
    }
}

/// The proof of that name.
pub fn find(name: &str) -> Option<&'static Proof> {
    proofs().find(|proof| proof.name == name)
}
