//! Operators: what widths and signs they take and give.

use rust_hdl::core::ast::{VerilogExpression, VerilogOp, VerilogOpUnary};

use super::describe;
use super::error::Error;
use super::fold;
use super::infer::{Inference, Value, sized};
use super::ir::{Arithmetic, Comparison, Direction, Expr, Reduction, Relation};
use super::symbols::{Family, MAX_WIDTH};

/// Width of the Rust integers that literals are in a shift by a signal.
const RUST_LITERAL_WIDTH: usize = 64;

impl Inference<'_> {
    pub(crate) fn unary(
        &mut self,
        expression: &VerilogExpression,
        op: &VerilogOpUnary,
        inner: &VerilogExpression,
    ) -> Result<Value, Error> {
        let value = self.value(inner)?;
        let (expr, signed) = match (op, value) {
            (VerilogOpUnary::Neg, Value::Number(number)) => return Ok(Value::Number(-number)),
            (_, Value::Number(_)) => return Err(self.unsized_literal(expression)),
            (_, Value::Resized(_)) => return Err(self.unknown_cast_width(expression)),
            (_, Value::Sized { expr, signed }) => (expr, signed),
        };
        Ok(match op {
            VerilogOpUnary::Not => Value::Sized {
                expr: fold::not(expr),
                signed,
            },
            VerilogOpUnary::Neg => Value::Sized {
                expr: fold::negate(expr),
                signed,
            },
            VerilogOpUnary::All => sized(fold::reduce(Reduction::And, expr)),
            VerilogOpUnary::Any => sized(fold::reduce(Reduction::Or, expr)),
            VerilogOpUnary::Xor => sized(fold::reduce(Reduction::Xor, expr)),
        })
    }

    pub(crate) fn binary(
        &mut self,
        expression: &VerilogExpression,
        left: &VerilogExpression,
        op: &VerilogOp,
        right: &VerilogExpression,
    ) -> Result<Value, Error> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        match op {
            VerilogOp::Shl => self.shift(expression, Direction::Left, left, right),
            VerilogOp::Shr => self.shift(expression, Direction::Right, left, right),
            VerilogOp::Add => self.arithmetic(expression, Arithmetic::Add, left, right),
            VerilogOp::Sub => self.arithmetic(expression, Arithmetic::Subtract, left, right),
            VerilogOp::Mul => self.product(expression, left, right),
            VerilogOp::BitAnd => self.arithmetic(expression, Arithmetic::And, left, right),
            VerilogOp::BitOr => self.arithmetic(expression, Arithmetic::Or, left, right),
            VerilogOp::BitXor => self.arithmetic(expression, Arithmetic::Xor, left, right),
            VerilogOp::LogicalAnd => self.logical(expression, Arithmetic::LogicalAnd, left, right),
            VerilogOp::LogicalOr => self.logical(expression, Arithmetic::LogicalOr, left, right),
            VerilogOp::Eq => self.comparison(expression, Relation::Equal, left, right),
            VerilogOp::Ne => self.comparison(expression, Relation::Unequal, left, right),
            VerilogOp::Lt => self.comparison(expression, Relation::Less, left, right),
            VerilogOp::Le => self.comparison(expression, Relation::LessOrEqual, left, right),
            VerilogOp::Gt => self.comparison(expression, Relation::Greater, left, right),
            VerilogOp::Ge => self.comparison(expression, Relation::GreaterOrEqual, left, right),
        }
    }

    /// Brings two operands to one width; two numbers have none.
    fn balance(
        &self,
        expression: &VerilogExpression,
        left: Value,
        right: Value,
    ) -> Result<(Expr, Expr, bool), Error> {
        let construct = describe::expression(expression);
        match (left, right) {
            (Value::Sized { expr: a, signed: s }, Value::Sized { expr: b, signed: t }) => {
                if a.width != b.width {
                    return Err(self.width_mismatch(&construct, a.width, b.width));
                }
                if s != t {
                    return Err(Error::SignMismatch {
                        path: self.path(),
                        construct,
                    });
                }
                Ok((a, b, s))
            }
            (Value::Sized { expr, signed }, other) => {
                let other = self.coerce(other, expr.width, signed, &construct)?;
                Ok((expr, other, signed))
            }
            (other, Value::Sized { expr, signed }) => {
                let other = self.coerce(other, expr.width, signed, &construct)?;
                Ok((other, expr, signed))
            }
            (Value::Number(_), Value::Number(_)) => Err(self.unsized_literal(expression)),
            _ => Err(self.unknown_cast_width(expression)),
        }
    }

    fn arithmetic(
        &self,
        expression: &VerilogExpression,
        op: Arithmetic,
        left: Value,
        right: Value,
    ) -> Result<Value, Error> {
        if let (Value::Number(x), Value::Number(y)) = (&left, &right) {
            return Ok(Value::Number(match op {
                Arithmetic::Add => x + y,
                Arithmetic::Subtract => x - y,
                Arithmetic::And => x & y,
                Arithmetic::Or => x | y,
                _ => x ^ y,
            }));
        }
        // rust-hdl adds a `bool` to bits of any width.
        let right = match (op, &left, right) {
            (
                Arithmetic::Add,
                Value::Sized { expr: a, .. },
                Value::Sized {
                    expr: b,
                    signed: false,
                },
            ) if b.width == 1 && !self.reads(a, Family::Word) => sized(fold::resize(&b, a.width)),
            (_, _, right) => right,
        };
        let (a, b, signed) = self.balance(expression, left, right)?;
        Ok(Value::Sized {
            expr: fold::arithmetic(op, a, b),
            signed,
        })
    }

    /// A product. Those of `Word` wrap; those of rust-hdl's `Bits<16>` and `Signed<16>` have 32 bits.
    fn product(&self, expression: &VerilogExpression, left: Value, right: Value) -> Result<Value, Error> {
        if let (Value::Number(x), Value::Number(y)) = (&left, &right) {
            return Ok(Value::Number(x * y));
        }
        let (a, b, signed) = self.balance(expression, left, right)?;
        let (words, bits) = (
            self.reads(&a, Family::Word) || self.reads(&b, Family::Word),
            a.width == 16,
        );
        let literal = a.as_literal().is_some() || b.as_literal().is_some();
        if words && !signed {
            return Ok(sized(fold::arithmetic(Arithmetic::Multiply, a, b)));
        }
        let full =
            bits && !words && !literal && (self.reads(&a, Family::Bits) || self.reads(&b, Family::Bits));
        if !full {
            return Err(self.unsupported(expression, "Rust has no such product: multiply `Word`s"));
        }
        let resize = if signed { fold::resize_signed } else { fold::resize };
        let expr = fold::arithmetic(Arithmetic::Multiply, resize(&a, 32), resize(&b, 32));
        Ok(Value::Sized { expr, signed })
    }

    /// Whether an expression reads a signal of a family of types.
    pub(crate) fn reads(&self, expr: &Expr, family: Family) -> bool {
        let mut found = false;
        expr.for_each_read(&mut |signal, _, _| found |= self.symbols.signal(signal).family == family);
        found
    }

    fn logical(
        &self,
        expression: &VerilogExpression,
        op: Arithmetic,
        left: Value,
        right: Value,
    ) -> Result<Value, Error> {
        let construct = describe::expression(expression);
        let a = self.coerce(left, 1, false, &construct)?;
        let b = self.coerce(right, 1, false, &construct)?;
        Ok(sized(fold::arithmetic(op, a, b)))
    }

    fn comparison(
        &self,
        expression: &VerilogExpression,
        relation: Relation,
        left: Value,
        right: Value,
    ) -> Result<Value, Error> {
        if let (Value::Number(x), Value::Number(y)) = (&left, &right) {
            return Ok(sized(Expr::bit(fold::holds(relation, x, y))));
        }
        let (a, b, signed) = self.balance(expression, left, right)?;
        let signed = signed && !matches!(relation, Relation::Equal | Relation::Unequal);
        Ok(sized(fold::compare(Comparison { relation, signed }, a, b)))
    }

    fn shift(
        &self,
        expression: &VerilogExpression,
        direction: Direction,
        value: Value,
        amount: Value,
    ) -> Result<Value, Error> {
        let construct = describe::expression(expression);
        let amount = match amount {
            Value::Sized { expr, signed: false } => expr,
            Value::Number(amount) => match (&value, amount.to_biguint()) {
                (_, None) => {
                    return Err(self.unsupported(expression, "shift by an amount that is not negative"));
                }
                (Value::Number(number), Some(amount)) => {
                    let amount = usize::try_from(&amount)
                        .ok()
                        .filter(|amount| *amount <= MAX_WIDTH);
                    let amount = amount
                        .ok_or_else(|| self.unsupported(expression, "shift by less than the widest width"))?;
                    return Ok(Value::Number(match direction {
                        Direction::Left => number << amount,
                        Direction::Right => number >> amount,
                    }));
                }
                (_, Some(amount)) => Expr::literal(amount.clone(), fold::bits_for(&amount)),
            },
            Value::Sized { signed: true, .. } | Value::Resized(_) => {
                return Err(self.unsupported(expression, "shift by an unsigned amount"));
            }
        };
        match value {
            Value::Number(number) => {
                let value = self.number(&number, RUST_LITERAL_WIDTH, false, &construct)?;
                Ok(sized(fold::shift(direction, value, amount)))
            }
            Value::Sized { expr, signed } if !signed || direction == Direction::Left => Ok(Value::Sized {
                expr: fold::shift(direction, expr, amount),
                signed,
            }),
            Value::Sized { .. } => Err(self.unsupported(
                expression,
                "a right shift of a signed value: use `unsigned_cast` first",
            )),
            Value::Resized(_) => Err(self.unknown_cast_width(expression)),
        }
    }
}
