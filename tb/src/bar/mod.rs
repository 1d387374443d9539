//! The BAR between a host, registers and a cluster, and what has to become of every access.

mod checker;
mod cluster;

use crate::bench::Finish;
use checker::{Access, Checker, Outcome, register};
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

pub use checker::{Counters, WRITABLE};
pub use cluster::{ClusterConfig, ClusterModel, Setup};

/// Stimulus of a BAR: the host, the registers, the cluster.
#[derive(Clone, Debug)]
pub struct Stimulus {
    /// The host.
    pub host: MasterConfig,
    /// The registers.
    pub registers: LiteSlaveConfig,
    /// The cluster.
    pub cluster: ClusterConfig,
}

impl Default for Stimulus {
    fn default() -> Self {
        Self {
            host: MasterConfig::default(),
            registers: LiteSlaveConfig::default(),
            cluster: ClusterConfig::FAST,
        }
    }
}

/// The BAR with models on all its ports; the answer to every access is compared with what it has to be, and
/// the clock in which it comes.
#[derive(Debug)]
pub struct BarBench<M: Model> {
    /// The simulation; [`cycle`](Self::cycle) of the bench runs it.
    pub sim: Simulation<M>,
    /// Parameters of the BAR.
    pub setup: Setup,
    /// The host; accesses are sent by [`write`](Self::write) and [`read`](Self::read) of the bench.
    pub host: LiteMaster,
    /// The registers; there are none behind a small BAR.
    pub registers: LiteSlave,
    /// The cluster.
    pub cluster: ClusterModel,
    /// The last write that was answered.
    pub last_write: Option<LiteWriteDone>,
    /// The last read that was answered.
    pub last_read: Option<LiteReadDone>,
    held: bool,
    /// The level of `cluster_held` by clock.
    levels: Vec<bool>,
    pending: [VecDeque<Access>; 2],
    checkers: [Checker; 2],
}

impl<M: Model> BarBench<M> {
    /// Puts models around a BAR and resets it.
    ///
    /// # Panics
    /// If the design is no BAR.
    pub fn new(mut sim: Simulation<M>, stimulus: Stimulus) -> Self {
        let setup = Setup::of::<M>();
        sim.set_cycle_limit(u64::MAX);
        let bench = Self {
            host: sim.axil_master("s_axil", stimulus.host),
            registers: sim.axil_slave("m_axil", stimulus.registers),
            cluster: ClusterModel::attach(&mut sim, stimulus.cluster),
            last_write: None,
            last_read: None,
            held: false,
            levels: Vec::new(),
            pending: [VecDeque::new(), VecDeque::new()],
            checkers: [Checker::new(setup), Checker::new(setup)],
            setup,
            sim,
        };
        for offset in (0..WRITABLE as u32).step_by(4) {
            let bytes = register(offset).to_le_bytes();
            bench.registers.memory().fill(offset.into(), &bytes);
        }
        let mut bench = bench;
        bench.reset();
        bench
    }

    /// Resets the BAR; everything that is under way or not sent is forgotten.
    pub fn reset(&mut self) {
        self.sim.reset();
        self.host.clear();
        self.registers.take_accesses();
        self.cluster.take_traffic();
        for (pending, checker) in self.pending.iter_mut().zip(&mut self.checkers) {
            pending.clear();
            checker.reset();
        }
        self.levels.resize(self.sim.cycle_count() as usize, false);
    }

    /// Holds the cluster in reset, or lets it go, from the next clock on.
    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Sends a write.
    pub fn write(&mut self, address: u64, data: u32, strobes: u8, protection: u8) {
        self.host.write(LiteWrite {
            protection: Some(protection),
            ..LiteWrite::new(address, data.into()).strobed(strobes)
        });
        self.pending[0].push_back(Access {
            address,
            protection,
            written: Some((data, strobes)),
        });
    }

    /// Sends a read.
    pub fn read(&mut self, address: u64, protection: u8) {
        self.host.read(LiteRead {
            address,
            protection: Some(protection),
        });
        self.pending[1].push_back(Access {
            address,
            protection,
            written: None,
        });
    }

    /// Simulates a clock and compares everything that came out.
    ///
    /// # Panics
    /// At the first thing that is wrong.
    pub fn cycle(&mut self) {
        self.sim.set("cluster_held", self.held);
        self.levels.push(self.held);
        self.sim.cycle();
        let observed = self.observe();
        self.sim.expect(observed);
    }

    /// Simulates some clocks.
    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle();
        }
    }

    /// Runs until everything is answered.
    pub fn settle(&mut self) {
        while !self.host.is_idle() {
            self.cycle();
        }
    }

    /// Sends a write and waits for its answer.
    pub fn write_now(&mut self, address: u64, data: u32, strobes: u8) -> LiteWriteDone {
        self.write(address, data, strobes, 0);
        self.settle();
        self.last_write.expect("it is answered")
    }

    /// Sends a read and waits for its answer.
    pub fn read_now(&mut self, address: u64) -> LiteReadDone {
        self.read(address, 0);
        self.settle();
        self.last_read.expect("it is answered")
    }

    fn observe(&mut self) -> Result<(), String> {
        for (checker, traffic) in self.checkers.iter_mut().zip(self.cluster.take_traffic()) {
            checker.add(traffic);
        }
        for seen in self.registers.take_accesses() {
            let direction = usize::from(seen.written.is_none());
            self.checkers[direction].registers.push_back(seen);
        }
        for done in self.host.take_writes() {
            self.last_write = Some(done);
            let outcome = Outcome {
                start: done.address_cycle.max(done.data_cycle),
                valid: done.valid_cycle,
                response: done.response,
                data: 0,
            };
            self.check(0, outcome)?;
        }
        for done in self.host.take_reads() {
            self.last_read = Some(done);
            let outcome = Outcome {
                start: done.address_cycle,
                valid: done.valid_cycle,
                response: done.response,
                data: done.data as u32,
            };
            self.check(1, outcome)?;
        }
        Ok(())
    }

    fn check(&mut self, direction: usize, outcome: Outcome) -> Result<(), String> {
        let access = self.pending[direction].pop_front();
        let access = access.ok_or("an answer to nothing")?;
        self.checkers[direction].check(access, outcome, &self.levels)
    }

    /// Returns the expected counters, of writes and reads together.
    pub fn expected_counters(&self) -> Counters {
        let mut all = self.checkers[0].counters;
        all += self.checkers[1].counters;
        all
    }

    /// Counters of the BAR.
    pub fn counters(&self) -> Counters {
        let get = |name: &str| self.sim.get(name);
        Counters {
            outside: get("outside_o"),
            held: get("held_o"),
            timeouts: get("timeout_o"),
            errors: get("errors_o"),
        }
    }
}

impl<M: Model> Finish for BarBench<M> {
    fn finish(mut self) {
        self.hold(false);
        self.settle();
        while !self.cluster.is_idle() {
            self.cycle();
        }
        self.run(5);
        assert_eq!(self.counters(), self.expected_counters(), "counters");
        for checker in &mut self.checkers {
            checker
                .finish()
                .unwrap_or_else(|difference| panic!("{difference}"));
        }
        self.sim.finish();
    }
}
