//! Bodies and messages in one order of time, as loops of a rank.

use crate::channels::Messages;
use crate::error::Result;
use crate::flow::Level;
use crate::nest::Nest;
use crate::text::names;
use crate::tree::Tree;
use spinneret_isl::{Map, Set, UnionMap, loops};

/// Where time is cut: behind each prefix that some channel uses, one more coordinate says before (-1) or after (1) all that
/// has the prefix. At its end, coordinates tell messages of the same moment apart: the channel, its chunk, the other rank.
#[derive(Debug)]
struct Clock {
    time: usize,
    grid: usize,
    cuts: Vec<usize>,
    deepest: usize,
}

impl Clock {
    /// A moment, as a point: coordinates of time, of which the rest is 0; a cut behind them; the message.
    fn moment(&self, time: &[String], cut: Option<i64>, message: &[String]) -> String {
        let mut point: Vec<String> = Vec::new();
        for at in 0..self.time {
            point.push(time.get(at).cloned().unwrap_or_else(|| "0".to_owned()));
            if self.cuts.contains(&(at + 1)) {
                let here = cut.filter(|_| at + 1 == time.len()).unwrap_or(0);
                point.push(here.to_string());
            }
        }
        let mut message = message.to_vec();
        message.resize(1 + self.deepest + self.grid, "0".to_owned());
        point.extend(message);
        format!("[{}]", point.join(", "))
    }
}

/// What a rank does; the parameters of the tree are its coordinates.
pub(crate) fn schedule(nest: &Nest<'_>, messages: &[Messages]) -> Result<Tree> {
    let grid = nest.geometry.extents().len();
    let mut cuts: Vec<usize> = messages.iter().map(|messages| messages.channel.depth).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let deepest = cuts.last().copied().unwrap_or(0);
    let clock = Clock {
        time: nest.time_dims(),
        grid,
        cuts,
        deepest,
    };
    let own = names("p", grid);
    let params = own.join(", ");

    let mut all = UnionMap::parse("{ }")?;
    for (body, statement) in nest.statements.iter().enumerate() {
        let instance = names("i", statement.depth).join(", ");
        let moment = clock.moment(&nest.time(body), None, &[]);
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

/// A rank's messages of a channel, with their moments.
fn events(
    channel: usize,
    messages: &Messages,
    is_send: bool,
    nest: &Nest<'_>,
    clock: &Clock,
) -> Result<UnionMap> {
    let (own, sender, receiver) = (
        names("p", clock.grid),
        names("q", clock.grid),
        names("r", clock.grid),
    );
    let depth = messages.channel.depth;
    let (chunk, sent) = (names("k", depth), names("u", depth));
    let (name, here, peer) = match is_send {
        true => ("S", &sender, &receiver),
        false => ("R", &receiver, &sender),
    };
    let (time, cut) = match (messages.channel.level, is_send) {
        (Level::Initial, true) => (vec!["-2".to_owned()], None),
        (Level::Initial, false) => (vec!["-1".to_owned()], None),
        (Level::Final, true) => (vec![nest.end().to_string()], None),
        (Level::Final, false) => (vec![(nest.end() + 1).to_string()], None),
        (Level::Time(_), true) => (sent.clone(), Some(1)),
        (Level::Time(_), false) => (chunk.clone(), Some(-1)),
    };
    let mut message = vec![channel.to_string()];
    message.extend(chunk.iter().cloned());
    message.resize(1 + clock.deepest, "0".to_owned());
    message.extend(peer.iter().cloned());
    let moment = clock.moment(&time, cut, &message);
    let arguments = [&chunk[..], peer].concat().join(", ");
    let same: Vec<String> = here
        .iter()
        .zip(&own)
        .map(|(here, own)| format!("{here} = {own}"))
        .collect();
    let text = format!(
        "[{}] -> {{ [{}] -> [{name}{channel}[{arguments}] -> {moment}] : {} }}",
        own.join(", "),
        [&sender[..], &receiver, &chunk, &sent].concat().join(", "),
        same.join(" and ")
    );
    Ok(messages
        .sends
        .clone()
        .apply(Map::parse(&text)?)?
        .coalesce()?
        .unwrap()?
        .into())
}
