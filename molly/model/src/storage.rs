//! Where elements are stored: bounding boxes of messages and rows, and pieces of memory.

use crate::plan::{Message, Plan};
use crate::program::{Expr, Operator, Program, Sizes};
use crate::tree::{Call, Run};

/// The least and the greatest index in a dimension.
pub(crate) type Span = (i64, i64);

/// The bounding box of runs.
pub(crate) fn bounding_box(runs: &[Run]) -> Vec<Span> {
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

/// Whether two boxes have an element in common. Those of fields with other dimensions have none: no storage is of both.
pub(crate) fn overlaps(one: &[Span], other: &[Span]) -> bool {
    let mut dims = one.iter().zip(other);
    one.len() == other.len() && dims.all(|(one, other)| one.0 <= other.1 && other.0 <= one.1)
}

/// The least and the greatest value that an expression can have, or something around them.
pub(crate) fn range(expr: &Expr, loops: &[Span], sizes: &Sizes) -> Span {
    let of = |expr: &Expr| range(expr, loops, sizes);
    match expr {
        Expr::Loop(number) => loops[*number],
        Expr::Number(_) | Expr::Param(_) | Expr::Len(..) => {
            let value = expr.value(&[], sizes).unwrap_or(0);
            (value, value)
        }
        Expr::Op(Operator::Add, a, b) => (of(a).0 + of(b).0, of(a).1 + of(b).1),
        Expr::Op(Operator::Sub, a, b) => (of(a).0 - of(b).1, of(a).1 - of(b).0),
        Expr::Op(Operator::Mul, a, b) => {
            let (a, b) = (of(a), of(b));
            let products = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
            products
                .into_iter()
                .fold((i64::MAX, i64::MIN), |(least, most), product| {
                    (least.min(product), most.max(product))
                })
        }
        // Divisors are positive and the same everywhere.
        Expr::Op(Operator::Div, a, b) => {
            let (a, (by, _)) = (of(a), of(b));
            (a.0.div_euclid(by), a.1.div_euclid(by))
        }
        Expr::Op(Operator::Rem, a, b) => {
            let (a, (by, _)) = (of(a), of(b));
            match a.0.div_euclid(by) == a.1.div_euclid(by) {
                true => (a.0.rem_euclid(by), a.1.rem_euclid(by)),
                false => (0, by - 1),
            }
        }
        Expr::Op(Operator::Min, a, b) => (of(a).0.min(of(b).0), of(a).1.min(of(b).1)),
        Expr::Op(Operator::Max, a, b) => (of(a).0.max(of(b).0), of(a).1.max(of(b).1)),
    }
}

// Pieces of memory in which messages are stored.

impl Plan {
    /// Pieces of a rank's memory in which the elements of one of its messages are stored.
    pub fn pieces(&self, rank: usize, message: &Message) -> usize {
        let field = self.channels[message.channel].field;
        let (spans, shape) = (self.storage(rank, field), &self.sizes.shapes[field]);
        let place = |at: &[i64]| {
            let dims = spans.iter().zip(shape).zip(at);
            dims.fold(0, |place, ((span, &size), at)| {
                place * span.len + (at - span.from).rem_euclid(size.max(1))
            })
        };
        let (mut pieces, mut end) = (0, None);
        for run in self.elements(rank, message) {
            let mut last = run.first.clone();
            if let Some(at) = last.last_mut() {
                *at += run.step * (run.count - 1);
            }
            let (first, last) = (place(&run.first), place(&last));
            let is_whole = last - first == run.count - 1;
            pieces += match is_whole {
                true => usize::from(end != Some(first)),
                false => run.count as usize,
            };
            end = Some(last + 1);
        }
        pieces
    }
}

// Where rows begin, so that their vectors can be whole cache lines.

/// Instances of a row that is worth it.
const LONG: i64 = 16;

/// Rows that are checked.
const ROWS: usize = 256;

impl Plan {
    /// The element that a rank writes first in the first long row of a field, or of one with which it exchanges what is
    /// stored.
    pub fn row_begin(&self, program: &Program, rank: usize, field: usize) -> Option<Vec<i64>> {
        let group = self.groups.iter().find(|group| group.fields.contains(&field));
        let is_stored =
            |other: usize| other == field || group.is_some_and(|group| group.fields.contains(&other));
        let writes = program.bodies().into_iter().map(|body| {
            let mut writes = body
                .accesses
                .iter()
                .filter(|access| access.is_write && access.inner.is_empty());
            writes.find(|access| is_stored(access.field))
        });
        let writes: Vec<_> = writes.collect();
        let mut rows = 0;
        let found = self.tree.visit(&mut self.slots(rank), &mut |row| {
            rows += 1;
            match row.call {
                Call::Body(body) if row.count >= LONG && row.step == 1 => match writes[body] {
                    Some(write) => {
                        let loops: Vec<(i64, i64)> = row.arguments.iter().map(|&at| (at, at)).collect();
                        let index = |index| range(index, &loops, &self.sizes).0;
                        Err(Some(write.subscripts.iter().map(index).collect()))
                    }
                    None => Ok(()),
                },
                _ if rows > ROWS => Err(None),
                _ => Ok(()),
            }
        });
        found.err().flatten()
    }
}
