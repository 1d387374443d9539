//! Bodies and messages in one order of time, as loops of a rank.

use crate::Result;
use crate::channels::Messages;
use crate::expressions::{all as all_of, names};
use crate::flow::Level;
use crate::nest::Nest;
use crate::overlap::Split;
use crate::tree::Tree;
use crate::versions::{Exchange, events};
use spinneret_isl::{Map, Set, UnionMap, loops};

/// Where time is cut: after each prefix that some channel uses. One more coordinate there is -1 for a moment before all
/// that has the prefix, 1 for one after it, and -2 for the part of it that comes even before -1. The last coordinate
/// distinguishes channels of the same moment.
#[derive(Debug)]
struct Clock {
    time: usize,
    cuts: Vec<usize>,
}

impl Clock {
    /// A moment, as a point: coordinates of time, of which the rest is 0; a cut after them; the channel.
    fn moment(&self, time: &[String], cut: Option<i64>, channel: usize) -> String {
        self.point(time, channel, |at| cut.filter(|_| at == time.len()).unwrap_or(0))
    }

    /// The moment of an instance that comes before the messages of channels of these depths.
    fn moment_of(&self, time: &[String], early: &[usize]) -> String {
        self.point(time, 0, |at| if early.contains(&at) { -2 } else { 0 })
    }

    fn point(&self, time: &[String], channel: usize, cut: impl Fn(usize) -> i64) -> String {
        let mut point: Vec<String> = Vec::new();
        for at in 0..self.time {
            point.push(time.get(at).cloned().unwrap_or_else(|| "0".to_owned()));
            if self.cuts.contains(&(at + 1)) {
                point.push(cut(at + 1).to_string());
            }
        }
        point.push(channel.to_string());
        format!("[{}]", point.join(", "))
    }
}

/// The steps of a rank; the parameters of the tree are its coordinates.
pub(crate) fn schedule(
    nest: &Nest<'_>,
    messages: &[Messages],
    exchanges: &[Exchange],
    splits: &[Split],
) -> Result<Tree> {
    let mut cuts: Vec<usize> = messages.iter().map(|messages| messages.channel.depth).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let clock = Clock {
        time: nest.time_dims(),
        cuts,
    };
    let own = names("p", nest.geometry.extents().len());
    let params = own.join(", ");

    let mut all = UnionMap::parse("{ }")?;
    for (body, statement) in nest.statements.iter().enumerate() {
        if exchanges.iter().any(|exchange| exchange.body == body) {
            continue;
        }
        let instance = names("i", statement.depth).join(", ");
        let domain = nest.executes(body)?;
        for (part, early) in parts(body, splits)? {
            let moment = clock.moment_of(&nest.time(body), &early);
            let map = format!("[{params}] -> {{ B{body}[{instance}] -> {moment} : {domain} }}");
            let mut map = Map::parse(&map)?;
            if let Some(part) = part {
                map = map.intersect_domain(of_rank(part, body, statement.depth, &own)?)?;
            }
            all = all.union(map.into())?;
        }
    }
    for (number, exchange) in exchanges.iter().enumerate() {
        let time = names("t", exchange.depth);
        let moment = clock.moment(&time, None, 0);
        let time = time.join(", ");
        let text = format!("{{ [{time}] -> [X{number}[{time}] -> {moment}] }}");
        let moments = events(nest, exchange)?.apply(Map::parse(&text)?)?.unwrap()?;
        all = all.union(moments.into())?;
    }
    for (number, messages) in messages.iter().enumerate() {
        all = all.union(moments(number, messages, true, nest, &clock)?)?;
        all = all.union(moments(number, messages, false, nest, &clock)?)?;
    }
    let ranges: Vec<String> = nest
        .geometry
        .extents()
        .iter()
        .enumerate()
        .map(|(dim, ranks)| format!("0 <= p{dim} < {ranks}"))
        .collect();
    let context = Set::parse(&format!("[{params}] -> {{ : {} }}", ranges.join(" and ")))?;
    Tree::read(loops(all, context)?, &own)
}

/// Parts of a body's instances, `[p, i]`, all if there is nothing, and the depths of the channels before whose messages they
/// come.
fn parts(body: usize, splits: &[Split]) -> Result<Vec<(Option<Part>, Vec<usize>)>> {
    let mut parts = vec![(None, Vec::new())];
    for split in splits {
        let Some(border) = &split.border[body] else {
            continue;
        };
        let mut next = Vec::new();
        for (part, early) in parts {
            let sooner = [&early[..], &[split.depth]].concat();
            if border.is_empty()? {
                next.push((part, sooner));
                continue;
            }
            let part: Part = part.unwrap_or_default();
            let (mut within, mut without) = (part.clone(), part);
            within.within.push(border.clone());
            without.without.push(border.clone());
            next.push((Some(without), sooner));
            next.push((Some(within), early));
        }
        parts = next;
    }
    Ok(parts)
}

/// Instances that are in some sets, and not in others.
#[derive(Debug, Clone, Default)]
struct Part {
    within: Vec<Set>,
    without: Vec<Set>,
}

/// The instances of a part that a rank executes; the rank is a parameter.
fn of_rank(part: Part, body: usize, depth: usize, own: &[String]) -> Result<Set> {
    let inner: Vec<String> = own.iter().map(|name| format!("{name}_")).collect();
    let same: Vec<String> = own
        .iter()
        .zip(&inner)
        .map(|(name, inner)| format!("{name} = {inner}"))
        .collect();
    let variables = names("i", depth).join(", ");
    let params = own.join(", ");
    let text = format!(
        "[{params}] -> {{ [{}] -> B{body}[{variables}] : {} }}",
        [&inner[..], &names("i", depth)].concat().join(", "),
        all_of(&same)
    );
    let own = Map::parse(&text)?;
    let mut set = Set::parse(&format!("[{params}] -> {{ B{body}[{variables}] }}"))?;
    for within in part.within {
        set = set.intersect(within.apply(own.clone())?)?;
    }
    for without in part.without {
        set = set.subtract(without.apply(own.clone())?)?;
    }
    Ok(set.coalesce()?)
}

/// When ranks look whether they have messages of a channel to send, or to receive.
fn moments(
    channel: usize,
    messages: &Messages,
    is_send: bool,
    nest: &Nest<'_>,
    clock: &Clock,
) -> Result<UnionMap> {
    let prefix = names("k", messages.channel.depth);
    let (name, moments) = if is_send {
        ("S", &messages.sent)
    } else {
        ("R", &messages.chunks)
    };
    let (time, cut) = match (messages.channel.level, is_send) {
        (Level::Initial, true) => (vec!["-2".to_owned()], None),
        (Level::Initial, false) => (vec!["-1".to_owned()], None),
        (Level::Final, true) => (vec![nest.end().to_string()], None),
        (Level::Final, false) => (vec![(nest.end() + 1).to_string()], None),
        (Level::Time(_), true) => (prefix.clone(), Some(1)),
        (Level::Time(_), false) => (prefix.clone(), Some(-1)),
    };
    let moment = clock.moment(&time, cut, channel);
    let prefix = prefix.join(", ");
    let text = format!("{{ [{prefix}] -> [{name}{channel}[{prefix}] -> {moment}] }}");
    Ok(moments.clone().apply(Map::parse(&text)?)?.unwrap()?.into())
}
