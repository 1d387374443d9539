//! The topology that needs no file: some NICs, on one cable or around one switch.

use super::{CableConfig, Kind, NicConfig, Node, SwitchConfig, Topology, TopologyError};
use crate::Ps;
use crate::cable::Faults;

/// Two NICs on a cable, or more of them around a switch; all cables are alike.
#[derive(Clone, Debug)]
pub struct Simple {
    /// NICs, at least 2.
    pub nics: usize,
    /// Bits a second of each cable.
    pub rate_bps: u64,
    /// How long a bit takes on each cable.
    pub latency_ps: Ps,
    /// What happens to frames, both ways.
    pub faults: Faults,
    /// What faults depend on.
    pub seed: u64,
    /// The switch, if there are more than two NICs.
    pub switch: SwitchConfig,
    /// Each NIC.
    pub nic: NicConfig,
}

impl Default for Simple {
    /// 100 Gb/s, and 500 ns: two metres of cable, and the MACs and line coding at both ends, which the simulated part of a
    /// NIC does not have.
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
