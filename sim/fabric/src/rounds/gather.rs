//! Reports: of this process, and of all of them.

use super::local::{Local, way};
use super::{FabricError, Ranks, RanksError};
use crate::Counts;
use crate::number::NodeNumber;
use crate::report::{CableReport, NicReport, Report, SwitchReport};
use crate::topology::{Kind, Topology};
use std::collections::HashMap;

impl Local<'_> {
    /// Writes what has happened here into a report of all; what happened elsewhere is left empty.
    pub(super) fn report(&self, report: &mut Report) {
        let topology = self.topology;
        let mut sent: HashMap<usize, Counts> = HashMap::new();
        report.nics.extend(topology.nics().map(|(_, name, _)| NicReport {
            name: name.to_owned(),
            ..NicReport::default()
        }));
        for (here, node) in self.here.iter().zip(self.nics()) {
            let (name, config) = self.nic(*node);
            if let Some(done) = &here.done {
                let entry = &mut report.nics[config.number];
                *entry = done.report.clone();
                entry.name = name.to_owned();
                entry.off += here.off;
                if let Some((cable, end)) = topology.cables_at(*node).next() {
                    sent.insert(way(cable, end).index(), done.cable);
                }
            }
        }
        for (node, config) in topology.nodes.iter().enumerate() {
            if !matches!(config.kind, Kind::Switch(_)) {
                continue;
            }
            let mut entry = SwitchReport {
                name: config.name.clone(),
                ..SwitchReport::default()
            };
            if let Some((switch, ways)) = self.switches.get(&node) {
                entry.counts = switch.counts();
                let ports = switch.ports().iter().zip(ways);
                sent.extend(ports.map(|(port, way)| (way.index(), port.cable.counts())));
            }
            report.switches.push(entry);
        }
        for (cable, config) in topology.cables.iter().enumerate() {
            for end in [0, 1] {
                let name = |end: usize| topology.nodes[config.ends[end]].name.clone();
                report.cables.push(CableReport {
                    from: name(end),
                    to: name(1 - end),
                    counts: sent.remove(&way(cable, end).index()).unwrap_or_default(),
                    on_way: self.on_way(config.ends[1 - end], cable),
                });
            }
        }
    }

    /// Frames that are on their way to a node on a cable.
    fn on_way(&self, node: NodeNumber, cable: usize) -> u64 {
        match (self.places.get(&node), self.switches.get(&node)) {
            (Some(place), _) => self.here[*place].inbox.len() as u64,
            (None, Some((switch, _))) => switch.arriving(cable as u32),
            (None, None) => 0,
        }
    }
}

/// Collects the reports of all ranks at the first one; frames of entries that are somebody else's are 0.
pub(super) fn gather(ranks: &mut dyn Ranks, topology: &Topology, own: Report) -> Result<Report, FabricError> {
    if ranks.size() == 1 {
        return Ok(own);
    }
    let wrong = |error: postcard::Error| RanksError(format!("a report cannot be sent: {error}"));
    let bytes = postcard::to_stdvec(&own).map_err(wrong)?;
    let all = ranks.gather(bytes)?;
    if all.is_empty() {
        return Ok(own);
    }
    let places = topology.ranks(ranks.size());
    let mut whole = own;
    for (rank, bytes) in all.iter().enumerate() {
        let part: Report = postcard::from_bytes(bytes).map_err(wrong)?;
        let is_there = |node: NodeNumber| places[node] == rank;
        for ((node, ..), (entry, from)) in topology.nics().zip(whole.nics.iter_mut().zip(part.nics)) {
            if is_there(node) {
                *entry = from;
            }
        }
        let switches =
            (0..topology.nodes.len()).filter(|node| matches!(topology.nodes[*node].kind, Kind::Switch(_)));
        for (node, (entry, from)) in switches.zip(whole.switches.iter_mut().zip(part.switches)) {
            if is_there(node) {
                *entry = from;
            }
        }
        for (index, (entry, from)) in whole.cables.iter_mut().zip(part.cables).enumerate() {
            let ends = topology.cables[index / 2].ends;
            if is_there(ends[index % 2]) {
                entry.counts = from.counts;
            }
            if is_there(ends[1 - index % 2]) {
                entry.on_way = from.on_way;
            }
        }
        if rank > 0 {
            for (entry, from) in whole.samples.iter_mut().zip(part.samples) {
                entry.ports.extend(from.ports);
                entry.ports.sort_by_key(|port| port.cable);
                entry.nics.extend(from.nics);
                entry.nics.sort_by_key(|sample| sample.nic);
            }
        }
    }
    Ok(whole)
}
