//! How a rank's messages go under MPI: straight between fields and MPI, or packed, and why.

use crate::words::{narrow, ranks};
use molly::model::{Message, Program};
use molly::report::when;
use molly::{Columns, Plan};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

/// Messages that a rank sends or receives in the same way.
#[derive(Debug, Serialize)]
pub(crate) struct ShownWay {
    pub(crate) field: String,
    pub(crate) when: String,
    pub(crate) rank: usize,
    pub(crate) is_send: bool,
    pub(crate) peers: Vec<usize>,
    /// Pieces of the field's memory; of messages that differ from chunk to chunk, of the first.
    pub(crate) pieces: usize,
    pub(crate) is_straight: bool,
    pub(crate) because: &'static str,
}

/// The channel, whether messages are sent, and the other rank.
type End = (usize, bool, usize);

/// The channel, whether messages are sent, their pieces, whether they go straight, and why.
type Shape = (usize, bool, usize, bool, &'static str);

fn end(message: &Message) -> End {
    (message.channel, message.is_send, message.peer)
}

pub(crate) fn ways(program: &Program, plan: &Plan, rank: usize, columns: Columns) -> Vec<ShownWay> {
    let mut pieces: BTreeMap<End, usize> = BTreeMap::new();
    let Ok(()) = plan.messages(rank, |message| {
        pieces
            .entry(end(&message))
            .or_insert_with(|| plan.pieces(rank, &message));
        Ok::<(), Infallible>(())
    });
    let may_go = |end: End| plan.is_same_in_all_chunks(end.0) && columns.go_straight(pieces[&end]);
    let lifetimes = plan.lifetimes(program, rank, &|message| may_go(end(message)));
    let departures = lifetimes.departures.iter();
    let unknown = departures.filter(|departure| !departure.is_known);
    let unknown: BTreeSet<End> = unknown.map(|departure| end(&departure.message)).collect();
    let mut shapes: BTreeMap<Shape, Vec<usize>> = BTreeMap::new();
    for (&end, &pieces) in &pieces {
        let (channel, is_send, peer) = end;
        let (is_straight, because) = match columns {
            _ if !plan.is_same_in_all_chunks(channel) => (false, "others in each chunk"),
            Columns::Packed => (false, "asked for"),
            _ if !may_go(end) => (false, "apart in memory"),
            _ if unknown.contains(&end) => (false, "soon written again"),
            _ if pieces > 1 => (true, "asked for"),
            _ => (true, "one piece"),
        };
        shapes
            .entry((channel, is_send, pieces, is_straight, because))
            .or_default()
            .push(peer);
    }
    let shown = |((channel, is_send, pieces, is_straight, because), peers): (Shape, _)| ShownWay {
        field: program.fields[plan.channels[channel].field].clone(),
        when: when(plan.channels[channel].level),
        rank,
        is_send,
        peers,
        pieces,
        is_straight,
        because,
    };
    shapes.into_iter().map(shown).collect()
}

/// The table.
pub(crate) fn text(ways: &[ShownWay]) -> String {
    let Some(first) = ways.first() else {
        return String::new();
    };
    let headings = ["", "", "", "", "pieces", "way", "because"];
    let rows = ways.iter().map(|way| {
        [
            way.field.clone(),
            way.when.clone(),
            if way.is_send { "to" } else { "from" }.to_owned(),
            ranks(&way.peers),
            way.pieces.to_string(),
            if way.is_straight { "straight" } else { "packed" }.to_owned(),
            way.because.to_owned(),
        ]
    });
    format!(
        "{}Messages of rank {} under MPI: packed, or straight out of fields and into them\n\n",
        narrow(headings, rows),
        first.rank
    )
}
