//! The messages of a rank: the cost of receiving them by a host's copy or by a NIC, and how they go under MPI.

use crate::{narrow, ranks};
use molly::model::{Message, Program};
use molly::report::when;
use molly::{Columns, Plan};
use molly_nic::Halo;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;

/// Messages of one shape that a rank receives in a chunk.
#[derive(Debug, Serialize)]
pub(crate) struct HaloView {
    pub(crate) field: String,
    pub(crate) when: String,
    /// Who receives them, and from whom.
    pub(crate) rank: usize,
    pub(crate) from: Vec<usize>,
    /// Bytes of each, and of its neighbouring elements.
    pub(crate) bytes: usize,
    pub(crate) run_bytes: f64,
    /// The host's copy, measured on this machine.
    pub(crate) host_us: f64,
    /// From its announcement until it is in place, computed for the simulated NIC.
    pub(crate) nic_us: f64,
    /// What the host saves if its NIC does it.
    pub(crate) freed_us: f64,
    pub(crate) by: &'static str,
}

/// What a rank receives on each channel; of messages that differ from chunk to chunk, the longest.
pub(crate) fn halos(program: &Program, plan: &Plan, rank: usize) -> Vec<HaloView> {
    let mut longest: BTreeMap<(usize, usize), (u64, usize)> = BTreeMap::new();
    let mut is_known: HashMap<(usize, usize), bool> = HashMap::new();
    let Ok(()) = plan.messages(rank, |message| {
        let key = (message.channel, message.peer);
        if !message.is_send && !is_known.get(&key).copied().unwrap_or(false) {
            is_known.insert(key, plan.is_same_in_all_chunks(message.channel));
            let runs = plan.elements(rank, &message);
            let elements = runs.iter().map(|run| run.count as u64).sum();
            let shape = longest.entry(key).or_default();
            *shape = (*shape).max((elements, runs.len()));
        }
        Ok::<(), Infallible>(())
    });
    let mut shapes: BTreeMap<(usize, u64, usize), Vec<usize>> = BTreeMap::new();
    for ((channel, peer), (elements, pieces)) in longest {
        shapes.entry((channel, elements, pieces)).or_default().push(peer);
    }
    let shown = |((channel, elements, pieces), from): ((usize, u64, usize), Vec<usize>)| {
        let channel = &plan.channels[channel];
        let element_bytes = program.element_bytes[channel.field];
        let bytes = elements as usize * element_bytes;
        let row = plan
            .storage(rank, channel.field)
            .last()
            .map_or(1, |span| span.len);
        let halo = Halo::of(bytes, pieces, row as usize * element_bytes);
        HaloView {
            field: program.fields[channel.field].clone(),
            when: when(channel.level),
            rank,
            from,
            bytes,
            run_bytes: halo.run_bytes,
            host_us: halo.host_us,
            nic_us: halo.nic_us,
            freed_us: halo.freed_us,
            by: halo.by.name(),
        }
    };
    shapes.into_iter().map(shown).collect()
}

/// The table.
pub(crate) fn halos_text(halos: &[HaloView]) -> String {
    let Some(first) = halos.first() else {
        return String::new();
    };
    let headings = ["", "", "from", "B", "run B", "host us", "NIC us", "freed", "by"];
    let rows = halos.iter().map(|halo| {
        [
            halo.field.clone(),
            halo.when.clone(),
            ranks(&halo.from),
            halo.bytes.to_string(),
            format!("{:.0}", halo.run_bytes),
            format!("{:.2}", halo.host_us),
            format!("{:.0}", halo.nic_us),
            format!("{:.2}", halo.freed_us),
            halo.by.to_owned(),
        ]
    });
    format!(
        "{}Messages to rank {}: by a copy on this machine, or by a NIC at 40 MHz\n\n",
        narrow(headings, rows),
        first.rank
    )
}

// How the messages of a rank go under MPI.

/// Messages that a rank sends or receives in the same way.
#[derive(Debug, Serialize)]
pub(crate) struct TransportView {
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

pub(crate) fn transports(
    program: &Program,
    plan: &Plan,
    rank: usize,
    columns: Columns,
) -> Vec<TransportView> {
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
    let shown = |((channel, is_send, pieces, is_straight, because), peers): (Shape, _)| TransportView {
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
pub(crate) fn transports_text(transports: &[TransportView]) -> String {
    let Some(first) = transports.first() else {
        return String::new();
    };
    let headings = ["", "", "", "", "pieces", "way", "because"];
    let rows = transports.iter().map(|way| {
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
