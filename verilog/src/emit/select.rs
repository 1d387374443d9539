//! Bits from an offset that is a signal: what is read or written beyond the end.
//!
//! Reads beyond the end of a value give zeros and writes beyond it are ignored.

use num_bigint::BigUint;
use rust_hdl::core::bits::clog2;

use super::fold;
use super::ir::{Comparison, Direction, Expr, Kind, Relation};

/// Bits that can address every bit of a value.
pub(crate) fn index_width(width: usize) -> usize {
    clog2(width).max(1)
}

/// Whether `width` bits from `offset` always lie inside `available` bits.
fn always_inside(offset: &Expr, width: usize, available: usize) -> bool {
    fold::largest(offset) + width <= BigUint::from(available)
}

/// Reads `width` bits from `offset`; bits beyond the end are zeros.
pub(crate) fn read(base: &Expr, width: usize, offset: &Expr) -> Expr {
    if let Some(low) = offset.as_literal() {
        let low = usize::try_from(low).unwrap_or(base.width).min(base.width);
        let available = width.min(base.width - low);
        return match available {
            0 => Expr::literal(0_u32, width),
            _ => fold::resize(&fold::select(base, low, available), width),
        };
    }
    match base.kind {
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
