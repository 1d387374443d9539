//! NICs that are no hardware, topologies at random, and ranks that are threads.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_fabric::topology::{
    CableConfig, Kind, Mode, NicConfig, Node, SwitchConfig, Table, Topology, mac_of,
};
use spinneret_fabric::{
    Delivery, Faults, Local, NodeExit, NodeTask, Peers, Port, Ps, Ranks, RanksError, Report, Settings, run,
};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A host that sends frames to others at random times, and answers some of those that come.
pub(crate) fn chatter(
    mut port: Port,
    number: usize,
    nics: usize,
    frames: u32,
    seed: u64,
) -> Result<(), NodeExit> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ (number as u64) << 32);
    let mut left = frames;
    let mut next_ps = random.random_range(0..2_000_000);
    let mut now_ps = 0;
    loop {
        let due = if left > 0 { next_ps } else { Ps::MAX };
        let event = port.next_arrival_ps().unwrap_or(Ps::MAX).min(due);
        if event >= port.horizon_ps() {
            port.exchange(due.max(now_ps))?;
            continue;
        }
        now_ps = event;
        while let Some(frame) = port.arrival(now_ps) {
            // A request is answered at once; an answer is not answered.
            if frame[13] == 1 {
                let mut answer = frame.clone();
                answer[..6].copy_from_slice(&frame[6..12]);
                answer[6..12].copy_from_slice(&mac_of(number));
                answer[13] = 2;
                port.send(now_ps, answer);
            }
        }
        if now_ps >= due {
            left -= 1;
            next_ps += random.random_range(0..3_000_000);
            let to = random.random_range(0..nics);
            let mut frame = vec![0; random.random_range(60..1500)];
            frame[..6].copy_from_slice(&if to == number { [0xff; 6] } else { mac_of(to) });
            frame[6..12].copy_from_slice(&mac_of(number));
            frame[12] = 0x88;
            frame[13] = u8::from(random.random_bool(0.5));
            random.fill(&mut frame[14..]);
            port.send(now_ps, frame);
        }
    }
}

/// Switches in a tree with some more cables between them, and NICs around.
pub(crate) fn random_topology(seed: u64) -> Topology {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let nics = random.random_range(2..12);
    let switches = random.random_range(1..5);
    let mut nodes: Vec<Node> = (0..nics)
        .map(|number| Node {
            name: format!("nic{number}"),
            kind: Kind::Nic(Box::new(NicConfig {
                number,
                ..NicConfig::default()
            })),
        })
        .collect();
    let is_static = random.random_bool(0.5);
    for number in 0..switches {
        nodes.push(Node {
            name: format!("switch{number}"),
            kind: Kind::Switch(SwitchConfig {
                mode: if random.random_bool(0.5) {
                    Mode::CutThrough
                } else {
                    Mode::StoreAndForward
                },
                buffer_bytes: random.random_range(9216..100_000),
                delay_ps: random.random_range(0..500_000),
                table: if is_static { Table::Static } else { Table::Learning },
            }),
        });
    }
    let mut cables = Vec::new();
    let mut cable = |random: &mut ChaCha8Rng, ends, floods| {
        let mut share = || {
            if random.random_bool(0.5) {
                random.random_range(0.0..0.05)
            } else {
                0.0
            }
        };
        let mut faults = || Faults {
            loss: share(),
            duplication: share(),
            reordering: share(),
            corruption: share(),
        };
        let faults = [faults(), faults()];
        cables.push(CableConfig {
            ends,
            rate_bps: [1, 10, 25, 40, 100][random.random_range(0..5_usize)] * 1_000_000_000,
            latency_ps: random.random_range(100_000..2_000_000),
            faults,
            floods,
        });
    };
    for switch in 1..switches {
        let to = random.random_range(0..switch);
        cable(&mut random, [nics + switch, nics + to], true);
        if random.random_bool(0.5) {
            cable(&mut random, [nics + to, nics + switch], false);
        }
    }
    for nic in 0..nics {
        let to = nics + random.random_range(0..switches);
        cable(&mut random, [nic, to], true);
    }
    Topology {
        seed,
        nodes,
        cables,
        captures: Vec::new(),
    }
}

/// Simulates chatter on a topology.
pub(crate) fn simulate(topology: &Topology, threads: usize, ranks: &mut dyn Ranks) -> Report {
    let settings = Settings {
        threads,
        sample_ps: Some(5_000_000),
        ..Settings::default()
    };
    let nics = topology.nics().count();
    let member = |_: &str, config: &NicConfig| -> NodeTask<'_> {
        let number = config.number;
        Box::new(move |port| chatter(port, number, nics, 60, topology.seed))
    };
    run(topology, settings, ranks, &mut (), member).unwrap_or_else(|error| panic!("{error}"))
}

/// Ranks that are threads of one process.
#[derive(Debug)]
pub(crate) struct Threads {
    rank: usize,
    to: Vec<Sender<Said>>,
    from: Vec<Receiver<Said>>,
}

type Said = (Ps, bool, Vec<Delivery>, Vec<u8>);

impl Threads {
    pub(crate) fn new(size: usize) -> Vec<Self> {
        let mut ranks: Vec<Self> = (0..size)
            .map(|rank| Self {
                rank,
                to: Vec::new(),
                from: Vec::new(),
            })
            .collect();
        for from in 0..size {
            for to in 0..size {
                let (sender, receiver) = channel();
                ranks[from].to.push(sender);
                ranks[to].from.push(receiver);
            }
        }
        ranks
    }

    fn all(&self) -> Result<Vec<Said>, RanksError> {
        let gone = |_| RanksError("one is gone".to_owned());
        self.from.iter().map(|from| from.recv().map_err(gone)).collect()
    }
}

impl Ranks for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn exchange(&mut self, own: Local) -> Result<Peers, RanksError> {
        for (to, frames) in self.to.iter().zip(own.frames) {
            let _ = to.send((own.next_ps, own.is_over, frames, Vec::new()));
        }
        let all = self.all()?;
        Ok(Peers {
            next_ps: all.iter().map(|said| said.0).min().unwrap_or(Ps::MAX),
            is_over: all.iter().any(|said| said.1),
            frames: all.into_iter().flat_map(|said| said.2).collect(),
        })
    }

    fn gather(&mut self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RanksError> {
        for to in &self.to {
            let _ = to.send((0, false, Vec::new(), own.clone()));
        }
        let all = self.all()?;
        Ok(if self.rank == 0 {
            all.into_iter().map(|said| said.3).collect()
        } else {
            Vec::new()
        })
    }
}
