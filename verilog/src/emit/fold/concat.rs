//! Concatenations, written as such or as an `or` of shifted values.

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

/// The concatenation that an `or` of two zero-padded values stands for.
///
/// Only concatenations with zeros in them take part, so that an `or` of plain signals stays one.
pub(crate) fn join_disjoint(a: &Expr, b: &Expr) -> Option<Expr> {
    let mut high_first: Vec<(usize, Expr)> = Vec::new();
    let (a_parts, b_parts) = (parts_of(a)?, parts_of(b)?);
    let a_literal = a.as_literal().is_some();
    let b_literal = b.as_literal().is_some();
    if !matches!(a.kind, Kind::Concat(_)) && !matches!(b.kind, Kind::Concat(_)) {
        return None;
    }
    for (parts, literal, other) in [(&a_parts, a_literal, &b_parts), (&b_parts, b_literal, &a_parts)] {
        for (low, part) in parts {
            if part.is_zero() {
                continue;
            }
            let pieces = if literal {
                split_literal(*low, part, other)
            } else {
                vec![(*low, part.clone())]
            };
            for (low, piece) in pieces {
                if piece.is_zero() {
                    continue;
                }
                if !covered_by_zeros(other, low, piece.width) {
                    return None;
                }
                high_first.push((low, piece));
            }
        }
    }
    high_first.sort_by_key(|(low, _)| std::cmp::Reverse(*low));
    Some(fill_with_zeros(high_first, a.width))
}

/// The parts of a concatenation or a literal with the position of their lowest bit.
fn parts_of(value: &Expr) -> Option<Vec<(usize, Expr)>> {
    let parts = match &value.kind {
        Kind::Concat(parts) => parts.as_slice(),
        Kind::Literal(_) => std::slice::from_ref(value),
        _ => return None,
    };
    let mut low = value.width;
    Some(
        parts
            .iter()
            .map(|part| {
                low -= part.width;
                (low, part.clone())
            })
            .collect(),
    )
}

/// Cuts a literal at the borders of the other value's parts.
fn split_literal(low: usize, literal: &Expr, other: &[(usize, Expr)]) -> Vec<(usize, Expr)> {
    let overlaps = other.iter().filter_map(|(start, part)| {
        let from = low.max(*start);
        let to = (low + literal.width).min(start + part.width);
        (from < to).then(|| (from, select(literal, from - low, to - from)))
    });
    overlaps.collect()
}

fn covered_by_zeros(parts: &[(usize, Expr)], low: usize, width: usize) -> bool {
    parts.iter().all(|(start, part)| {
        let from = low.max(*start);
        let to = (low + width).min(start + part.width);
        from >= to || part.as_literal().is_some() && select(part, from - start, to - from).is_zero()
    })
}

fn fill_with_zeros(high_first: Vec<(usize, Expr)>, width: usize) -> Expr {
    let mut parts = Vec::new();
    let mut top = width;
    for (low, part) in high_first {
        parts.push(Expr::literal(0_u32, top - low - part.width));
        top = low;
        parts.push(part);
    }
    parts.push(Expr::literal(0_u32, top));
    concat(parts)
}
