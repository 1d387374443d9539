//! A program with its numbers, in isl's notation. All names are made here: loops are `i0`, `i1`, ..., coordinates of ranks
//! `p0`, ..., of elements `e0`, ..., of time `t0`, ....

use crate::geometry::Geometry;
use crate::program::{Bounds, Comparison, Cond, Expr, Operator, Site, Sizes};
use crate::{Error, Result};
pub use spinneret_isl::Op;

/// `prefix0, prefix1, ...`.
pub(crate) fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{prefix}{at}")).collect()
}

/// Joins conditions; none is `true`.
pub(crate) fn all(conditions: &[String]) -> String {
    match conditions.is_empty() {
        true => "true".to_owned(),
        false => conditions.join(" and "),
    }
}

/// Writes expressions of one body.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    pub(crate) sizes: &'a Sizes,
    pub(crate) site: &'a Site,
}

impl Writer<'_> {
    fn not_affine<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(Error::NotAffine {
            site: self.site.clone(),
            what: what.into(),
        })
    }

    /// The value of an expression without loop variables.
    pub(crate) fn constant(&self, expr: &Expr) -> Result<Option<i64>> {
        match expr {
            Expr::Number(number) => Ok(Some(*number)),
            Expr::Loop(_) => Ok(None),
            Expr::Param(at) => Ok(Some(self.sizes.params[*at])),
            Expr::Len(field, dim) => Ok(Some(self.sizes.shapes[*field][*dim])),
            Expr::Op(operator, a, b) => {
                let (Some(x), Some(y)) = (self.constant(a)?, self.constant(b)?) else {
                    return Ok(None);
                };
                match operator.apply(x, y) {
                    Some(value) => Ok(Some(value)),
                    None => {
                        self.not_affine(format!("{x} and {y} have no such sum, product, quotient or rest"))
                    }
                }
            }
        }
    }

    /// A divisor: a positive number.
    fn divisor(&self, expr: &Expr) -> Result<i64> {
        match self.constant(expr)? {
            Some(number) if number > 0 => Ok(number),
            Some(number) => self.not_affine(format!("a division by {number}; divide by a positive number")),
            None => self.not_affine("a division by a loop's variable; divide by a number or a parameter"),
        }
    }

    pub(crate) fn expr(&self, expr: &Expr) -> Result<String> {
        if let Some(number) = self.constant(expr)? {
            return Ok(format!("({number})"));
        }
        Ok(match expr {
            Expr::Number(_) | Expr::Param(_) | Expr::Len(..) => unreachable!("constants are written above"),
            Expr::Loop(at) => format!("i{at}"),
            Expr::Op(Operator::Add, a, b) => format!("({} + {})", self.expr(a)?, self.expr(b)?),
            Expr::Op(Operator::Sub, a, b) => format!("({} - {})", self.expr(a)?, self.expr(b)?),
            Expr::Op(Operator::Mul, a, b) => match (self.constant(a)?, self.constant(b)?) {
                (Some(factor), _) => format!("({factor} * {})", self.expr(b)?),
                (_, Some(factor)) => format!("({factor} * {})", self.expr(a)?),
                _ => return self.not_affine("a product of two loops' variables"),
            },
            Expr::Op(Operator::Div, a, b) => format!("floor({} / {})", self.expr(a)?, self.divisor(b)?),
            Expr::Op(Operator::Rem, a, b) => format!("({} mod {})", self.expr(a)?, self.divisor(b)?),
            Expr::Op(Operator::Min, a, b) => format!("min({}, {})", self.expr(a)?, self.expr(b)?),
            Expr::Op(Operator::Max, a, b) => format!("max({}, {})", self.expr(a)?, self.expr(b)?),
        })
    }

    pub(crate) fn cond(&self, cond: &Cond) -> Result<String> {
        Ok(match cond {
            Cond::Compare(a, comparison, b) => {
                let sign = match comparison {
                    Comparison::Eq => "=",
                    Comparison::Ne => "!=",
                    Comparison::Lt => "<",
                    Comparison::Le => "<=",
                    Comparison::Gt => ">",
                    Comparison::Ge => ">=",
                };
                format!("({} {sign} {})", self.expr(a)?, self.expr(b)?)
            }
            Cond::And(a, b) => format!("({} and {})", self.cond(a)?, self.cond(b)?),
            Cond::Or(a, b) => format!("({} or {})", self.cond(a)?, self.cond(b)?),
            Cond::Not(a) => format!("(not {})", self.cond(a)?),
        })
    }

    /// The conditions on the variable of a loop.
    pub(crate) fn bounds(&self, variable: usize, bounds: &Bounds) -> Result<String> {
        let (from, to) = (self.expr(&bounds.from)?, self.expr(&bounds.to)?);
        let mut text = format!("({from} <= i{variable} and i{variable} < {to}");
        if bounds.step != 1 {
            let origin = if bounds.from_end {
                format!("({to} - 1)")
            } else {
                from
            };
            text += &format!(" and (i{variable} - {origin}) mod {} = 0", bounds.step);
        }
        Ok(text + ")")
    }
}

/// The conditions under which a rank with coordinates `p0`, ... is the home of the element with these indices, which is
/// one block of [`Geometry::block`] without a division: `p N div P <= e` is `P e >= p N - P + 1`.
pub(crate) fn home(geometry: &Geometry, shape: &[i64], indices: &[String]) -> String {
    let mut conditions = Vec::new();
    for (dim, &ranks) in geometry.extents().iter().enumerate() {
        conditions.push(match (shape.get(dim), indices.get(dim)) {
            (Some(size), Some(index)) => format!(
                "0 <= p{dim} < {ranks} and {ranks}*({index}) >= {size}*p{dim} - {ranks} + 1 \
                 and {ranks}*({index}) + {ranks} <= {size}*p{dim} + {size}"
            ),
            _ => format!("p{dim} = 0"),
        });
    }
    all(&conditions)
}

/// The conditions that `e0`, ... are indices of a field.
pub(crate) fn inside(shape: &[i64]) -> String {
    let conditions: Vec<String> = shape
        .iter()
        .enumerate()
        .map(|(dim, size)| format!("0 <= e{dim} < {size}"))
        .collect();
    all(&conditions)
}

// Expressions over slots, for bounds, conditions and arguments of loops.

/// An expression. Conditions are 1 and 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// The value of a slot: a parameter or a loop's variable.
    Slot(usize),
    /// An operation.
    Op(Op, Vec<Value>),
}

impl Value {
    /// Its value.
    pub fn get(&self, slots: &[i64]) -> i64 {
        match self {
            Self::Number(number) => *number,
            Self::Slot(slot) => slots[*slot],
            Self::Op(op, operands) => {
                let at = |place: usize| operands[place].get(slots);
                let each = || operands.iter().map(|operand| operand.get(slots));
                match op {
                    Op::And => i64::from(each().all(|value| value != 0)),
                    Op::Or => i64::from(each().any(|value| value != 0)),
                    Op::Max => each().max().unwrap_or(i64::MIN),
                    Op::Min => each().min().unwrap_or(i64::MAX),
                    Op::Neg => -at(0),
                    Op::Add => at(0) + at(1),
                    Op::Sub => at(0) - at(1),
                    Op::Mul => at(0) * at(1),
                    Op::Div => at(0).div_euclid(at(1)),
                    Op::Rem => at(0).rem_euclid(at(1)),
                    Op::Select => at(if at(0) != 0 { 1 } else { 2 }),
                    Op::Eq => i64::from(at(0) == at(1)),
                    Op::Le => i64::from(at(0) <= at(1)),
                    Op::Lt => i64::from(at(0) < at(1)),
                    Op::Ge => i64::from(at(0) >= at(1)),
                    Op::Gt => i64::from(at(0) > at(1)),
                }
            }
        }
    }

    pub(crate) fn uses(&self, slot: usize) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Slot(other) => *other == slot,
            Self::Op(_, operands) => operands.iter().any(|operand| operand.uses(slot)),
        }
    }

    /// Whether it grows by the same whenever the slot does.
    pub(crate) fn is_linear_in(&self, slot: usize) -> bool {
        match self {
            Self::Op(Op::Add | Op::Sub | Op::Neg, operands) => {
                operands.iter().all(|operand| operand.is_linear_in(slot))
            }
            Self::Op(Op::Mul, operands) => {
                operands.iter().all(|operand| operand.is_linear_in(slot))
                    && operands.iter().any(|operand| !operand.uses(slot))
            }
            Self::Op(..) => !self.uses(slot),
            Self::Number(_) | Self::Slot(_) => true,
        }
    }

    pub(crate) fn read(expr: spinneret_isl::Expr, slots: &[String]) -> Self {
        match expr {
            spinneret_isl::Expr::Number(number) => Self::Number(number),
            spinneret_isl::Expr::Name(name) => {
                let slot = slots.iter().rposition(|slot| *slot == name);
                Self::Slot(slot.expect("isl names parameters and the loops around"))
            }
            spinneret_isl::Expr::Op(op, operands) => Self::Op(
                op,
                operands
                    .into_iter()
                    .map(|operand| Self::read(operand, slots))
                    .collect(),
            ),
        }
    }
}
