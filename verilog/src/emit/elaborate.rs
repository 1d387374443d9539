//! From the tree that a kernel has built ([`crate::rtl`]) to the intermediate form.
//!
//! Values with a name become signals, statements are put into an order in which everything is assigned before it is read, and
//! registers that the kernel declares join those of the block.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use num_bigint::BigUint;

use super::error::Error;
use super::fold;
use super::group::access;
use super::ir::{
    Arithmetic, Arm, Comparison, DefaultArm, Expr, Kind, Part, Relation, SignalId, Stmt, Target, TopStatement,
};
use super::lower::{Kernel, case};
use super::metadata::Metadata;
use super::records::Records;
use super::select::{Offset, read, variable_write};
use super::symbols::{Entry, Register, Role, Symbols};
use super::tables::Identifiers;
use crate::rtl::tree::{At, Clocking, NodeId, Op, Place, Statement, Tree};

/// The largest expression that is written twice, in operations, instead of getting a name.
const REPEATED: usize = 12;

/// The kernel of a block, as statements over its symbols.
pub(crate) fn elaborate(
    symbols: &mut Symbols,
    identifiers: &mut Identifiers,
    tree: &Tree,
) -> Result<Kernel, Error> {
    if let Some(fault) = &tree.fault {
        return Err(fault_at(symbols, &fault.message, fault.at));
    }
    let mut metadata = Metadata::default();
    for line in &tree.metadata {
        metadata.take(line);
    }
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
    let statements = ordered(symbols, with_comments(statements))?;
    Ok(Kernel {
        statements,
        metadata,
        records,
    })
}

fn fault_at(symbols: &Symbols, message: &str, at: At) -> Error {
    Error::Kernel {
        path: symbols.block.clone(),
        message: message.to_owned(),
        file: at.file().to_owned(),
        line: at.line(),
    }
}

/// The signals of a place: that which is read, and that which is assigned.
type Ends = (SignalId, SignalId);

/// Signals and registers that the kernel declares.
fn declare_locals(
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

/// Signals and registers without a name that an output takes its value from: the output is the signal, or the register.
fn unnamed_outputs(symbols: &Symbols, tree: &Tree) -> BTreeMap<usize, SignalId> {
    let mut found = BTreeMap::new();
    for statement in tree.statements() {
        if let Statement::Assign { target, value, .. } = statement
            && let Op::Signal(Place::Local(number)) = tree.node(*value).op
            && let Op::Signal(Place::Atom { write, .. }) = tree.node(*target).op
            && tree.locals[number].name.is_none()
            && let Some(port) = own(symbols, Some(write))
            && symbols.signal(port).role == Role::Output
        {
            found.entry(number).or_insert(port);
        }
    }
    found
}

/// The reset of the block, active high.
fn own_reset(
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

fn own(symbols: &Symbols, atom: Option<usize>) -> Option<SignalId> {
    atom.and_then(|atom| symbols.atoms.get(&atom).copied())
}

fn copy(to: SignalId, from: SignalId, width: usize) -> Stmt {
    Stmt::Assign {
        target: Target::whole(to),
        value: Expr::signal(from, width),
    }
}

/// A signal for each value with a name, and for each that is large and used more than once.
fn declare_names(
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
        // A signal of which no one reads some bits is what linters warn of.
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
                    | Op::Arithmetic(Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply)
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
            Statement::Define(_) | Statement::Comment(_) => {}
        }
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
                Statement::Define(_) | Statement::Comment(_) => {}
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
        } in &self.tree.clocking
        {
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

    /// What may be assigned, or why it may not.
    fn target(&self, place: Place, at: At) -> Result<SignalId, Error> {
        let (_, id) = self.ends(place)?;
        let what = match self.symbols.signal(id).role {
            Role::Input => "is an input of the block",
            Role::ChildOutput => "is an output of a part",
            Role::InOut | Role::ChildInOut => "is a tri-state signal",
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
                    let part = Part::At {
                        offset: write.offset,
                        width: value.width,
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
            Op::Variant(name, value, _) => match self.symbols.lookup(&name.replace("::", "$")) {
                Some(Entry::Constant(id)) => Expr {
                    kind: Kind::Constant(id),
                    width,
                },
                _ => Expr::literal(value, width),
            },
            Op::Concat => fold::concat(operands.collect()),
            Op::Repeat => fold::repeat(&next(), width),
            Op::Not => fold::not(next()),
            Op::Negate => fold::negate(next()),
            Op::Reduce(reduction) => fold::reduce(reduction, next()),
            Op::Arithmetic(op) => {
                let (a, b) = (next(), next());
                arithmetic(op, a, b)
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
                let offset = match offset.as_literal() {
                    Some(value) => Offset::Constant(value.clone()),
                    None => Offset::Variable(offset),
                };
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

fn arithmetic(op: Arithmetic, a: Expr, b: Expr) -> Expr {
    fold::arithmetic(op, a, b)
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

/// Statements with the comments in front of them.
fn with_comments(statements: Vec<Stmt>) -> Vec<TopStatement> {
    let mut comments = Vec::new();
    let mut all = Vec::new();
    for stmt in statements {
        match stmt {
            Stmt::Comment(text) => comments.push(text),
            stmt => all.push(TopStatement {
                comments: std::mem::take(&mut comments),
                stmt,
            }),
        }
    }
    all
}

/// The statements in an order in which every signal is assigned before it is read; otherwise as the kernel has them.
fn ordered(symbols: &Symbols, statements: Vec<TopStatement>) -> Result<Vec<TopStatement>, Error> {
    let accesses: Vec<_> = statements
        .iter()
        .map(|statement| access(&statement.stmt))
        .collect();
    let mut writers: BTreeMap<SignalId, Vec<usize>> = BTreeMap::new();
    for (number, access) in accesses.iter().enumerate() {
        for signal in &access.writes {
            writers.entry(*signal).or_default().push(number);
        }
    }
    let mut order = Order {
        symbols,
        accesses: &accesses,
        writers: &writers,
        state: vec![0; statements.len()],
        sorted: Vec::new(),
    };
    for number in 0..statements.len() {
        order.visit(number)?;
    }
    let sorted = order.sorted;
    let mut statements: Vec<_> = statements.into_iter().map(Some).collect();
    Ok(sorted
        .into_iter()
        .filter_map(|number| statements[number].take())
        .collect())
}

struct Order<'a> {
    symbols: &'a Symbols,
    accesses: &'a [super::group::Access],
    writers: &'a BTreeMap<SignalId, Vec<usize>>,
    /// 0: not seen, 1: waits for others, 2: sorted.
    state: Vec<u8>,
    sorted: Vec<usize>,
}

impl Order<'_> {
    fn visit(&mut self, number: usize) -> Result<(), Error> {
        match self.state[number] {
            2 => return Ok(()),
            1 => {
                let signal = self.accesses[number].writes.iter().next();
                return Err(Error::Kernel {
                    path: self.symbols.block.clone(),
                    message: format!(
                        "`{}` depends on itself: a combinational loop",
                        signal.map_or_else(String::new, |id| self.symbols.display(*id))
                    ),
                    file: String::new(),
                    line: 0,
                });
            }
            _ => {}
        }
        self.state[number] = 1;
        let access = &self.accesses[number];
        let earlier = access
            .writes
            .iter()
            .filter_map(|signal| self.writers.get(signal))
            .flatten()
            .filter(|writer| **writer < number);
        let sources = access
            .reads
            .iter()
            .filter_map(|signal| self.writers.get(signal))
            .flatten()
            .filter(|writer| **writer != number);
        let needed: Vec<usize> = sources.chain(earlier).copied().collect();
        for writer in needed {
            self.visit(writer)?;
        }
        self.state[number] = 2;
        self.sorted.push(number);
        Ok(())
    }
}
