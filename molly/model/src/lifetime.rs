//! How early a message may come into its place in a field: as soon as nobody looks at what is there any more.
//!
//! Where messages are put in place without a buffer, a rank says to the sender when it has room. This is the test that
//! says when: it goes through the rank's order once, and notes for the place of each message the last row that accesses
//! something in it. Places and what rows access are boxes here. A box can be larger than what is in it, and then room
//! is made later than it could be, but never earlier. Of very many different places those that come last have room when
//! they are waited for.

use crate::plan::{Message, Plan};
use crate::program::{Access, Expr, Program, Sizes};
use crate::tree::{Call, Row, Run};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;

/// Places that are looked at; a stencil has two for each neighbour, at the beginning and in each step.
const REGIONS: usize = 256;

/// From when on a message may come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Rows of [`Plan::tree`] that the rank has done before.
    pub after: usize,
    /// The message.
    pub message: Message,
    /// The field that has stored, before anything was exchanged, where the message belongs.
    pub storage: usize,
}

/// The least and the greatest index in each dimension.
type Span = (i64, i64);

/// The place of messages, and after how many rows it was accessed last in each storage.
struct Region {
    span: Vec<Span>,
    accessed: Vec<usize>,
}

struct Walk<'p> {
    plan: &'p Plan,
    regions: Vec<Region>,
    /// What messages cover, in the order in which they are sent and received.
    covered: VecDeque<Vec<Span>>,
    /// Whose storage each field has.
    holds: Vec<usize>,
    rows: usize,
    rooms: Vec<Room>,
    /// Of each line, when the last message had room.
    latest: HashMap<(usize, usize), usize>,
}

impl Plan {
    /// From when on each message that a rank receives may come into its place, the earliest first. Those of one channel
    /// from one rank are in their order.
    pub fn rooms(&self, program: &Program, rank: usize) -> Vec<Room> {
        let fields = program.fields.len();
        let mut walk = Walk {
            plan: self,
            regions: Vec::new(),
            covered: VecDeque::new(),
            holds: (0..fields).collect(),
            rows: 0,
            rooms: Vec::new(),
            latest: HashMap::new(),
        };
        let Ok(()) = self.messages(rank, |message| {
            walk.note(around(&self.elements(rank, &message)), &message, fields);
            Ok::<(), Infallible>(())
        });
        let accesses = program.bodies();
        let accesses: Vec<&[Access]> = accesses.iter().map(|body| &body.accesses[..]).collect();
        let mut grouped = vec![false; self.groups.len()];
        let Ok(()) = self.tree.visit(&mut self.slots(rank), &mut |row| {
            match row.call {
                Call::Body(body) => walk.body(accesses[body], row),
                Call::Exchange(number) => walk.exchange(number, &mut grouped),
                _ => self.messages_of(rank, row, &mut |message| {
                    walk.message(&message);
                    Ok::<(), Infallible>(())
                })?,
            }
            walk.rows += 1;
            Ok::<(), Infallible>(())
        });
        walk.rooms.sort_by_key(|room| room.after);
        walk.rooms
    }
}

impl Walk<'_> {
    /// Keeps what a message covers.
    fn note(&mut self, span: Vec<Span>, message: &Message, fields: usize) {
        if !message.is_send && self.region(&span).is_none() && self.regions.len() < REGIONS {
            self.regions.push(Region {
                span: span.clone(),
                accessed: vec![0; fields],
            });
        }
        self.covered.push_back(span);
    }

    fn region(&self, span: &[Span]) -> Option<&Region> {
        self.regions.iter().find(|region| region.span == span)
    }

    /// The row that comes accesses a part of a storage; all of it, if no part is named.
    fn access(&mut self, storage: usize, span: Option<&[Span]>) {
        let after = self.rows + 1;
        for region in &mut self.regions {
            if span.is_none_or(|span| meet(span, &region.span)) {
                region.accessed[storage] = after;
            }
        }
    }

    fn body(&mut self, accesses: &[Access], row: Row<'_>) {
        let mut loops: Vec<Span> = row.arguments.iter().map(|&at| (at, at)).collect();
        let mut widen = |argument: usize, by: i64| {
            if let Some(span) = loops.get_mut(argument) {
                *span = (span.0 + by.min(0), span.1 + by.max(0));
            }
        };
        widen(row.again.argument, row.again.step * (row.again.count - 1));
        widen(row.arguments.len().wrapping_sub(1), row.step * (row.count - 1));
        for access in accesses {
            let mut loops = loops.clone();
            let sizes = &self.plan.sizes;
            for bounds in &access.inner {
                let (from, to) = (
                    range(&bounds.from, &loops, sizes),
                    range(&bounds.to, &loops, sizes),
                );
                loops.push((from.0, to.1 - 1));
            }
            let indices = access.subscripts.iter();
            let span: Vec<Span> = indices.map(|index| range(index, &loops, sizes)).collect();
            self.access(self.holds[access.field], Some(&span));
        }
    }

    fn exchange(&mut self, number: usize, grouped: &mut [bool]) {
        let exchange = &self.plan.exchanges[number];
        let of_group = self
            .plan
            .groups
            .iter()
            .position(|group| group.fields.contains(&exchange.to));
        // Before the first exchange what is never copied gets into all fields of the group.
        if let Some(group) = of_group
            && !std::mem::replace(&mut grouped[group], true)
        {
            for &field in &self.plan.groups[group].fields {
                self.access(self.holds[field], None);
            }
        }
        self.holds.swap(exchange.from, exchange.to);
    }

    fn message(&mut self, message: &Message) {
        let storage = self.holds[self.plan.channels[message.channel].field];
        let span = self.covered.pop_front().unwrap_or_default();
        if !message.is_send {
            let free = self
                .region(&span)
                .map_or(self.rows, |region| region.accessed[storage]);
            let latest = self.latest.entry((message.channel, message.peer)).or_default();
            *latest = free.max(*latest);
            self.rooms.push(Room {
                after: *latest,
                message: message.clone(),
                storage,
            });
        }
        self.access(storage, Some(&span));
    }
}

/// The box around runs.
fn around(runs: &[Run]) -> Vec<Span> {
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
fn meet(one: &[Span], other: &[Span]) -> bool {
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
