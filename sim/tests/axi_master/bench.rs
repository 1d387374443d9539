//! A master and the slaves of the bus models, with a design between them.

pub(crate) use crate::support::BUS;
use crate::support::{limited, panic_message};
use spinneret_fixtures::FixtureAxiPass;
use spinneret_sim::prelude::*;

/// A master and both slaves, with a design between them.
pub(crate) struct Bench {
    pub(crate) sim: Simulation<FixtureAxiPass>,
    pub(crate) master: AxiMaster,
    pub(crate) writes: AxiSlave,
    pub(crate) reads: AxiSlave,
}

/// A bench with these configurations, after a reset.
pub(crate) fn bench(config: MasterConfig, writes: SlaveConfig, reads: SlaveConfig) -> Bench {
    let mut sim = limited(400_000);
    let master = sim.axi_master("s_axi", config);
    let writes = sim.axi_write_slave("m_axi", writes);
    let memory = writes.shared_memory();
    let reads = AxiSlave::attach(&mut sim, "m_axi", Half::Read, reads, memory).expect("the fixture reads");
    sim.reset();
    Bench {
        sim,
        master,
        writes,
        reads,
    }
}

/// A bench in which nobody pauses.
pub(crate) fn calm() -> Bench {
    bench(
        MasterConfig::default(),
        SlaveConfig::default(),
        SlaveConfig::default(),
    )
}

impl Bench {
    /// Runs until everything is answered.
    pub(crate) fn settle(&mut self) {
        while !self.master.is_idle() {
            self.sim.cycle();
        }
    }

    /// Addresses that were transferred, of writes and of reads.
    pub(crate) fn counts(&self) -> [u64; 2] {
        [
            self.writes.monitor().counts().address.beats,
            self.reads.monitor().counts().address.beats,
        ]
    }

    /// Lets the slaves take bursts that break rules.
    pub(crate) fn tolerate(&self) {
        self.writes.monitor().check_slave_only();
        self.reads.monitor().check_slave_only();
    }

    /// Lets the fixture break a rule.
    pub(crate) fn set_fault(&mut self, fault: u64) {
        self.sim.dut.set("fault", fault).expect("the fixture has faults");
    }
}

/// A burst.
pub(crate) fn burst(id: u64, address: u64, beats: u64, size: u64, kind: BurstKind) -> Burst {
    Burst {
        id,
        address,
        beats,
        size,
        kind,
    }
}

/// The message with which a master refuses a burst.
pub(crate) fn refusal(send: impl FnOnce() -> u64) -> String {
    panic_message(|| {
        send();
    })
}

/// Pauses that depend on a seed, from none to many.
pub(crate) fn random_pauses(seed: u64) -> MasterPauses {
    let stalls = |channel: u64| Pause::Random {
        percent: 30 * (((seed >> channel) ^ seed) as u32 % 3),
    };
    MasterPauses {
        write_address: stalls(1),
        write_data: stalls(2),
        response: stalls(0),
        read_address: stalls(3),
        read_data: stalls(0),
    }
}
