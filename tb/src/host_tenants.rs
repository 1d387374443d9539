//! Tenants of host DMA and of the egress path: contexts with commands for `host_copier`, around memories, a host and a wire.

use crate::cluster::lines::{Lines, Memories};
use crate::tenants::{CONTEXTS, Usage, p99};
use spinneret_models::HostCopierTenants;
use spinneret_sim::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Clusters of the block.
const CLUSTERS: usize = 2;
/// Commands that a context has open at most: the clusters' ids are shared out.
const WINDOW: usize = 8;
/// Memory that copies name.
const MEMORY: Range<u32> = 0x1000_0000..0x1002_0000;
/// Memory of the host: a part for each context.
const HOST: u64 = 0x1234_5678_9abc_0000;
const HOST_PART: u64 = 1 << 20;
/// Clocks before the measurement.
const WARM_UP: u64 = 5_000;
/// Clocks of an access to the host.
const HOST_CLOCKS: u64 = 100;
/// Bytes that the wire takes in a clock, and clocks between frames.
const WIRE_BYTES: u64 = 64;
const WIRE_GAP: u64 = 8;

/// A path that contexts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Copies to the host.
    ToHost,
    /// Copies from the host.
    FromHost,
    /// Packets that are sent.
    Packets,
}

impl Path {
    /// All.
    pub const ALL: [Self; 3] = [Self::ToHost, Self::FromHost, Self::Packets];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToHost => "to host",
            Self::FromHost => "from host",
            Self::Packets => "packets",
        }
    }
}

/// A tenant: it always has [`WINDOW`] commands open.
#[derive(Clone, Debug)]
pub struct HostTenant {
    /// Weight of its context.
    pub weight: u64,
    /// Bytes of its commands.
    pub bytes: Range<u32>,
    /// Rate of its packets in 1/256 bytes a clock; 0: no limit.
    pub rate: u64,
}

/// A command that is not done.
#[derive(Clone, Copy, Debug)]
struct Open {
    tenant: usize,
    bytes: u32,
    since: u64,
}

/// A command that a cluster offers.
#[derive(Clone, Copy, Debug)]
struct Offer {
    id: u64,
    tenant: usize,
    words: [u32; 7],
}

struct Bench<'a> {
    sim: Simulation<HostCopierTenants>,
    path: Path,
    tenants: &'a [HostTenant],
    /// All commands are of one context, so that they are done in the order in which they come.
    one_queue: bool,
    now: u64,
    offers: [Option<Offer>; CLUSTERS],
    /// The tenant of a cluster that had the last command.
    last: [usize; CLUSTERS],
    open: BTreeMap<(usize, u64), Open>,
    /// The packet on the wire, until a clock.
    wire: Option<(u64, u64)>,
    rng: ChaCha8Rng,
    usage: Vec<Usage>,
    latencies: Vec<Vec<u64>>,
}

/// Runs tenants on a path, at most one for each context, and returns what each got in that many clocks.
///
/// With `one_queue`, all commands are done in the order in which they come.
///
/// # Panics
/// If the model cannot be simulated, or a command ends twice.
pub fn measure(path: Path, tenants: &[HostTenant], one_queue: bool, clocks: u64) -> Vec<Usage> {
    let mut sim = Simulation::new(HostCopierTenants::with_seed(1)).expect("the model can be simulated");
    sim.set_cycle_limit(u64::MAX);
    let mut rng = sim.rng("commands");
    let config = SlaveConfig {
        latency: Latency::exactly(HOST_CLOCKS),
        ..SlaveConfig::default()
    };
    let writes = sim.axi_write_slave("m_axi", config.clone());
    let (memory, half) = (writes.shared_memory(), Half::Read);
    AxiSlave::attach(&mut sim, "m_axi", half, config, memory).expect("the block reads");
    Lines::attach(&mut sim, Memories::random(&[MEMORY], &mut rng));
    sim.reset();
    for (context, tenant) in tenants.iter().enumerate() {
        for (name, value) in [("weight", tenant.weight), ("rate", tenant.rate)] {
            sim.set(&format!("{name}_context"), context as u64);
            sim.set(&format!("{name}_value"), value);
            sim.set(&format!("{name}_write"), true);
            sim.cycle();
            sim.set(&format!("{name}_write"), false);
        }
    }
    let mut bench = Bench {
        sim,
        path,
        tenants,
        one_queue,
        now: 0,
        offers: [None; CLUSTERS],
        last: [0; CLUSTERS],
        open: BTreeMap::new(),
        wire: None,
        rng,
        usage: vec![Usage::NONE; tenants.len()],
        latencies: vec![Vec::new(); tenants.len()],
    };
    (0..WARM_UP).for_each(|_| bench.clock());
    bench.usage.fill(Usage::NONE);
    bench.latencies.iter_mut().for_each(Vec::clear);
    (0..clocks).for_each(|_| bench.clock());
    for (usage, latencies) in bench.usage.iter_mut().zip(&mut bench.latencies) {
        usage.p99_clocks = p99(latencies);
    }
    bench.usage
}

impl Bench<'_> {
    fn clock(&mut self) {
        for cluster in 0..CLUSTERS {
            if self.offers[cluster].is_none() {
                self.offers[cluster] = self.next(cluster);
            }
            let port = |name: &str| format!("command_{cluster}_{name}");
            self.sim.set(&port("valid"), self.offers[cluster].is_some());
            if let Some(offer) = self.offers[cluster] {
                let bytes: Vec<u8> = offer.words.iter().flat_map(|word| word.to_le_bytes()).collect();
                self.sim.set_bytes(&port("words"), &bytes);
                let context = if self.one_queue { 0 } else { offer.tenant as u64 };
                let kind = u64::from(self.path == Path::Packets);
                for (name, value) in [("id", offer.id), ("kind", kind), ("queue", context << 2)] {
                    self.sim.set(&port(name), value);
                }
            }
        }
        let sent = self.wire.take_if(|(until, _)| *until <= self.now);
        self.sim.set("sent", sent.is_some());
        self.sim.set("sent_id", sent.map_or(0, |(_, id)| id));
        self.sim.set("send_ready", self.wire.is_none());
        self.sim.dut.eval();
        if self.sim.get("send_valid") == 1 && self.wire.is_none() {
            let clocks = self.sim.get("send_length").div_ceil(WIRE_BYTES) + WIRE_GAP;
            self.wire = Some((self.now + clocks, self.sim.get("send_id")));
        }
        for cluster in 0..CLUSTERS {
            if self.sim.get(&format!("command_{cluster}_ready")) == 1 {
                self.offers[cluster] = None;
            }
        }
        self.sim.cycle();
        self.now += 1;
        for cluster in 0..CLUSTERS {
            if self.sim.get(&format!("command_{cluster}_done")) == 1 {
                let id = self.sim.get(&format!("command_{cluster}_done_id"));
                let done = self.open.remove(&(cluster, id)).expect("a command ends once");
                let usage = &mut self.usage[done.tenant];
                usage.got += u64::from(done.bytes);
                usage.packets += 1;
                self.latencies[done.tenant].push(self.now - done.since);
            }
        }
    }

    /// The next command of a cluster: its tenants take turns.
    fn next(&mut self, cluster: usize) -> Option<Offer> {
        let own: Vec<usize> = (cluster..self.tenants.len()).step_by(CLUSTERS).collect();
        let after = own
            .iter()
            .position(|tenant| *tenant == self.last[cluster])
            .map_or(0, |at| at + 1);
        let (tenant, id) = (0..own.len()).find_map(|turn| {
            let tenant = own[(after + turn) % own.len()];
            let first = tenant / CLUSTERS * WINDOW;
            let id = (first..first + WINDOW).find(|id| !self.open.contains_key(&(cluster, *id as u64)))?;
            Some((tenant, id as u64))
        })?;
        self.last[cluster] = tenant;
        let bytes = self.rng.random_range(self.tenants[tenant].bytes.clone());
        let memory = self.rng.random_range(MEMORY.start..MEMORY.end - bytes);
        let words = match self.path {
            Path::Packets => [0, 0, memory, 0, bytes, 0, 0],
            path => {
                let place = self.rng.random_range(0..HOST_PART - u64::from(bytes));
                let host = HOST + HOST_PART * tenant as u64 + place;
                let to_host = u32::from(path == Path::ToHost);
                [host as u32, (host >> 32) as u32, memory, bytes, to_host, 0, 0]
            }
        };
        let since = self.now;
        self.open.insert((cluster, id), Open { tenant, bytes, since });
        Some(Offer { id, tenant, words })
    }
}

/// The bytes of commands of a path that is used as it should be.
fn usual(path: Path) -> Range<u32> {
    match path {
        Path::Packets => 64..1501,
        _ => 1024..4096,
    }
}

/// Tenants with these weights, and commands of different lengths.
pub fn mixed(path: Path, weights: [u64; CONTEXTS]) -> Vec<HostTenant> {
    let tenant = |(number, weight)| HostTenant {
        weight,
        bytes: match (path, number % 4) {
            (Path::Packets, 1) => 1000..1501,
            (Path::Packets, 2) => 200..600,
            (Path::Packets, 3) => 1499..1501,
            (_, 1) => 8_192..16_384,
            (_, 2) => 1024..1025,
            (_, 3) => 40_000..65_537,
            _ => usual(path),
        },
        rate: 0,
    };
    weights.into_iter().enumerate().map(tenant).collect()
}

/// Tenants that behave.
pub fn peaceful(path: Path) -> Vec<HostTenant> {
    let bytes = usual(path);
    vec![
        HostTenant {
            weight: 1,
            bytes,
            rate: 0
        };
        CONTEXTS
    ]
}

/// Tenants of which the last one has commands as long as possible.
pub fn flooding(path: Path) -> Vec<HostTenant> {
    let mut tenants = peaceful(path);
    tenants[CONTEXTS - 1].bytes = match path {
        Path::Packets => 9599..9601,
        _ => 65_536..65_537,
    };
    tenants
}
