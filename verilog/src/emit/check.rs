//! Checks that every signal is driven, in every bit and on every path.
//!
//! The statements were sorted so that what is read was assigned before; a signal that some path leaves alone would keep its
//! value: a latch.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigUint;

use super::error::Error;
use super::ir::{Part, SignalId, Stmt, TopStatement};
use super::literal::ones;
use super::names;
use super::symbols::{Register, Role, Symbols};

/// Checks the kernel of a block.
pub(crate) fn check(symbols: &Symbols, statements: &[TopStatement]) -> Result<(), Error> {
    let mut checker = Checker {
        symbols,
        layers: vec![BTreeMap::new()],
        written: BTreeSet::new(),
        read: BTreeSet::new(),
    };
    statements
        .iter()
        .for_each(|statement| checker.statement(&statement.stmt));
    checker.finish()
}

/// The bits of a signal that are assigned.
#[derive(Clone, PartialEq)]
enum Assigned {
    All,
    Bits(BigUint),
}

struct Checker<'a> {
    symbols: &'a Symbols,
    /// Assigned signals: those of the outermost block first, then those of each nested branch on top of it.
    layers: Vec<BTreeMap<SignalId, Assigned>>,
    /// Signals with at least one assignment so far.
    written: BTreeSet<SignalId>,
    read: BTreeSet<SignalId>,
}

impl Checker<'_> {
    fn statement(&mut self, stmt: &Stmt) {
        for expr in stmt.expressions() {
            expr.for_each_read(&mut |signal, _, _| {
                self.read.insert(signal);
            });
        }
        match stmt {
            Stmt::Assign { target, .. } => self.write(target.signal, &target.part),
            Stmt::If { then, otherwise, .. } => self.branches(&[then, otherwise], true),
            Stmt::Case { default, .. } => self.branches(&stmt.blocks(), default.is_some()),
            Stmt::Comment(_) => {}
        }
    }

    /// Runs all branches; what every one of them assigns is assigned afterwards if one of them always runs.
    fn branches(&mut self, branches: &[&[Stmt]], exhaustive: bool) {
        let mut common: Option<BTreeMap<SignalId, Assigned>> = None;
        for branch in branches {
            self.layers.push(BTreeMap::new());
            branch.iter().for_each(|stmt| self.statement(stmt));
            let layer = self.layers.pop().unwrap_or_default();
            common = Some(match common {
                None => layer,
                Some(common) => self.intersect(common, &layer),
            });
        }
        if exhaustive {
            for (signal, assigned) in common.unwrap_or_default() {
                self.assign(signal, assigned);
            }
        }
    }

    fn intersect(
        &self,
        left: BTreeMap<SignalId, Assigned>,
        right: &BTreeMap<SignalId, Assigned>,
    ) -> BTreeMap<SignalId, Assigned> {
        let both = left.into_iter().filter_map(|(signal, a)| {
            let assigned = match (a, right.get(&signal)?) {
                (Assigned::All, b) => b.clone(),
                (a, Assigned::All) => a,
                (Assigned::Bits(a), Assigned::Bits(b)) => Assigned::Bits(a & b),
            };
            Some((signal, assigned))
        });
        both.collect()
    }

    fn assign(&mut self, signal: SignalId, assigned: Assigned) {
        let width = self.symbols.signal(signal).width;
        let Some(layer) = self.layers.last_mut() else {
            return;
        };
        let merged = match (layer.remove(&signal), assigned) {
            (Some(Assigned::All), _) | (_, Assigned::All) => Assigned::All,
            (Some(Assigned::Bits(a)), Assigned::Bits(b)) if (&a | &b) == ones(width) => Assigned::All,
            (Some(Assigned::Bits(a)), Assigned::Bits(b)) => Assigned::Bits(a | b),
            (None, bits) => bits,
        };
        layer.insert(signal, merged);
    }

    fn write(&mut self, signal: SignalId, part: &Part) {
        self.written.insert(signal);
        match part {
            Part::Whole => self.assign(signal, Assigned::All),
            Part::Bits { low, width } => self.assign(signal, Assigned::Bits(ones(*width) << *low)),
            Part::At { .. } => {}
        }
    }

    fn is_assigned(&self, signal: SignalId, width: usize) -> bool {
        match self.layers[0].get(&signal) {
            Some(Assigned::All) => true,
            Some(Assigned::Bits(bits)) => *bits == ones(width),
            None => false,
        }
    }

    fn finish(&self) -> Result<(), Error> {
        for register in &self.symbols.registers {
            self.register(register)?;
        }
        for (number, signal) in self.symbols.signals.iter().enumerate() {
            let id = SignalId(number);
            let must_be_driven = match signal.role {
                Role::Output | Role::ChildInput => true,
                Role::RegisterClock | Role::RegisterReset | Role::RegisterData(_) => true,
                Role::Local => self.written.contains(&id) || self.read.contains(&id),
                Role::Input
                | Role::InOut
                | Role::ChildOutput
                | Role::ChildInOut
                | Role::RegisterOutput
                | Role::RegisteredOutput => false,
            };
            if !must_be_driven || self.is_assigned(id, signal.width) {
                continue;
            }
            let (path, name) = (self.symbols.block.clone(), self.symbols.display(id));
            return Err(if self.written.contains(&id) {
                Error::Latch { path, name }
            } else {
                undriven(path, name, signal.role)
            });
        }
        Ok(())
    }

    /// Checks that a register has a clock, and a reset if it needs one.
    fn register(&self, register: &Register) -> Result<(), Error> {
        let (path, name) = (self.symbols.block.clone(), names::display(&register.path));
        if !self.written.contains(&register.clock) {
            return Err(Error::NoClock { path, name });
        }
        match &register.reset {
            Some((reset, _)) if !self.written.contains(reset) => Err(Error::NoReset { path, name }),
            _ => Ok(()),
        }
    }
}

/// The error for a signal that nothing drives.
fn undriven(path: String, name: String, role: Role) -> Error {
    let port = ["clk", "rst"].into_iter().find_map(|port| {
        let part = name.strip_suffix(port)?.strip_suffix('.')?;
        Some((part.to_owned(), port))
    });
    match port {
        Some((part, port)) if role == Role::ChildInput => Error::PartWithoutClock { path, part, port },
        _ => Error::Undriven { path, name },
    }
}
