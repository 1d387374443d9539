//! From expressions of the syntax tree to typed expressions.
//!
//! Literals have no width of their own: an expression of literals alone stays a number until an operand or
//! a target beside it gives it a width. Everything else has the width that its Rust type has.

use num_bigint::BigInt;
use rust_hdl::core::ast::{VerilogExpression, VerilogOp, VerilogOpUnary};

use super::error::Error;
use super::fold;
use super::ir::{Arithmetic, Comparison, Direction, Expr, Kind, Reduction, Relation};
use super::names::LoopVariable;
use super::symbols::{Entry, Family, MAX_WIDTH, Symbols};
use super::{describe, literal, names};

/// The deepest nesting of expressions and statements that is translated.
pub(crate) const MAX_DEPTH: usize = 4000;

/// Width of the Rust integers that literals are in a shift by a signal.
const RUST_LITERAL_WIDTH: usize = 64;

/// An expression with its type.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Literals only: a number without a width.
    Number(BigInt),
    /// A value with the width of the expression.
    Sized { expr: Expr, signed: bool },
    /// A signed value to be resized to the width of its context (`signed_bit_cast`).
    Resized(Expr),
}

/// Translates expressions of one block.
#[derive(Debug)]
pub(crate) struct Inference<'a> {
    pub(crate) symbols: &'a Symbols,
    pub(crate) loops: Vec<LoopVariable>,
    pub(crate) depth: usize,
}

impl Inference<'_> {
    pub(crate) fn path(&self) -> String {
        self.symbols.block.clone()
    }

    /// Counts one level of nesting.
    pub(crate) fn enter(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::TooDeep { path: self.path(), limit: MAX_DEPTH });
        }
        Ok(())
    }

    /// The expression as `width` bits.
    pub(crate) fn of_width(
        &mut self,
        expression: &VerilogExpression,
        width: usize,
        signed: bool,
        construct: &str,
    ) -> Result<Expr, Error> {
        let value = self.value(expression)?;
        self.coerce(value, width, signed, construct)
    }

    /// A condition: one bit.
    pub(crate) fn condition(&mut self, expression: &VerilogExpression) -> Result<Expr, Error> {
        self.of_width(expression, 1, false, &describe::expression(expression))
    }

    /// Gives a value the width of its context.
    pub(crate) fn coerce(
        &self,
        value: Value,
        width: usize,
        signed: bool,
        construct: &str,
    ) -> Result<Expr, Error> {
        match value {
            Value::Number(number) => self.number(&number, width, signed, construct),
            Value::Resized(expr) => Ok(fold::resize_signed(&expr, width)),
            Value::Sized { expr, .. } if expr.width == width => Ok(expr),
            Value::Sized { expr, .. } => Err(self.width_mismatch(construct, width, expr.width)),
        }
    }

    pub(crate) fn number(
        &self,
        number: &BigInt,
        width: usize,
        signed: bool,
        construct: &str,
    ) -> Result<Expr, Error> {
        let bits = literal::encode(number, width, signed).ok_or_else(|| Error::LiteralRange {
            path: self.path(),
            value: number.to_string(),
            construct: construct.to_owned(),
            width,
        })?;
        Ok(Expr::literal(bits, width))
    }

    /// The typed form of an expression.
    pub(crate) fn value(&mut self, expression: &VerilogExpression) -> Result<Value, Error> {
        self.enter()?;
        let value = self.value_inner(expression);
        self.depth -= 1;
        value
    }

    fn value_inner(&mut self, expression: &VerilogExpression) -> Result<Value, Error> {
        use VerilogExpression as E;
        match expression {
            E::Signal(name) => self.named(name),
            E::Literal(value) => match literal::read(value) {
                Some((number, 1)) => Ok(sized(self.number(&number, 1, false, "true or false")?)),
                Some((number, _)) => Ok(Value::Number(number)),
                None => Err(self.unsupported(expression, "write the literal as a Rust integer")),
            },
            E::Paren(inner) => self.value(inner),
            E::Cast(inner, width) => self.cast(expression, inner, *width),
            E::Signed(inner) => Ok(match self.value(inner)? {
                Value::Number(number) => Value::Number(number),
                Value::Sized { expr, signed: false } => Value::Sized { expr, signed: true },
                Value::Sized { expr, signed: true } => Value::Resized(expr),
                Value::Resized(_) => return Err(self.unknown_cast_width(expression)),
            }),
            E::Unsigned(inner) => Ok(sized(self.sized(inner)?.0)),
            E::Binary(left, op, right) => self.binary(expression, left, op, right),
            E::Unary(op, inner) => self.unary(expression, op, inner),
            E::Index(base, index) => self.index(expression, base, index),
            E::Slice(base, width, offset) => self.slice(expression, base, *width, offset),
            E::IndexReplace(base, index, bit) => self.replace(expression, base, index, bit),
        }
    }

    fn named(&self, name: &str) -> Result<Value, Error> {
        if let Some((_, value)) = self.loops.iter().rev().find(|(variable, _)| variable == name) {
            return Ok(Value::Number(BigInt::from(*value)));
        }
        let path = names::canonical(name, &self.loops)
            .ok_or_else(|| Error::ArrayIndex { path: self.path(), name: names::display(name) })?;
        match self.symbols.lookup(&path) {
            Some(Entry::Signal(id)) => {
                let signal = self.symbols.signal(id);
                Ok(Value::Sized { expr: Expr::signal(id, signal.width), signed: signal.signed })
            }
            Some(Entry::Constant(id)) => {
                let constant = self.symbols.constant(id);
                self.symbols.check_width(&path, constant.width)?;
                let expr = Expr { kind: Kind::Constant(id), width: constant.width };
                Ok(Value::Sized { expr, signed: constant.signed })
            }
            Some(Entry::Ambiguous) => {
                Err(Error::AmbiguousEnum { path: self.path(), name: names::display(&path) })
            }
            None => Err(Error::UnknownName { path: self.path(), name: names::display(&path) }),
        }
    }

    /// A value that must have a width of its own, and whether it is signed.
    pub(crate) fn sized(&mut self, expression: &VerilogExpression) -> Result<(Expr, bool), Error> {
        match self.value(expression)? {
            Value::Sized { expr, signed } => Ok((expr, signed)),
            Value::Number(_) => Err(self.unsized_literal(expression)),
            Value::Resized(_) => Err(self.unknown_cast_width(expression)),
        }
    }

    fn cast(
        &mut self,
        expression: &VerilogExpression,
        inner: &VerilogExpression,
        width: usize,
    ) -> Result<Value, Error> {
        let construct = describe::expression(expression);
        self.symbols.check_width(&construct, width)?;
        Ok(sized(match self.value(inner)? {
            Value::Number(number) => self.number(&number, width, number < BigInt::ZERO, &construct)?,
            Value::Sized { expr, .. } => fold::resize(&expr, width),
            Value::Resized(_) => return Err(self.unknown_cast_width(expression)),
        }))
    }

    fn unary(
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
            VerilogOpUnary::Not => Value::Sized { expr: fold::not(expr), signed },
            VerilogOpUnary::Neg => Value::Sized { expr: fold::negate(expr), signed },
            VerilogOpUnary::All => sized(fold::reduce(Reduction::And, expr)),
            VerilogOpUnary::Any => sized(fold::reduce(Reduction::Or, expr)),
            VerilogOpUnary::Xor => sized(fold::reduce(Reduction::Xor, expr)),
        })
    }

    fn binary(
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
                    return Err(Error::SignMismatch { path: self.path(), construct });
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
            (Arithmetic::Add, Value::Sized { expr: a, .. }, Value::Sized { expr: b, signed: false })
                if b.width == 1 && !self.reads(a, Family::Word) =>
            {
                sized(fold::resize(&b, a.width))
            }
            (_, _, right) => right,
        };
        let (a, b, signed) = self.balance(expression, left, right)?;
        Ok(Value::Sized { expr: fold::arithmetic(op, a, b), signed })
    }

    /// A product. Those of `Word` wrap; those of rust-hdl's `Bits<16>` and `Signed<16>` have 32 bits.
    fn product(&self, expression: &VerilogExpression, left: Value, right: Value) -> Result<Value, Error> {
        if let (Value::Number(x), Value::Number(y)) = (&left, &right) {
            return Ok(Value::Number(x * y));
        }
        let (a, b, signed) = self.balance(expression, left, right)?;
        let (words, bits) = (self.reads(&a, Family::Word) || self.reads(&b, Family::Word), a.width == 16);
        let literal = a.as_literal().is_some() || b.as_literal().is_some();
        if words && !signed {
            return Ok(sized(fold::arithmetic(Arithmetic::Multiply, a, b)));
        }
        let full = bits && !words && !literal && (self.reads(&a, Family::Bits) || self.reads(&b, Family::Bits));
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
                (_, None) => return Err(self.unsupported(expression, "shift by an amount that is not negative")),
                (Value::Number(number), Some(amount)) => {
                    let amount = usize::try_from(&amount).ok().filter(|amount| *amount <= MAX_WIDTH);
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
            Value::Sized { expr, signed } if !signed || direction == Direction::Left => {
                Ok(Value::Sized { expr: fold::shift(direction, expr, amount), signed })
            }
            Value::Sized { .. } => {
                Err(self.unsupported(expression, "a right shift of a signed value: use `unsigned_cast` first"))
            }
            Value::Resized(_) => Err(self.unknown_cast_width(expression)),
        }
    }

    pub(crate) fn width_mismatch(&self, construct: &str, left: usize, right: usize) -> Error {
        Error::WidthMismatch { path: self.path(), construct: construct.to_owned(), left, right }
    }

    pub(crate) fn unsupported(&self, expression: &VerilogExpression, advice: &'static str) -> Error {
        Error::Unsupported { path: self.path(), construct: describe::expression(expression), advice }
    }

    fn unsized_literal(&self, expression: &VerilogExpression) -> Error {
        Error::UnsizedLiteral { path: self.path(), construct: describe::expression(expression) }
    }

    fn unknown_cast_width(&self, expression: &VerilogExpression) -> Error {
        Error::UnknownCastWidth { path: self.path(), construct: describe::expression(expression) }
    }
}

/// An unsigned value of a known width.
pub(crate) fn sized(expr: Expr) -> Value {
    Value::Sized { expr, signed: false }
}
