//! Bits and slices: their offsets, and what is read or written beyond the end.
//!
//! Reads beyond the end of a value give zeros and writes beyond it are ignored. Rust panics in most of
//! these cases; where it does not (a slice that starts inside the value), it gives the same zeros.

use num_bigint::{BigInt, BigUint};
use rust_hdl::core::ast::{VerilogExpression, VerilogOp};
use rust_hdl::core::bits::clog2;

use super::describe;
use super::error::Error;
use super::fold;
use super::infer::{Inference, Value, sized};
use super::ir::{Arithmetic, Comparison, Direction, Expr, Kind, Relation};
use super::literal::ones;
use super::symbols::Family;
use crate::lang::Field;

/// Where a selection starts.
#[derive(Clone, Debug)]
pub(crate) enum Offset {
    Constant(BigUint),
    Variable(Expr),
}

/// An offset while it is computed.
enum Term {
    Constant(BigInt),
    Variable {
        expr: Expr,
        /// Width of the term if it may be arithmetic on bits, which wraps; otherwise it is arithmetic on
        /// indices, which does not.
        bits: Option<usize>,
    },
}

impl Inference<'_> {
    pub(crate) fn index(
        &mut self,
        expression: &VerilogExpression,
        base: &VerilogExpression,
        index: &VerilogExpression,
    ) -> Result<Value, Error> {
        let (base, _) = self.sized(base)?;
        self.records.note(&base, index);
        let offset = self.offset(expression, index)?;
        self.check_constant(expression, &offset, base.width.saturating_sub(1), base.width)?;
        Ok(sized(read(&base, 1, &offset)))
    }

    pub(crate) fn slice(
        &mut self,
        expression: &VerilogExpression,
        base: &VerilogExpression,
        width: usize,
        offset: &VerilogExpression,
    ) -> Result<Value, Error> {
        self.symbols
            .check_width(&describe::expression(expression), width)?;
        let (base, signed) = self.sized(base)?;
        self.records.note(&base, offset);
        let offset = self.offset(expression, offset)?;
        self.check_constant(expression, &offset, base.width, base.width)?;
        let signed = signed || self.is_signed_field(&base, &offset, width);
        Ok(Value::Sized {
            expr: read(&base, width, &offset),
            signed,
        })
    }

    fn is_signed_field(&self, base: &Expr, offset: &Offset, width: usize) -> bool {
        match (&base.kind, offset) {
            (Kind::Signal(id), Offset::Constant(low)) => {
                let fields = &self.symbols.signal(*id).signed_fields;
                fields
                    .iter()
                    .any(|(field, bits)| BigUint::from(*field) == *low && *bits == width)
            }
            _ => false,
        }
    }

    /// The value with one bit replaced.
    pub(crate) fn replace(
        &mut self,
        expression: &VerilogExpression,
        base: &VerilogExpression,
        index: &VerilogExpression,
        bit: &VerilogExpression,
    ) -> Result<Value, Error> {
        let (base, signed) = self.sized(base)?;
        let bit = self.condition(bit)?;
        let offset = self.offset(expression, index)?;
        self.check_constant(expression, &offset, base.width.saturating_sub(1), base.width)?;
        let width = base.width;
        let expr = match offset {
            Offset::Constant(low) => {
                let low = usize::try_from(&low).unwrap_or(0);
                let high = if low + 1 < width {
                    fold::select(&base, low + 1, width - low - 1)
                } else {
                    nothing()
                };
                let low = if low > 0 {
                    fold::select(&base, 0, low)
                } else {
                    nothing()
                };
                fold::concat(vec![high, bit, low])
            }
            Offset::Variable(offset) => {
                let place =
                    |bit: &Expr| fold::shift(Direction::Left, fold::resize(bit, width), offset.clone());
                let kept = fold::arithmetic(Arithmetic::And, base, fold::not(place(&Expr::bit(true))));
                fold::arithmetic(Arithmetic::Or, kept, place(&bit))
            }
        };
        Ok(Value::Sized { expr, signed })
    }

    /// Refuses a constant offset beyond `last`.
    pub(crate) fn check_constant(
        &self,
        expression: &VerilogExpression,
        offset: &Offset,
        last: usize,
        width: usize,
    ) -> Result<(), Error> {
        match offset {
            Offset::Constant(low) if *low > BigUint::from(last) => Err(Error::OutOfRange {
                path: self.path(),
                construct: describe::expression(expression),
                offset: low.to_string(),
                width,
            }),
            _ => Ok(()),
        }
    }

    /// Evaluates an offset. `.index()` leaves no trace in the syntax tree, so a sum may be one of bits, which
    /// wraps, or one of indices, which does not; where that makes a difference it is an error.
    pub(crate) fn offset(
        &mut self,
        expression: &VerilogExpression,
        offset: &VerilogExpression,
    ) -> Result<Offset, Error> {
        match self.term(expression, offset)? {
            Term::Variable { expr, .. } => match expr.as_literal() {
                Some(value) => Ok(Offset::Constant(value.clone())),
                None => Ok(Offset::Variable(expr)),
            },
            Term::Constant(value) => match value.to_biguint() {
                Some(value) => Ok(Offset::Constant(value)),
                None => Err(self.unsupported(expression, "an offset cannot be negative")),
            },
        }
    }

    fn term(&mut self, whole: &VerilogExpression, offset: &VerilogExpression) -> Result<Term, Error> {
        self.enter()?;
        let term = self.term_inner(whole, offset);
        self.depth -= 1;
        term
    }

    fn term_inner(&mut self, whole: &VerilogExpression, offset: &VerilogExpression) -> Result<Term, Error> {
        use VerilogExpression as E;
        if let Some((_, at)) = Field::find(offset) {
            return Ok(Term::Constant(at.into()));
        }
        match offset {
            E::Paren(inner) => self.term(whole, inner),
            E::Binary(left, op @ (VerilogOp::Add | VerilogOp::Sub | VerilogOp::Mul), right) => {
                let (left, right) = (self.term(whole, left)?, self.term(whole, right)?);
                self.combine(whole, op, left, right)
            }
            _ => match self.value(offset)? {
                Value::Number(number) => Ok(Term::Constant(number)),
                Value::Sized {
                    expr:
                        Expr {
                            kind: Kind::Constant(id),
                            ..
                        },
                    signed: false,
                } => Ok(Term::Constant(self.symbols.constant(id).value.clone().into())),
                Value::Sized { expr, signed: false } => {
                    let bits = Some(expr.width);
                    Ok(Term::Variable { expr, bits })
                }
                _ => Err(self.unsupported(whole, "an offset must be unsigned")),
            },
        }
    }

    fn combine(
        &self,
        whole: &VerilogExpression,
        op: &VerilogOp,
        left: Term,
        right: Term,
    ) -> Result<Term, Error> {
        if let (Term::Constant(x), Term::Constant(y)) = (&left, &right) {
            return Ok(Term::Constant(match op {
                VerilogOp::Add => x + y,
                VerilogOp::Sub => x - y,
                _ => x * y,
            }));
        }
        let bits = common_width(&left, &right);
        let a = self.operand(whole, left)?;
        let b = self.operand(whole, right)?;
        match op {
            VerilogOp::Mul => {
                let width = a.width + b.width;
                self.symbols.check_width(&describe::expression(whole), width)?;
                // The product of two `Bits` does not wrap, and they have none with a literal.
                let words = self.reads(&a, Family::Word) || self.reads(&b, Family::Word);
                let bits = if words { bits } else { None };
                let fits = |bits| fold::bits_for(&(fold::largest(&a) * fold::largest(&b))) <= bits;
                if bits.is_some_and(|bits| !fits(bits)) {
                    return Err(self.ambiguous_offset(whole));
                }
                Ok(Term::Variable {
                    expr: product(&a, &b, width),
                    bits,
                })
            }
            VerilogOp::Add => {
                let sum = fold::largest(&a) + fold::largest(&b);
                let width = fold::bits_for(&sum).max(bits.unwrap_or(1));
                if bits.is_some_and(|bits| bits < width) {
                    return Err(self.ambiguous_offset(whole));
                }
                let (a, b) = (fold::resize(&a, width), fold::resize(&b, width));
                Ok(Term::Variable {
                    expr: fold::arithmetic(Arithmetic::Add, a, b),
                    bits,
                })
            }
            _ => {
                // Indices cannot become negative, so only a difference of bits can wrap.
                let width = bits.unwrap_or(a.width.max(b.width));
                let (a, b) = (fold::resize(&a, width), fold::resize(&b, width));
                Ok(Term::Variable {
                    expr: fold::arithmetic(Arithmetic::Subtract, a, b),
                    bits,
                })
            }
        }
    }

    fn ambiguous_offset(&self, whole: &VerilogExpression) -> Error {
        Error::AmbiguousOffset {
            path: self.path(),
            construct: describe::expression(whole),
        }
    }

    fn operand(&self, whole: &VerilogExpression, term: Term) -> Result<Expr, Error> {
        match term {
            Term::Variable { expr, .. } => Ok(expr),
            Term::Constant(value) => match value.to_biguint() {
                Some(value) => {
                    let width = fold::bits_for(&value);
                    self.symbols.check_width(&describe::expression(whole), width)?;
                    Ok(Expr::literal(value, width))
                }
                None => Err(self.unsupported(whole, "an offset cannot be negative")),
            },
        }
    }
}

/// The width of both terms if the operation may be one on bits.
fn common_width(left: &Term, right: &Term) -> Option<usize> {
    let fits = |value: &BigInt, width: usize| value.to_biguint().is_some_and(|value| value <= ones(width));
    match (left, right) {
        (Term::Variable { bits: Some(a), .. }, Term::Variable { bits: Some(b), .. }) => {
            (a == b).then_some(*a)
        }
        (
            Term::Variable {
                bits: Some(width), ..
            },
            Term::Constant(value),
        )
        | (
            Term::Constant(value),
            Term::Variable {
                bits: Some(width), ..
            },
        ) => fits(value, *width).then_some(*width),
        _ => None,
    }
}

/// A product as a concatenation with zeros if one factor is a power of two.
fn product(a: &Expr, b: &Expr, width: usize) -> Expr {
    for (factor, other) in [(a, b), (b, a)] {
        if let Some(value) = factor.as_literal()
            && value.count_ones() == 1
        {
            let zeros = value
                .trailing_zeros()
                .and_then(|zeros| usize::try_from(zeros).ok())
                .unwrap_or(0);
            return fold::concat(vec![other.clone(), Expr::literal(0_u32, zeros)]);
        }
    }
    fold::arithmetic(
        Arithmetic::Multiply,
        fold::resize(a, width),
        fold::resize(b, width),
    )
}

fn nothing() -> Expr {
    Expr::literal(0_u32, 0)
}

/// Bits that can address every bit of a value.
pub(crate) fn index_width(width: usize) -> usize {
    clog2(width).max(1)
}

/// Whether `width` bits from `offset` always lie inside `available` bits.
fn always_inside(offset: &Expr, width: usize, available: usize) -> bool {
    fold::largest(offset) + width <= BigUint::from(available)
}

/// Reads `width` bits from `offset`; bits beyond the end are zeros.
pub(crate) fn read(base: &Expr, width: usize, offset: &Offset) -> Expr {
    match offset {
        Offset::Constant(low) => {
            let low = usize::try_from(low).unwrap_or(base.width).min(base.width);
            let available = width.min(base.width - low);
            match available {
                0 => Expr::literal(0_u32, width),
                _ => fold::resize(&fold::select(base, low, available), width),
            }
        }
        Offset::Variable(offset) => match base.kind {
            Kind::Signal(id) if base.width > 1 && always_inside(offset, width, base.width) => {
                let offset = fold::resize(offset, index_width(base.width));
                Expr {
                    kind: Kind::SelectAt(id, Box::new(offset)),
                    width,
                }
            }
            _ => fold::resize(
                &fold::shift(Direction::Right, base.clone(), offset.clone()),
                width,
            ),
        },
    }
}

/// How a write of `width` bits at `offset` into a signal of `available` bits is done.
#[derive(Debug)]
pub(crate) struct VariableWrite {
    /// The offset in the width that addresses the signal.
    pub(crate) offset: Expr,
    /// When the write may be done, if not always.
    pub(crate) guard: Option<Expr>,
}

/// Guards a write at a variable offset so that it stays inside the signal.
pub(crate) fn variable_write(offset: &Expr, width: usize, available: usize) -> VariableWrite {
    let narrow = fold::resize(offset, index_width(available));
    if always_inside(offset, width, available) {
        return VariableWrite {
            offset: narrow,
            guard: None,
        };
    }
    let last = BigUint::from(available - width);
    let compare_width = offset.width.max(fold::bits_for(&last));
    let relation = Comparison {
        relation: Relation::LessOrEqual,
        signed: false,
    };
    let guard = fold::compare(
        relation,
        fold::resize(offset, compare_width),
        Expr::literal(last, compare_width),
    );
    VariableWrite {
        offset: narrow,
        guard: Some(guard),
    }
}
