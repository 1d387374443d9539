//! Decides how each group of statements is written: as the connection of a port, as combinational logic, or
//! inside a register.

use std::collections::{BTreeMap, BTreeSet};

use super::group::{Group, access, group};
use super::ir::{Check, Expr, Kind, Part, SignalId, Stmt, Target, TopStatement};
use super::prune::is_hold;
use super::symbols::{Role, Symbols};

/// A module ready to be printed.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Combinational groups, in the order of the kernel.
    pub(crate) logic: Vec<Vec<TopStatement>>,
    /// Registers by clock, in the order of the kernel.
    pub(crate) clocked: Vec<Clocked>,
    /// Expressions that are connected to inputs of instances.
    pub(crate) inputs: BTreeMap<SignalId, Expr>,
    /// Signals of the module that outputs of instances drive.
    pub(crate) outputs: BTreeMap<SignalId, SignalId>,
    /// Comments in front of the connections of an instance, by the path of a port.
    pub(crate) comments: BTreeMap<SignalId, Vec<String>>,
    /// Signals that are read.
    pub(crate) read: BTreeSet<SignalId>,
    /// Signals that are written in combinational groups.
    pub(crate) driven: BTreeSet<SignalId>,
    /// Conditions that simulations and proofs check.
    pub(crate) checks: Vec<Check>,
}

/// The registers of one clock.
#[derive(Debug)]
pub(crate) struct Clocked {
    pub(crate) edge: Edge,
    /// Statements that assign registers directly.
    pub(crate) statements: Vec<(usize, TopStatement)>,
    /// Registers that take over the value of a combinational signal, by number.
    pub(crate) copies: Vec<usize>,
    /// Reset conditions with the registers they reset, by number.
    pub(crate) resets: Vec<(Expr, Vec<usize>)>,
}

/// A clock and the edge on which registers change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) clock: SignalId,
    pub(crate) falling: bool,
}

impl Plan {
    /// Calls `visit` with every statement that is printed.
    pub(crate) fn for_each_statement(&self, visit: &mut impl FnMut(&Stmt)) {
        let clocked = self.clocked.iter().flat_map(|clocked| &clocked.statements);
        let clocked = clocked.map(|(_, statement)| statement);
        for statement in self.logic.iter().flatten().chain(clocked) {
            statement.stmt.for_each(visit);
        }
    }

    /// Calls `visit` with every expression that is printed.
    pub(crate) fn for_each_expression(&self, symbols: &Symbols, visit: &mut impl FnMut(&Expr)) {
        self.for_each_statement(&mut |stmt| stmt.expressions().into_iter().for_each(&mut *visit));
        self.inputs.values().for_each(&mut *visit);
        self.checks.iter().for_each(|check| visit(&check.condition));
        let resets = self.clocked.iter().flat_map(|clocked| &clocked.resets);
        resets.for_each(|(expr, _)| visit(expr));
        for register in &symbols.registers {
            let reset = register.reset.iter().map(|(_, value)| value);
            register.initial.iter().chain(reset).for_each(&mut *visit);
        }
    }
}

/// Plans a module.
pub(crate) fn plan(symbols: &Symbols, statements: &[TopStatement], checks: Vec<Check>) -> Plan {
    let mut planner = Planner {
        symbols,
        statements,
        reads: count_reads(statements, &checks),
        plan: Plan {
            checks,
            ..Plan::default()
        },
    };
    let groups = group(statements);
    let mut singles = BTreeMap::new();
    let mut rest = Vec::new();
    for group in groups {
        match planner.control(&group) {
            Some((signal, value)) => {
                singles.insert(signal, value);
            }
            None if planner.connect(&group) => {}
            None => rest.push(group),
        }
    }
    planner.place(rest, &singles);
    planner.plan.read = planner.remaining_reads(&singles);
    planner.plan
}

fn count_reads(statements: &[TopStatement], checks: &[Check]) -> BTreeMap<SignalId, usize> {
    let mut reads = BTreeMap::new();
    for signal in checks.iter().flat_map(Check::reads) {
        *reads.entry(signal).or_insert(0) += 1;
    }
    for statement in statements {
        for signal in access(&statement.stmt).reads {
            *reads.entry(signal).or_insert(0) += 1;
        }
    }
    reads
}

struct Planner<'a> {
    symbols: &'a Symbols,
    statements: &'a [TopStatement],
    /// Number of statements that read a signal.
    reads: BTreeMap<SignalId, usize>,
    plan: Plan,
}

impl<'a> Planner<'a> {
    fn is_read(&self, signal: SignalId) -> bool {
        self.reads.contains_key(&signal)
    }

    /// The target and the value of a group that is one plain assignment.
    fn single(&self, group: &Group) -> Option<(SignalId, &'a Expr, &'a TopStatement)> {
        let [member] = group.members[..] else { return None };
        let statement = &self.statements[member];
        match &statement.stmt {
            Stmt::Assign {
                target:
                    Target {
                        signal,
                        part: Part::Whole,
                    },
                value,
            } => Some((*signal, value, statement)),
            _ => None,
        }
    }

    /// The clock or reset of a register, if it is assigned once and can stand where it is used.
    fn control(&self, group: &Group) -> Option<(SignalId, Expr)> {
        let (target, value, _) = self.single(group)?;
        let inline = match self.symbols.signal(target).role {
            Role::RegisterClock => self.edge_of(value).is_some(),
            Role::RegisterReset => true,
            _ => false,
        };
        (inline && !self.is_read(target)).then(|| (target, value.clone()))
    }

    fn edge_of(&self, value: &Expr) -> Option<Edge> {
        match &value.kind {
            Kind::Signal(clock) => Some(Edge {
                clock: *clock,
                falling: false,
            }),
            Kind::Not(inner) => match inner.kind {
                Kind::Signal(clock) => Some(Edge { clock, falling: true }),
                _ => None,
            },
            _ => None,
        }
    }

    /// Connects a port of an instance directly, if that is all that the group does.
    fn connect(&mut self, group: &Group) -> bool {
        let Some((target, value, statement)) = self.single(group) else {
            return false;
        };
        let role = self.symbols.signal(target).role;
        let port = match (role, &value.kind) {
            (Role::ChildInput, _) if !self.is_read(target) && is_simple(value) => {
                self.plan.inputs.insert(target, value.clone());
                target
            }
            (Role::Output | Role::Local, Kind::Signal(source))
                if self.symbols.signal(*source).role == Role::ChildOutput
                    && self.reads.get(source) == Some(&1) =>
            {
                self.plan.outputs.insert(*source, target);
                *source
            }
            _ => return false,
        };
        if !statement.comments.is_empty() {
            self.plan.comments.insert(port, statement.comments.clone());
        }
        true
    }

    /// Sorts the remaining groups into combinational and clocked ones.
    fn place(&mut self, groups: Vec<Group>, singles: &BTreeMap<SignalId, Expr>) {
        let mut copied: BTreeSet<usize> = (0..self.symbols.registers.len()).collect();
        let mut direct = Vec::new();
        for group in groups {
            match self.edge_of_group(&group, singles) {
                Some(edge) => {
                    for signal in &group.access.writes {
                        if let Role::RegisterData(register) = self.symbols.signal(*signal).role {
                            copied.remove(&register);
                        }
                    }
                    direct.push((edge, group));
                }
                None => {
                    self.plan.driven.extend(&group.access.writes);
                    let statements = group
                        .members
                        .iter()
                        .map(|member| self.statements[*member].clone());
                    self.plan.logic.push(statements.collect());
                }
            }
        }
        for (edge, group) in direct {
            let statements = self.without_holds(&group);
            self.clocked(edge).statements.extend(statements);
        }
        for (number, register) in self.symbols.registers.iter().enumerate() {
            let edge = self.clock_edge(register.clock, singles);
            let clocked = self.clocked(edge);
            if copied.contains(&number) {
                clocked.copies.push(number);
            }
            if let Some((reset, _)) = &register.reset {
                let reset = singles
                    .get(reset)
                    .cloned()
                    .unwrap_or_else(|| Expr::signal(*reset, 1));
                match clocked.resets.iter_mut().find(|(expr, _)| *expr == reset) {
                    Some((_, registers)) => registers.push(number),
                    None => clocked.resets.push((reset, vec![number])),
                }
            }
        }
        for clocked in &mut self.plan.clocked {
            clocked.statements.sort_by_key(|(number, _)| *number);
        }
    }

    fn clock_edge(&self, clock: SignalId, singles: &BTreeMap<SignalId, Expr>) -> Edge {
        let inline = singles.get(&clock).and_then(|value| self.edge_of(value));
        inline.unwrap_or(Edge {
            clock,
            falling: false,
        })
    }

    fn clocked(&mut self, edge: Edge) -> &mut Clocked {
        let known = self.plan.clocked.iter().position(|clocked| clocked.edge == edge);
        let index = known.unwrap_or_else(|| {
            let clocked = Clocked {
                edge,
                statements: Vec::new(),
                copies: Vec::new(),
                resets: Vec::new(),
            };
            self.plan.clocked.push(clocked);
            self.plan.clocked.len() - 1
        });
        &mut self.plan.clocked[index]
    }

    /// The common clock of a group that writes only next values of registers, which nothing reads.
    fn edge_of_group(&self, group: &Group, singles: &BTreeMap<SignalId, Expr>) -> Option<Edge> {
        let mut common = None;
        for signal in &group.access.writes {
            let Role::RegisterData(register) = self.symbols.signal(*signal).role else {
                return None;
            };
            let edge = self.clock_edge(self.symbols.registers[register].clock, singles);
            if self.is_read(*signal) || common.is_some_and(|common| common != edge) {
                return None;
            }
            common = Some(edge);
        }
        common
    }

    /// The statements of a group without those that say only that a register keeps its value, before any other of it.
    fn without_holds(&self, group: &Group) -> Vec<(usize, TopStatement)> {
        let mut written = BTreeSet::new();
        let mut kept = Vec::new();
        for member in &group.members {
            let statement = &self.statements[*member];
            let writes = access(&statement.stmt).writes;
            if is_hold(self.symbols, &statement.stmt) && written.is_disjoint(&writes) {
                continue;
            }
            written.extend(writes);
            kept.push((*member, statement.clone()));
        }
        kept
    }

    /// Everything that the printed text reads.
    fn remaining_reads(&self, singles: &BTreeMap<SignalId, Expr>) -> BTreeSet<SignalId> {
        let mut read: BTreeSet<SignalId> = self.plan.checks.iter().flat_map(Check::reads).collect();
        let statements = self.plan.logic.iter().flatten();
        let clocked = self
            .plan
            .clocked
            .iter()
            .flat_map(|clocked| clocked.statements.iter().map(|(_, s)| s));
        for statement in statements.chain(clocked) {
            read.extend(access(&statement.stmt).reads);
        }
        for expr in self.plan.inputs.values().chain(singles.values()) {
            expr.for_each_read(&mut |signal, _, _| {
                read.insert(signal);
            });
        }
        read
    }
}

/// Whether an expression is readable as the connection of a port.
fn is_simple(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Signal(_) | Kind::Literal(_) | Kind::Constant(_) => true,
        Kind::Select(base, _) | Kind::Repeat(base) | Kind::Not(base) => is_simple(base),
        Kind::SelectAt(_, offset) => is_simple(offset),
        Kind::Concat(parts) => parts.len() <= 8 && parts.iter().all(is_simple),
        _ => false,
    }
}
