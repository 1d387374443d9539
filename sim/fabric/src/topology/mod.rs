//! What is connected to what: NICs, switches, cables.

mod check;
mod file;
mod route;
mod simple;

pub use check::TopologyError;
pub use simple::Simple;

pub(crate) use route::routes;

use crate::cable::Faults;
use crate::{MAX_FRAME_BYTES, Ps};
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// Shortest latency of a cable: it is how far everybody may get ahead of the others, and a NIC gets ahead by whole clocks.
pub const MIN_LATENCY_PS: Ps = 2 * crate::meeting::SLACK_PS;
/// Longest latency of a cable.
pub const MAX_LATENCY_PS: Ps = 1_000_000_000_000;
/// Slowest and fastest cable.
pub const RATES_BPS: std::ops::RangeInclusive<u64> = 1_000_000..=1_000_000_000_000;
/// Smallest queue of a port: one frame of any size.
pub const MIN_BUFFER_BYTES: u64 = MAX_FRAME_BYTES as u64;
/// Most NICs and switches together.
pub const MAX_NODES: usize = 1 << 16;

/// NICs, switches and the cables between them; what is wrong with one was found when it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// What faults depend on.
    pub seed: u64,
    /// NICs and switches.
    pub nodes: Vec<Node>,
    /// Cables.
    pub cables: Vec<CableConfig>,
    /// What is written to files.
    pub captures: Vec<CaptureConfig>,
}

/// A NIC or a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name, which no other has.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A NIC.
    Nic(Box<NicConfig>),
    /// A switch.
    Switch(SwitchConfig),
}

/// A NIC: what is on it, and who uses it. What the words mean is up to whoever simulates it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NicConfig {
    /// Its place among the NICs, from 0.
    pub number: usize,
    /// An application is to come, and time does not begin before.
    pub application: bool,
    /// When that has gone.
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
    /// A network interface of this machine that is its host's.
    pub tap: Option<String>,
}

impl NicConfig {
    /// Its MAC address: locally administered, and its number.
    pub fn mac(&self) -> [u8; 6] {
        mac_of(self.number)
    }

    /// The IPv4 address that its host is given: 10.128.0.1 and on.
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

/// What happens to everybody when the application of a NIC has gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenGone {
    /// The NIC goes on without it.
    #[default]
    GoOn,
    /// Time stands still until the next one comes.
    Hold,
    /// All of it ends.
    Stop,
}

/// A switch.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchConfig {
    /// When it sends a frame on.
    pub mode: Mode,
    /// Bytes that the queue of a port holds; what does not fit is dropped.
    pub buffer_bytes: u64,
    /// From the moment at which it knows where a frame goes to the queue of that port.
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
    /// When all of it is there; those with a wrong check sequence are dropped.
    #[default]
    StoreAndForward,
    /// As soon as its first 64 bytes are there, right or wrong.
    CutThrough,
}

/// Where a switch knows addresses from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// From the senders of frames; those to nobody known go everywhere.
    #[default]
    Learning,
    /// From the topology: the shortest ways to each NIC, and among equally short ones a choice by the flow.
    Static,
}

/// A cable.
#[derive(Clone, Debug, PartialEq)]
pub struct CableConfig {
    /// The nodes at its ends, by their places in [`Topology::nodes`].
    pub ends: [usize; 2],
    /// Bits a second.
    pub rate_bps: u64,
    /// How long a bit takes.
    pub latency_ps: Ps,
    /// What happens to frames that the first end sends, and the second.
    pub faults: [Faults; 2],
    /// Frames to everybody pass it. Those cables form no circle.
    pub floods: bool,
}

/// A capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureConfig {
    /// The node at whose end of a cable frames are seen.
    pub node: usize,
    /// The cable.
    pub cable: usize,
    /// What is seen.
    pub what: Seen,
    /// The file, pcap.
    pub file: PathBuf,
    /// The line of the topology's file that names it, from 1.
    pub line: usize,
}

/// Which frames a capture sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// Those that come.
    In,
    /// Those that are sent.
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

    /// Cables at a node, in their order, each with which of its ends that is. It is also the order of a switch's ports.
    pub(crate) fn cables_at(&self, node: usize) -> impl Iterator<Item = (usize, usize)> {
        let cables = self.cables.iter().enumerate();
        cables.filter_map(move |(cable, config)| {
            Some((cable, config.ends.iter().position(|end| *end == node)?))
        })
    }

    /// The rank of each node if there are so many of them: NICs in blocks of neighbours, switches in turns.
    pub fn ranks(&self, size: usize) -> Vec<usize> {
        let nics = self.nics().count().max(1);
        let mut switches = 0..;
        let ranks = self.nodes.iter().map(|node| match &node.kind {
            Kind::Nic(nic) => nic.number * size / nics,
            Kind::Switch(_) => switches.next().unwrap_or(0) % size,
        });
        ranks.collect()
    }

    /// How far everybody may get ahead of the others: the shortest latency.
    pub fn lookahead_ps(&self) -> Ps {
        let latencies = self.cables.iter().map(|cable| cable.latency_ps);
        latencies.min().unwrap_or(MAX_LATENCY_PS)
    }
}
