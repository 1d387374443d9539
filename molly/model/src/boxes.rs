//! Boxes around what messages cover and what rows access.

use crate::program::{Expr, Sizes};
use crate::tree::Run;

/// The least and the greatest index in a dimension.
pub(crate) type Span = (i64, i64);

/// The box around runs.
pub(crate) fn around(runs: &[Run]) -> Vec<Span> {
    let mut span: Vec<Span> = Vec::new();
    for run in runs {
        let last = run.first.len().wrapping_sub(1);
        let far = |dim: usize, at: i64| {
            if dim == last {
                at + run.step * (run.count - 1)
            } else {
                at
            }
        };
        let ends = run.first.iter().enumerate().map(|(dim, &at)| (at, far(dim, at)));
        let ends = ends.map(|(a, b)| (a.min(b), a.max(b)));
        match span.is_empty() {
            true => span = ends.collect(),
            false => {
                for (all, (least, greatest)) in span.iter_mut().zip(ends) {
                    *all = (all.0.min(least), all.1.max(greatest));
                }
            }
        }
    }
    span
}

/// Whether boxes have an element in common. Those of fields with other dimensions have none: no storage is of both.
pub(crate) fn meet(one: &[Span], other: &[Span]) -> bool {
    let mut dims = one.iter().zip(other);
    one.len() == other.len() && dims.all(|(one, other)| one.0 <= other.1 && other.0 <= one.1)
}

/// The least and the greatest value that an expression can have, or something around them.
pub(crate) fn range(expr: &Expr, loops: &[Span], sizes: &Sizes) -> Span {
    let of = |expr: &Expr| range(expr, loops, sizes);
    match expr {
        Expr::Number(number) => (*number, *number),
        Expr::Loop(number) => loops[*number],
        Expr::Param(number) => (sizes.params[*number], sizes.params[*number]),
        Expr::Len(field, dim) => {
            let size = sizes.shapes[*field][*dim];
            (size, size)
        }
        Expr::Add(a, b) => (of(a).0 + of(b).0, of(a).1 + of(b).1),
        Expr::Sub(a, b) => (of(a).0 - of(b).1, of(a).1 - of(b).0),
        Expr::Mul(a, b) => {
            let (a, b) = (of(a), of(b));
            let products = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
            products
                .into_iter()
                .fold((i64::MAX, i64::MIN), |(least, most), product| {
                    (least.min(product), most.max(product))
                })
        }
        // Divisors are positive and the same everywhere.
        Expr::Div(a, b) => {
            let (a, (by, _)) = (of(a), of(b));
            (a.0.div_euclid(by), a.1.div_euclid(by))
        }
        Expr::Rem(a, b) => {
            let (a, (by, _)) = (of(a), of(b));
            match a.0.div_euclid(by) == a.1.div_euclid(by) {
                true => (a.0.rem_euclid(by), a.1.rem_euclid(by)),
                false => (0, by - 1),
            }
        }
        Expr::Min(a, b) => (of(a).0.min(of(b).0), of(a).1.min(of(b).1)),
        Expr::Max(a, b) => (of(a).0.max(of(b).0), of(a).1.max(of(b).1)),
    }
}
