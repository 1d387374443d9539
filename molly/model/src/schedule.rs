//! Bodies and messages in one order of time, as loops of a rank.

use crate::channels::Messages;
use crate::error::Result;
use crate::flow::Level;
use crate::nest::Nest;
use crate::text::names;
use crate::tree::Tree;
use spinneret_isl::{Map, Set, UnionMap, loops};

/// Where time is cut: behind each prefix that some channel uses, one more coordinate says before (-1) or after (1) all that
/// has the prefix. The last coordinate tells channels of the same moment apart.
#[derive(Debug)]
struct Clock {
    time: usize,
    cuts: Vec<usize>,
}

impl Clock {
    /// A moment, as a point: coordinates of time, of which the rest is 0; a cut behind them; the channel.
    fn moment(&self, time: &[String], cut: Option<i64>, channel: usize) -> String {
        let mut point: Vec<String> = Vec::new();
        for at in 0..self.time {
            point.push(time.get(at).cloned().unwrap_or_else(|| "0".to_owned()));
            if self.cuts.contains(&(at + 1)) {
                let here = cut.filter(|_| at + 1 == time.len()).unwrap_or(0);
                point.push(here.to_string());
            }
        }
        point.push(channel.to_string());
        format!("[{}]", point.join(", "))
    }
}

/// What a rank does; the parameters of the tree are its coordinates.
pub(crate) fn schedule(nest: &Nest<'_>, messages: &[Messages]) -> Result<Tree> {
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
        let instance = names("i", statement.depth).join(", ");
        let moment = clock.moment(&nest.time(body), None, 0);
        let domain = nest.executes(body)?;
        let text = format!("[{params}] -> {{ B{body}[{instance}] -> {moment} : {domain} }}");
        all = all.union(UnionMap::parse(&text)?)?;
    }
    for (number, messages) in messages.iter().enumerate() {
        all = all.union(events(number, messages, true, nest, &clock)?)?;
        all = all.union(events(number, messages, false, nest, &clock)?)?;
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

/// When ranks look whether they have messages of a channel to send, or to receive.
fn events(
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
