//! Checks that a register reads from registers of other clocks only values that may cross.
//!
//! A register of another clock may change at any moment. It is fit if it is read directly, so that nothing can glitch
//! on the way, and if it has an attribute, by which synthesis keeps it and constraints find it. This check does not
//! cover whether a handshake or a synchroniser follows, nor registers in other blocks.

use std::collections::{BTreeMap, BTreeSet};

use super::error::Error;
use super::ir::{Expr, Kind, SignalId, Stmt, TopStatement};
use super::names;
use super::symbols::{Register, Role, Symbols};

/// Checks the registers of a block.
pub(crate) fn check_domains(symbols: &Symbols, statements: &[TopStatement]) -> Result<(), Error> {
    let mut flow = Flow::default();
    for statement in statements {
        flow.statement(&statement.stmt, symbols, &[]);
    }
    let clock = |register: &Register| flow.sources(register.clock).first().copied();
    let domains = symbols
        .registers
        .iter()
        .map(|register| (register.output, (clock(register), register)));
    let domains: BTreeMap<SignalId, (Option<SignalId>, &Register)> = domains.collect();
    let clocks: BTreeSet<_> = domains.values().map(|(clock, _)| *clock).collect();
    if clocks.len() < 2 {
        return Ok(());
    }
    for register in &symbols.registers {
        let own = clock(register);
        let reset = register.reset.as_ref().map(|(reset, _)| *reset);
        let reached = flow.reached(symbols, [Some(register.data), reset].into_iter().flatten());
        let foreign = |signal: &SignalId| domains.get(signal).filter(|(other, _)| *other != own);
        if let Some((_, other)) = reached.iter().find_map(foreign) {
            return Err(crossing(symbols, register, other));
        }
        let unmarked = |signal: &SignalId| foreign(signal).filter(|(_, other)| other.attribute.is_none());
        let taken = flow.taken.get(&register.data);
        if let Some((_, other)) = taken.into_iter().flatten().find_map(unmarked) {
            return Err(crossing(symbols, register, other));
        }
    }
    Ok(())
}

fn crossing(symbols: &Symbols, register: &Register, other: &Register) -> Error {
    Error::Crossing {
        path: symbols.block.clone(),
        name: names::display(&register.path),
        other: names::display(&other.path),
    }
}

/// Where the values of signals come from.
#[derive(Default)]
struct Flow {
    /// Signals that a signal's value is made of, and those of the conditions under which it is assigned.
    sources: BTreeMap<SignalId, BTreeSet<SignalId>>,
    /// Registers that a register takes as they are.
    taken: BTreeMap<SignalId, BTreeSet<SignalId>>,
}

impl Flow {
    fn statement(&mut self, stmt: &Stmt, symbols: &Symbols, conditions: &[SignalId]) {
        let mut reads = conditions.to_vec();
        let read = |expr: &Expr, reads: &mut Vec<SignalId>| {
            expr.for_each_read(&mut |signal, _, _| reads.push(signal));
        };
        if let Stmt::Assign { target, value } = stmt {
            let role = |signal: SignalId| symbols.signal(signal).role;
            match value.kind {
                Kind::Signal(register)
                    if role(register) == Role::RegisterOutput
                        && matches!(role(target.signal), Role::RegisterData(_)) =>
                {
                    self.taken.entry(target.signal).or_default().insert(register);
                }
                _ => stmt
                    .expressions()
                    .into_iter()
                    .for_each(|expr| read(expr, &mut reads)),
            }
            self.sources.entry(target.signal).or_default().extend(reads);
            return;
        }
        stmt.expressions()
            .into_iter()
            .for_each(|expr| read(expr, &mut reads));
        for block in stmt.blocks() {
            block
                .iter()
                .for_each(|inner| self.statement(inner, symbols, &reads));
        }
    }

    fn sources(&self, signal: SignalId) -> Vec<SignalId> {
        self.sources.get(&signal).into_iter().flatten().copied().collect()
    }

    /// The signals that a value comes from, through all signals between registers.
    fn reached(&self, symbols: &Symbols, from: impl Iterator<Item = SignalId>) -> BTreeSet<SignalId> {
        let (mut stack, mut reached): (Vec<_>, BTreeSet<_>) = (from.collect(), BTreeSet::new());
        while let Some(signal) = stack.pop() {
            for source in self.sources(signal) {
                if reached.insert(source) && symbols.signal(source).role != Role::RegisterOutput {
                    stack.push(source);
                }
            }
        }
        reached
    }
}
