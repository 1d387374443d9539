//! Designs with several clocks.
//!
//! ```text
//! s_clk  __/‾‾\__/‾‾\__/‾‾\__/‾‾\__        drive: at a clock's falling edge
//! m_clk  ‾‾‾\______/‾‾‾‾‾‾\______/‾        sample: right before its rising edge
//! ```
//!
//! Edges happen in the order of their times. Edges at the same time happen together, falling before rising ones, in
//! one step of the design, so that no register sees what another one takes in the same instant. An agent belongs to
//! one clock: it is driven and sampled with it, and counts its cycles.

use super::domain::{ClockDomain, Clocking, Domain, Timing};
use super::{Cause, Failure, Simulation};
use crate::model::{Model, ModelError};
use crate::seed::Seed;

/// How long [`Simulation::reset`] holds the resets of all clocks at the same time, in cycles of the slowest: long
/// enough for the crossings between them.
pub const DOMAINS_RESET_CYCLES: u64 = 16;

impl<M: Model> Simulation<M> {
    /// Puts a design under several clocks; it is not reset yet.
    ///
    /// [`cycle`](Self::cycle) then simulates up to the next rising edge of any clock, and everything that counts
    /// cycles of the simulation counts such instants. Agents go to the clock that
    /// [`in_domain`](Self::in_domain) names.
    ///
    /// # Errors
    /// If a clock or reset is no input of one bit.
    ///
    /// # Panics
    /// If there is no clock.
    pub fn with_domains(dut: M, domains: &[ClockDomain]) -> Result<Self, ModelError> {
        assert!(!domains.is_empty(), "a design needs a clock");
        let seed = Seed::default();
        let mut found = Vec::with_capacity(domains.len());
        for domain in domains {
            let clock = domain.is_input.then_some(domain.clock.as_str());
            let clocking = Clocking::named(dut.instance(), clock, domain.reset.as_ref())?;
            found.push(Domain {
                name: domain.clock.clone(),
                timing: Some(Timing::new(domain.clone(), seed)),
                ..Domain::only(clocking)
            });
        }
        Ok(Self::from_domains(dut, found))
    }

    /// Selects the clock of the agents that are added from now on.
    ///
    /// # Panics
    /// If the simulation has no such clock.
    pub fn in_domain(&mut self, clock: &str) -> &mut Self {
        self.selected = self.domain_index(clock);
        self
    }

    /// Rising edges of a clock since the simulation was made.
    ///
    /// # Panics
    /// If the simulation has no such clock.
    pub fn edges(&self, clock: &str) -> u64 {
        self.domains[self.domain_index(clock)].edges
    }

    /// Simulates some cycles of one clock.
    ///
    /// # Panics
    /// As [`cycle`](Self::cycle), and if the simulation has no such clock or it stands.
    pub fn run_edges(&mut self, clock: &str, edges: u64) {
        let index = self.domain_index(clock);
        assert!(self.domains[index].is_running(), "the clock {clock} is stopped");
        let end = self.domains[index].edges + edges;
        while self.domains[index].edges < end {
            self.cycle();
        }
    }

    /// Lets a clock stand, or run again.
    ///
    /// # Panics
    /// If the simulation has no such clock.
    pub fn set_running(&mut self, clock: &str, running: bool) {
        let index = self.domain_index(clock);
        let now = self.time_ps;
        if let Some(timing) = &mut self.domains[index].timing {
            if running {
                timing.start(now);
            } else {
                timing.stop();
            }
        }
    }

    /// Puts the side of one clock into reset or out of it; its agents are idle meanwhile, and what was in flight with
    /// them is discarded.
    ///
    /// # Panics
    /// If the simulation has no such clock, it has no reset, or a rule of a bus is broken in reset.
    pub fn set_reset(&mut self, clock: &str, active: bool) {
        let index = self.domain_index(clock);
        let domain = &self.domains[index];
        assert!(domain.clocking.has_reset(), "the clock {clock} has no reset");
        let result = self.change_reset(index, active);
        result.unwrap_or_else(|cause| panic!("{}", self.failure(cause)));
    }

    fn domain_index(&self, clock: &str) -> usize {
        let found = self.domains.iter().position(|domain| domain.name == clock);
        found.unwrap_or_else(|| {
            let names: Vec<&str> = self.domains.iter().map(|domain| domain.name.as_str()).collect();
            panic!("{} has no clock {clock}: it has {}", M::NAME, names.join(", "))
        })
    }

    /// Whether the design has clocks with times of their own.
    pub(super) fn has_domains(&self) -> bool {
        self.domains.iter().any(|domain| domain.timing.is_some())
    }

    /// Resets all clocks that have a reset, at the same time.
    pub(super) fn reset_domains(&mut self) -> Result<(), Failure> {
        let with_reset = |domain: &Domain| domain.clocking.has_reset();
        let indices: Vec<usize> = (0..self.domains.len())
            .filter(|index| with_reset(&self.domains[*index]))
            .collect();
        let result = self.run_domains_reset(&indices);
        result.map_err(|cause| self.failure(cause))
    }

    fn run_domains_reset(&mut self, indices: &[usize]) -> Result<(), Cause> {
        for index in indices {
            self.change_reset(*index, true)?;
        }
        let start: Vec<u64> = self.domains.iter().map(|domain| domain.edges).collect();
        let is_over = |domains: &[Domain]| {
            let mut running = domains
                .iter()
                .zip(&start)
                .filter(|(domain, _)| domain.is_running());
            running.all(|(domain, start)| domain.edges >= start + DOMAINS_RESET_CYCLES)
        };
        while !is_over(&self.domains) {
            self.next_instant()?;
        }
        for index in indices {
            self.change_reset(*index, false)?;
        }
        Ok(())
    }

    fn change_reset(&mut self, index: usize, active: bool) -> Result<(), Cause> {
        let domain = &mut self.domains[index];
        let dut = self.dut.instance_mut();
        domain.in_reset = active;
        if active {
            for agent in &domain.agents {
                agent.borrow_mut().reset(dut);
            }
        } else {
            for agent in &domain.agents {
                agent.borrow().sample_reset(dut)?;
            }
        }
        domain.clocking.set_reset(dut, active);
        Ok(())
    }

    /// Simulates up to the next time at which a clock rises.
    pub(super) fn next_instant(&mut self) -> Result<(), Cause> {
        loop {
            let times = self
                .domains
                .iter()
                .filter_map(|domain| domain.timing.as_ref()?.next_ps());
            let Some(time_ps) = times.min() else {
                return Err(Cause::AllClocksStand);
            };
            self.time_ps = time_ps;
            self.start_wave()?;
            self.fall(time_ps)?;
            let rises = self.domains.iter().any(|domain| domain.is_due(time_ps, true));
            if rises {
                self.rise(time_ps)?;
            }
            let dut = self.dut.instance_mut();
            if dut.is_traced() {
                dut.advance(time_ps + self.passed_ps)?;
            }
            if rises {
                self.cycle += 1;
                self.progress.cycle.set(self.cycle);
                return Ok(());
            }
        }
    }

    /// The clocks that fall at that time, and the inputs that belong to them.
    fn fall(&mut self, time_ps: u64) -> Result<(), Cause> {
        let dut = self.dut.instance_mut();
        for domain in self
            .domains
            .iter_mut()
            .filter(|domain| domain.is_due(time_ps, false))
        {
            domain.clocking.set_clock(dut, false);
            for agent in &domain.agents {
                if domain.in_reset {
                    agent.borrow_mut().drive_reset(dut, domain.edges);
                } else {
                    agent.borrow_mut().drive(dut);
                }
            }
            domain.advance();
        }
        // Also when none falls: the test may have changed inputs.
        Ok(dut.eval()?)
    }

    /// The clocks that rise at that time.
    fn rise(&mut self, time_ps: u64) -> Result<(), Cause> {
        let due = |domain: &Domain| domain.is_due(time_ps, true);
        for domain in self
            .domains
            .iter()
            .filter(|domain| due(domain) && !domain.in_reset)
        {
            for agent in &domain.agents {
                agent.borrow_mut().sample(self.dut.instance(), domain.edges)?;
            }
        }
        let dut = self.dut.instance_mut();
        for domain in self.domains.iter_mut().filter(|domain| due(domain)) {
            domain.clocking.set_clock(dut, true);
            domain.edges += 1;
            domain.advance();
        }
        Ok(dut.eval()?)
    }
}
