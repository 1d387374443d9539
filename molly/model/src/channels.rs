//! Channels: what travels together, in which messages, sent and received when, with how many buffers.

use crate::error::{Error, Result};
use crate::flow::{Level, Remote};
use crate::nest::Nest;
use crate::text::{all, names};
use crate::tree::Tree;
use spinneret_isl::{Map, Set, UnionMap, loops};

/// Buffers that a pair of ranks can have for one channel, in each direction.
const MOST_BUFFERS: usize = 16;

/// All values of a field that travel at the same level. In each chunk, one message goes from a rank to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// The field.
    pub field: usize,
    /// When.
    pub level: Level,
    /// Numbers that name a chunk: a beginning of time.
    pub depth: usize,
    /// Messages between two ranks that have to fit into buffers, so that no rank ever waits for one that waits for it.
    pub buffers: usize,
    /// Elements of a message, in its order. Parameters are coordinates of the sender, of the receiver, and the chunk.
    pub contents: Tree,
}

/// A channel as sets: `[q, p, k, e]` are elements, `[q, p, k, u]` is the beginning of time after which a message is sent.
#[derive(Debug)]
pub(crate) struct Messages {
    pub(crate) channel: Channel,
    pub(crate) sends: Set,
}

/// Names of coordinates: sender, receiver, chunk, time of sending, element.
#[derive(Debug)]
struct Names {
    q: Vec<String>,
    p: Vec<String>,
    k: Vec<String>,
    u: Vec<String>,
    e: Vec<String>,
}

/// Merges what has the same field and level.
pub(crate) fn merge(nest: &Nest<'_>, remote: Vec<Remote>) -> Result<Vec<Messages>> {
    let mut merged: Vec<Remote> = Vec::new();
    for next in remote {
        match merged
            .iter_mut()
            .find(|old| (old.field, old.level) == (next.field, next.level))
        {
            Some(old) => old.pairs = old.pairs.clone().union(next.pairs)?,
            None => merged.push(next),
        }
    }
    merged.sort_by_key(|remote| (remote.level, remote.field));
    merged.into_iter().map(|remote| messages(nest, remote)).collect()
}

fn messages(nest: &Nest<'_>, remote: Remote) -> Result<Messages> {
    let Remote {
        field,
        level,
        depth,
        pairs,
    } = remote;
    let grid = nest.geometry.extents().len();
    let names = Names {
        q: names("q", grid),
        p: names("p", grid),
        k: names("k", depth),
        u: names("u", depth),
        e: names("e", nest.shape(field).len()),
    };
    let Names { q, p, k, u, e } = &names;
    let (whole, message) = (
        [q, u, p, k, e].map(|part| &part[..]).concat(),
        [&q[..], p, k].concat(),
    );
    let pairs = pairs.coalesce()?;

    let contents = pairs.clone().apply(relation(
        &[],
        &whole,
        &format!("[{}]", [&message[..], e].concat().join(", ")),
        "",
    )?)?;
    let contents = elements(contents.coalesce()?, &message, e)?;
    let sends = format!("[[{}] -> [{}]]", message.join(", "), u.join(", "));
    let sends = pairs
        .apply(relation(&[], &whole, &sends, "")?)?
        .coalesce()?
        .unwrap()?
        .lexmax()?;
    let sends = in_order(sends, &names)?;
    let buffers = buffers(&sends, &names)?.ok_or_else(|| Error::Depth {
        field: nest.program.fields[field].clone(),
        limit: MOST_BUFFERS,
    })?;
    let channel = Channel {
        field,
        level,
        depth,
        buffers,
        contents,
    };
    Ok(Messages {
        channel,
        sends: sends.wrap()?.flatten()?,
    })
}

/// `[params] -> { [from] -> to : condition }`.
fn relation(params: &[String], from: &[String], to: &str, condition: &str) -> Result<Map> {
    let condition = if condition.is_empty() { "true" } else { condition };
    Ok(Map::parse(&format!(
        "[{}] -> {{ [{}] -> {to} : {condition} }}",
        params.join(", "),
        from.join(", ")
    ))?)
}

/// Loops over the coordinates `of` of a set, with the others, which come before them, as parameters.
pub(crate) fn elements(set: Set, params: &[String], of: &[String]) -> Result<Tree> {
    let all_names = [params, of].concat();
    // A parameter cannot have the name of a coordinate of the same relation.
    let inner: Vec<String> = all_names.iter().map(|name| format!("{name}_")).collect();
    let same: Vec<String> = params
        .iter()
        .zip(&inner)
        .map(|(name, inner)| format!("{name} = {inner}"))
        .collect();
    let target = format!("E[{}]", inner[params.len()..].join(", "));
    let set = set.apply(relation(params, &inner, &target, &all(&same))?)?;
    let context = set.clone().params()?;
    let ast = loops(UnionMap::from(set.coalesce()?.identity()?), context)?;
    Tree::read(ast, params)
}

/// The later of two chunks between the same ranks: `[q, p, k] -> [q, p, k']` with k before k', or k' itself.
fn later(names: &Names, or_same: bool) -> Result<Map> {
    let Names { q, p, k, .. } = names;
    let next: Vec<String> = k.iter().map(|name| format!("{name}_")).collect();
    let sign = if or_same { "<<=" } else { "<<" };
    let pairs = [&q[..], p].concat().join(", ");
    let text = match k.is_empty() {
        // There is only one chunk.
        true if or_same => format!("{{ [{pairs}] -> [{pairs}] }}"),
        true => format!("{{ [{pairs}] -> [{pairs}] : false }}"),
        false => format!(
            "{{ [{pairs}, {}] -> [{pairs}, {}] : {} {sign} {} }}",
            k.join(", "),
            next.join(", "),
            k.join(", "),
            next.join(", ")
        ),
    };
    Ok(Map::parse(&text)?)
}

/// Between two ranks messages are received in the order of their chunks, so they are sent in that order: none before the
/// ones of earlier chunks can be.
fn in_order(sends: Map, names: &Names) -> Result<Map> {
    let chunks = sends.clone().domain()?;
    let earlier = later(names, true)?
        .reverse()?
        .intersect_domain(chunks.clone())?
        .intersect_range(chunks)?;
    let latest = earlier.apply_range(sends.clone())?.lexmax()?;
    Ok(if latest.is_equal(&sends)? {
        sends
    } else {
        latest.coalesce()?
    })
}

/// The least number of buffers with which nobody waits in a circle.
///
/// With n buffers on each side, a rank that wants to send chunk k waits until the receiver has taken chunk k - 2 n out of its
/// buffer. If that is always earlier in the order of time, as is every send before its receive, then every wait is for
/// something earlier, and there is no circle.
fn buffers(sends: &Map, names: &Names) -> Result<Option<usize>> {
    let chunks = sends.clone().domain()?;
    let next = later(names, false)?
        .intersect_domain(chunks.clone())?
        .intersect_range(chunks)?
        .lexmin()?;
    let Names { q, p, k, u, .. } = names;
    // Pairs of a chunk and a time of sending that is before the chunk is received.
    let message = [&q[..], p, k].concat().join(", ");
    let too_early = match k.is_empty() {
        true => Map::parse(&format!("{{ [{message}] -> [] : false }}"))?,
        false => Map::parse(&format!(
            "{{ [{message}] -> [{}] : {} << {} }}",
            u.join(", "),
            u.join(", "),
            k.join(", ")
        ))?,
    };
    let mut ahead = next.clone();
    for buffers in 1..=MOST_BUFFERS {
        ahead = ahead.apply_range(next.clone())?;
        if ahead
            .clone()
            .apply_range(sends.clone())?
            .intersect(too_early.clone())?
            .is_empty()?
        {
            return Ok(Some(buffers));
        }
        ahead = ahead.apply_range(next.clone())?;
    }
    Ok(None)
}
