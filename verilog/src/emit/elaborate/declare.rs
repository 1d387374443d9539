//! Signals and registers that a kernel declares, and values that get a name.

use std::collections::{BTreeMap, HashMap};

use super::super::error::Error;
use super::super::fold;
use super::super::ir::Arithmetic;
use super::super::ir::{Expr, SignalId, Stmt, Target};
use super::super::metadata::Metadata;
use super::super::symbols::{Register, Role, Symbols};
use super::super::tables::Identifiers;
use crate::rtl::tree::{NodeId, Op, Place, Statement, Tree};

/// The largest expression that is written twice, in operations, instead of getting a name.
const REPEATED: usize = 12;

/// The signals of a place: that which is read, and that which is assigned.
pub(super) type Ends = (SignalId, SignalId);

/// Signals and registers that the kernel declares.
pub(super) fn declare_locals(
    symbols: &mut Symbols,
    identifiers: &mut Identifiers,
    tree: &Tree,
    own_reset: Option<SignalId>,
    statements: &mut Vec<Stmt>,
) -> Result<Vec<Ends>, Error> {
    let outputs = unnamed_outputs(symbols, tree);
    let mut ends = Vec::new();
    for (number, local) in tree.locals.iter().enumerate() {
        let port = outputs.get(&number).copied();
        let name = match port {
            Some(port) => symbols.signal(port).identifier.clone(),
            None => identifiers.derive(local.name.as_deref().unwrap_or("signal")),
        };
        symbols.check_width(&name, local.width)?;
        let Some(reset) = &local.register else {
            let declare = || symbols.add_declared(&name, local.width, Role::Local);
            let id = port.unwrap_or_else(declare);
            ends.push((id, id));
            continue;
        };
        let Some(clock) = own(symbols, tree.clock) else {
            return Err(Error::NoClock {
                path: symbols.block.clone(),
                name,
            });
        };
        if reset.is_some() && own_reset.is_none() {
            return Err(Error::NoReset {
                path: symbols.block.clone(),
                name,
            });
        }
        let number = symbols.registers.len();
        let output = match port {
            Some(port) => {
                symbols.signals[port.0].role = Role::RegisteredOutput;
                port
            }
            None => symbols.add_declared(&name, local.width, Role::RegisterOutput),
        };
        let data = symbols.add_declared(
            &identifiers.derive(&format!("{name}_d")),
            local.width,
            Role::RegisterData(number),
        );
        let clock_input = symbols.add_declared(
            &identifiers.derive(&format!("{name}_clock")),
            1,
            Role::RegisterClock,
        );
        statements.push(copy(clock_input, clock, 1));
        let reset = reset.as_ref().zip(own_reset).map(|(value, rst)| {
            let input = symbols.add_declared(
                &identifiers.derive(&format!("{name}_reset")),
                1,
                Role::RegisterReset,
            );
            statements.push(copy(input, rst, 1));
            (input, Expr::literal(value.clone(), local.width))
        });
        statements.push(copy(data, output, local.width));
        let initial = reset.as_ref().map(|(_, value)| value.clone());
        symbols.registers.push(Register {
            path: name,
            clock: clock_input,
            data,
            output,
            reset,
            initial,
            attribute: None,
        });
        ends.push((output, data));
    }
    Ok(ends)
}

/// How often each atom is assigned.
fn assignments(tree: &Tree, statements: &[Statement], times: &mut HashMap<usize, usize>) {
    for statement in statements {
        match statement {
            Statement::Assign { target, .. } => {
                if let Some(Place::Atom { write, .. }) = tree.place(*target) {
                    *times.entry(write).or_default() += 1;
                }
            }
            Statement::If { then, otherwise, .. } => {
                assignments(tree, then, times);
                assignments(tree, otherwise, times);
            }
            _ => {}
        }
    }
}

/// Signals and registers without a name that an output takes its only value from: the output is the signal, or the register.
fn unnamed_outputs(symbols: &Symbols, tree: &Tree) -> BTreeMap<usize, SignalId> {
    let (mut found, mut times) = (BTreeMap::new(), HashMap::new());
    assignments(tree, tree.statements(), &mut times);
    for statement in tree.statements() {
        if let Statement::Assign { target, value, .. } = statement
            && let Op::Signal(Place::Local(number)) = tree.node(*value).op
            && let Op::Signal(Place::Atom { write, .. }) = tree.node(*target).op
            && tree.locals[number].name.is_none()
            && times.get(&write) == Some(&1)
            && let Some(port) = own(symbols, Some(write))
            && symbols.signal(port).role == Role::Output
        {
            found.entry(number).or_insert(port);
        }
    }
    found
}

/// The reset of the block, active high.
pub(super) fn own_reset(
    symbols: &mut Symbols,
    identifiers: &mut Identifiers,
    tree: &Tree,
    statements: &mut Vec<Stmt>,
) -> Option<SignalId> {
    let reset = own(symbols, tree.reset)?;
    if !tree.reset_is_low {
        return Some(reset);
    }
    let high = symbols.add_declared(&identifiers.derive("reset"), 1, Role::Local);
    statements.push(Stmt::Assign {
        target: Target::whole(high),
        value: fold::not(Expr::signal(reset, 1)),
    });
    Some(high)
}

pub(super) fn own(symbols: &Symbols, atom: Option<usize>) -> Option<SignalId> {
    atom.and_then(|atom| symbols.atoms.get(&atom).copied())
}

pub(super) fn copy(to: SignalId, from: SignalId, width: usize) -> Stmt {
    Stmt::Assign {
        target: Target::whole(to),
        value: Expr::signal(from, width),
    }
}

/// A signal for each value with a name, and for each that is large and used more than once.
pub(super) fn declare_names(
    symbols: &mut Symbols,
    identifiers: &mut Identifiers,
    tree: &Tree,
    metadata: &mut Metadata,
) -> BTreeMap<NodeId, SignalId> {
    let mut named = BTreeMap::new();
    for (id, name, docs) in names(tree) {
        let identifier = identifiers.derive(&name);
        if !docs.is_empty() {
            metadata.ports.insert(identifier.clone(), docs.join(" "));
        }
        let signal = symbols.add_declared(&identifier, tree.width(id), Role::Local);
        named.insert(id, signal);
    }
    for (id, local) in tree.nodes.iter().enumerate() {
        if let Op::Signal(Place::Local(_)) = local.op {
            let id = NodeId::try_from(id).unwrap_or_default();
            if let Some((name, docs)) = tree.names.get(&id).filter(|(_, docs)| !docs.is_empty()) {
                metadata.ports.insert(name.clone(), docs.join(" "));
            }
        }
    }
    named
}

fn names(tree: &Tree) -> Vec<(NodeId, String, Vec<String>)> {
    let mut uses = vec![0_usize; tree.nodes.len()];
    let mut visit = vec![false; tree.nodes.len()];
    let mut selected: Vec<Vec<(usize, usize)>> = vec![Vec::new(); tree.nodes.len()];
    let mut stack = Vec::new();
    roots(tree.statements(), &mut stack);
    stack.extend(tree.checks.iter().map(|check| check.condition));
    for root in &stack {
        uses[*root as usize] += 1;
    }
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut visit[id as usize], true) {
            continue;
        }
        for operand in &tree.node(id).operands {
            uses[*operand as usize] += 1;
            if let Op::Select(low) = tree.node(id).op {
                selected[*operand as usize].push((low, tree.width(id)));
            }
            stack.push(*operand);
        }
    }
    // A name in a loop is there once for each turn, which says little; small values are written where they are used.
    let mut times: HashMap<&str, usize> = HashMap::new();
    for (name, _) in tree.names.values() {
        *times.entry(name).or_default() += 1;
    }
    let mut sizes = vec![1_usize; tree.nodes.len()];
    let mut all = Vec::new();
    for number in 0..tree.nodes.len() {
        let id = NodeId::try_from(number).unwrap_or_default();
        let node = tree.node(id);
        if matches!(node.op, Op::Signal(_) | Op::Literal(_) | Op::Variant(..)) {
            continue;
        }
        let named = tree.names.get(&id);
        // Linters warn of a signal with unread bits.
        let is_partial = selected[number].len() == uses[number] && !covers(&mut selected[number], node.width);
        let is_named = |(name, _): &&(String, _)| times.get(name.as_str()) == Some(&1) && !is_partial;
        if let Some((name, docs)) = named.filter(is_named) {
            if visit[number] {
                all.push((id, name.clone(), docs.clone()));
            }
            continue;
        }
        let is_base = !selected[number].is_empty()
            && matches!(
                node.op,
                Op::SelectAt
                    | Op::Shift(_)
                    | Op::Arithmetic(
                        Arithmetic::Add
                            | Arithmetic::Subtract
                            | Arithmetic::Multiply
                            | Arithmetic::MultiplySigned
                    )
            );
        let size = 1 + node
            .operands
            .iter()
            .map(|operand| sizes[*operand as usize])
            .sum::<usize>();
        if visit[number] && uses[number] > 1 && !is_partial && (size > REPEATED || is_base) {
            let name = named.map_or("shared", |(name, _)| name);
            all.push((id, name.to_owned(), Vec::new()));
        } else {
            sizes[number] = size;
        }
    }
    all
}

/// Whether ranges, each a lowest bit and a width, are all bits of a value together.
fn covers(ranges: &mut [(usize, usize)], width: usize) -> bool {
    ranges.sort_unstable();
    let end = ranges.iter().fold(0, |end, (low, bits)| match *low <= end {
        true => end.max(low + bits),
        false => end,
    });
    end >= width
}

/// The values that statements use directly.
fn roots(statements: &[Statement], found: &mut Vec<NodeId>) {
    for statement in statements {
        match statement {
            Statement::Assign { target, value, .. } => found.extend([*target, *value]),
            Statement::Join { left, right, .. } => found.extend(right.iter().chain([left])),
            Statement::If {
                test,
                then,
                otherwise,
                ..
            } => {
                found.push(*test);
                roots(then, found);
                roots(otherwise, found);
            }
            Statement::Define(_) | Statement::Comment(_) | Statement::LastArm(_) => {}
        }
    }
}
