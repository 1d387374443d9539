//! Sweeps one rank after the other: values of a sweep that travel together within it.
//!
//! In place, a sweep such as that of Gauss and Seidel reads what it has written, and what one rank writes, the next one needs in
//! the same sweep, element by element. If in all such pairs the writer stands before the reader in the order of the ranks'
//! coordinates, each rank can wait for all of it before its part of the sweep, and send all of its own after it. Order by
//! beginning of time first and rank second then has each message sent before it is received, so nobody waits in a circle.
//!
//! A value comes earlier than in a serial run then. That is right if the rank reads no other version of the same element in that
//! part of the sweep. And each rank does its part of the sweep after the one before it: sweeps take turns, not rows.

use crate::error::Result;
use crate::flow::{Known, Level, Remote, coordinates};
use crate::nest::Nest;
use crate::text::all;
use spinneret_isl::Set;
use std::cmp::Ordering;

/// Gives flows a lower level where that is right; the fields of these flows.
pub(crate) fn pipelined(nest: &Nest<'_>, flows: &mut [(Known, Option<Remote>)]) -> Result<Vec<usize>> {
    let mut fields = Vec::new();
    for flows in flows.chunk_by_mut(|(one, _), (other, _)| one.field == other.field) {
        let field = flows[0].0.field;
        if of_field(nest, field, flows)? {
            fields.push(field);
        }
    }
    Ok(fields)
}

/// Whether some flow of a field got a lower level.
fn of_field(nest: &Nest<'_>, field: usize, flows: &mut [(Known, Option<Remote>)]) -> Result<bool> {
    let mut is_found = false;
    let deepest = flows.iter().filter_map(|(_, remote)| remote.as_ref());
    let deepest = deepest.map(|remote| remote.depth).max().unwrap_or(0);
    // A level of 0 would be the whole program.
    for depth in 2..deepest {
        let sweep = Sweep { nest, field, depth };
        let mut lower = Vec::new();
        for (at, (_, remote)) in flows.iter().enumerate() {
            if let Some(remote) = remote
                && remote.depth > depth
                && sweep.is_ordered(remote)?
            {
                lower.push(at);
            }
        }
        if lower.is_empty() || !sweep.is_only_version(flows, &lower)? {
            continue;
        }
        is_found = true;
        for at in lower {
            let (known, remote) = &mut flows[at];
            known.level = Some(Level::Time(depth - 1));
            if let Some(remote) = remote {
                (remote.level, remote.depth) = (Level::Time(depth - 1), depth);
            }
        }
    }
    Ok(is_found)
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
        let same: Vec<String> = u
            .iter()
            .zip(&k)
            .take(self.depth)
            .map(|(u, k)| format!("{u} = {k}"))
            .collect();
        self.nest
            .set(&format!("{{ [{}] : {} }}", self.space(), all(&same)))
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
        let is_local: Vec<String> = q.iter().zip(&p).map(|(q, p)| format!("{q} = {p}")).collect();
        let is_local = self
            .nest
            .set(&format!("{{ [{}] : {} }}", self.space(), all(&is_local)))?;
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
        let both = early.apply(read.clone())?.intersect(others.apply(read)?)?;
        Ok(both.is_empty()?)
    }
}
