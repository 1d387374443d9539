//! Channels: values that travel in one message, when messages are sent and received, and their buffers.

use crate::expressions::{all, names};
use crate::flow::{Level, Remote, shorten};
use crate::nest::Nest;
use crate::pipeline::Sweep;
use crate::scan::Scan;
use crate::tree::{Call, Points, Tree};
use crate::{Error, Result};
use spinneret_isl::{Condition, Map, Set, UnionMap, loops};

/// Buffers that a pair of ranks can have for one channel, in each direction.
const MOST_BUFFERS: usize = 16;

/// All values of a field that travel at the same level. In each chunk, one message goes from a rank to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// The field.
    pub field: usize,
    /// When its values travel.
    pub level: Level,
    /// Numbers that name a chunk: a beginning of time.
    pub depth: usize,
    /// Messages between two ranks that have to fit into buffers, so that no rank ever waits for one that waits for it.
    pub buffers: usize,
    /// Receivers and chunks of messages to send at some moment: the chunk, then the receiver's coordinates. Parameters are
    /// the own coordinates and the beginning of time after which they are sent.
    pub to: Points,
    /// Senders of messages to receive: their coordinates. Parameters are the own coordinates and the chunk.
    pub from: Points,
    /// Elements of a message, in its order. Parameters are coordinates of the sender, of the receiver, and the chunk.
    pub contents: Points,
}

/// A channel and the times at which ranks check it: beginnings of time after which messages are sent, and chunks.
#[derive(Debug)]
pub(crate) struct Messages {
    pub(crate) channel: Channel,
    pub(crate) sent: Set,
    pub(crate) chunks: Set,
    /// The same of each rank, `[q, u]` and `[p, k]`.
    pub(crate) sent_by: Set,
    pub(crate) received_by: Set,
    /// Elements that ranks receive: `[p, k, e]`.
    pub(crate) received: Set,
}

impl Channel {
    /// Whether messages between two ranks have the same elements in all chunks, on a grid of `directions` directions.
    pub(crate) fn is_same_in_all_chunks(&self, directions: usize) -> bool {
        let first = 2 * directions;
        (first..first + self.depth).all(|param| self.contents.ignores(param))
    }
}

/// Names of coordinates: sender, receiver, chunk, time of sending, element.
#[derive(Debug)]
struct Names {
    q: Vec<String>,
    p: Vec<String>,
    k: Vec<String>,
    u: Vec<String>,
    e: Vec<String>,
    /// Whether a chunk can be a turn: a rank can have to wait for others to begin what it has ended.
    has_turns: bool,
}

/// Merges what has the same field and level, where ranks take turns in some sweeps.
pub(crate) fn merge(nest: &Nest<'_>, remote: Vec<Remote>, sweeps: &[Sweep]) -> Result<Vec<Messages>> {
    let mut merged: Vec<Remote> = Vec::new();
    for mut next in remote {
        shorten(nest, &mut next)?;
        match merged
            .iter_mut()
            .find(|old| (old.field, old.level) == (next.field, next.level))
        {
            Some(old) => {
                for (direction, pairs) in next.pairs {
                    let pairs = match old.pairs.remove(&direction) {
                        Some(old) => old.union(pairs)?.coalesce()?,
                        None => pairs,
                    };
                    old.pairs.insert(direction, pairs);
                }
            }
            None => merged.push(next),
        }
    }
    merged.sort_by_key(|remote| (remote.level, remote.field));
    merged
        .into_iter()
        .map(|remote| {
            let has_turns = sweeps.iter().any(|sweep| sweep.depth == remote.depth);
            messages(nest, remote, has_turns)
        })
        .collect()
}

fn messages(nest: &Nest<'_>, remote: Remote, has_turns: bool) -> Result<Messages> {
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
        has_turns,
    };
    let Names { q, p, k, u, e, .. } = &names;
    let whole = [q, u, p, k, e].map(|part| &part[..]).concat();
    let part = |set: &Set, from: &[String], of: &[&[String]]| -> Result<Set> {
        let of = of.concat();
        if let Some(only) = without_others(set, from, &of)? {
            return Ok(only.coalesce()?);
        }
        let text = format!("{{ [{}] -> [{}] }}", from.join(", "), of.join(", "));
        Ok(set.clone().apply(nest.relation(&text)?)?.coalesce()?)
    };
    let parts = |of: &[&[String]]| -> Result<Set> {
        let mut all = Set::parse(&format!("{{ [{}] : false }}", of.concat().join(", ")))?;
        for pairs in pairs.values() {
            all = all.union(part(pairs, &whole, of)?)?;
        }
        Ok(all)
    };
    let received = parts(&[p, k, e])?;
    let contents = points(parts(&[q, p, k, e])?, 2 * grid + depth, true)?;
    let message = [&q[..], p, k, u].concat();
    let Some((sends, buffers)) = ordered(parts(&[q, p, k, u])?, &names)? else {
        return Err(Error::Depth {
            field: nest.program.fields[field].clone(),
            limit: MOST_BUFFERS,
        });
    };
    let to = elements(part(&sends, &message, &[q, u, k, p])?, grid + depth)?;
    let from = elements(part(&sends, &message, &[p, k, q])?, grid + depth)?;
    let channel = Channel {
        field,
        level,
        depth,
        buffers,
        to,
        from,
        contents,
    };
    Ok(Messages {
        channel,
        sent: part(&sends, &message, &[u])?,
        chunks: part(&sends, &message, &[k])?,
        sent_by: part(&sends, &message, &[q, u])?,
        received_by: part(&sends, &message, &[p, k])?,
        received,
    })
}

/// A set of coordinates `from` with those of `of` only; nothing if these are in another order.
fn without_others(set: &Set, from: &[String], of: &[String]) -> Result<Option<Set>> {
    let (mut only, mut wanted) = (set.clone(), of.iter().rev().peekable());
    let mut others = 0;
    for (at, name) in from.iter().enumerate().rev() {
        let is_wanted = wanted.next_if(|next| *next == name).is_some();
        if !is_wanted {
            others += 1;
        }
        if others > 0 && (is_wanted || at == 0) {
            let first = at + usize::from(is_wanted);
            only = only.project_out(first as u32, others)?;
            others = 0;
        }
    }
    Ok(wanted.next().is_none().then_some(only))
}

/// The moment after which each message is sent, `[q, p, k, u]`, and how many buffers that takes; `sends` has all moments at
/// which something of the message is made. Nothing if there are not enough buffers.
fn ordered(sends: Set, names: &Names) -> Result<Option<(Set, usize)>> {
    let Names { q, p, k, u, .. } = names;
    // Mostly a chunk is made at one moment, wherever it goes; that is seen without looking at ranks.
    let all_ranks = Names {
        q: Vec::new(),
        p: Vec::new(),
        k: k.clone(),
        u: u.clone(),
        e: Vec::new(),
        has_turns: names.has_turns,
    };
    let message = [&q[..], p, k, u].concat();
    let moments = format!("[[{}] -> [{}]]", k.join(", "), u.join(", "));
    let moments = sends
        .clone()
        .apply(relation(&[], &message, &moments, "")?)?
        .coalesce()?
        .unwrap()?;
    if moments.is_single_valued()? && in_order(moments.clone(), &all_ranks)?.is_equal(&moments)? {
        return Ok(buffers(&moments, &all_ranks)?.map(|buffers| (sends, buffers)));
    }
    let each = format!("[[{}] -> [{}]]", [&q[..], p, k].concat().join(", "), u.join(", "));
    let each = sends
        .apply(relation(&[], &message, &each, "")?)?
        .unwrap()?
        .lexmax()?;
    let each = in_order(each, names)?;
    let Some(buffers) = buffers(&each, names)? else {
        return Ok(None);
    };
    Ok(Some((each.wrap()?.flatten()?, buffers)))
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

/// The last coordinates of a set, from `given` on, for given first ones.
pub(crate) fn elements(set: Set, given: usize) -> Result<Points> {
    points(set.coalesce()?, given, false)
}

/// If only values of the first coordinates are ever given for which there are points, conditions on them that all parts have
/// need not be asked, and are left out.
fn points(set: Set, given: usize, are_known: bool) -> Result<Points> {
    let mut scans = Vec::new();
    let mut trees = Vec::new();
    // Loops for all parts at once would be much more work for isl, as it would keep them apart for all parameters.
    for part in set.parts()? {
        match Scan::exact(&part, given)? {
            Some(scan) => scans.push(scan),
            None => trees.push(generated(part, given)?),
        }
    }
    if are_known && trees.is_empty() {
        let same: Vec<Condition> = match &scans[..] {
            [] => Vec::new(),
            [first, others @ ..] => {
                let all = |condition: &&Condition| others.iter().all(|scan| scan.guard.contains(condition));
                first.guard.iter().filter(all).cloned().collect()
            }
        };
        for scan in &mut scans {
            scan.guard.retain(|condition| !same.contains(condition));
        }
    }
    trees.extend(scans.iter().map(|scan| scan.tree(Call::Element)));
    Ok(Points(trees))
}

/// Loops that isl makes, where there are none straight from conditions.
fn generated(part: Set, given: usize) -> Result<Tree> {
    let dims = part.dims()?;
    let (params, inner) = (names("g", given), names("x", dims));
    let same: Vec<String> = params
        .iter()
        .zip(&inner)
        .map(|(param, name)| format!("{param} = {name}"))
        .collect();
    let target = format!("E[{}]", inner[given..].join(", "));
    let part = part.apply(relation(&params, &inner, &target, &all(&same))?)?;
    let everything = Set::parse(&format!("[{}] -> {{ : }}", params.join(", ")))?;
    Tree::read(loops(UnionMap::from(part.identity()?), everything)?, &params)
}

/// The later of two chunks between the same ranks: `[q, p, k] -> [q, p, k']` with k before k', or k' itself.
fn later(names: &Names, or_same: bool) -> Result<Map> {
    let Names { q, p, k, .. } = names;
    let next: Vec<String> = k.iter().map(|name| format!("{name}_")).collect();
    let sign = if or_same { "<<=" } else { "<<" };
    let pairs = [&q[..], p].concat();
    let (old, new) = (
        [&pairs[..], k].concat().join(", "),
        [&pairs[..], &next].concat().join(", "),
    );
    let text = match k.is_empty() {
        // There is only one chunk.
        true => format!("{{ [{old}] -> [{new}] : {or_same} }}"),
        false => format!(
            "{{ [{old}] -> [{new}] : {} {sign} {} }}",
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

/// The least number of buffers without a deadlock.
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
    // Pairs of a chunk and a time of sending that is before the chunk is received. Where ranks take turns, both can be
    // at the same time, with the sender first.
    let before = if names.has_turns { "<<=" } else { "<<" };
    let message = [&q[..], p, k].concat().join(", ");
    let too_early = match k.is_empty() {
        true => Map::parse(&format!("{{ [{message}] -> [] : false }}"))?,
        false => Map::parse(&format!(
            "{{ [{message}] -> [{}] : {} {before} {} }}",
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
