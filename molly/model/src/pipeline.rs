//! Sweeps one rank after the other: values of a sweep that travel together within it.
//!
//! In place, a sweep such as that of Gauss and Seidel reads what it has written, and what one rank writes, the next one needs in
//! the same sweep, element by element. If in all such pairs the writer stands before the reader in the order of the ranks'
//! coordinates, each rank can wait for all of it before its part of the sweep, and send all of its own after it. No message is
//! left within a sweep then, whatever its field. So order by beginning of time first and rank second has each message sent before
//! it is received, and nobody waits in a circle.
//!
//! A value comes earlier than in a serial run then. That is right if the rank reads no other version of the same element in that
//! part of the sweep, and the writer makes none after it. Strips of rows make such parts short, so that ranks work at the same time.

use crate::error::Result;
use crate::flow::{Known, Level, Remote, coordinates};
use crate::nest::Nest;
use crate::text::{all, names};
use spinneret_isl::Set;
use std::cmp::Ordering;
use std::num::NonZeroU32;

/// Whether ranks take turns in a sweep that reads what it writes, where that makes fewer messages: after how many rows, that is,
/// values of the loop's variable, the next one can begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Pipeline {
    /// They take no turns.
    #[default]
    Off,
    /// After so many.
    Rows(NonZeroU32),
    /// After as many as should take the least time, where a rank could execute so many instances of a body instead of sending a
    /// message and receiving one.
    Chosen(NonZeroU32),
}

impl From<Option<NonZeroU32>> for Pipeline {
    fn from(rows: Option<NonZeroU32>) -> Self {
        rows.map_or(Self::Off, Self::Rows)
    }
}

/// Turns that ranks take.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns {
    /// Coordinates of time that a part of a sweep has in common.
    pub(crate) depth: usize,
    /// The fields of which values travel so.
    pub(crate) fields: Vec<usize>,
}

/// How many rows are best, in time counted in instances.
///
/// In a sweep over R rows of w instances, in strips of k rows, a rank has the messages of R / k strips. And the next sweep begins
/// when all have ended this one, the last rank after as many strips of k w instances as ranks stand before it beside the rows. The
/// sum is least where both are the same.
pub(crate) fn best_rows(nest: &Nest<'_>, turns: &Turns, message: NonZeroU32) -> NonZeroU32 {
    let number = turns.depth / 2;
    let found = nest.statements.iter().enumerate().find_map(|(body, statement)| {
        let anchor = &statement.body.accesses[nest.anchor(body)?];
        let is_swept = statement.depth > number && turns.fields.contains(&anchor.field);
        is_swept.then_some(anchor)
    });
    let Some(anchor) = found else {
        return NonZeroU32::MIN;
    };
    let (mut rows, mut instances, mut ahead) = (1, 1, 0);
    for (dim, subscript) in anchor.subscripts.iter().enumerate() {
        let ranks = nest.geometry.extents().get(dim).copied().unwrap_or(1);
        let block = (nest.shape(anchor.field)[dim] + ranks - 1) / ranks;
        if subscript.uses(&|depth| depth == number) {
            rows = block;
        } else {
            ahead += ranks - 1;
            if subscript.uses(&|depth| depth > number) {
                instances *= block;
            }
        }
    }
    let messages = rows as f64 * f64::from(message.get());
    let best = (messages / (ahead * instances).max(1) as f64).sqrt();
    let rows = (best.round() as i64).clamp(1, rows.clamp(1, i64::from(u32::MAX)));
    NonZeroU32::new(rows as u32).unwrap_or(NonZeroU32::MIN)
}

/// Gives flows a lower level, of at least `least` coordinates of time, if that is right for all that would have a higher one.
pub(crate) fn pipelined(
    nest: &Nest<'_>,
    flows: &mut [(Known, Option<Remote>)],
    least: usize,
) -> Result<Option<Turns>> {
    let depths = flows.iter().filter_map(|(_, remote)| remote.as_ref());
    let deepest = depths.map(|remote| remote.depth).max().unwrap_or(0);
    for depth in least..deepest {
        let Some(fields) = lowered(nest, flows, depth)? else {
            continue;
        };
        for (known, remote) in flows {
            if let Some(remote) = remote
                && remote.depth > depth
            {
                let level = Level::Time(depth - 1);
                (remote.level, remote.depth, known.level) = (level, depth, Some(level));
            }
        }
        return Ok(Some(Turns { depth, fields }));
    }
    Ok(None)
}

/// The fields of flows whose level is higher, if it can be lower.
fn lowered(nest: &Nest<'_>, flows: &[(Known, Option<Remote>)], depth: usize) -> Result<Option<Vec<usize>>> {
    let mut fields = Vec::new();
    for flows in flows.chunk_by(|(one, _), (other, _)| one.field == other.field) {
        let field = flows[0].0.field;
        let sweep = Sweep { nest, field, depth };
        let mut lower = Vec::new();
        for (at, (_, remote)) in flows.iter().enumerate() {
            let Some(remote) = remote else { continue };
            if !sweep.is_ordered(remote)? {
                return Ok(None);
            }
            if remote.depth > depth {
                lower.push(at);
            }
        }
        if !lower.is_empty() {
            if !sweep.is_only_version(flows, &lower)? {
                return Ok(None);
            }
            fields.push(field);
        }
    }
    Ok(Some(fields))
}

/// Times that begin with the same coordinates, so many of them.
#[derive(Debug)]
struct Sweep<'a> {
    nest: &'a Nest<'a>,
    field: usize,
    depth: usize,
}

impl Sweep<'_> {
    fn space(&self) -> String {
        coordinates(self.nest, self.field).concat().join(", ")
    }

    /// Values that are written and read in one sweep.
    fn within(&self) -> Result<Set> {
        let [_, u, _, k, _] = coordinates(self.nest, self.field);
        let same = same(&u[..self.depth], &k);
        self.nest.set(&format!("{{ [{}] : {same} }}", self.space()))
    }

    /// Whether ranks get values of the same sweep only from ranks before them.
    fn is_ordered(&self, remote: &Remote) -> Result<bool> {
        for (direction, pairs) in &remote.pairs {
            // The difference of the first coordinate that differs, reader less writer.
            let is_forward = direction.iter().find(|one| one.is_ne()) == Some(&Ordering::Greater);
            if !is_forward && !pairs.clone().intersect(self.within()?)?.is_empty()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether of what is to come before a sweep each rank reads no other version in it.
    fn is_only_version(&self, flows: &[(Known, Option<Remote>)], lower: &[usize]) -> Result<bool> {
        let [q, _, p, k, e] = coordinates(self.nest, self.field);
        let read = [&p[..], &k[..self.depth], &e].concat().join(", ");
        let read = self
            .nest
            .relation(&format!("{{ [{}] -> [{read}] }}", self.space()))?;
        let empty = Set::parse(&format!("{{ [{}] : false }}", self.space()))?;
        let (mut early, mut others) = (empty.clone(), empty);
        let is_local = format!("{{ [{}] : {} }}", self.space(), same(&q, &p));
        let is_local = self.nest.set(&is_local)?;
        for (at, (known, _)) in flows.iter().enumerate() {
            // What is read at the end is read after all sweeps.
            if known.to.is_none() {
                continue;
            }
            let values = known.values(self.nest)?;
            let within = values
                .clone()
                .subtract(is_local.clone())?
                .intersect(self.within()?)?;
            match lower.contains(&at) {
                true => {
                    others = others.union(values.subtract(within.clone())?)?;
                    early = early.union(within)?;
                }
                false => others = others.union(values)?,
            }
        }
        let both = early
            .clone()
            .apply(read.clone())?
            .intersect(others.apply(read)?)?;
        Ok(both.is_empty()? && self.is_last_version(early)?)
    }

    /// Whether no such value is overwritten in the sweep that it is of: it is sent after that.
    fn is_last_version(&self, early: Set) -> Result<bool> {
        let (nest, [_, u, _, _, e]) = (self.nest, coordinates(self.nest, self.field));
        let w = names("w", u.len());
        let written = [&u[..], &e].concat().join(", ");
        let rewritten = [&w[..], &e].concat().join(", ");
        let later = format!(
            "{{ [{written}] -> [{rewritten}] : {} and {} << {} }}",
            same(&u[..self.depth], &w),
            u.join(", "),
            w.join(", ")
        );
        let space = self.space();
        let early = early.apply(nest.relation(&format!("{{ [{space}] -> [{written}] }}"))?)?;
        let later = early.apply(nest.relation(&later)?)?;
        let placed = [&names("p", nest.geometry.extents().len())[..], &w, &e].concat();
        let timed = nest.relation(&format!("{{ [{}] -> [{rewritten}] }}", placed.join(", ")))?;
        for (body, at, access) in nest.accesses() {
            if access.is_write && access.field == self.field {
                let written = nest.access(body, at)?.apply_domain(nest.place(body, at)?)?;
                let written = written.wrap()?.flatten()?.apply(timed.clone())?;
                if !written.intersect(later.clone())?.is_empty()? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// The condition that coordinates are the same, as many as the first has.
fn same(a: &[String], b: &[String]) -> String {
    let same: Vec<String> = a.iter().zip(b).map(|(a, b)| format!("{a} = {b}")).collect();
    all(&same)
}
