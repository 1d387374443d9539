//! The BAR between a host, registers and a cluster, with a cycle-accurate checker of every access.

mod cluster;

pub use cluster::{ClusterConfig, ClusterModel, Setup};

use crate::bench::Finish;
use cluster::{Answer, Taken, Traffic};
use spinneret_regmap::bar::{self, Destination};
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

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

    /// Resets the BAR; everything that is in flight or not sent is forgotten.
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

    /// Simulates a clock and checks all outputs.
    ///
    /// # Panics
    /// At the first error.
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

/// An access that the host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    address: u64,
    protection: u8,
    /// Data and strobes of a write.
    written: Option<(u32, u8)>,
}

/// The answer to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcome {
    /// The clock in which all of it was taken.
    start: u64,
    /// The first clock of the answer.
    valid: u64,
    response: Response,
    /// Data of a read; 0 of a write.
    data: u32,
}

crate::counts! {
    /// Counters of the BAR.
    pub struct Counters {
        /// Accesses outside of all windows.
        pub outside: u64,
        /// Accesses that ended because the cluster was held in reset.
        pub held: u64,
        /// Accesses that ended because a time was over.
        pub timeouts: u64,
        /// Accesses that the cluster answered with an error.
        pub errors: u64,
    }
}

/// An access that was sent to the cluster.
#[derive(Clone, Copy, Debug)]
struct Sent {
    access: Access,
    address: u32,
    start: u64,
    /// The cluster has answered, so it has taken all of it.
    answered: bool,
}

/// Checks the accesses of one direction.
#[derive(Debug)]
struct Checker {
    setup: Setup,
    traffic: Traffic,
    /// Accesses seen at the registers.
    registers: VecDeque<LiteAccess>,
    /// The last access to the cluster.
    sent: Option<Sent>,
    /// The clock in which the time of an access was over whose answer is outstanding.
    over: Option<u64>,
    counters: Counters,
}

impl Checker {
    fn new(setup: Setup) -> Self {
        Self {
            setup,
            traffic: Traffic::default(),
            registers: VecDeque::new(),
            sent: None,
            over: None,
            counters: Counters::default(),
        }
    }

    /// Resets the state.
    fn reset(&mut self) {
        *self = Self::new(self.setup);
    }

    /// Adds what passed on the channels to the cluster.
    fn add(&mut self, traffic: Traffic) {
        self.traffic.addresses.extend(traffic.addresses);
        self.traffic.datas.extend(traffic.datas);
        self.traffic.answers.extend(traffic.answers);
    }

    /// Compares the answer to an access with the expected one; `held` is the level of `cluster_held` in each clock.
    fn check(&mut self, access: Access, outcome: Outcome, held: &[bool]) -> Result<(), String> {
        let expected = match bar::decode(access.address as u32) {
            // Beyond 32 bits there is no BAR at all.
            _ if access.address > u64::from(u32::MAX) => self.outside(outcome),
            Destination::Nothing => self.outside(outcome),
            Destination::ControlRegister(offset) => self.at_registers(access, offset, outcome)?,
            Destination::Pspin(address) => self.at_cluster(access, address & !3, outcome, held)?,
        };
        if outcome != expected {
            return Err(format!("{access:x?} has {outcome:x?} instead of {expected:x?}"));
        }
        Ok(())
    }

    fn outside(&mut self, outcome: Outcome) -> Outcome {
        self.counters.outside += 1;
        Outcome {
            valid: outcome.start + 1,
            response: Response::DecodeError,
            data: 0,
            ..outcome
        }
    }

    /// Expected answer of the registers: their model has the response, and their monitor checks that there is one.
    fn at_registers(&mut self, access: Access, offset: u32, outcome: Outcome) -> Result<Outcome, String> {
        let seen = self.registers.pop_front();
        let seen =
            seen.ok_or_else(|| format!("{access:x?} was answered, and the registers did not see it"))?;
        let same = seen.address == u64::from(offset)
            && seen.protection == access.protection
            && seen.written == access.written.map(|(data, strobes)| (data.into(), strobes));
        if !same || seen.cycle <= outcome.start || outcome.valid < seen.cycle + 2 {
            return Err(format!(
                "{access:x?} with {outcome:x?} reached the registers as {seen:x?}"
            ));
        }
        // The data of what fails, and of what the host may have written, is anything.
        let is_known = u64::from(offset) < WRITABLE && access.written.is_none();
        Ok(Outcome {
            response: seen.response,
            data: if is_known && seen.response == Response::Okay {
                register(offset)
            } else {
                outcome.data
            },
            ..outcome
        })
    }

    fn at_cluster(
        &mut self,
        access: Access,
        address: u32,
        outcome: Outcome,
        held: &[bool],
    ) -> Result<Outcome, String> {
        let start = outcome.start;
        let is_held = |cycle: u64| held.get(cycle as usize).copied().unwrap_or(false);
        let ends = |valid, response, data| Outcome {
            start,
            valid,
            response,
            data,
        };
        let late = self
            .over
            .is_some_and(|over| !self.late_answer_came(over, start, held));
        if !late {
            self.over = None;
        }
        if is_held(start) {
            self.counters.held += 1;
            return Ok(ends(start + 1, Response::SlaveError, 0));
        }
        if late {
            self.counters.timeouts += 1;
            return Ok(ends(start + 1, Response::SlaveError, 0));
        }
        self.close(start)?;
        let mut sent = Sent {
            access,
            address,
            start,
            answered: false,
        };
        let last = start + self.setup.timeout_cycles;
        for cycle in start + 1..=last {
            if is_held(cycle) {
                self.counters.held += 1;
                self.sent = Some(sent);
                return Ok(ends(cycle + 1, Response::SlaveError, 0));
            }
            if let Some(answer) = self.answer_at(cycle) {
                sent.answered = true;
                self.sent = Some(sent);
                return Ok(self.answered(sent, answer));
            }
        }
        self.counters.timeouts += 1;
        self.over = Some(last);
        self.sent = Some(sent);
        Ok(ends(last + 1, Response::SlaveError, 0))
    }

    /// Expected answer when the cluster answers.
    fn answered(&mut self, sent: Sent, answer: Answer) -> Outcome {
        self.counters.errors += u64::from(answer.code != 0);
        let is_good_read = sent.access.written.is_none() && answer.code == 0;
        Outcome {
            start: sent.start,
            valid: answer.cycle + 1,
            response: match answer.code {
                0 => Response::Okay,
                3 => Response::DecodeError,
                _ => Response::SlaveError,
            },
            data: if is_good_read { answer.word } else { 0 },
        }
    }

    /// The answer in that clock.
    fn answer_at(&self, cycle: u64) -> Option<Answer> {
        let mut answers = self.traffic.answers.iter();
        answers.find(|answer| answer.cycle == cycle).copied()
    }

    /// Returns whether the late answer of an access that timed out came before cycle `start`.
    fn late_answer_came(&self, over: u64, start: u64, held: &[bool]) -> bool {
        let is_held = |cycle: u64| held.get(cycle as usize).copied().unwrap_or(false);
        (over + 1..start).any(|cycle| is_held(cycle) || self.answer_at(cycle).is_some())
    }

    /// Compares the transfers to the cluster up to this clock with the last access.
    fn close(&mut self, before: u64) -> Result<(), String> {
        fn due<T>(list: &mut VecDeque<T>, cycle: impl Fn(&T) -> u64, before: u64) -> Vec<T> {
            let mut due = Vec::new();
            while let Some(first) = list.pop_front_if(|first| cycle(first) <= before) {
                due.push(first);
            }
            due
        }
        let answers = due(&mut self.traffic.answers, |answer| answer.cycle, before);
        let addresses = due(&mut self.traffic.addresses, |taken| taken.cycle, before);
        let datas = due(&mut self.traffic.datas, |taken| taken.cycle, before);
        let Some(Sent {
            access,
            address,
            answered,
            start,
        }) = self.sent.take()
        else {
            return match (addresses.first(), datas.first(), answers.first()) {
                (None, None, None) => Ok(()),
                first => Err(format!("the cluster saw an unexpected transfer: {first:x?}")),
            };
        };
        let is_complete = answered || !answers.is_empty();
        let strobes = |taken: &Taken| (taken.value, taken.bits);
        let same_address = |taken: &Taken| taken.value == address && taken.bits == access.protection;
        let wanted = usize::from(access.written.is_some());
        let is_right = addresses.len() <= 1
            && datas.len() <= wanted
            && addresses.iter().all(same_address)
            && datas.iter().all(|taken| Some(strobes(taken)) == access.written)
            && addresses.iter().chain(&datas).all(|taken| taken.cycle > start)
            && (!is_complete || (addresses.len() == 1 && datas.len() == wanted));
        if !is_right {
            return Err(format!(
                "the cluster saw {addresses:x?} {datas:x?} of {access:x?}"
            ));
        }
        Ok(())
    }

    /// Checks the remaining transfers when nothing is in flight.
    fn finish(&mut self) -> Result<(), String> {
        self.close(u64::MAX)?;
        match self.registers.front() {
            None => Ok(()),
            Some(seen) => Err(format!(
                "the registers saw {seen:x?}, which the host did not send"
            )),
        }
    }
}

/// Offset in the registers from which on the bench lets the host write; below, they hold a known pattern.
pub const WRITABLE: u64 = 0x8000;

/// Returns the contents of a read-only register.
fn register(offset: u32) -> u32 {
    (offset / 4).wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995
}
