//! Concatenations.

use super::super::ir::{Expr, Kind};
use super::{repeat, select};

/// Joins parts, most significant first.
pub(crate) fn concat(parts: Vec<Expr>) -> Expr {
    let mut joined: Vec<Expr> = Vec::new();
    for part in parts {
        match part.kind {
            Kind::Concat(inner) => inner.into_iter().for_each(|part| push_part(&mut joined, part)),
            _ => push_part(&mut joined, part),
        }
    }
    let width = joined.iter().map(|part| part.width).sum();
    match joined.len() {
        1 => joined.remove(0),
        _ => Expr {
            kind: Kind::Concat(joined),
            width,
        },
    }
}

fn push_part(joined: &mut Vec<Expr>, part: Expr) {
    if part.width == 0 {
        return;
    }
    match joined.last().and_then(|last| merge(last, &part)) {
        Some(merged) => {
            joined.pop();
            joined.push(merged);
        }
        None => joined.push(part),
    }
}

/// One expression for two neighbours, if there is one.
fn merge(high: &Expr, low: &Expr) -> Option<Expr> {
    let width = high.width + low.width;
    match (&high.kind, &low.kind) {
        (Kind::Literal(a), Kind::Literal(b)) => Some(Expr::literal((a << low.width) | b, width)),
        (Kind::Select(a, a_low), Kind::Select(b, b_low)) if a == b && *a_low == b_low + low.width => {
            Some(select(a, *b_low, width))
        }
        (Kind::Repeat(a), Kind::Repeat(b)) if a == b => Some(repeat(a, width)),
        _ => None,
    }
}
