//! Plans in numbers, as tables and JSON: messages, storage, overlap, and what messages cost.

use crate::programs::{Builtin, Setup};
use crate::{narrow, ranks};
use molly::model::{Message, Program};
use molly::report::{Sent, Stored, when};
use molly::{Columns, Plan, Report};
use molly_nic::Halo;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;

/// A plan in numbers.
#[derive(Debug, Serialize)]
pub(crate) struct PlanView {
    pub(crate) program: String,
    pub(crate) about: String,
    pub(crate) size: Vec<i64>,
    pub(crate) steps: i64,
    pub(crate) geometry: String,
    pub(crate) planning_s: f64,
    pub(crate) channels: Vec<ChannelView>,
    /// Messages that a rank in the middle receives.
    pub(crate) halos: Vec<HaloView>,
    /// How its messages go under MPI.
    pub(crate) ways: Vec<TransportView>,
    pub(crate) storage: Vec<StorageView>,
    pub(crate) overlap: OverlapView,
    /// Copies that are not made: from and to which field.
    pub(crate) exchanges: Vec<(String, String)>,
    /// Loops in which ranks take turns.
    pub(crate) turns: Vec<TurnsView>,
    /// The same for people.
    #[serde(skip)]
    pub(crate) report: Report,
}

/// A loop in which ranks take turns.
#[derive(Debug, Serialize)]
pub(crate) struct TurnsView {
    /// The fields of which values travel so.
    pub(crate) fields: Vec<String>,
    /// After how many rows the next rank takes its turn.
    pub(crate) rows: u32,
    /// The line of the first body in the loop.
    pub(crate) line: u32,
}

/// Work of a rank in the middle.
#[derive(Debug, Serialize)]
pub(crate) struct OverlapView {
    pub(crate) rank: usize,
    /// Instances of bodies that it executes,
    pub(crate) instances: u64,
    /// and those of them that it executes while messages are under way.
    pub(crate) early: u64,
}

/// Messages of a field at one level. Figures of a chunk are those of the one with most elements.
#[derive(Debug, Serialize)]
pub(crate) struct ChannelView {
    pub(crate) field: String,
    pub(crate) when: String,
    pub(crate) chunks: u64,
    pub(crate) messages_per_chunk: u64,
    pub(crate) elements_per_chunk: u64,
    pub(crate) bytes_per_chunk: u64,
    /// Elements of a piece of neighbours, on average.
    pub(crate) elements_per_piece: f64,
    pub(crate) buffers: usize,
    pub(crate) messages: u64,
    pub(crate) elements: u64,
    /// Sender, receiver, and elements of their message in a chunk.
    pub(crate) pairs: Vec<(usize, usize, u64)>,
}

/// Storage of a field on the rank that stores most of it.
#[derive(Debug, Serialize)]
pub(crate) struct StorageView {
    pub(crate) field: String,
    pub(crate) rank: usize,
    pub(crate) owned: i64,
    pub(crate) stored: i64,
}

pub(crate) fn view(
    builtin: &Builtin,
    program: &Program,
    setup: &Setup,
    plan: &Plan,
    planning_s: f64,
) -> PlanView {
    let report = Report::new(program, plan);
    let channel = |sent: &Sent| {
        let (summary, (messages, elements)) = (&sent.summary, sent.summary.busiest);
        ChannelView {
            field: sent.field.clone(),
            when: sent.when.clone(),
            chunks: summary.chunks,
            messages_per_chunk: messages,
            elements_per_chunk: elements,
            bytes_per_chunk: sent.bytes,
            elements_per_piece: elements as f64 / summary.pieces.max(1) as f64,
            buffers: summary.buffers,
            messages: summary.messages,
            elements: summary.elements,
            pairs: summary
                .pairs
                .iter()
                .map(|(&(from, to), &count)| (from, to, count))
                .collect(),
        }
    };
    let storage = |stored: &Stored| StorageView {
        field: stored.field.clone(),
        rank: stored.rank,
        owned: stored.owned,
        stored: stored.stored,
    };
    let turns = report.turns.iter().map(|turns| TurnsView {
        fields: turns.fields.clone(),
        rows: turns.rows,
        line: turns.line,
    });
    PlanView {
        program: builtin.name.to_owned(),
        about: builtin.about.to_owned(),
        size: setup.shape.clone(),
        steps: setup.steps,
        geometry: setup.geometry.to_string(),
        planning_s,
        channels: report.sent.iter().map(channel).collect(),
        halos: halos(program, plan, report.rank),
        ways: transports(program, plan, report.rank, setup.options.columns),
        storage: report.stored.iter().map(storage).collect(),
        overlap: OverlapView {
            rank: report.rank,
            instances: report.executed.instances,
            early: report.executed.early,
        },
        exchanges: report.exchanges.clone(),
        turns: turns.collect(),
        report,
    }
}

// The messages of a rank: the cost of receiving them by a copy of the host or by a NIC, and how they go under MPI.

/// Messages of one shape that a rank receives in a chunk.
#[derive(Debug, Serialize)]
pub(crate) struct HaloView {
    pub(crate) field: String,
    pub(crate) when: String,
    /// The rank that receives them, and the ranks that send them.
    pub(crate) rank: usize,
    pub(crate) from: Vec<usize>,
    /// Bytes of each, and of its neighbouring elements.
    pub(crate) bytes: usize,
    pub(crate) run_bytes: f64,
    /// The host's copy, measured on this machine.
    pub(crate) host_us: f64,
    /// From its announcement until it is in place, computed for the simulated NIC.
    pub(crate) nic_us: f64,
    /// Time that the host saves if its NIC receives the message.
    pub(crate) freed_us: f64,
    pub(crate) by: &'static str,
}

/// Messages that a rank receives on each channel; where they differ from chunk to chunk, the longest.
fn halos(program: &Program, plan: &Plan, rank: usize) -> Vec<HaloView> {
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
    let row = |((channel, elements, pieces), from): ((usize, u64, usize), Vec<usize>)| {
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
    shapes.into_iter().map(row).collect()
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

fn transports(program: &Program, plan: &Plan, rank: usize, columns: Columns) -> Vec<TransportView> {
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
    let row = |((channel, is_send, pieces, is_straight, because), peers): (Shape, _)| TransportView {
        field: program.fields[plan.channels[channel].field].clone(),
        when: when(plan.channels[channel].level),
        rank,
        is_send,
        peers,
        pieces,
        is_straight,
        because,
    };
    shapes.into_iter().map(row).collect()
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
