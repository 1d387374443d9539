//! Expressions over slots, for bounds, conditions and arguments of loops.

use spinneret_isl::Expr;
pub use spinneret_isl::Op;

/// An expression. Conditions are 1 and 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// What is in a slot: a parameter or a loop's variable.
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

    pub(crate) fn read(expr: Expr, slots: &[String]) -> Self {
        match expr {
            Expr::Number(number) => Self::Number(number),
            Expr::Name(name) => {
                let slot = slots.iter().rposition(|slot| *slot == name);
                Self::Slot(slot.expect("isl names parameters and the loops around"))
            }
            Expr::Op(op, operands) => Self::Op(
                op,
                operands
                    .into_iter()
                    .map(|operand| Self::read(operand, slots))
                    .collect(),
            ),
        }
    }
}
