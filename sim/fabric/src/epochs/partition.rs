//! The part of a topology that this process simulates.

use super::workers::{Done, EpochGrant, EpochReport};
use super::{FabricError, Ranks, RanksError};
use crate::cable::{Cable, LinkDirection, NodeNumber};
use crate::capture::{Note, Passed};
use crate::report::{CableReport, NicReport, NicSample, PortReport, Report, SwitchReport};
use crate::switch::{Switch, SwitchPort, known_ps};
use crate::topology::{Kind, NicConfig, Seen, SwitchConfig, Table, Topology, mac_of, routes};
use crate::{Counts, Delivery, Ps, SLACK_PS};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

/// NICs and switches of this process, and the frames in flight to them.
#[derive(Debug)]
pub(super) struct Partition<'t> {
    pub(super) topology: &'t Topology,
    rank: usize,
    /// The rank of each node.
    ranks: Vec<usize>,
    /// NICs of this one, by their places in the topology.
    nics: Vec<NodeNumber>,
    /// The place of each of those here.
    pub(super) places: HashMap<NodeNumber, usize>,
    pub(super) here: Vec<Here>,
    /// Switches of this rank, with the directions in which their ports send.
    pub(super) switches: BTreeMap<NodeNumber, (Switch, Vec<LinkDirection>)>,
}

/// A NIC.
#[derive(Debug, Default)]
pub(super) struct Here {
    wants_ps: Ps,
    pub(super) inbox: BinaryHeap<Reverse<(Ps, u64, Frame)>>,
    pub(super) done: Option<Done>,
    /// Frames that arrived after the NIC terminated.
    pub(super) off: u64,
    /// Frames received since the last sample, and the sum of their latencies.
    since: (u64, Ps),
}

/// A frame, ordered by time and number.
#[derive(Debug)]
pub(super) struct Frame(Delivery);

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.0.number == other.0.number
    }
}

impl Eq for Frame {}

impl PartialOrd for Frame {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Frame {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.number.cmp(&other.0.number)
    }
}

impl Here {
    /// When it has something to do.
    fn next_ps(&self) -> Ps {
        let arrives = self.inbox.peek().map_or(Ps::MAX, |Reverse((at, ..))| *at);
        arrives.min(self.wants_ps)
    }
}

impl<'t> Partition<'t> {
    pub(super) fn new(topology: &'t Topology, rank: usize, size: usize) -> Self {
        let ranks = topology.ranks(size);
        let nics: Vec<NodeNumber> = topology.nics().map(|(node, ..)| node).collect();
        let nics: Vec<NodeNumber> = nics.into_iter().filter(|node| ranks[*node] == rank).collect();
        let switches = topology.nodes.iter().enumerate().filter_map(|(node, config)| {
            let Kind::Switch(config) = &config.kind else {
                return None;
            };
            (ranks[node] == rank).then(|| (node, switch(topology, node, config)))
        });
        Self {
            topology,
            rank,
            places: nics
                .iter()
                .enumerate()
                .map(|(place, node)| (*node, place))
                .collect(),
            here: nics.iter().map(|_| Here::default()).collect(),
            switches: switches.collect(),
            nics,
            ranks,
        }
    }

    pub(super) fn topology(&self) -> &'t Topology {
        self.topology
    }

    pub(super) fn nics(&self) -> &[NodeNumber] {
        &self.nics
    }

    pub(super) fn names(&self) -> Vec<String> {
        let names = self
            .nics
            .iter()
            .map(|node| self.topology.nodes[*node].name.clone());
        names.collect()
    }

    pub(super) fn nic(&self, node: NodeNumber) -> (&'t str, &'t NicConfig) {
        let found = self.topology.nics().find(|(place, ..)| *place == node);
        let (_, name, config) = found.unwrap_or_else(|| unreachable!("only NICs are asked for"));
        (name, config)
    }

    pub(super) fn has(&self, node: NodeNumber) -> bool {
        self.ranks[node] == self.rank
    }

    /// Returns the cable on which a NIC sends, and whether its frames are captured.
    pub(super) fn cable(&self, node: NodeNumber) -> (Option<Cable>, bool) {
        let Some((cable, end)) = self.topology.cables_at(node).next() else {
            return (None, false);
        };
        let captures = self.topology.captures.iter();
        let notes = captures
            .into_iter()
            .any(|one| one.node == node && one.what != Seen::In);
        (Some(sending(self.topology, cable, end)), notes)
    }

    /// Returns the receiving node of a frame.
    fn receiver(&self, delivery: &Delivery) -> NodeNumber {
        self.topology.cables[delivery.direction.cable as usize].ends[delivery.direction.to()]
    }

    /// Returns the rank of the receiving node, if it is another one.
    pub(super) fn rank_of(&self, delivery: &Delivery) -> Option<usize> {
        let rank = self.ranks[self.receiver(delivery)];
        (rank != self.rank).then_some(rank)
    }

    /// Returns when the receiver handles a frame. All ranks compute the same value, because epochs depend on it.
    pub(super) fn seen_ps(&self, delivery: &Delivery) -> Ps {
        match &self.topology.nodes[self.receiver(delivery)].kind {
            Kind::Nic(_) => delivery.last_ps,
            Kind::Switch(config) => known_ps(config.mode, delivery),
        }
    }

    /// Delivers a frame to a node of this rank.
    pub(super) fn arrive(&mut self, delivery: Delivery) {
        let node = self.receiver(&delivery);
        match (self.places.get(&node), self.switches.get_mut(&node)) {
            (Some(place), _) => {
                let frame = Reverse((delivery.last_ps, delivery.number, Frame(delivery)));
                self.here[*place].inbox.push(frame);
            }
            (None, Some((switch, directions))) => {
                let port = directions
                    .iter()
                    .position(|direction| direction.cable == delivery.direction.cable);
                switch.arrive(port.unwrap_or_default() as u16, delivery);
            }
            (None, None) => unreachable!("frames of other ranks go there"),
        }
    }

    /// Records the reports of NICs, and returns the frames they sent.
    pub(super) fn take(&mut self, told: Vec<EpochReport>, note: &mut Note<'_>) -> Vec<Delivery> {
        let mut sent = Vec::new();
        for told in told {
            let node = self.nics[told.nic];
            if let Some((cable, end)) = self.topology.cables_at(node).next() {
                let direction = link(cable, end);
                for (at_ps, bytes) in &told.noted {
                    note(Passed {
                        direction,
                        at_ps: *at_ps,
                        is_sent: true,
                        bytes,
                    });
                }
            }
            sent.extend(told.sent);
            let here = &mut self.here[told.nic];
            here.wants_ps = told.wants_ps;
            if told.done.is_some() {
                here.done = told.done;
            }
        }
        sent
    }

    /// When something happens next here.
    pub(super) fn next_ps(&self) -> Ps {
        let nics = self.here.iter().map(Here::next_ps);
        let switches = self.switches.values().filter_map(|(switch, _)| switch.next_ps());
        nics.chain(switches).min().unwrap_or(Ps::MAX)
    }

    /// Advances the switches and returns the frames they send. Reports frames at their ports to `note`.
    pub(super) fn run_switches(&mut self, until_ps: Ps, note: &mut Note<'_>) -> Vec<Delivery> {
        let mut sent = Vec::new();
        for (switch, directions) in self.switches.values_mut() {
            sent.extend(switch.run(until_ps, |port, at_ps, is_sent, bytes| {
                note(Passed {
                    direction: directions[usize::from(port)],
                    at_ps,
                    is_sent,
                    bytes,
                });
            }));
        }
        sent
    }

    /// Returns the NICs that may proceed, with the frames that reach them. Counts frames for terminated NICs.
    pub(super) fn grants(&mut self, until_ps: Ps, note: &mut Note<'_>) -> Vec<(usize, EpochGrant)> {
        let mut grants = Vec::new();
        for (place, here) in self.here.iter_mut().enumerate() {
            if here.next_ps() >= until_ps {
                continue;
            }
            let mut arrivals = Vec::new();
            while let Some(Reverse((at, ..))) = here.inbox.peek()
                && *at < until_ps
            {
                if let Some(Reverse((at_ps, _, Frame(delivery)))) = here.inbox.pop() {
                    let back = LinkDirection {
                        from: delivery.direction.to() as u8,
                        ..delivery.direction
                    };
                    note(Passed {
                        direction: back,
                        at_ps,
                        is_sent: false,
                        bytes: &delivery.bytes,
                    });
                    here.since.0 += 1;
                    here.since.1 += delivery.last_ps - delivery.born_ps;
                    arrivals.push(delivery);
                }
            }
            match here.done {
                Some(_) => here.off += arrivals.len() as u64,
                None => grants.push((
                    place,
                    EpochGrant {
                        horizon_ps: until_ps - SLACK_PS,
                        arrivals,
                    },
                )),
            }
        }
        grants
    }

    /// Returns what NICs received since the last call.
    pub(super) fn came(&mut self) -> Vec<NicSample> {
        let nodes: Vec<usize> = self.nics.iter().map(|node| self.nic(*node).1.number).collect();
        let here = self.here.iter_mut().zip(nodes);
        let samples = here.map(|(here, nic)| {
            let (frames, latency_ps) = std::mem::take(&mut here.since);
            NicSample {
                nic,
                frames,
                latency_ps,
            }
        });
        samples.collect()
    }

    /// Queues of all ports of switches.
    pub(super) fn queues(&mut self, at_ps: Ps) -> Vec<PortReport> {
        let mut queues = Vec::new();
        for (switch, directions) in self.switches.values_mut() {
            for (port, direction) in switch.ports_mut().iter_mut().zip(directions) {
                let queued_bytes = port.cable.queued_bytes(at_ps);
                let counts = port.cable.counts();
                queues.push(PortReport {
                    cable: direction.index(),
                    queued_bytes,
                    queue_full: counts.queue_full,
                    delivered: counts.delivered,
                });
            }
        }
        queues.sort_by_key(|queue| queue.cable);
        queues
    }
}

fn link(cable: usize, end: usize) -> LinkDirection {
    LinkDirection {
        cable: cable as u32,
        from: end as u8,
    }
}

/// Returns the cable as seen by the node that sends on it.
fn sending(topology: &Topology, cable: usize, end: usize) -> Cable {
    let config = &topology.cables[cable];
    Cable::new(
        link(cable, end),
        config.rate_bps,
        config.latency_ps,
        config.faults[end],
        topology.seed,
    )
}

fn switch(topology: &Topology, node: NodeNumber, config: &SwitchConfig) -> (Switch, Vec<LinkDirection>) {
    let cables: Vec<(usize, usize)> = topology.cables_at(node).collect();
    let ports = cables.iter().map(|(cable, end)| SwitchPort {
        cable: sending(topology, *cable, *end).with_buffer(config.buffer_bytes),
        floods: topology.cables[*cable].floods,
    });
    let table = match config.table {
        Table::Learning => HashMap::new(),
        Table::Static => {
            let routes = routes(topology, node).into_iter().enumerate();
            routes.map(|(nic, ports)| (mac_of(nic), ports)).collect()
        }
    };
    let switch = Switch::new(config.clone(), ports.collect(), table, node as u64);
    (
        switch,
        cables.into_iter().map(|(cable, end)| link(cable, end)).collect(),
    )
}

impl Partition<'_> {
    /// Adds the results of this rank to a report; entries of other ranks stay empty.
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
                    sent.insert(link(cable, end).index(), done.cable);
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
            if let Some((switch, directions)) = self.switches.get(&node) {
                entry.counts = switch.counts();
                let ports = switch.ports().iter().zip(directions);
                sent.extend(ports.map(|(port, direction)| (direction.index(), port.cable.counts())));
            }
            report.switches.push(entry);
        }
        for (cable, config) in topology.cables.iter().enumerate() {
            for end in [0, 1] {
                let name = |end: usize| topology.nodes[config.ends[end]].name.clone();
                report.cables.push(CableReport {
                    from: name(end),
                    to: name(1 - end),
                    counts: sent.remove(&link(cable, end).index()).unwrap_or_default(),
                    on_way: self.on_way(config.ends[1 - end], cable),
                });
            }
        }
    }

    /// Frames in flight to a node on a cable.
    fn on_way(&self, node: NodeNumber, cable: usize) -> u64 {
        match (self.places.get(&node), self.switches.get(&node)) {
            (Some(place), _) => self.here[*place].inbox.len() as u64,
            (None, Some((switch, _))) => switch.arriving(cable as u32),
            (None, None) => 0,
        }
    }
}

/// Collects the reports of all ranks at the first one. Each entry comes from the rank that owns it.
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
