//! The topology: NICs, switches and cables.

mod file;

pub use file::TopologyError;

use crate::cable::Faults;
use crate::{MAX_FRAME_BYTES, Ps};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// Shortest latency of a cable. It is the lookahead, and a NIC skips whole clocks of its cluster.
pub const MIN_LATENCY_PS: Ps = 2 * crate::SLACK_PS;
/// Longest latency of a cable.
pub const MAX_LATENCY_PS: Ps = 1_000_000_000_000;
/// Slowest and fastest cable.
pub const RATES_BPS: std::ops::RangeInclusive<u64> = 1_000_000..=1_000_000_000_000;
/// Smallest queue of a port: one frame of any size.
pub const MIN_BUFFER_BYTES: u64 = MAX_FRAME_BYTES as u64;
/// Most NICs and switches together.
pub const MAX_NODES: usize = 1 << 16;

/// NICs, switches and the cables between them. A topology is checked when it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Seed of the faults.
    pub seed: u64,
    /// NICs and switches.
    pub nodes: Vec<Node>,
    /// Cables.
    pub cables: Vec<CableConfig>,
    /// Captures.
    pub captures: Vec<CaptureConfig>,
}

/// A NIC or a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// Kind of node.
    pub kind: Kind,
}

/// Kind of node.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A NIC.
    Nic(Box<NicConfig>),
    /// A switch.
    Switch(SwitchConfig),
}

/// A NIC and its user. The simulator of the NIC interprets the strings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NicConfig {
    /// Its place among the NICs, from 0.
    pub number: usize,
    /// An application will connect; time does not start before.
    pub application: bool,
    /// The reaction when the application disconnects.
    pub when_gone: WhenGone,
    /// Handlers that run from the start: a folder or an ELF file.
    pub handlers: Option<PathBuf>,
    /// Their rules.
    pub rules: Option<PathBuf>,
    /// Packets that its host sends, as for `--generate`.
    pub transmit: Option<String>,
    /// The number of the NIC that they are for.
    pub to: Option<usize>,
    /// When the first of them is sent.
    pub after_ps: Ps,
    /// Network interface of this machine that the NIC's host uses.
    pub tap: Option<String>,
}

impl NicConfig {
    /// Its MAC address: locally administered, and its number.
    pub fn mac(&self) -> [u8; 6] {
        mac_of(self.number)
    }

    /// Returns the IPv4 address of its host: 10.128.0.1, 10.128.0.2, ...
    pub fn ip(&self) -> Ipv4Addr {
        ip_of(self.number)
    }
}

/// The MAC address of the NIC with that number.
pub fn mac_of(number: usize) -> [u8; 6] {
    let [.., a, b, c] = (number as u64 + 1).to_be_bytes();
    [2, 0, 0x5e, a, b, c]
}

/// The IPv4 address of the host of the NIC with that number.
pub fn ip_of(number: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(10, 128, 0, 1).to_bits() + number as u32)
}

/// The reaction of the fabric when the application of a NIC disconnects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenGone {
    /// The NIC continues without it.
    #[default]
    GoOn,
    /// Time stops until the next one connects.
    Hold,
    /// The simulation ends.
    Stop,
}

/// A switch.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchConfig {
    /// When it sends a frame on.
    pub mode: Mode,
    /// Capacity of a port's queue in bytes; frames that do not fit are dropped.
    pub buffer_bytes: u64,
    /// Delay from the forwarding decision to the port's queue.
    pub delay_ps: Ps,
    /// Where it knows addresses from.
    pub table: Table,
}

impl Default for SwitchConfig {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            buffer_bytes: 256 << 10,
            delay_ps: 300_000,
            table: Table::default(),
        }
    }
}

/// When a switch sends a frame on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// After the whole frame; frames with a wrong check sequence are dropped.
    #[default]
    StoreAndForward,
    /// As soon as its first 64 bytes are there, right or wrong.
    CutThrough,
}

/// Where a switch knows addresses from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// Learned from senders; frames to unknown addresses are flooded.
    #[default]
    Learning,
    /// From the topology: the shortest paths to each NIC, chosen by the flow among equally short ones.
    Static,
}

/// A cable.
#[derive(Clone, Debug, PartialEq)]
pub struct CableConfig {
    /// The nodes at both ends, as indices into [`Topology::nodes`].
    pub ends: [usize; 2],
    /// Bits a second.
    pub rate_bps: u64,
    /// How long a bit takes.
    pub latency_ps: Ps,
    /// Faults of frames from the first end, and from the second.
    pub faults: [Faults; 2],
    /// Whether broadcast frames pass. The cables that flood form no cycle.
    pub floods: bool,
}

/// A capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureConfig {
    /// Node at whose end of the cable frames are captured.
    pub node: usize,
    /// The cable.
    pub cable: usize,
    /// Which frames are captured.
    pub what: Seen,
    /// The file, pcap.
    pub file: PathBuf,
    /// The line of the topology's file that names it, from 1.
    pub line: usize,
}

/// Direction of captured frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// Received frames.
    In,
    /// Sent frames.
    Out,
    /// Both.
    #[default]
    Both,
}

impl Topology {
    /// NICs, in the order of their numbers, with their places among the nodes.
    pub fn nics(&self) -> impl Iterator<Item = (usize, &str, &NicConfig)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(place, node)| match &node.kind {
            Kind::Nic(nic) => Some((place, &*node.name, &**nic)),
            Kind::Switch(_) => None,
        })
    }

    /// Returns the cables at a node with the node's end, in the order of a switch's ports.
    pub(crate) fn cables_at(&self, node: usize) -> impl Iterator<Item = (usize, usize)> {
        let cables = self.cables.iter().enumerate();
        cables.filter_map(move |(cable, config)| {
            Some((cable, config.ends.iter().position(|end| *end == node)?))
        })
    }

    /// Assigns nodes to `size` ranks: NICs in blocks of neighbours, switches in turn.
    pub fn ranks(&self, size: usize) -> Vec<usize> {
        let nics = self.nics().count().max(1);
        let mut switches = 0..;
        let ranks = self.nodes.iter().map(|node| match &node.kind {
            Kind::Nic(nic) => nic.number * size / nics,
            Kind::Switch(_) => switches.next().unwrap_or(0) % size,
        });
        ranks.collect()
    }

    /// Returns the lookahead: the shortest latency.
    pub fn lookahead_ps(&self) -> Ps {
        let latencies = self.cables.iter().map(|cable| cable.latency_ps);
        latencies.min().unwrap_or(MAX_LATENCY_PS)
    }
}

/// Two NICs on a cable, or more of them around a switch; all cables are alike.
#[derive(Clone, Debug)]
pub struct Simple {
    /// NICs, at least 2.
    pub nics: usize,
    /// Bits a second of each cable.
    pub rate_bps: u64,
    /// How long a bit takes on each cable.
    pub latency_ps: Ps,
    /// Faults in both directions.
    pub faults: Faults,
    /// Seed of the faults.
    pub seed: u64,
    /// The switch, if there are more than two NICs.
    pub switch: SwitchConfig,
    /// Each NIC.
    pub nic: NicConfig,
}

impl Default for Simple {
    /// 100 Gb/s and 500 ns: two metres of cable, and the MACs and line coding at both ends, which the simulated NIC
    /// lacks.
    fn default() -> Self {
        Self {
            nics: 2,
            rate_bps: 100_000_000_000,
            latency_ps: 500_000,
            faults: Faults::default(),
            seed: 1,
            switch: SwitchConfig::default(),
            nic: NicConfig::default(),
        }
    }
}

impl Simple {
    /// The topology: `nic0` and on, and `switch`.
    ///
    /// # Errors
    /// If a quantity is out of its range.
    pub fn topology(&self) -> Result<Topology, TopologyError> {
        let nics = (0..self.nics).map(|number| Node {
            name: format!("nic{number}"),
            kind: Kind::Nic(Box::new(NicConfig {
                number,
                ..self.nic.clone()
            })),
        });
        let switch = (self.nics > 2).then(|| Node {
            name: "switch".to_owned(),
            kind: Kind::Switch(self.switch.clone()),
        });
        let cable = |ends| CableConfig {
            ends,
            rate_bps: self.rate_bps,
            latency_ps: self.latency_ps,
            faults: [self.faults; 2],
            floods: true,
        };
        let topology = Topology {
            seed: self.seed,
            nodes: nics.chain(switch).collect(),
            cables: match self.nics {
                2 => vec![cable([0, 1])],
                nics => (0..nics).map(|nic| cable([nic, nics])).collect(),
            },
            captures: Vec::new(),
        };
        topology.check()?;
        Ok(topology)
    }
}

/// For a switch: the ports on a shortest path to each NIC, by the NIC's number. Ports have the order of the cables
/// at the switch.
pub(crate) fn routes(topology: &Topology, switch: usize) -> Vec<Vec<u16>> {
    let ports: Vec<usize> = neighbours(topology, switch).collect();
    let directions = topology.nics().map(|(nic, ..)| {
        let far = distances(topology, nic);
        let on_way = ports.iter().enumerate().filter(|(_, neighbour)| {
            let (here, there) = (far[switch], far[**neighbour]);
            there.is_some_and(|there| here == Some(there + 1))
        });
        on_way.map(|(port, _)| port as u16).collect()
    });
    directions.collect()
}

fn neighbours(topology: &Topology, node: usize) -> impl Iterator<Item = usize> {
    let cables = topology.cables_at(node);
    cables.map(|(cable, end)| topology.cables[cable].ends[1 - end])
}

/// Cables between a NIC and every node; frames go through switches only.
fn distances(topology: &Topology, nic: usize) -> Vec<Option<u32>> {
    let mut far = vec![None; topology.nodes.len()];
    far[nic] = Some(0);
    let mut reached = VecDeque::from([(nic, 0)]);
    while let Some((node, distance)) = reached.pop_front() {
        if node != nic && matches!(topology.nodes[node].kind, Kind::Nic(_)) {
            continue;
        }
        for next in neighbours(topology, node) {
            if far[next].is_none() {
                far[next] = Some(distance + 1);
                reached.push_back((next, distance + 1));
            }
        }
    }
    far
}
