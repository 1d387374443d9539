//! The part of a topology that this process simulates.

use super::crew::{Done, Granted, Told};
use crate::cable::Cable;
use crate::capture::{Note, Passed};
use crate::meeting::SLACK_PS;
use crate::number::{NodeNumber, Way};
use crate::report::{NicSample, PortReport};
use crate::switch::{Switch, SwitchPort, known_ps};
use crate::topology::{Kind, NicConfig, Seen, SwitchConfig, Table, Topology, mac_of, routes};
use crate::{Delivery, Ps};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

/// NICs and switches of this process, and what is on its way to them.
#[derive(Debug)]
pub(super) struct Local<'t> {
    pub(super) topology: &'t Topology,
    rank: usize,
    /// The rank of each node.
    ranks: Vec<usize>,
    /// NICs of this one, by their places in the topology.
    nics: Vec<NodeNumber>,
    /// The place of each of those here.
    pub(super) places: HashMap<NodeNumber, usize>,
    pub(super) here: Vec<Here>,
    /// Switches of this one, with the directions of the cables on which their ports send.
    pub(super) switches: BTreeMap<NodeNumber, (Switch, Vec<Way>)>,
}

/// A NIC.
#[derive(Debug, Default)]
pub(super) struct Here {
    wants_ps: Ps,
    pub(super) inbox: BinaryHeap<Reverse<(Ps, u64, Frame)>>,
    pub(super) done: Option<Done>,
    /// Frames that came when it was gone.
    pub(super) off: u64,
    /// Frames that came since the last sample, and the sum of their latencies.
    since: (u64, Ps),
}

/// A frame, of which time and number decide the order.
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

impl<'t> Local<'t> {
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

    /// The cable on which a NIC sends, and whether what it sends is captured.
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

    /// The node to which a frame goes.
    fn receiver(&self, delivery: &Delivery) -> NodeNumber {
        self.topology.cables[delivery.way.cable as usize].ends[delivery.way.to()]
    }

    /// The rank to which a frame goes, if it is another one.
    pub(super) fn rank_of(&self, delivery: &Delivery) -> Option<usize> {
        let rank = self.ranks[self.receiver(delivery)];
        (rank != self.rank).then_some(rank)
    }

    /// When whoever gets a frame has something to do with it. It is the same on all ranks, as rounds depend on it.
    pub(super) fn seen_ps(&self, delivery: &Delivery) -> Ps {
        match &self.topology.nodes[self.receiver(delivery)].kind {
            Kind::Nic(_) => delivery.last_ps,
            Kind::Switch(config) => known_ps(config.mode, delivery),
        }
    }

    /// A frame will come to a node of this rank.
    pub(super) fn arrive(&mut self, delivery: Delivery) {
        let node = self.receiver(&delivery);
        match (self.places.get(&node), self.switches.get_mut(&node)) {
            (Some(place), _) => {
                let frame = Reverse((delivery.last_ps, delivery.number, Frame(delivery)));
                self.here[*place].inbox.push(frame);
            }
            (None, Some((switch, ways))) => {
                let port = ways.iter().position(|way| way.cable == delivery.way.cable);
                switch.arrive(port.unwrap_or_default() as u16, delivery);
            }
            (None, None) => unreachable!("frames of other ranks go there"),
        }
    }

    /// Takes what NICs have told; gives what they have sent.
    pub(super) fn take(&mut self, told: Vec<Told>, note: &mut Note<'_>) -> Vec<Delivery> {
        let mut sent = Vec::new();
        for told in told {
            let node = self.nics[told.nic];
            if let Some((cable, end)) = self.topology.cables_at(node).next() {
                let way = way(cable, end);
                for (at_ps, bytes) in &told.noted {
                    note(Passed {
                        way,
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

    /// Switches go on; gives what they send. Notes what comes to their ports, and leaves from there.
    pub(super) fn run_switches(&mut self, until_ps: Ps, note: &mut Note<'_>) -> Vec<Delivery> {
        let mut sent = Vec::new();
        for (switch, ways) in self.switches.values_mut() {
            sent.extend(switch.run(until_ps, |port, at_ps, is_sent, bytes| {
                note(Passed {
                    way: ways[usize::from(port)],
                    at_ps,
                    is_sent,
                    bytes,
                });
            }));
        }
        sent
    }

    /// What NICs may do, with what comes to them meanwhile. Frames for those that are gone are counted.
    pub(super) fn grants(&mut self, until_ps: Ps, note: &mut Note<'_>) -> Vec<(usize, Granted)> {
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
                    let back = Way {
                        from: delivery.way.to() as u8,
                        ..delivery.way
                    };
                    note(Passed {
                        way: back,
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
                    Granted {
                        horizon_ps: until_ps - SLACK_PS,
                        arrivals,
                    },
                )),
            }
        }
        grants
    }

    /// What came to NICs since the last question.
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
        for (switch, ways) in self.switches.values_mut() {
            for (port, way) in switch.ports_mut().iter_mut().zip(ways) {
                let queued_bytes = port.cable.queued_bytes(at_ps);
                let counts = port.cable.counts();
                queues.push(PortReport {
                    cable: way.index(),
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

pub(super) fn way(cable: usize, end: usize) -> Way {
    Way {
        cable: cable as u32,
        from: end as u8,
    }
}

/// The cable as the node at an end of it sends on it.
fn sending(topology: &Topology, cable: usize, end: usize) -> Cable {
    let config = &topology.cables[cable];
    Cable::new(
        way(cable, end),
        config.rate_bps,
        config.latency_ps,
        config.faults[end],
        topology.seed,
    )
}

fn switch(topology: &Topology, node: NodeNumber, config: &SwitchConfig) -> (Switch, Vec<Way>) {
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
        cables.into_iter().map(|(cable, end)| way(cable, end)).collect(),
    )
}
