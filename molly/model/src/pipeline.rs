//! Pipelined sweeps: loops in which one rank runs after the other, some rows at a time.
//!
//! A sweep in place, such as that of Gauss and Seidel, reads its own writes. The next rank needs the writes of a rank
//! in the same sweep, element by element. If the ranks run one after the other, each one waits for all of these values
//! before its part of the sweep, and sends all of its own after it. Tiles of rows make such parts short, so that ranks
//! work at the same time.
//!
//! Each loop decides for itself, the outermost one first; inside of a loop that does not qualify, its inner loops are
//! tried. So a sweep forwards and one backwards in the same function each have their turns. A loop qualifies if
//! - all pairs of ranks that send within the sweep agree on an order of ranks: by one coordinate up or down, then by
//!   another one. If steps are ordered by beginning of time first and by that order of ranks second, each message is
//!   sent before it is received, and no ranks wait in a circle;
//! - a value that comes earlier than in a serial run is the only version of its element that the rank reads in that
//!   part of the sweep, nothing overwrites it there, and the reader writes no version before it;
//! - no value that is sent with such values at the end of the sweep is overwritten until then;
//! - there are fewer messages.

use crate::Result;
use crate::expressions::{all, names};
use crate::flow::{Known, Level, Remote, coordinates};
use crate::nest::Nest;
use crate::program::{Node, Site, bodies};
use spinneret_isl::Set;
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::ops::Range;

/// Whether ranks take turns in sweeps that read what they write, where that makes fewer messages: after how many rows, that is,
/// values of the loop's variable, the next rank can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pipeline {
    /// They take no turns.
    Off,
    /// After this number of rows.
    Rows(NonZeroU32),
    /// After the number of rows that should take the least time, where a rank could execute this number of instances of
    /// a body instead of sending a message and receiving one.
    Chosen(NonZeroU32),
}

impl Default for Pipeline {
    /// Chosen for messages that cost as much as 2000 instances: 4 us between processes of one machine, at 2 ns for an instance.
    fn default() -> Self {
        const INSTANCES: NonZeroU32 = NonZeroU32::new(2000).unwrap();
        Self::Chosen(INSTANCES)
    }
}

impl From<Option<NonZeroU32>> for Pipeline {
    fn from(rows: Option<NonZeroU32>) -> Self {
        rows.map_or(Self::Off, Self::Rows)
    }
}

/// A loop in which ranks take turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turns {
    /// The fields of which values travel so.
    pub fields: Vec<usize>,
    /// After how many rows the next rank takes its turn.
    pub rows: NonZeroU32,
    /// Where the first body of the loop begins.
    pub site: Site,
}

/// The flows of a program, and of each what goes to other ranks.
pub(crate) type Flows = [(Known, Option<Remote>)];

/// A loop in which ranks can take turns.
#[derive(Debug, Clone)]
pub(crate) struct Sweep {
    /// The bodies in it.
    pub(crate) bodies: Range<usize>,
    /// Loops around it.
    pub(crate) number: usize,
    /// Values of its variable, or 1 if these depend on the loops around it.
    pub(crate) values: i64,
    /// Coordinates of time that a part has in common in which a rank takes one turn.
    pub(crate) depth: usize,
    /// The fields of which values travel so.
    pub(crate) fields: Vec<usize>,
}

/// The loops of a program in which ranks can take turns, and so send fewer messages. None is inside of another one.
pub(crate) fn sweeps(nest: &Nest<'_>, flows: &Flows) -> Result<Vec<Sweep>> {
    let mut found = Vec::new();
    find(nest, flows, &nest.program.nodes, (0, 0), &mut found)?;
    Ok(found)
}

/// The same in nodes inside of `number` loops, of which `first` is the first body.
fn find(
    nest: &Nest<'_>,
    flows: &Flows,
    nodes: &[Node],
    (number, mut first): (usize, usize),
    found: &mut Vec<Sweep>,
) -> Result<()> {
    for node in nodes {
        match node {
            Node::Loop(bounds, inner) => {
                let sweep = Sweep {
                    bodies: first..first + bodies(inner).len(),
                    number,
                    values: nest.values(bounds)?,
                    depth: 2 * number + 1,
                    fields: Vec::new(),
                };
                let lower = sweep.lower(flows);
                if !lower.is_empty() {
                    match sweep.fields(nest, flows, &lower)? {
                        Some(_) if !sweep.saves(nest, flows, &lower)? => {}
                        Some(fields) => found.push(Sweep { fields, ..sweep }),
                        None => find(nest, flows, inner, (number + 1, first), found)?,
                    }
                }
            }
            Node::If(_, then, otherwise) => {
                find(nest, flows, then, (number, first), found)?;
                find(
                    nest,
                    flows,
                    otherwise,
                    (number, first + bodies(then).len()),
                    found,
                )?;
            }
            Node::Body(_) => {}
        }
        first += bodies(std::slice::from_ref(node)).len();
    }
    Ok(())
}

impl Sweep {
    /// The flows from its bodies to its bodies that need a lower level to travel before a turn.
    fn lower(&self, flows: &Flows) -> Vec<usize> {
        let is_inside =
            |end: Option<(usize, usize)>| end.is_some_and(|(body, _)| self.bodies.contains(&body));
        let is_lower = |(known, remote): &(Known, Option<Remote>)| {
            let is_deeper = remote.as_ref().is_some_and(|remote| remote.depth > self.depth);
            is_inside(known.from) && is_inside(known.to) && is_deeper
        };
        let numbered = flows.iter().enumerate();
        numbered
            .filter(|(_, flow)| is_lower(flow))
            .map(|(at, _)| at)
            .collect()
    }

    /// Gives its flows the level of its turns; whether that is right.
    pub(crate) fn take_turns(&self, nest: &Nest<'_>, flows: &mut Flows) -> Result<bool> {
        let lower = self.lower(flows);
        if self.fields(nest, flows, &lower)?.is_none() {
            return Ok(false);
        }
        for at in lower {
            if let (known, Some(remote)) = &mut flows[at] {
                let level = Level::Time(self.depth - 1);
                (remote.level, remote.depth, known.level) = (level, self.depth, Some(level));
            }
        }
        Ok(true)
    }

    /// The fields of flows whose level has to be lower, if that is right.
    fn fields(&self, nest: &Nest<'_>, flows: &Flows, lower: &[usize]) -> Result<Option<Vec<usize>>> {
        if !self.is_ordered(nest, flows, lower)? {
            return Ok(None);
        }
        let mut fields: Vec<usize> = lower.iter().map(|at| flows[*at].0.field).collect();
        fields.dedup();
        for &field in &fields {
            let part = Part {
                nest,
                sweep: self,
                field,
            };
            if !part.is_right(flows, lower)? {
                return Ok(None);
            }
        }
        Ok(Some(fields))
    }

    /// Whether ranks have an order in which they get values of the same part only from ranks before them.
    fn is_ordered(&self, nest: &Nest<'_>, flows: &Flows, lower: &[usize]) -> Result<bool> {
        let mut directions: Vec<&[Ordering]> = Vec::new();
        for &at in lower {
            let (Known { field, .. }, Some(remote)) = &flows[at] else {
                continue;
            };
            let part = Part {
                nest,
                sweep: self,
                field: *field,
            };
            for (direction, pairs) in &remote.pairs {
                if directions.contains(&&direction[..])
                    || pairs.clone().intersect(part.within()?)?.is_empty()?
                {
                    continue;
                }
                directions.push(direction);
                if !has_order(&directions) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether turns make fewer messages: some rank sends more than one message of a flow to another one in a part.
    fn saves(&self, nest: &Nest<'_>, flows: &Flows, lower: &[usize]) -> Result<bool> {
        for &at in lower {
            let (known, Some(remote)) = &flows[at] else {
                continue;
            };
            let [q, u, p, k, e] = coordinates(nest, known.field);
            let space = [&q[..], &u, &p, &k, &e].concat().join(", ");
            let part = [&q[..], &p, &k[..self.depth]].concat().join(", ");
            let messages = format!(
                "{{ [{space}] -> [[{part}] -> [{}]] }}",
                k[..remote.depth].join(", ")
            );
            for pairs in remote.pairs.values() {
                let messages = pairs.clone().apply(nest.relation(&messages)?)?.unwrap()?;
                if !messages.is_single_valued()? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// How many rows are best, in time counted in instances.
    ///
    /// In a sweep over R rows of w instances, in tiles of k rows, a rank has the messages of R / k tiles. The next
    /// sweep begins when all ranks have ended this one. The last rank ends after as many tiles of k w instances as
    /// there are ranks before it, in addition to the rows. The sum is least where both are the same.
    pub(crate) fn best_rows(&self, nest: &Nest<'_>, message: NonZeroU32) -> NonZeroU32 {
        let (mut rows, mut instances, mut ahead) = (1, 0, 0);
        for body in self.bodies.clone() {
            let Some(anchor) = nest.anchor(body) else { continue };
            let anchor = &nest.statements[body].body.accesses[anchor];
            // A rank has its block of the rows, or all of them if these are not those of the field.
            let (mut own_rows, mut own_instances, mut own_ahead) = (self.values, 1, 0);
            for (dim, subscript) in anchor.subscripts.iter().enumerate() {
                let ranks = nest.geometry.extents().get(dim).copied().unwrap_or(1);
                let block = (nest.shape(anchor.field)[dim] + ranks - 1) / ranks;
                if subscript.uses(&|depth| depth == self.number) {
                    own_rows = block;
                } else {
                    own_ahead += ranks - 1;
                    if subscript.uses(&|depth| depth > self.number) {
                        own_instances *= block;
                    }
                }
            }
            instances += own_instances;
            (rows, ahead) = (rows.max(own_rows), ahead.max(own_ahead));
        }
        let messages = rows as f64 * f64::from(message.get());
        let best = (messages / (ahead as f64 * instances as f64).max(1.0)).sqrt();
        // Tiled of the same height.
        let tiles = ((rows as f64 / best).round() as i64).clamp(1, rows);
        let rows = ((rows + tiles - 1) / tiles).clamp(1, i64::from(u32::MAX));
        NonZeroU32::new(rows as u32).unwrap_or(NonZeroU32::MIN)
    }
}

/// Whether ranks have an order in which all of these directions go forwards: some coordinate, up or down, and then another one.
fn has_order(directions: &[&[Ordering]]) -> bool {
    let mut left = directions.to_vec();
    while let Some(first) = left.first() {
        let is_next = |dim: &usize| {
            let goes = |sign: Ordering| left.iter().any(|direction| direction[*dim] == sign);
            goes(Ordering::Less) != goes(Ordering::Greater)
        };
        let Some(dim) = (0..first.len()).find(is_next) else {
            return false;
        };
        left.retain(|direction| direction[dim].is_eq());
    }
    true
}

/// A field in the parts of a sweep in each of which a rank takes one turn.
#[derive(Debug)]
struct Part<'a> {
    nest: &'a Nest<'a>,
    sweep: &'a Sweep,
    field: usize,
}

impl Part<'_> {
    fn space(&self) -> String {
        coordinates(self.nest, self.field).concat().join(", ")
    }

    fn empty(&self) -> Result<Set> {
        self.nest.set(&format!("{{ [{}] : false }}", self.space()))
    }

    /// Values that are written and read in one part.
    fn within(&self) -> Result<Set> {
        let [_, u, _, k, _] = coordinates(self.nest, self.field);
        let same = same(&u[..self.sweep.depth], &k);
        self.nest.set(&format!("{{ [{}] : {same} }}", self.space()))
    }

    /// Whether values may travel before a turn.
    fn is_right(&self, flows: &Flows, lower: &[usize]) -> Result<bool> {
        let (nest, depth) = (self.nest, self.sweep.depth);
        let [q, _, p, k, e] = coordinates(nest, self.field);
        // Those that come early; those in other messages of that level; all others that are read.
        let (mut early, mut late, mut others) = (self.empty()?, self.empty()?, self.empty()?);
        let is_local = nest.set(&format!("{{ [{}] : {} }}", self.space(), same(&q, &p)))?;
        for (at, (known, remote)) in flows.iter().enumerate() {
            let is_read = known
                .to
                .is_some_and(|(body, _)| self.sweep.bodies.contains(&body));
            if known.field != self.field || !is_read {
                continue;
            }
            let mut values = known.values(nest)?;
            let is_lower = lower.contains(&at);
            if is_lower {
                let within = values
                    .clone()
                    .subtract(is_local.clone())?
                    .intersect(self.within()?)?;
                values = values.subtract(within.clone())?;
                early = early.union(within)?;
            }
            if is_lower || remote.as_ref().is_some_and(|remote| remote.depth == depth) {
                late = late.union(values.clone().subtract(is_local.clone())?)?;
            }
            others = others.union(values)?;
        }
        let read = [&p[..], &k[..depth], &e].concat().join(", ");
        let read = nest.relation(&format!("{{ [{}] -> [{read}] }}", self.space()))?;
        let both = early
            .clone()
            .apply(read.clone())?
            .intersect(others.apply(read)?)?;
        Ok(both.is_empty()? && self.is_only_write(&early)? && self.is_kept(early, late)?)
    }

    /// Whether no such value is overwritten in its part, and no version before it is written there by the rank that reads it.
    fn is_only_write(&self, early: &Set) -> Result<bool> {
        let (nest, [_, u, p, _, e]) = (self.nest, coordinates(self.nest, self.field));
        let (w, space) = (names("w", u.len()), self.space());
        let (written, rewritten) = ([&u[..], &e].concat().join(", "), [&w[..], &e].concat().join(", "));
        let (same, u, w) = (same(&u[..self.sweep.depth], &w), u.join(", "), w.join(", "));
        let value = nest.relation(&format!("{{ [{space}] -> [{written}] }}"))?;
        let later = format!("{{ [{written}] -> [{rewritten}] : {same} and {u} << {w} }}");
        let later = early.clone().apply(value)?.apply(nest.relation(&later)?)?;
        let p = p.join(", ");
        let sooner = format!("{{ [{space}] -> [{p}, {rewritten}] : {same} and {w} << {u} }}");
        let sooner = early.clone().apply(nest.relation(&sooner)?)?;
        let anyone = nest.relation(&format!("{{ [{p}, {rewritten}] -> [{rewritten}] }}"))?;
        for written in self.writes()? {
            if !written.clone().intersect(sooner.clone())?.is_empty()?
                || !written
                    .apply(anyone.clone())?
                    .intersect(later.clone())?
                    .is_empty()?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether what was written before a part, and is sent after it with such values, is not overwritten by the sender
    /// until then.
    fn is_kept(&self, early: Set, late: Set) -> Result<bool> {
        let (nest, [q, _, p, k, e]) = (self.nest, coordinates(self.nest, self.field));
        if late.is_empty()? {
            return Ok(true);
        }
        let (space, w) = (self.space(), names("w", k.len()));
        let message = [&q[..], &p, &k[..self.sweep.depth]].concat().join(", ");
        let messages = early.apply(nest.relation(&format!("{{ [{space}] -> [{message}] }}"))?)?;
        let late =
            late.intersect(messages.apply(nest.relation(&format!("{{ [{message}] -> [{space}] }}"))?)?)?;
        let rewritten = [&q[..], &w, &e].concat().join(", ");
        let same = same(&k[..self.sweep.depth], &w);
        let rewritten = nest.relation(&format!("{{ [{space}] -> [{rewritten}] : {same} }}"))?;
        let rewritten = late.apply(rewritten)?;
        for written in self.writes()? {
            if !written.intersect(rewritten.clone())?.is_empty()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The writes of the sweep's bodies to the field: the rank, the time, the element.
    fn writes(&self) -> Result<Vec<Set>> {
        let nest = self.nest;
        let of_sweep = nest.accesses().filter(|(body, _, access)| {
            self.sweep.bodies.contains(body) && access.is_write && access.field == self.field
        });
        of_sweep
            .map(|(body, at, _)| {
                let written = nest.access(body, at)?.apply_domain(nest.place(body, at)?)?;
                Ok(written.wrap()?.flatten()?)
            })
            .collect()
    }
}

/// The condition that coordinates are the same, as many as the first has.
fn same(a: &[String], b: &[String]) -> String {
    let same: Vec<String> = a.iter().zip(b).map(|(a, b)| format!("{a} = {b}")).collect();
    all(&same)
}

#[cfg(test)]
mod tests {
    use super::has_order;
    use std::cmp::Ordering::{self, Equal as E, Greater as G, Less as L};

    #[test]
    fn directions_have_an_order_of_ranks_or_are_a_circle() {
        let order = |directions: &[&[Ordering]]| has_order(directions);
        assert!(order(&[&[G, E], &[E, G], &[G, L]]));
        assert!(order(&[&[L, E], &[E, G]]) && order(&[&[L, E], &[E, L], &[L, G]]));
        // By the second coordinate first.
        assert!(order(&[&[L, G], &[G, G], &[L, E]]));
        assert!(!order(&[&[G], &[L]]) && !order(&[&[G, E], &[E, L], &[L, G]]));
        assert!(!order(&[&[G, L], &[L, G]]) && order(&[]));
    }
}
