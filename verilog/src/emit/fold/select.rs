//! Constant selections of bits.
//!
//! Verilog can select bits of signals only, so a selection of any other expression is pushed down to the
//! signals it is made of; what cannot be pushed down becomes the low bits of a shifted value.

use num_bigint::BigUint;

use super::super::ir::{Arithmetic, Direction, Expr, Kind};
use super::super::literal::ones;
use super::{arithmetic, bits_for, concat, negate, not, repeat, resize, shift};

/// Bits `low` to `low + width - 1` of `value`, which must have them.
pub(crate) fn select(value: &Expr, low: usize, width: usize) -> Expr {
    if low == 0 && width == value.width {
        return value.clone();
    }
    match &value.kind {
        Kind::Literal(bits) => Expr::literal((bits >> low) & ones(width), width),
        Kind::Concat(parts) => select_from_parts(parts, low, width),
        Kind::Repeat(bit) => repeat(bit, width),
        Kind::Low(inner) => select(inner, low, width),
        Kind::Not(a) => not(select(a, low, width)),
        Kind::Choose(test, a, b) => Expr {
            kind: Kind::Choose(
                test.clone(),
                Box::new(select(a, low, width)),
                Box::new(select(b, low, width)),
            ),
            width,
        },
        Kind::Arithmetic(op @ (Arithmetic::And | Arithmetic::Or | Arithmetic::Xor), a, b) => {
            arithmetic(*op, select(a, low, width), select(b, low, width))
        }
        Kind::Arithmetic(op, a, b) if low == 0 => arithmetic(*op, select(a, 0, width), select(b, 0, width)),
        Kind::Negate(a) if low == 0 => negate(select(a, 0, width)),
        Kind::Shift(direction, a, amount) => select_from_shift(value, *direction, a, amount, low, width),
        Kind::Signal(_) | Kind::Constant(_) => Expr {
            kind: Kind::Select(Box::new(value.clone()), low),
            width,
        },
        Kind::Select(base, start) => Expr {
            kind: Kind::Select(base.clone(), start + low),
            width,
        },
        _ => low_bits(shift_right_constant(value, low), width),
    }
}

fn select_from_parts(parts: &[Expr], low: usize, width: usize) -> Expr {
    let mut selected = Vec::new();
    let mut position = 0;
    for part in parts.iter().rev() {
        let start = low.max(position);
        let end = (low + width).min(position + part.width);
        if start < end {
            selected.push(select(part, start - position, end - start));
        }
        position += part.width;
    }
    selected.reverse();
    concat(selected)
}

fn select_from_shift(
    value: &Expr,
    direction: Direction,
    shifted: &Expr,
    amount: &Expr,
    low: usize,
    width: usize,
) -> Expr {
    let constant = amount.as_literal().and_then(|n| usize::try_from(n).ok());
    match (direction, constant) {
        (Direction::Right, Some(n)) if low + n >= shifted.width => Expr::literal(0_u32, width),
        (Direction::Right, Some(n)) => {
            let available = width.min(shifted.width - low - n);
            resize(&select(shifted, low + n, available), width)
        }
        (Direction::Left, Some(n)) if low + width <= n => Expr::literal(0_u32, width),
        (Direction::Left, Some(n)) if low >= n => select(shifted, low - n, width),
        (Direction::Left, Some(n)) => concat(vec![
            select(shifted, 0, low + width - n),
            Expr::literal(0_u32, n - low),
        ]),
        (Direction::Left, None) if low == 0 => {
            shift(Direction::Left, select(shifted, 0, width), amount.clone())
        }
        _ => low_bits(shift_right_constant(value, low), width),
    }
}

/// A right shift that is left standing; `value` is not a signal or a constant.
fn shift_right_constant(value: &Expr, amount: usize) -> Expr {
    if amount == 0 {
        return value.clone();
    }
    let amount = Expr::literal(amount, bits_for(&BigUint::from(amount)));
    Expr {
        width: value.width,
        kind: Kind::Shift(Direction::Right, Box::new(value.clone()), Box::new(amount)),
    }
}

/// The low `width` bits of a value that cannot be selected from.
fn low_bits(value: Expr, width: usize) -> Expr {
    if value.width == width {
        value
    } else {
        Expr {
            kind: Kind::Low(Box::new(value)),
            width,
        }
    }
}
