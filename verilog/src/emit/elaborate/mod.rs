//! From the tree that a kernel has built ([`crate::rtl`]) to the intermediate form.
//!
//! Values with a name become signals, statements are put into an order in which everything is assigned before it is read, and
//! registers that the kernel declares join those of the block.

mod declare;
mod order;

use declare::{Ends, copy, declare_locals, declare_names, own, own_reset};
use order::{ordered, with_comments};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use num_bigint::BigUint;

use super::error::Error;
use super::fold;
use super::ir::{
    Arm, Check, Comparison, DefaultArm, Expr, Kind, Part, Relation, SignalId, Stmt, Target, TopStatement,
};
use super::metadata::Metadata;
use super::plain;
use super::records::Records;
use super::select::{read, variable_write};
use super::symbols::{Role, Symbols};
use super::tables::Identifiers;
use crate::rtl::tree::{At, Clocking, NodeId, Op, Place, Statement, Tree};

/// A kernel in the intermediate form.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) statements: Vec<TopStatement>,
    pub(crate) metadata: Metadata,
    /// Signals whose fields are named.
    pub(crate) records: Records,
    pub(crate) checks: Vec<Check>,
}

/// The kernel of a block, as statements over its symbols.
pub(crate) fn elaborate(
    symbols: &mut Symbols,
    identifiers: &mut Identifiers,
    tree: &Tree,
) -> Result<Kernel, Error> {
    if let Some(fault) = &tree.fault {
        return Err(fault_at(symbols, &fault.message, fault.at));
    }
    if let Some(cloned) = symbols.cloned {
        return Err(Error::Cloned {
            path: symbols.block.clone(),
            name: symbols.display(cloned),
        });
    }
    let mut metadata = tree.metadata.clone();
    let mut statements = Vec::new();
    let reset = own_reset(symbols, identifiers, tree, &mut statements);
    let locals = declare_locals(symbols, identifiers, tree, reset, &mut statements)?;
    let named = declare_names(symbols, identifiers, tree, &mut metadata);
    let mut elaboration = Elaboration {
        symbols,
        tree,
        reset,
        locals,
        named,
        made: HashMap::new(),
    };
    let explicit = elaboration.assigned(tree.statements())?;
    statements.extend(elaboration.clocking(&explicit)?);
    let mut body = elaboration.block(tree.statements())?;
    statements.extend(elaboration.unnamed()?);
    statements.append(&mut body);
    let mut records = Records::default();
    for (node, layout) in &tree.records {
        records.note_field(&elaboration.value(*node)?, layout);
    }
    let checks = elaboration.checks()?;
    let statements = ordered(symbols, with_comments(statements))?;
    Ok(Kernel {
        statements,
        metadata,
        records,
        checks,
    })
}

fn fault_at(symbols: &Symbols, message: &str, at: At) -> Error {
    let line = match at.file() {
        plain::FILE => String::new(),
        file => format!(" ({file}:{})", at.line()),
    };
    Error::Kernel {
        path: symbols.block.clone(),
        message: message.to_owned(),
        line,
    }
}

struct Elaboration<'a> {
    symbols: &'a Symbols,
    tree: &'a Tree,
    /// The reset of the block, active high.
    reset: Option<SignalId>,
    locals: Vec<Ends>,
    named: BTreeMap<NodeId, SignalId>,
    /// Values that were translated already.
    made: HashMap<NodeId, Expr>,
}

impl Elaboration<'_> {
    fn ends(&self, place: Place) -> Result<Ends, Error> {
        match place {
            Place::Local(number) => Ok(self.locals[number]),
            Place::Atom { read, write } => {
                let find = |atom| own(self.symbols, Some(atom));
                find(read).zip(find(write)).ok_or_else(|| Error::UnknownName {
                    path: self.symbols.block.clone(),
                    name: "a signal of another block".to_owned(),
                })
            }
        }
    }

    /// Signals that the kernel assigns, whose clock or value is not the usual one.
    fn assigned(&self, statements: &[Statement]) -> Result<BTreeSet<SignalId>, Error> {
        let mut found = BTreeSet::new();
        for statement in statements {
            match statement {
                Statement::Assign { target, .. } => {
                    if let Some(place) = self.tree.place(*target) {
                        found.insert(self.ends(place)?.1);
                    }
                }
                Statement::Join { left, right, .. } => {
                    for side in right.iter().chain([left]) {
                        if let Some(place) = self.tree.place(*side) {
                            found.insert(self.ends(place)?.1);
                        }
                    }
                }
                Statement::If { then, otherwise, .. } => {
                    found.append(&mut self.assigned(then)?);
                    found.append(&mut self.assigned(otherwise)?);
                }
                Statement::Define(_) | Statement::Comment(_) | Statement::LastArm(_) => {}
            }
        }
        Ok(found)
    }

    /// Clock and reset of the parts, and registers that keep their value.
    fn clocking(&self, explicit: &BTreeSet<SignalId>) -> Result<Vec<Stmt>, Error> {
        let mut statements = Vec::new();
        let clock = own(self.symbols, self.tree.clock);
        let reset = self.reset;
        for Clocking {
            clock: input,
            reset: reset_input,
            hold,
            domain,
        } in &self.tree.clocking
        {
            let (clock, reset) = match domain {
                Some(domain) => (
                    own(self.symbols, Some(domain.clock)),
                    own(self.symbols, domain.reset),
                ),
                None => (clock, reset),
            };
            let pairs = [(Some(*input), clock), (*reset_input, reset)];
            for (input, source) in pairs {
                let input = input.and_then(|input| own(self.symbols, Some(input)));
                if let (Some(input), Some(source)) = (input.filter(|input| !explicit.contains(input)), source)
                {
                    statements.push(copy(input, source, 1));
                }
            }
            if let Some((data, output)) = hold
                && let (Some(data), Some(output)) =
                    (own(self.symbols, Some(*data)), own(self.symbols, Some(*output)))
            {
                statements.push(copy(data, output, self.symbols.signal(output).width));
            }
        }
        Ok(statements)
    }

    fn checks(&mut self) -> Result<Vec<Check>, Error> {
        let clock = own(self.symbols, self.tree.clock);
        let checks = self.tree.checks.iter().map(|check| {
            let clock = clock.ok_or_else(|| Error::Kernel {
                path: self.symbols.block.clone(),
                message: "a check needs the clock of the block, which has none".to_owned(),
                line: String::new(),
            })?;
            Ok(Check {
                kind: check.kind,
                condition: self.value(check.condition)?,
                message: check.message.clone(),
                clock,
                reset: self.reset,
            })
        });
        checks.collect()
    }

    /// Values that are used more than once and that the kernel gives no name.
    fn unnamed(&mut self) -> Result<Vec<Stmt>, Error> {
        let unnamed: Vec<_> = self
            .named
            .iter()
            .filter(|(id, _)| !self.tree.names.contains_key(id))
            .collect();
        let unnamed: Vec<_> = unnamed.into_iter().map(|(id, signal)| (*id, *signal)).collect();
        let define = |(id, signal)| {
            Ok(Stmt::Assign {
                target: Target::whole(signal),
                value: self.definition(id)?,
            })
        };
        unnamed.into_iter().map(define).collect()
    }

    fn block(&mut self, statements: &[Statement]) -> Result<Vec<Stmt>, Error> {
        let mut out = Vec::new();
        for statement in statements {
            self.statement(statement, &mut out)?;
        }
        Ok(out)
    }

    fn statement(&mut self, statement: &Statement, out: &mut Vec<Stmt>) -> Result<(), Error> {
        match statement {
            Statement::LastArm(_) => {}
            Statement::Comment(text) => out.push(Stmt::Comment(text.clone())),
            Statement::Define(id) => {
                if let Some(signal) = self.named.get(id).copied() {
                    out.push(Stmt::Assign {
                        target: Target::whole(signal),
                        value: self.definition(*id)?,
                    });
                }
            }
            Statement::Assign { target, value, at } => self.assign(*target, *value, at, out)?,
            Statement::Join { left, right, at } => self.join(*left, *right, at, out)?,
            Statement::If {
                test,
                then,
                otherwise,
                is_match,
            } => {
                if *is_match && self.cases(statement, out)? {
                    return Ok(());
                }
                let (test, then, otherwise) = (self.value(*test)?, self.block(then)?, self.block(otherwise)?);
                match test.as_literal() {
                    Some(value) if *value == BigUint::ZERO => out.extend(otherwise),
                    Some(_) => out.extend(then),
                    None => out.push(Stmt::If {
                        test,
                        then,
                        otherwise,
                    }),
                }
            }
        }
        Ok(())
    }

    /// A `match` that compares one value with constants, as a case statement.
    fn cases(&mut self, statement: &Statement, out: &mut Vec<Stmt>) -> Result<bool, Error> {
        let mut chain: Vec<(NodeId, Vec<NodeId>, &[Statement])> = Vec::new();
        let mut rest = std::slice::from_ref(statement);
        while let [
            Statement::If {
                test,
                then,
                otherwise,
                is_match: true,
            },
        ] = rest
        {
            let Some((subject, labels)) = self.tree.compared_with(*test) else {
                return Ok(false);
            };
            if chain.first().is_some_and(|(first, ..)| *first != subject) {
                return Ok(false);
            }
            chain.push((subject, labels, then));
            rest = otherwise;
        }
        if let ([Statement::LastArm(test), body @ ..], Some((subject, ..))) = (rest, chain.first())
            && let Some((last, labels)) = self.tree.compared_with(*test)
            && last == *subject
        {
            chain.push((last, labels, body));
            rest = &[];
        }
        let Some((subject, ..)) = chain.first() else {
            return Ok(false);
        };
        let test = self.value(*subject)?;
        let (mut arms, mut seen): (Vec<Arm>, Vec<Expr>) = Default::default();
        for (_, labels, body) in &chain {
            let mut own = Vec::new();
            for label in labels {
                let label = self.value(*label)?;
                // The first of equal patterns is taken, in Rust as in Verilog.
                if !seen.contains(&label) {
                    seen.push(label.clone());
                    own.push(label);
                }
            }
            let mut own = own.into_iter();
            if let Some(label) = own.next() {
                arms.push(Arm {
                    label,
                    more: own.collect(),
                    body: self.block(body)?,
                });
            }
        }
        let default = match rest {
            [] => None,
            rest => Some(DefaultArm {
                only: None,
                body: self.block(rest)?,
            }),
        };
        case(self.symbols, test, arms, default, out);
        Ok(true)
    }

    /// Returns the signal at `place` if it may be assigned, or an error that says why not.
    fn target(&self, place: Place, at: At) -> Result<SignalId, Error> {
        let (_, id) = self.ends(place)?;
        let what = match self.symbols.signal(id).role {
            Role::Input => "is an input of the block",
            Role::ChildOutput => "is an output of a part",
            Role::InOut | Role::ChildInOut => "is a tri-state signal",
            Role::RegisterOutput => "is the output of a register",
            _ => return Ok(id),
        };
        Err(fault_at(
            self.symbols,
            &format!("`{}` {what}: it cannot be assigned", self.symbols.display(id)),
            at,
        ))
    }

    fn assign(&mut self, target: NodeId, value: NodeId, at: At, out: &mut Vec<Stmt>) -> Result<(), Error> {
        let value = self.value(value)?;
        let Some(place) = self.tree.place(target) else {
            return Err(fault_at(self.symbols, "only a signal can be assigned", at));
        };
        let signal = self.target(place, at)?;
        if self.symbols.signal(signal).role == Role::RegisteredOutput {
            return match value.kind {
                Kind::Signal(register) if register == signal => Ok(()),
                _ => Err(fault_at(
                    self.symbols,
                    "the output is a register, and gets another value as well",
                    at,
                )),
            };
        }
        if self.tree.node(target).operands.is_empty() && value.kind == Kind::Signal(signal) {
            return Ok(());
        }
        let available = self.symbols.signal(signal).width;
        let (mut node, mut low) = (self.tree.node(target), 0);
        loop {
            match node.op {
                Op::Select(offset) => low += offset,
                Op::SelectAt if low == 0 && self.tree.node(node.operands[0]).operands.is_empty() => {
                    let offset = self.value(node.operands[1])?;
                    let write = variable_write(&offset, value.width, available);
                    // One bit has no index in Verilog.
                    let part = match value.width == available {
                        true => Part::Whole,
                        false => Part::At {
                            offset: write.offset,
                            width: value.width,
                        },
                    };
                    let assign = Stmt::Assign {
                        target: Target { signal, part },
                        value,
                    };
                    out.push(match write.guard {
                        Some(test) => Stmt::If {
                            test,
                            then: vec![assign],
                            otherwise: Vec::new(),
                        },
                        None => assign,
                    });
                    return Ok(());
                }
                Op::SelectAt => {
                    return Err(fault_at(
                        self.symbols,
                        "an index by a signal within a part of a signal",
                        at,
                    ));
                }
                _ => break,
            }
            node = self.tree.node(node.operands[0]);
        }
        let part = match value.width == available {
            true => Part::Whole,
            false => Part::Bits {
                low,
                width: value.width,
            },
        };
        out.push(Stmt::Assign {
            target: Target { signal, part },
            value,
        });
        Ok(())
    }

    /// Joins two ports: the one that can be assigned gets the value of the other.
    fn join(
        &mut self,
        left: NodeId,
        right: Option<NodeId>,
        at: At,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        let role = |node| match self.tree.place(node) {
            Some(place) => self.ends(place).map(|(_, id)| Some(self.symbols.signal(id).role)),
            None => Ok(None),
        };
        let gives = |role: Option<Role>| {
            matches!(
                role,
                None | Some(Role::Input | Role::ChildOutput | Role::RegisterOutput)
            )
        };
        let Some(right) = right else {
            if let (false, Some(place)) = (gives(role(left)?), self.tree.place(left)) {
                let (target, width) = (self.target(place, at)?, self.tree.width(left));
                out.push(Stmt::Assign {
                    target: Target::whole(target),
                    value: Expr::literal(0_u32, width),
                });
            }
            return Ok(());
        };
        let (target, value) = match (gives(role(left)?), gives(role(right)?)) {
            (false, _) => (left, right),
            (true, false) => (right, left),
            (true, true) => return Err(fault_at(self.symbols, "both ports are driven already", at)),
        };
        self.assign(target, value, at, out)
    }

    fn value(&mut self, id: NodeId) -> Result<Expr, Error> {
        match self.named.get(&id) {
            Some(signal) => Ok(Expr::signal(*signal, self.tree.width(id))),
            None => self.definition(id),
        }
    }

    /// The value of a node, whether or not it has a name.
    fn definition(&mut self, id: NodeId) -> Result<Expr, Error> {
        if let Some(made) = self.made.get(&id) {
            return Ok(made.clone());
        }
        let node = self.tree.node(id).clone();
        let width = node.width;
        let mut operands = Vec::new();
        for operand in &node.operands {
            operands.push(self.value(*operand)?);
        }
        let mut operands = operands.into_iter();
        let mut next = || operands.next().unwrap_or_else(|| Expr::literal(0_u32, width));
        let made = match node.op {
            Op::Signal(place) => Expr::signal(self.ends(place)?.0, width),
            Op::Literal(value) => Expr::literal(value, width),
            Op::Variant(name, value, _) => self.symbols.enum_value(&name, value, width),
            Op::Concat => fold::concat(operands.collect()),
            Op::Repeat => fold::repeat(&next(), width),
            Op::Not => fold::not(next()),
            Op::Negate => fold::negate(next()),
            Op::Reduce(reduction) => fold::reduce(reduction, next()),
            Op::Arithmetic(op) => {
                let (a, b) = (next(), next());
                fold::arithmetic(op, a, b)
            }
            Op::Compare { relation, signed } => {
                let (a, b) = (next(), next());
                compared(Comparison { relation, signed }, a, b)
            }
            Op::Shift(direction) => {
                let (a, b) = (next(), next());
                fold::shift(direction, a, b)
            }
            Op::Select(low) => fold::select(&next(), low, width),
            Op::SelectAt => {
                let (base, offset) = (next(), next());
                read(&base, width, &offset)
            }
            Op::Resize => fold::resize(&next(), width),
            Op::ResizeSigned => fold::resize_signed(&next(), width),
            Op::Choose => {
                let (test, a, b) = (next(), next(), next());
                fold::choose(test, a, b)
            }
        };
        self.made.insert(id, made.clone());
        Ok(made)
    }
}

/// A comparison; that of a bit with a constant is the bit.
fn compared(comparison: Comparison, a: Expr, b: Expr) -> Expr {
    let constant = b
        .as_literal()
        .filter(|_| a.width == 1)
        .map(|value| *value != BigUint::ZERO);
    match (comparison.relation, constant) {
        (Relation::Equal, Some(true)) | (Relation::Unequal, Some(false)) => a,
        (Relation::Equal, Some(false)) | (Relation::Unequal, Some(true)) => fold::not(a),
        _ => fold::compare(comparison, a, b),
    }
}

/// A case statement of arms with different labels, or what is left of one.
fn case(
    symbols: &Symbols,
    test: Expr,
    mut arms: Vec<Arm>,
    mut default: Option<DefaultArm>,
    out: &mut Vec<Stmt>,
) {
    let labels = arms.iter().map(|arm| 1 + arm.more.len()).sum::<usize>();
    let complete = u64::try_from(labels).ok() == 1_u64.checked_shl(u32::try_from(test.width).unwrap_or(64));
    if complete {
        // An arm behind all values never runs, and yosys warns of wires in it without a driver.
        default = None;
    }
    if default.is_none()
        && (complete || is_whole_enum(symbols, &arms))
        && let Some(last) = arms.pop()
    {
        default = Some(DefaultArm {
            only: last.more.is_empty().then_some(last.label),
            body: last.body,
        });
    }
    match (arms.is_empty(), default) {
        (true, Some(only)) => out.extend(only.body),
        (true, None) => {}
        (false, default) => out.push(Stmt::Case { test, arms, default }),
    }
}

/// Whether the arms name every value of an enum, so that the last one can be the default.
fn is_whole_enum(symbols: &Symbols, arms: &[Arm]) -> bool {
    let labels: Option<BTreeSet<usize>> = arms
        .iter()
        .flat_map(Arm::labels)
        .map(|label| match label.kind {
            Kind::Constant(id) => Some(id.0),
            _ => None,
        })
        .collect();
    labels.is_some_and(|labels| symbols.enums.contains(&labels))
}
