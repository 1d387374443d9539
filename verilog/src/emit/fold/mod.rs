//! Builds expressions in their simplest form.

mod concat;
mod select;

use num_bigint::BigUint;

use super::ir::{Arithmetic, Comparison, Direction, Expr, Kind, Reduction, Relation};
use super::literal::ones;

pub(crate) use concat::concat;
pub(crate) use select::select;

/// Zero-extends or truncates.
pub(crate) fn resize(value: &Expr, width: usize) -> Expr {
    if width <= value.width {
        return select(value, 0, width);
    }
    match &value.kind {
        Kind::Literal(bits) => Expr::literal(bits.clone(), width),
        _ => concat(vec![Expr::literal(0_u32, width - value.width), value.clone()]),
    }
}

/// Extends with copies of the sign bit, or truncates.
pub(crate) fn resize_signed(value: &Expr, width: usize) -> Expr {
    if width <= value.width {
        return select(value, 0, width);
    }
    let sign = select(value, value.width - 1, 1);
    concat(vec![repeat(&sign, width - value.width), value.clone()])
}

/// `width` copies of one bit.
pub(crate) fn repeat(bit: &Expr, width: usize) -> Expr {
    match bit.as_literal() {
        _ if width == 1 => bit.clone(),
        Some(value) if *value == BigUint::ZERO => Expr::literal(0_u32, width),
        Some(_) => Expr::literal(ones(width), width),
        None => Expr {
            kind: Kind::Repeat(Box::new(bit.clone())),
            width,
        },
    }
}

/// Every bit inverted.
pub(crate) fn not(value: Expr) -> Expr {
    let width = value.width;
    match value.kind {
        Kind::Literal(bits) => Expr::literal(bits ^ ones(width), width),
        Kind::Not(inner) => *inner,
        Kind::Compare(Comparison { relation, signed }, a, b) => {
            let relation = relation.opposite();
            Expr {
                kind: Kind::Compare(Comparison { relation, signed }, a, b),
                width,
            }
        }
        _ => Expr {
            kind: Kind::Not(Box::new(value)),
            width,
        },
    }
}

/// The two's complement.
pub(crate) fn negate(value: Expr) -> Expr {
    let width = value.width;
    match &value.kind {
        Kind::Literal(bits) => Expr::literal(((BigUint::from(1_u32) << width) - bits) & ones(width), width),
        _ if width == 1 => value,
        _ => Expr {
            kind: Kind::Negate(Box::new(value)),
            width,
        },
    }
}

/// One bit from all bits.
pub(crate) fn reduce(reduction: Reduction, value: Expr) -> Expr {
    if value.width == 1 {
        return value;
    }
    if let Some(bits) = value.as_literal() {
        return Expr::bit(match reduction {
            Reduction::And => *bits == ones(value.width),
            Reduction::Or => *bits != BigUint::ZERO,
            Reduction::Xor => bits.count_ones() % 2 == 1,
        });
    }
    Expr {
        kind: Kind::Reduce(reduction, Box::new(value)),
        width: 1,
    }
}

/// An operation on two values of equal width.
pub(crate) fn arithmetic(op: Arithmetic, a: Expr, b: Expr) -> Expr {
    let width = a.width;
    if let (Some(x), Some(y)) = (a.as_literal(), b.as_literal()) {
        return Expr::literal(arithmetic_on_literals(op, x, y, width), width);
    }
    if let Some(simple) = with_neutral_literal(op, &a, &b).or_else(|| with_neutral_literal(op, &b, &a)) {
        return simple;
    }
    Expr {
        kind: Kind::Arithmetic(op, Box::new(a), Box::new(b)),
        width,
    }
}

fn arithmetic_on_literals(op: Arithmetic, x: &BigUint, y: &BigUint, width: usize) -> BigUint {
    let result = match op {
        Arithmetic::Add => x + y,
        Arithmetic::Subtract => x + (BigUint::from(1_u32) << width) - y,
        Arithmetic::Multiply | Arithmetic::MultiplySigned => x * y,
        Arithmetic::And | Arithmetic::LogicalAnd => x & y,
        Arithmetic::Or | Arithmetic::LogicalOr => x | y,
        Arithmetic::Xor => x ^ y,
    };
    result & ones(width)
}

/// The other operand, or a constant, where a commutative operation with a literal has no effect.
fn with_neutral_literal(op: Arithmetic, literal: &Expr, other: &Expr) -> Option<Expr> {
    let bits = literal.as_literal()?;
    let zero = *bits == BigUint::ZERO;
    let all_ones = *bits == ones(literal.width);
    match op {
        Arithmetic::And | Arithmetic::LogicalAnd if zero => Some(literal.clone()),
        Arithmetic::And | Arithmetic::LogicalAnd if all_ones => Some(other.clone()),
        Arithmetic::Or | Arithmetic::LogicalOr if all_ones => Some(literal.clone()),
        Arithmetic::Or | Arithmetic::LogicalOr | Arithmetic::Xor | Arithmetic::Add if zero => {
            Some(other.clone())
        }
        _ => None,
    }
}

/// A comparison of two values of equal width.
pub(crate) fn compare(comparison: Comparison, a: Expr, b: Expr) -> Expr {
    if !comparison.signed {
        if let (Some(x), Some(y)) = (a.as_literal(), b.as_literal()) {
            return Expr::bit(holds(comparison.relation, x, y));
        }
        if let Some(constant) = always_the_same(comparison.relation, &a, &b) {
            return Expr::bit(constant);
        }
    }
    Expr {
        kind: Kind::Compare(comparison, Box::new(a), Box::new(b)),
        width: 1,
    }
}

fn holds<T: Ord>(relation: Relation, x: &T, y: &T) -> bool {
    match relation {
        Relation::Equal => x == y,
        Relation::Unequal => x != y,
        Relation::Less => x < y,
        Relation::LessOrEqual => x <= y,
        Relation::Greater => x > y,
        Relation::GreaterOrEqual => x >= y,
    }
}

/// The result of an unsigned comparison with the smallest or largest value, which linters refuse.
fn always_the_same(relation: Relation, a: &Expr, b: &Expr) -> Option<bool> {
    let is_largest = |value: &Expr| value.as_literal().is_some_and(|bits| *bits == ones(value.width));
    match relation {
        Relation::Less if b.is_zero() || is_largest(a) => Some(false),
        Relation::Greater if a.is_zero() || is_largest(b) => Some(false),
        Relation::GreaterOrEqual if b.is_zero() || is_largest(a) => Some(true),
        Relation::LessOrEqual if a.is_zero() || is_largest(b) => Some(true),
        _ => None,
    }
}

/// A shift by any amount; what is shifted beyond the width is lost.
pub(crate) fn shift(direction: Direction, value: Expr, amount: Expr) -> Expr {
    let width = value.width;
    if let Some(n) = amount.as_literal() {
        return match usize::try_from(n) {
            Ok(n) if n < width => shift_by(direction, value, n),
            _ => Expr::literal(0_u32, width),
        };
    }
    if value.is_zero() {
        return value;
    }
    // Tools take at most 32 bits of shift amount.
    if amount.width > 32 {
        let low = select(&amount, 0, 32);
        let high = reduce(Reduction::Or, select(&amount, 32, amount.width - 32));
        let near = shift(direction, value, low);
        return choose(high, Expr::literal(0_u32, width), near);
    }
    Expr {
        kind: Kind::Shift(direction, Box::new(value), Box::new(amount)),
        width,
    }
}

/// The second value if the first is 1, else the third.
pub(crate) fn choose(test: Expr, then: Expr, otherwise: Expr) -> Expr {
    match test.as_literal() {
        Some(bits) if *bits == BigUint::ZERO => otherwise,
        Some(_) => then,
        None => {
            let width = then.width;
            Expr {
                kind: Kind::Choose(Box::new(test), Box::new(then), Box::new(otherwise)),
                width,
            }
        }
    }
}

/// A shift by fewer bits than the value has.
fn shift_by(direction: Direction, value: Expr, amount: usize) -> Expr {
    if amount == 0 {
        return value;
    }
    let width = value.width;
    if matches!(value.kind, Kind::Concat(_) | Kind::Literal(_)) {
        let zeros = Expr::literal(0_u32, amount);
        return match direction {
            Direction::Left => concat(vec![select(&value, 0, width - amount), zeros]),
            Direction::Right => concat(vec![zeros, select(&value, amount, width - amount)]),
        };
    }
    let amount = Expr::literal(amount, bits_for(&BigUint::from(amount)));
    Expr {
        kind: Kind::Shift(direction, Box::new(value), Box::new(amount)),
        width,
    }
}

/// Bits that hold `value`, at least 1.
pub(crate) fn bits_for(value: &BigUint) -> usize {
    usize::try_from(value.bits()).unwrap_or(usize::MAX).max(1)
}

/// A bound that the value never exceeds.
pub(crate) fn largest(value: &Expr) -> BigUint {
    match &value.kind {
        Kind::Literal(bits) => bits.clone(),
        Kind::Concat(parts) => parts
            .iter()
            .fold(BigUint::ZERO, |sum, part| (sum << part.width) | largest(part)),
        Kind::Arithmetic(Arithmetic::And, a, b) => largest(a).min(largest(b)),
        Kind::Arithmetic(Arithmetic::Add, a, b) => (largest(a) + largest(b)).min(ones(value.width)),
        Kind::Arithmetic(Arithmetic::Multiply, a, b) => (largest(a) * largest(b)).min(ones(value.width)),
        Kind::Shift(Direction::Right, a, _) => largest(a),
        _ => ones(value.width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::ir::SignalId;

    fn signal(id: usize, width: usize) -> Expr {
        Expr::signal(SignalId(id), width)
    }

    #[test]
    fn pushes_selections_down_to_signals() {
        let sum = arithmetic(Arithmetic::Add, signal(0, 8), signal(1, 8));
        let low = select(&sum, 0, 4);
        assert_eq!(
            low,
            arithmetic(
                Arithmetic::Add,
                select(&signal(0, 8), 0, 4),
                select(&signal(1, 8), 0, 4)
            )
        );
        assert!(matches!(select(&sum, 4, 4).kind, Kind::Low(_)));
    }

    #[test]
    fn shifts_beyond_the_width_give_zero() {
        let amount = Expr::literal(BigUint::from(1_u32) << 80_u32, 100);
        assert_eq!(
            shift(Direction::Left, signal(0, 8), amount),
            Expr::literal(0_u32, 8)
        );
    }
}
