//! What a rank receives, and what it takes: a host that copies it into place, or a NIC that puts it there.

use crate::words::{narrow, ranks};
use molly::Plan;
use molly::model::Program;
use molly::report::when;
use molly_nic::Halo;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;

/// Messages of one shape that a rank receives in a chunk.
#[derive(Debug, Serialize)]
pub(crate) struct ShownHalo {
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
pub(crate) fn halos(program: &Program, plan: &Plan, rank: usize) -> Vec<ShownHalo> {
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
        ShownHalo {
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
pub(crate) fn text(halos: &[ShownHalo]) -> String {
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
