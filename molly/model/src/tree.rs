//! Loops as data: the work of a rank, or the elements of a message, visited row by row.

use crate::Result;
use crate::expressions::{Op, Value};
use spinneret_isl::{Ast, Expr};
use std::convert::Infallible;

/// The action of a visited row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// Instances of a body.
    Body(usize),
    /// Messages of a channel to send: the beginning of time that is over.
    Send(usize),
    /// Messages of a channel to receive: the chunk that begins.
    Receive(usize),
    /// An exchange of two fields, by its number.
    Exchange(usize),
    /// Elements of a set.
    Element,
}

/// The values of a loop's variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopRange {
    /// The slot of the variable.
    pub slot: usize,
    /// The first value.
    pub from: Value,
    /// The last possible value.
    pub to: Value,
    /// The distance from one value to the next.
    pub step: i64,
}

/// Loops over slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// One after the other.
    Block(Vec<Tree>),
    /// A loop.
    For(LoopRange, Box<Tree>),
    /// One of two.
    If(Value, Box<Tree>, Option<Box<Tree>>),
    /// A call with these arguments.
    Call(Call, Vec<Value>),
    /// A loop around one call in which only the last argument changes, always by the same.
    Row(LoopRange, Call, Vec<Value>),
    /// A loop around a row that is the same each time except for one argument, which changes by the same.
    Rows(LoopRange, usize, Box<Tree>),
}

impl LoopRange {
    fn uses(&self, slot: usize) -> bool {
        self.from.uses(slot) || self.to.uses(slot)
    }

    /// The first and the last possible value.
    fn ends(&self, slots: &[i64]) -> (i64, i64) {
        (self.from.get(slots), self.to.get(slots))
    }
}

/// Calls of which only the last argument differs, and that several times, with another argument that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// The function that is called.
    pub call: Call,
    /// The arguments of the first call.
    pub arguments: &'a [i64],
    /// From one last argument to the next.
    pub step: i64,
    /// Number of calls, at least 1.
    pub count: i64,
    /// The row again.
    pub again: Again,
}

/// Repetition of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Again {
    /// The argument that differs from row to row,
    pub argument: usize,
    /// by so much.
    pub step: i64,
    /// Number of rows, at least 1.
    pub count: i64,
}

impl Again {
    /// One row.
    pub const ONCE: Self = Self {
        argument: 0,
        step: 0,
        count: 1,
    };
}

/// Points of a set whose coordinates are parameters and then its own; the points for given parameters are visited by several
/// trees, some perhaps more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points(pub Vec<Tree>);

/// Points of which only the last coordinate differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The first one.
    pub first: Vec<i64>,
    /// From one last coordinate to the next.
    pub step: i64,
    /// Number of points, at least 1.
    pub count: i64,
}

impl Points {
    /// All points, in the order of their coordinates, each once.
    pub fn runs(&self, params: &[i64]) -> Vec<Run> {
        let (mut runs, mut trees) = (Vec::new(), 0);
        for tree in &self.0 {
            let before = runs.len();
            let Ok(()) = tree.visit(&mut params.to_vec(), &mut |row| {
                runs.push(Run {
                    first: row.arguments.to_vec(),
                    step: row.step,
                    count: row.count,
                });
                Ok::<(), Infallible>(())
            });
            trees += usize::from(runs.len() > before);
        }
        match trees {
            // A tree visits its points in order.
            0 | 1 => runs,
            _ => joined(&runs),
        }
    }

    /// Whether a parameter does not matter.
    pub fn ignores(&self, param: usize) -> bool {
        !self.0.iter().any(|tree| tree.uses(param))
    }
}

/// The points of runs in order, each once, as runs.
fn joined(runs: &[Run]) -> Vec<Run> {
    let mut points = Vec::new();
    for run in runs {
        let Ok(()) = run.each(|point| {
            points.push(point.to_vec());
            Ok::<(), Infallible>(())
        });
    }
    points.sort_unstable();
    points.dedup();
    let mut joined: Vec<Run> = Vec::new();
    for point in points {
        if let Some(run) = joined.last_mut()
            && let (Some((last, others)), Some((first, same))) = (point.split_last(), run.first.split_last())
            && others == same
            && (run.count == 1 || *last == first + run.step * run.count)
        {
            if run.count == 1 {
                run.step = last - first;
            }
            run.count += 1;
        } else {
            joined.push(Run {
                first: point,
                step: 0,
                count: 1,
            });
        }
    }
    joined
}

impl Run {
    /// Visits its points one by one.
    ///
    /// # Errors
    /// The first one of `visit`.
    pub fn each<E>(
        &self,
        visit: impl FnMut(&[i64]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        Row {
            call: Call::Element,
            arguments: &self.first,
            step: self.step,
            count: self.count,
            again: Again::ONCE,
        }
        .each(visit)
    }
}

impl Row<'_> {
    /// Visits its calls one by one.
    ///
    /// # Errors
    /// The first one of `visit`.
    pub fn each<E>(
        &self,
        mut visit: impl FnMut(&[i64]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut arguments = self.arguments.to_vec();
        for row in 0..self.again.count {
            arguments.copy_from_slice(self.arguments);
            if let Some(argument) = arguments.get_mut(self.again.argument) {
                *argument += row * self.again.step;
            }
            for _ in 0..self.count {
                visit(&arguments)?;
                if let Some(last) = arguments.last_mut() {
                    *last += self.step;
                }
            }
        }
        Ok(())
    }
}

/// Parses the name of a call of isl's: `B` a body, `S` and `R` messages, `X` an exchange, `E` an element.
fn call(name: &str) -> Call {
    let number = || name[1..].parse().expect("calls are numbered here");
    match &name[..1] {
        "B" => Call::Body(number()),
        "S" => Call::Send(number()),
        "R" => Call::Receive(number()),
        "X" => Call::Exchange(number()),
        _ => Call::Element,
    }
}

impl Tree {
    /// isl's loops; the first slots are parameters of these names.
    pub(crate) fn read(ast: Ast, params: &[String]) -> Result<Self> {
        Self::read_within(ast, &mut params.to_vec())
    }

    fn read_within(ast: Ast, slots: &mut Vec<String>) -> Result<Self> {
        Ok(match ast {
            Ast::Block(parts) => Self::Block(
                parts
                    .into_iter()
                    .map(|part| Self::read_within(part, slots))
                    .collect::<Result<_>>()?,
            ),
            Ast::If {
                condition,
                then,
                otherwise,
            } => Self::If(
                Value::read(condition, slots),
                Box::new(Self::read_within(*then, slots)?),
                otherwise
                    .map(|otherwise| Self::read_within(*otherwise, slots))
                    .transpose()?
                    .map(Box::new),
            ),
            Ast::Call(name, arguments) => Self::Call(
                call(&name),
                arguments
                    .into_iter()
                    .map(|argument| Value::read(argument, slots))
                    .collect(),
            ),
            Ast::For {
                variable,
                init,
                condition,
                step,
                body,
            } => {
                let from = Value::read(init, slots);
                let slot = slots.len();
                slots.push(variable.clone());
                let to = last(condition, &variable, &from, slots)?;
                let body = Self::read_within(*body, slots);
                slots.pop();
                let range = LoopRange { slot, from, to, step };
                Self::looped(range, body?)
            }
        })
    }

    /// A loop around something.
    pub(crate) fn looped(range: LoopRange, body: Self) -> Self {
        match body {
            Self::Call(call, arguments) if is_row(&arguments, range.slot) => {
                Self::Row(range, call, arguments)
            }
            body => match same_row(&body, range.slot) {
                Some(argument) => Self::Rows(range, argument, Box::new(body)),
                None => Self::For(range, Box::new(body)),
            },
        }
    }

    /// Visits all calls in their order. `slots` starts with the parameters; loops append their variables.
    ///
    /// # Errors
    /// The first one of `visit`.
    pub fn visit<E>(
        &self,
        slots: &mut Vec<i64>,
        visit: &mut impl FnMut(Row<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        match self {
            Self::Block(parts) => parts.iter().try_for_each(|part| part.visit(slots, visit)),
            Self::For(range, body) => {
                let (mut at, to) = range.ends(slots);
                while at <= to {
                    slots.truncate(range.slot);
                    slots.push(at);
                    body.visit(slots, visit)?;
                    at += range.step;
                }
                slots.truncate(range.slot);
                Ok(())
            }
            Self::If(condition, then, otherwise) => match (condition.get(slots) != 0, otherwise) {
                (true, _) => then.visit(slots, visit),
                (false, Some(otherwise)) => otherwise.visit(slots, visit),
                (false, None) => Ok(()),
            },
            Self::Call(call, arguments) => {
                let arguments: Vec<i64> = arguments.iter().map(|argument| argument.get(slots)).collect();
                visit(Row {
                    call: *call,
                    arguments: &arguments,
                    step: 0,
                    count: 1,
                    again: Again::ONCE,
                })
            }
            Self::Row(..) => match self.row(slots) {
                Some((call, arguments, step, count)) => visit(Row {
                    call,
                    arguments: &arguments,
                    step,
                    count,
                    again: Again::ONCE,
                }),
                None => Ok(()),
            },
            Self::Rows(range, argument, row) => {
                let (from, to) = range.ends(slots);
                if from > to {
                    return Ok(());
                }
                slots.truncate(range.slot);
                slots.push(from + range.step);
                let second = row.argument(*argument, slots);
                slots[range.slot] = from;
                let first = row.row(slots);
                slots.truncate(range.slot);
                let Some((call, arguments, row_step, row_count)) = first else {
                    return Ok(());
                };
                visit(Row {
                    call,
                    arguments: &arguments,
                    step: row_step,
                    count: row_count,
                    again: Again {
                        argument: *argument,
                        step: second - arguments[*argument],
                        count: (to - from) / range.step + 1,
                    },
                })
            }
        }
    }

    /// The calls of a row: what is called, the first arguments, the last one's step, and how many there are.
    fn row(&self, slots: &mut Vec<i64>) -> Option<(Call, Vec<i64>, i64, i64)> {
        let Self::Row(range, call, arguments) = self else {
            return None;
        };
        let (from, to) = range.ends(slots);
        if from > to {
            return None;
        }
        slots.truncate(range.slot);
        slots.push(from);
        let first: Vec<i64> = arguments.iter().map(|argument| argument.get(slots)).collect();
        slots[range.slot] = from + range.step;
        let second = arguments.last().map_or(0, |argument| argument.get(slots));
        slots.truncate(range.slot);
        let row_step = first.last().map_or(0, |first| second - first);
        Some((*call, first, row_step, (to - from) / range.step + 1))
    }

    /// An argument of a row that does not depend on its variable.
    fn argument(&self, argument: usize, slots: &[i64]) -> i64 {
        match self {
            Self::Row(_, _, arguments) => arguments[argument].get(slots),
            _ => 0,
        }
    }

    fn uses(&self, slot: usize) -> bool {
        let any = |values: &[Value]| values.iter().any(|value| value.uses(slot));
        match self {
            Self::Block(parts) => parts.iter().any(|part| part.uses(slot)),
            Self::For(range, body) | Self::Rows(range, _, body) => range.uses(slot) || body.uses(slot),
            Self::If(condition, then, otherwise) => {
                condition.uses(slot)
                    || then.uses(slot)
                    || otherwise.as_ref().is_some_and(|otherwise| otherwise.uses(slot))
            }
            Self::Call(_, arguments) => any(arguments),
            Self::Row(range, _, arguments) => range.uses(slot) || any(arguments),
        }
    }

    /// The same without calls that are not wanted, and without loops around nothing.
    pub fn only(&self, wanted: &impl Fn(Call) -> bool) -> Option<Self> {
        match self {
            Self::Block(parts) => {
                let parts: Vec<Self> = parts.iter().filter_map(|part| part.only(wanted)).collect();
                (!parts.is_empty()).then_some(Self::Block(parts))
            }
            Self::For(range, body) => Some(Self::For(range.clone(), Box::new(body.only(wanted)?))),
            Self::If(condition, then, otherwise) => {
                let otherwise = otherwise
                    .as_ref()
                    .and_then(|otherwise| otherwise.only(wanted))
                    .map(Box::new);
                match (then.only(wanted), otherwise) {
                    (None, None) => None,
                    (then, otherwise) => {
                        let then = Box::new(then.unwrap_or(Self::Block(Vec::new())));
                        Some(Self::If(condition.clone(), then, otherwise))
                    }
                }
            }
            Self::Call(call, _) | Self::Row(_, call, _) => wanted(*call).then(|| self.clone()),
            Self::Rows(_, _, row) => row.only(wanted).map(|_| self.clone()),
        }
    }
}

/// Whether only the last argument changes with the slot, and evenly.
fn is_row(arguments: &[Value], slot: usize) -> bool {
    match arguments.split_last() {
        Some((last, others)) => last.is_linear_in(slot) && !others.iter().any(|argument| argument.uses(slot)),
        None => false,
    }
}

/// The only argument of a body's row that changes with the slot, if it changes evenly and is not the last one.
fn same_row(row: &Tree, slot: usize) -> Option<usize> {
    let Tree::Row(range, Call::Body(_), arguments) = row else {
        return None;
    };
    let mut changing = (0..arguments.len()).filter(|at| arguments[*at].uses(slot));
    let (argument, others) = (changing.next()?, changing.next());
    let is_even = arguments[argument].is_linear_in(slot) && !arguments[argument].uses(range.slot);
    let is_same = !range.uses(slot) && others.is_none();
    (is_even && is_same && argument + 1 < arguments.len()).then_some(argument)
}

/// The last value that a loop's condition allows. isl writes it as one upper bound.
fn last(condition: Option<Expr>, variable: &str, from: &Value, slots: &[String]) -> Result<Value> {
    let Some(condition) = condition else {
        return Ok(from.clone());
    };
    if let Expr::Op(op @ (Op::Le | Op::Lt), operands) = &condition
        && let [Expr::Name(name), bound] = &operands[..]
        && name == variable
    {
        let bound = Value::read(bound.clone(), slots);
        return Ok(match op {
            Op::Le => bound,
            _ => Value::Op(Op::Sub, vec![bound, Value::Number(1)]),
        });
    }
    Err(spinneret_isl::Error::Isl(format!("a loop with the condition {condition:?}")).into())
}
