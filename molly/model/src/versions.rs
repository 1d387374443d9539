//! Avoided copies: two fields swap their storage instead.
//!
//! In `for i { b = f(a); a = b }` the second nest only copies. Instead the fields exchange their storage, and the
//! versions of `a` alternate between two places. That is right if
//! - the copy is of the same elements in each iteration, and nothing else writes `a`,
//! - no read of `b` needs a value that was written before the last exchange: after it `b` has an old version of `a`,
//! - elements that are not copied are never written, and are read in one of the fields only: they are in all places.
//!
//! At the end `b` gets its values of a serial run: elements that were copied from `a`, the others as they were.

use crate::Result;
use crate::channels::elements;
use crate::expressions::names;
use crate::flow::Known;
use crate::nest::Nest;
use crate::pipeline::Sweep;
use crate::tree::Points;
use spinneret_isl::{Map, Set};

/// A copy that is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The body.
    pub body: usize,
    /// The field that it reads,
    pub from: usize,
    /// and the one that it writes.
    pub to: usize,
    /// Whether at the end the first has to get back what was copied.
    pub restores: bool,
    /// Coordinates of time that an exchange has.
    pub(crate) depth: usize,
}

/// Fields that exchange what is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The fields.
    pub fields: Vec<usize>,
    /// The field in which the elements are read that are never copied.
    pub border: usize,
    /// The elements that are copied.
    pub elements: Points,
}

/// A copy that may be left out, with the sets that show it.
#[derive(Debug)]
struct Candidate {
    exchange: Exchange,
    /// Copied elements, `[e]`.
    elements: Set,
}

/// Exchanges, and groups of their fields. There is none within a sweep in which ranks take turns: a value that came before a
/// turn would be in the other field after it.
pub(crate) fn exchanges(
    nest: &Nest<'_>,
    flows: &[Known],
    sweeps: &[Sweep],
) -> Result<(Vec<Exchange>, Vec<Group>)> {
    let mut candidates = Vec::new();
    let in_turns = |body: &usize| sweeps.iter().any(|sweep| sweep.bodies.contains(body));
    for body in (0..nest.statements.len()).filter(|body| !in_turns(body)) {
        candidates.extend(candidate(nest, flows, body)?);
    }
    let (mut exchanges, mut groups) = (Vec::new(), Vec::new());
    while let Some(first) = candidates.pop() {
        let mut members = vec![first];
        while let Some(next) = candidates
            .iter()
            .position(|next| members.iter().any(|member| touch(member, next)))
        {
            members.push(candidates.swap_remove(next));
        }
        if let Some(group) = group(nest, &members)? {
            groups.push(group);
            exchanges.extend(members.into_iter().map(|member| member.exchange));
        }
    }
    exchanges.sort_by_key(|exchange: &Exchange| exchange.body);
    Ok((exchanges, groups))
}

fn touch(a: &Candidate, b: &Candidate) -> bool {
    let (a, b) = (&a.exchange, &b.exchange);
    [a.from, a.to].contains(&b.from) || [a.from, a.to].contains(&b.to)
}

/// When a body's copies are made: beginnings of time, `[t]`.
pub(crate) fn events(nest: &Nest<'_>, exchange: &Exchange) -> Result<Set> {
    let order = prefix(nest, exchange.body, 1, exchange.depth)?;
    let instances = nest.access(exchange.body, 1)?.domain()?;
    Ok(instances.apply(order)?.coalesce()?)
}

/// Instances of an access to a beginning of their time.
fn prefix(nest: &Nest<'_>, body: usize, at: usize, depth: usize) -> Result<Map> {
    let instance = nest.instance(body);
    let time = nest.time(body)[..depth].join(", ");
    nest.of_instances(body, at, &format!("{{ {instance} -> [{time}] }}"))
}

/// A set of elements without the name of their field.
fn unnamed(nest: &Nest<'_>, field: usize, set: Set) -> Result<Set> {
    let (element, dims) = (
        nest.element(field),
        names("e", nest.shape(field).len()).join(", "),
    );
    Ok(set.apply(nest.relation(&format!("{{ {element} -> [{dims}] }}"))?)?)
}

fn candidate(nest: &Nest<'_>, flows: &[Known], body: usize) -> Result<Option<Candidate>> {
    let statement = &nest.statements[body];
    let [read, write] = &statement.body.accesses[..] else {
        return Ok(None);
    };
    let is_plain = |access: &crate::program::Access| access.inner.is_empty() && access.when.is_empty();
    if !statement.body.is_copy || read.subscripts != write.subscripts || !is_plain(read) || !is_plain(write) {
        return Ok(None);
    }
    let (from, to) = (read.field, write.field);
    let is_used = |number: &usize| {
        read.subscripts
            .iter()
            .any(|subscript| subscript.uses(&|depth| depth == *number))
    };
    let outer = (0..statement.depth).take_while(|number| !is_used(number)).count();
    let depth = 2 * outer + 1;
    let time = &nest.time(body)[..depth];
    let is_alone =
        (0..nest.statements.len()).all(|other| other == body || nest.time(other)[..depth] != *time);
    let is_only_writer = nest
        .accesses()
        .all(|(other, _, access)| other == body || !access.is_write || access.field != to);
    let comes_from_here = |flow: &&Known| match flow.to {
        Some(reader) => reader == (body, 0),
        None => [from, to].contains(&flow.field),
    };
    let is_local = flows
        .iter()
        .filter(comes_from_here)
        .all(|flow| flow.level.is_none());
    let fits = outer > 0
        && from != to
        && nest.shape(from) == nest.shape(to)
        && is_alone
        && is_only_writer
        && is_local;
    if !fits {
        return Ok(None);
    }
    let exchange = Exchange {
        body,
        from,
        to,
        restores: false,
        depth,
    };
    checked(nest, flows, exchange)
}

/// The conditions that are about sets.
fn checked(nest: &Nest<'_>, flows: &[Known], mut exchange: Exchange) -> Result<Option<Candidate>> {
    let (body, depth) = (exchange.body, exchange.depth);
    let write = nest.access(body, 1)?;
    let events = events(nest, &exchange)?;
    // The same elements each time.
    let each = write.clone().apply_domain(prefix(nest, body, 1, depth)?)?;
    let copied = write.range()?.coalesce()?;
    let all = format!(
        "{{ [{}] -> {} }}",
        names("t", depth).join(", "),
        nest.element(exchange.to)
    );
    let all = nest
        .relation(&all)?
        .intersect_domain(events.clone())?
        .intersect_range(copied.clone())?;
    if events.is_empty()? || !all.is_equal(&each)? {
        return Ok(None);
    }
    let elements = unnamed(nest, exchange.to, copied)?;
    // The initial values of the first field may be copied, if they are overwritten afterwards.
    if flows
        .iter()
        .any(|flow| flow.to == Some((body, 0)) && flow.from.is_none())
    {
        let mut kept = elements.clone();
        for flow in flows
            .iter()
            .filter(|flow| flow.field == exchange.from && flow.to.is_none())
        {
            kept = kept.subtract(flow.elements(nest)?)?;
        }
        if !kept.is_empty()? {
            return Ok(None);
        }
    }
    let (u, v, k) = (
        names("u", depth).join(", "),
        names("v", depth).join(", "),
        names("k", depth).join(", "),
    );
    // Times between which there is an exchange, and times before one.
    let across = format!("{{ [{v}] -> [{u}, {k}] : {u} << {v} and {v} << {k} }}");
    let across = events.clone().apply(nest.relation(&across)?)?;
    let before = events.apply(nest.relation(&format!("{{ [{v}] -> [{u}] : {u} << {v} }}"))?)?;
    for flow in flows.iter().filter(|flow| flow.field == exchange.from) {
        let times = flow.times(nest, depth, &elements)?;
        if flow.to.is_some() {
            if !times.intersect(across.clone())?.is_empty()? {
                return Ok(None);
            }
            continue;
        }
        let times = times.apply(nest.relation(&format!("{{ [{u}, {k}] -> [{u}] }}"))?)?;
        let stale = times.clone().intersect(before.clone())?;
        if stale.is_empty()? {
            continue;
        }
        if !stale.is_equal(&times)? {
            return Ok(None);
        }
        exchange.restores = true;
    }
    Ok(Some(Candidate { exchange, elements }))
}

/// Fields whose copies are of the same elements, with the one of them in which the other elements are read.
fn group(nest: &Nest<'_>, members: &[Candidate]) -> Result<Option<Group>> {
    let mut fields: Vec<usize> = members
        .iter()
        .flat_map(|member| [member.exchange.from, member.exchange.to])
        .collect();
    fields.sort_unstable();
    fields.dedup();
    let copied = &members[0].elements;
    for member in members {
        if !member.elements.is_equal(copied)? {
            return Ok(None);
        }
    }
    let mut border = None;
    for (body, at, access) in nest
        .accesses()
        .filter(|(_, _, access)| fields.contains(&access.field))
    {
        let accessed = unnamed(nest, access.field, nest.access(body, at)?.range()?)?;
        if accessed.subtract(copied.clone())?.is_empty()? {
            continue;
        }
        if access.is_write || border.is_some_and(|border| border != access.field) {
            return Ok(None);
        }
        border = Some(access.field);
    }
    Ok(Some(Group {
        border: border.unwrap_or(fields[0]),
        elements: elements(copied.clone(), 0)?,
        fields,
    }))
}
