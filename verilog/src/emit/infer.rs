//! From expressions of the syntax tree to typed expressions.
//!
//! Literals have no width of their own: an expression of literals alone stays a number until an operand or
//! a target beside it gives it a width. Everything else has the width that its Rust type has.

use num_bigint::BigInt;
use rust_hdl::core::ast::VerilogExpression;

use super::error::Error;
use super::fold;
use super::ir::{Expr, Kind};
use super::names::LoopVariable;
use super::records::Records;
use super::symbols::{Entry, Symbols};
use super::{describe, literal, names};

/// The deepest nesting of expressions and statements that is translated.
pub(crate) const MAX_DEPTH: usize = 4000;

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
    /// Signals whose fields are named.
    pub(crate) records: Records,
}

impl Inference<'_> {
    pub(crate) fn path(&self) -> String {
        self.symbols.block.clone()
    }

    /// Counts one level of nesting.
    pub(crate) fn enter(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::TooDeep {
                path: self.path(),
                limit: MAX_DEPTH,
            });
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
        let path = names::canonical(name, &self.loops).ok_or_else(|| Error::ArrayIndex {
            path: self.path(),
            name: names::display(name),
        })?;
        match self.symbols.lookup(&path) {
            Some(Entry::Signal(id)) => {
                let signal = self.symbols.signal(id);
                Ok(Value::Sized {
                    expr: Expr::signal(id, signal.width),
                    signed: signal.signed,
                })
            }
            Some(Entry::Constant(id)) => {
                let constant = self.symbols.constant(id);
                self.symbols.check_width(&path, constant.width)?;
                let expr = Expr {
                    kind: Kind::Constant(id),
                    width: constant.width,
                };
                Ok(Value::Sized {
                    expr,
                    signed: constant.signed,
                })
            }
            Some(Entry::Ambiguous) => Err(Error::AmbiguousEnum {
                path: self.path(),
                name: names::display(&path),
            }),
            None => Err(Error::UnknownName {
                path: self.path(),
                name: names::display(&path),
            }),
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

    pub(crate) fn width_mismatch(&self, construct: &str, left: usize, right: usize) -> Error {
        Error::WidthMismatch {
            path: self.path(),
            construct: construct.to_owned(),
            left,
            right,
        }
    }

    pub(crate) fn unsupported(&self, expression: &VerilogExpression, advice: &'static str) -> Error {
        Error::Unsupported {
            path: self.path(),
            construct: describe::expression(expression),
            advice,
        }
    }

    pub(crate) fn unsized_literal(&self, expression: &VerilogExpression) -> Error {
        Error::UnsizedLiteral {
            path: self.path(),
            construct: describe::expression(expression),
        }
    }

    pub(crate) fn unknown_cast_width(&self, expression: &VerilogExpression) -> Error {
        Error::UnknownCastWidth {
            path: self.path(),
            construct: describe::expression(expression),
        }
    }
}

/// An unsigned value of a known width.
pub(crate) fn sized(expr: Expr) -> Value {
    Value::Sized { expr, signed: false }
}
