//! Removes assignments that have no effect.

use std::collections::{BTreeMap, BTreeSet};

use super::fold;
use super::group::access;
use super::ir::{Arm, Check, DefaultArm, Expr, Kind, Part, SignalId, Stmt, Target, TopStatement};
use super::symbols::{Role, Symbols};

/// Removes a default that the next statement to touch the signal overwrites on every path.
pub(crate) fn drop_overwritten(statements: &mut Vec<TopStatement>) {
    // Going backwards: the signals whose value is about to be overwritten, and by which statement.
    let mut dead: BTreeMap<SignalId, usize> = BTreeMap::new();
    let mut removed: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, statement) in statements.iter().enumerate().rev() {
        let access = access(&statement.stmt);
        let whole = match &statement.stmt {
            Stmt::Assign {
                target:
                    Target {
                        signal,
                        part: Part::Whole,
                    },
                ..
            } => Some(*signal),
            _ => None,
        };
        if let Some(overwriting) = whole.and_then(|signal| dead.get(&signal)) {
            removed.insert(number, *overwriting);
            continue;
        }
        access.writes.iter().chain(&access.reads).for_each(|signal| {
            dead.remove(signal);
        });
        if let Some(signal) = whole.filter(|signal| !access.reads.contains(signal)) {
            dead.insert(signal, number);
        }
    }
    for (number, overwriting) in removed.iter().rev() {
        let mut comments = std::mem::take(&mut statements[*number].comments);
        comments.append(&mut statements[*overwriting].comments);
        statements[*overwriting].comments = comments;
    }
    let mut number = 0;
    statements.retain(|_| {
        number += 1;
        !removed.contains_key(&(number - 1))
    });
}

/// Removes assignments to Local signals that no output, register or sub-block depends on.
///
/// A generic kernel leaves such signals behind for some of its parameters; tools warn of them.
pub(crate) fn drop_unread(symbols: &Symbols, statements: &mut Vec<TopStatement>, checks: &[Check]) {
    let mut live: BTreeSet<SignalId> = checks.iter().flat_map(Check::reads).collect();
    loop {
        let before = live.len();
        // Backwards, as a signal is mostly assigned before it is read.
        for statement in statements.iter().rev() {
            mark(symbols, &statement.stmt, &mut live);
        }
        if live.len() == before {
            break;
        }
    }
    let mut comments = Vec::new();
    let kept = statements.drain(..).filter_map(|mut statement| {
        let stmt = live_part(symbols, &statement.stmt, &live);
        comments.append(&mut statement.comments);
        stmt.map(|stmt| TopStatement {
            comments: std::mem::take(&mut comments),
            stmt,
        })
    });
    *statements = kept.collect();
}

fn has_effect(symbols: &Symbols, target: &Target, live: &BTreeSet<SignalId>) -> bool {
    symbols.signal(target.signal).role != Role::Local || live.contains(&target.signal)
}

/// Marks what a statement with an effect reads, and returns whether it has one.
fn mark(symbols: &Symbols, stmt: &Stmt, live: &mut BTreeSet<SignalId>) -> bool {
    let mut effect = match stmt {
        Stmt::Assign { target, .. } => has_effect(symbols, target, live),
        _ => false,
    };
    for inner in stmt.blocks().into_iter().flat_map(|block| block.iter().rev()) {
        effect |= mark(symbols, inner, live);
    }
    if effect {
        for expr in stmt.expressions() {
            expr.for_each_read(&mut |signal, _, _| {
                live.insert(signal);
            });
        }
    }
    effect
}

/// The statement without assignments that have no effect.
fn live_part(symbols: &Symbols, stmt: &Stmt, live: &BTreeSet<SignalId>) -> Option<Stmt> {
    let block = |body: &[Stmt]| -> Vec<Stmt> {
        body.iter()
            .filter_map(|stmt| live_part(symbols, stmt, live))
            .collect()
    };
    match stmt {
        Stmt::Assign { target, .. } => has_effect(symbols, target, live).then(|| stmt.clone()),
        Stmt::Comment(_) => Some(stmt.clone()),
        Stmt::If {
            test,
            then,
            otherwise,
        } => conditional(test, block(then), block(otherwise)),
        Stmt::Case { test, arms, default } => {
            let arm = |arm: &Arm| Arm {
                label: arm.label.clone(),
                more: arm.more.clone(),
                body: block(&arm.body),
            };
            let rest = |arm: &DefaultArm| DefaultArm {
                only: arm.only.clone(),
                body: block(&arm.body),
            };
            cases(test, arms.iter().map(arm).collect(), default.as_ref().map(rest))
        }
    }
}

/// An if statement, unless it has become empty.
fn conditional(test: &Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Option<Stmt> {
    match (is_empty(&then), is_empty(&otherwise)) {
        (true, true) => None,
        (true, false) => Some(Stmt::If {
            test: fold::not(test.clone()),
            then: otherwise,
            otherwise: Vec::new(),
        }),
        (false, true) => Some(Stmt::If {
            test: test.clone(),
            then,
            otherwise: Vec::new(),
        }),
        (false, false) => Some(Stmt::If {
            test: test.clone(),
            then,
            otherwise,
        }),
    }
}

/// A case statement, unless it has become empty.
fn cases(test: &Expr, arms: Vec<Arm>, default: Option<DefaultArm>) -> Option<Stmt> {
    let empty =
        arms.iter().all(|arm| is_empty(&arm.body)) && default.as_ref().is_none_or(|arm| is_empty(&arm.body));
    (!empty).then(|| Stmt::Case {
        test: test.clone(),
        arms,
        default,
    })
}

fn is_empty(block: &[Stmt]) -> bool {
    block.iter().all(|stmt| matches!(stmt, Stmt::Comment(_)))
}

/// Returns whether a statement only makes a register keep its value.
pub(crate) fn is_hold(symbols: &Symbols, stmt: &Stmt) -> bool {
    let Stmt::Assign {
        target: Target {
            signal,
            part: Part::Whole,
        },
        value,
    } = stmt
    else {
        return false;
    };
    let Role::RegisterData(register) = symbols.signal(*signal).role else {
        return false;
    };
    value.kind == Kind::Signal(symbols.registers[register].output)
}
