//! Data flow between ranks, and how values can be combined into messages.

use crate::Result;
use crate::expressions::{all, names};
use crate::nest::Nest;
use spinneret_isl::{Map, Set, UnionMap, last_writers};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// When the values of a flow travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Before everything: what the field was when the program began.
    Initial,
    /// For each value of the first coordinates of time, up to and with this one: before the first instance that has it.
    Time(usize),
    /// After everything, to the element's home.
    Final,
}

/// The values that one access reads and one access wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The field.
    pub field: usize,
    /// Body and access that wrote; nothing for what was there at the beginning.
    pub from: Option<(usize, usize)>,
    /// Body and access that read; nothing for what is there at the end.
    pub to: Option<(usize, usize)>,
    /// When it travels; nothing if no value goes to another rank.
    pub level: Option<Level>,
}

/// Values that go to other ranks: `[q, u, p, k, e]` is rank q's value of element e, made at a time that begins with u, for
/// rank p where time begins with k. `depth` is the length that their level needs, and after [`shorten`] that of u and of k.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) field: usize,
    pub(crate) level: Level,
    pub(crate) depth: usize,
    pub(crate) pairs: Directions,
}

/// Pairs of ranks apart by the direction from one to the other: how the coordinates of both compare. In one direction isl finds
/// few simple parts; of all together it makes fewer parts, whose conditions cut across ranks and dimensions.
pub(crate) type Directions = BTreeMap<Vec<Ordering>, Set>;

/// The end of a flow: an access, or the beginning or end of the program.
type End = Option<(usize, usize)>;

/// A flow with its values: `[q, u, p, k, e]` is element e, made by rank q at time u, and read by rank p at time k.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) field: usize,
    pub(crate) from: End,
    pub(crate) to: End,
    pub(crate) level: Option<Level>,
    /// Writers to readers and elements.
    flow: Map,
}

impl Known {
    pub(crate) fn flow(&self) -> Flow {
        let &Self {
            field,
            from,
            to,
            level,
            ..
        } = self;
        Flow {
            field,
            from,
            to,
            level,
        }
    }

    pub(crate) fn values(&self, nest: &Nest<'_>) -> Result<Set> {
        values(nest, self.field, self.from, self.to, self.flow.clone())
    }

    /// Its elements, `[e]`.
    pub(crate) fn elements(&self, nest: &Nest<'_>) -> Result<Set> {
        let (grid, time) = (nest.geometry.extents().len(), nest.time_dims());
        let e = names("e", nest.shape(self.field).len());
        let whole = [
            names("q", grid),
            names("u", time),
            names("p", grid),
            names("k", time),
            e.clone(),
        ]
        .concat();
        let map = format!("{{ [{}] -> [{}] }}", whole.join(", "), e.join(", "));
        Ok(self.values(nest)?.apply(nest.relation(&map)?)?)
    }

    /// Beginnings of the times of values of these elements, `[u, k]`.
    pub(crate) fn times(&self, nest: &Nest<'_>, depth: usize, elements: &Set) -> Result<Set> {
        let (grid, time, dims) = (
            nest.geometry.extents().len(),
            nest.time_dims(),
            nest.shape(self.field).len(),
        );
        let (u, k, e) = (names("u", time), names("k", time), names("e", dims));
        let whole = [&names("q", grid)[..], &u, &names("p", grid), &k, &e]
            .concat()
            .join(", ");
        let times = [&u[..depth], &k[..depth]].concat().join(", ");
        let of_elements = format!("{{ [{}] -> [{whole}] }}", e.join(", "));
        let of_elements = elements.clone().apply(nest.relation(&of_elements)?)?;
        let values = self.values(nest)?.intersect(of_elements)?;
        Ok(values.apply(nest.relation(&format!("{{ [{whole}] -> [{times}] }}"))?)?)
    }
}

/// All flows of a program, and of each what goes to other ranks.
pub(crate) fn flows(nest: &Nest<'_>) -> Result<Vec<(Known, Option<Remote>)>> {
    let mut all = Vec::new();
    for field in 0..nest.program.fields.len() {
        let accesses: Vec<_> = nest
            .accesses()
            .filter(|(_, _, access)| access.field == field)
            .collect();
        if accesses.is_empty() {
            continue;
        }
        let (mut reads, mut order) = nest.everything("L", field, nest.end())?;
        let mut writes = UnionMap::parse("{ }")?;
        for &(body, at, access) in &accesses {
            order = order.union(nest.order(body, at)?)?;
            match access.is_write {
                true => writes = writes.union(nest.access(body, at)?.into())?,
                false => reads = reads.union(nest.access(body, at)?.into())?,
            }
        }
        let (written, unwritten) = last_writers(reads, writes, order)?;
        let mut flows = written.maps()?;
        // A value without a writer is the initial one.
        let (element, dims) = (
            nest.element(field),
            names("e", nest.shape(field).len()).join(", "),
        );
        let itself = nest.relation(&format!("{{ {element} -> {element} }}"))?;
        let initial = nest.relation(&format!("{{ {element} -> I{field}[{dims}] }}"))?;
        for reads in unwritten.maps()? {
            let read = reads.reverse()?.range_product(itself.clone())?;
            flows.push(read.apply_domain(initial.clone())?);
        }
        for flow in flows {
            let from = flow.domain_name().and_then(access);
            let to = flow.clone().range_factor_domain()?.range_name().and_then(access);
            if from.is_some() || to.is_some() {
                let found = match is_at_home(nest, field, from, true) && is_at_home(nest, field, to, false) {
                    true => None,
                    false => remote_part(
                        nest,
                        field,
                        from,
                        to,
                        values(nest, field, from, to, flow.clone())?,
                    )?,
                };
                let known = Known {
                    field,
                    from,
                    to,
                    level: found.as_ref().map(|found| found.level),
                    flow,
                };
                all.push((known, found));
            }
        }
    }
    all.sort_by_key(|(flow, _)| (flow.field, flow.to, flow.from));
    Ok(all)
}

/// Body and access of `A{body}_{access}`; nothing for `I{field}` and `L{field}`.
fn access(name: String) -> End {
    let (body, at) = name.strip_prefix('A')?.split_once('_')?;
    Some((body.parse().ok()?, at.parse().ok()?))
}

/// Whether an access is of nothing but elements that live where it is executed, as far as its form shows it: it is the
/// access that determines where that is, or a read of the same indices.
fn is_at_home(nest: &Nest<'_>, field: usize, end: End, is_write: bool) -> bool {
    let Some((body, at)) = end else {
        return true;
    };
    let accesses = &nest.statements[body].body.accesses;
    let Some(anchor) = nest.anchor(body) else {
        return false;
    };
    let write = &accesses[anchor];
    let is_same = || {
        accesses[at].inner.is_empty()
            && accesses[at].subscripts == write.subscripts
            && nest.shape(field) == nest.shape(write.field)
    };
    if is_write { at == anchor } else { is_same() }
}

/// The values of a flow, with their places and times.
fn values(nest: &Nest<'_>, field: usize, from: End, to: End, flow: Map) -> Result<Set> {
    let place = |end: End, space, first| match end {
        Some((body, at)) => nest.place(body, at),
        None => nest.home(space, field, first),
    };
    let element = nest.element(field);
    let same = nest.relation(&format!("{{ {element} -> {element} }}"))?;
    let reader = place(to, "L", nest.end())?.product(same)?;
    Ok(flow
        .apply_domain(place(from, "I", -1)?)?
        .apply_range(reader)?
        .wrap()?
        .flatten()?)
}

/// The part of a flow that goes to other ranks, and when it can go.
fn remote_part(nest: &Nest<'_>, field: usize, from: End, to: End, pairs: Set) -> Result<Option<Remote>> {
    let (grid, time, dims) = (
        nest.geometry.extents().len(),
        nest.time_dims(),
        nest.shape(field).len(),
    );
    let (q, p) = (names("q", grid), names("p", grid));
    let (u, k, e) = (names("u", time), names("k", time), names("e", dims));
    let space = [&q[..], &u, &p, &k, &e].concat().join(", ");
    let equal = |a: &[String], b: &[String]| -> Result<Set> {
        let conditions: Vec<String> = a.iter().zip(b).map(|(a, b)| format!("{a} = {b}")).collect();
        nest.set(&format!("{{ [{space}] : {} }}", all(&conditions)))
    };
    let pairs = directions(nest, pairs, &space)?;
    if pairs.is_empty() {
        return Ok(None);
    }
    let (level, depth) = match (from, to) {
        (None, _) => (Level::Initial, 0),
        (_, None) => (Level::Final, 0),
        // Values can travel together if all those that are written for a prefix of time have a smaller one. A read
        // comes after its write, so it is enough that no pair has the same.
        _ => {
            let mut depth = 1;
            for pairs in pairs.values() {
                while depth < time
                    && !pairs
                        .clone()
                        .intersect(equal(&u[..depth], &k[..depth])?)?
                        .is_empty()?
                {
                    depth += 1;
                }
            }
            (Level::Time(depth - 1), depth)
        }
    };
    Ok(Some(Remote {
        field,
        level,
        depth,
        pairs,
    }))
}

/// Leaves of the times of pairs no more than their level says.
pub(crate) fn shorten(nest: &Nest<'_>, remote: &mut Remote) -> Result<()> {
    let (grid, time) = (nest.geometry.extents().len(), nest.time_dims());
    let (depth, more) = (remote.depth, (time - remote.depth) as u32);
    for pairs in remote.pairs.values_mut() {
        let shorter = pairs
            .clone()
            .project_out((2 * grid + time + depth) as u32, more)?;
        *pairs = shorter.project_out((grid + depth) as u32, more)?.coalesce()?;
    }
    Ok(())
}

/// Names of the coordinates of values: writer, its time, reader, its time, element.
pub(crate) fn coordinates(nest: &Nest<'_>, field: usize) -> [Vec<String>; 5] {
    let (grid, time) = (nest.geometry.extents().len(), nest.time_dims());
    [
        names("q", grid),
        names("u", time),
        names("p", grid),
        names("k", time),
        names("e", nest.shape(field).len()),
    ]
}

/// The pairs of a set of coordinates `space` that are of two ranks, by direction.
fn directions(nest: &Nest<'_>, pairs: Set, space: &str) -> Result<Directions> {
    let grid = nest.geometry.extents().len();
    let (q, p, d) = (names("q", grid), names("p", grid), names("d", grid));
    let away: Vec<String> = q.iter().zip(&p).map(|(q, p)| format!("{p} - {q}")).collect();
    let away = nest.relation(&format!("{{ [{space}] -> [{}] }}", away.join(", ")))?;
    let mut differences = pairs.clone().apply(away)?.coalesce()?;
    let mut directions = Directions::new();
    while let Some(difference) = differences.sample()? {
        let direction: Vec<Ordering> = difference.iter().map(|one| one.cmp(&0)).collect();
        let signs = direction.iter().map(|one| match one {
            Ordering::Less => "<",
            Ordering::Equal => "=",
            Ordering::Greater => ">",
        });
        let (mut same, mut such) = (Vec::new(), Vec::new());
        for (dim, sign) in signs.enumerate() {
            same.push(format!("{} {sign} 0", d[dim]));
            such.push(format!("{} {sign} {}", p[dim], q[dim]));
        }
        let same = nest.set(&format!("{{ [{}] : {} }}", d.join(", "), all(&same)))?;
        differences = differences.subtract(same)?;
        if direction.iter().any(|one| one.is_ne()) {
            let such = nest.set(&format!("{{ [{space}] : {} }}", all(&such)))?;
            directions.insert(direction, pairs.clone().intersect(such)?.coalesce()?);
        }
    }
    Ok(directions)
}
