//! A design with a clock, a reset and bus models around it; or with several clocks.

mod domain;
mod domains;

pub use domain::ClockDomain;
pub use domains::DOMAINS_RESET_CYCLES;

use crate::agent::{Agent, Violation};
use crate::model::{Model, ModelError};
use crate::seed::{self, Seed};
use domain::{Clocking, Domain};
use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use thiserror::Error;

/// Length of a clock cycle in waveforms: 250 MHz.
pub const PERIOD_PS: u64 = 4000;

/// The limit on the cycles of a simulation unless [`Simulation::set_cycle_limit`] sets another.
pub const DEFAULT_CYCLE_LIMIT: u64 = 1_000_000;

/// How long [`Simulation::reset`] holds the reset.
const RESET_CYCLES: u64 = 4;

/// A design with a clock, a reset and bus models around it.
///
/// The clock is the input `clk`; the reset is `rstn` (active low) or `rst` (active high), if there is one. Inputs
/// that are set between two cycles take effect in the next: the design settles with them before the rising edge, and
/// registers change at the edge.
///
/// ```no_run
/// # fn example<M: spinneret_sim::model::Model>(dut: M) -> Result<(), Box<dyn std::error::Error>> {
/// use spinneret_sim::simulation::Simulation;
/// use spinneret_sim::stream::{Frame, Pause};
///
/// let mut sim = Simulation::new(dut)?;
/// let source = sim.source("s_axis", Pause::Never);
/// let sink = sim.sink("m_axis", Pause::Random { percent: 50 });
/// sim.reset();
/// source.send(Frame::new(b"hello"));
/// sim.run_until(|_| sink.waiting() == 1);
/// assert_eq!(sink.receive().map(|received| received.frame.bytes), Some(b"hello".to_vec()));
/// sim.finish();
/// # Ok(())
/// # }
/// ```
pub struct Simulation<M> {
    /// The design under test.
    pub dut: M,
    /// The clocks; a design with a single clock has one without timing of its own.
    domains: Vec<Domain>,
    /// The clock that new agents belong to.
    selected: usize,
    /// Time of the last edge, in a design with several clocks.
    time_ps: u64,
    seed: Seed,
    cycle: u64,
    limit: u64,
    progress: Rc<Progress>,
    pending_wave: Option<(u64, PathBuf)>,
    /// Time that passed without the design.
    passed_ps: u64,
}

/// State of simulations for the runner of a test.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) cycle: Cell<u64>,
    pub(crate) finished: Cell<bool>,
    /// Unfinished work when a simulation was dropped: a line for each agent that was not idle.
    pub(crate) left: RefCell<String>,
}

impl<M> Simulation<M> {
    /// The agents of all clocks.
    fn agents(&self) -> impl Iterator<Item = &Rc<RefCell<dyn Agent>>> {
        self.domains.iter().flat_map(|domain| &domain.agents)
    }

    /// A line for each agent that is not idle.
    fn left(&self) -> String {
        let left = self.agents().filter_map(|agent| agent.borrow().unfinished());
        left.map(|line| format!("\n  {line}")).collect()
    }
}

/// The end of a test: the runner reports what is unfinished.
impl<M> Drop for Simulation<M> {
    fn drop(&mut self) {
        if !self.progress.finished.replace(true) && !std::thread::panicking() {
            self.progress.left.replace(self.left());
        }
    }
}

impl<M: Model> Simulation<M> {
    /// Puts a design under a clock; the design is not reset yet.
    ///
    /// # Errors
    /// If the design has no input `clk` of one bit.
    pub fn new(dut: M) -> Result<Self, ModelError> {
        let clocking = Clocking::find(dut.instance())?;
        Ok(Self::from_domains(dut, vec![Domain::only(clocking)]))
    }

    fn from_domains(dut: M, domains: Vec<Domain>) -> Self {
        let mut simulation = Self {
            dut,
            domains,
            selected: 0,
            time_ps: 0,
            seed: Seed::default(),
            cycle: 0,
            limit: DEFAULT_CYCLE_LIMIT,
            progress: Rc::default(),
            pending_wave: None,
            passed_ps: 0,
        };
        for domain in &simulation.domains {
            domain.clocking.set_reset(simulation.dut.instance_mut(), false);
        }
        simulation
    }

    /// Sets the seed for the pauses of bus models that are added later.
    pub fn set_seed(&mut self, seed: Seed) {
        self.seed = seed;
        self.domains.iter_mut().for_each(|domain| domain.set_seed(seed));
    }

    /// The seed of all random choices.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// A generator of random numbers; different names give independent generators.
    pub fn rng(&self, name: &str) -> ChaCha8Rng {
        self.seed.rng(name)
    }

    /// Sets after how many cycles in total the watchdog stops the simulation; `u64::MAX` for never.
    pub fn set_cycle_limit(&mut self, cycles: u64) {
        self.limit = cycles;
    }

    /// Cycles since the simulation was made, including those in reset.
    pub fn cycle_count(&self) -> u64 {
        self.cycle
    }

    /// Drives an input from the next cycle on.
    ///
    /// # Panics
    /// If there is no such input, or the value does not fit.
    pub fn set(&mut self, port: &str, value: impl Into<u64>) {
        self.set_bytes(port, &value.into().to_le_bytes());
    }

    /// The same for an input of any width, lowest byte first; bytes beyond it have to be 0.
    ///
    /// # Panics
    /// If there is no such input, or the value does not fit.
    pub fn set_bytes(&mut self, port: &str, bytes: &[u8]) {
        let set = self.dut.set(port, BigUint::from_bytes_le(bytes));
        set.unwrap_or_else(|error| panic!("{error}"));
    }

    /// The value of a port after the last cycle.
    ///
    /// # Panics
    /// If there is no such port, or it has more than 64 bits.
    pub fn get(&self, port: &str) -> u64 {
        let value = self.dut.get(port).unwrap_or_else(|error| panic!("{error}"));
        u64::try_from(value).unwrap_or_else(|_| panic!("{port} has more than 64 bits"))
    }

    /// Ends a test at the first difference between a design and its expected behaviour.
    ///
    /// # Panics
    /// With the model, the cycle and the seed, if there is a difference.
    pub fn expect(&self, looked_at: Result<(), impl fmt::Display>) {
        if let Err(difference) = looked_at {
            panic!(
                "{}, cycle {}: {difference} (seed {})",
                M::NAME,
                self.cycle,
                self.seed
            );
        }
    }

    /// Time of the last edge in picoseconds, in a design with several clocks; 0 in one with a single clock.
    pub fn time_ps(&self) -> u64 {
        self.time_ps
    }

    /// Adds a bus model; with several clocks, to the one that [`in_domain`](Self::in_domain) has selected.
    pub fn attach(&mut self, agent: Rc<RefCell<dyn Agent>>) {
        self.domains[self.selected].agents.push(agent);
    }

    /// Starts a waveform (FST) in a file as soon as that cycle is reached.
    pub fn trace_from(&mut self, cycle: u64, path: PathBuf) {
        self.pending_wave = Some((cycle, path));
    }

    /// Adds time in which the design was not simulated because it would have done nothing: a waveform shows it as
    /// unchanged. Only for designs with several clocks.
    pub fn set_passed_ps(&mut self, passed_ps: u64) {
        self.passed_ps = passed_ps;
    }

    /// Simulates one clock cycle.
    ///
    /// # Panics
    /// With the text of the [`Failure`], where [`try_cycle`](Self::try_cycle) returns it.
    pub fn cycle(&mut self) {
        self.try_cycle().unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// Simulates some clock cycles.
    ///
    /// # Panics
    /// As [`cycle`](Self::cycle).
    pub fn run(&mut self, cycles: u64) {
        let alone = self.cycles_alone(cycles);
        for _ in alone..cycles {
            self.cycle();
        }
        self.run_alone(alone)
            .map_err(|cause| self.failure(cause))
            .unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// How many of the last cycles nothing drives or looks at: all but the first one, in which inputs may have changed, in a design
    /// without agents and waveform.
    fn cycles_alone(&self, cycles: u64) -> u64 {
        let is_watched = self.has_domains()
            || self.domains[0].clocking.clock().is_none()
            || self.agents().next().is_some()
            || self.pending_wave.is_some()
            || self.dut.instance().is_traced()
            || self.limit.saturating_sub(self.cycle) < cycles;
        if is_watched { 0 } else { cycles.saturating_sub(1) }
    }

    fn run_alone(&mut self, cycles: u64) -> Result<(), Cause> {
        if let Some(clock) = self.domains[0].clocking.clock() {
            self.dut.instance_mut().run(clock, cycles)?;
        }
        self.cycle += cycles;
        self.progress.cycle.set(self.cycle);
        Ok(())
    }

    /// Simulates until the condition holds.
    ///
    /// # Panics
    /// As [`cycle`](Self::cycle); a condition that never holds reaches the cycle limit.
    pub fn run_until(&mut self, mut condition: impl FnMut(&M) -> bool) {
        while !condition(&self.dut) {
            self.cycle();
        }
    }

    /// Simulates one clock cycle.
    ///
    /// # Errors
    /// If the design breaks a rule of a bus or cannot be simulated, or the cycle limit is reached. The waveform then
    /// ends with the cycle in question.
    pub fn try_cycle(&mut self) -> Result<(), Failure> {
        self.try_cycle_inner().map_err(|cause| self.failure(cause))
    }

    /// Holds the reset for a few cycles, with all buses idle; what was in flight is discarded.
    ///
    /// # Panics
    /// As [`cycle`](Self::cycle), and if the design has no reset.
    pub fn reset(&mut self) {
        self.try_reset().unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// Holds the reset for a few cycles, with all buses idle; what was in flight is discarded.
    ///
    /// # Errors
    /// As [`try_cycle`](Self::try_cycle).
    ///
    /// # Panics
    /// If the design has no reset.
    pub fn try_reset(&mut self) -> Result<(), Failure> {
        if self.has_domains() {
            return self.reset_domains();
        }
        let clocking = self.domains[0].clocking;
        assert!(
            clocking.has_reset(),
            "{} has neither an input `rstn` nor `rst`",
            M::NAME
        );
        clocking.set_reset(self.dut.instance_mut(), true);
        for agent in &self.domains[0].agents {
            agent.borrow_mut().reset(self.dut.instance_mut());
        }
        let result = self.run_reset();
        clocking.set_reset(self.dut.instance_mut(), false);
        result.map_err(|cause| self.failure(cause))
    }

    /// Ends the test: everything to send must have been sent, and everything received must have been taken.
    ///
    /// # Panics
    /// If an agent is not idle, with what is unfinished.
    pub fn finish(self) {
        self.try_finish().unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// Ends the simulation: everything to send must have been sent, and everything received must have been taken.
    ///
    /// # Errors
    /// If an agent is not idle, with what is unfinished.
    pub fn try_finish(self) -> Result<(), Failure> {
        self.progress.finished.set(true);
        let state = self.left();
        if state.is_empty() {
            Ok(())
        } else {
            Err(self.failure(Cause::Unfinished { state }))
        }
    }

    /// Where the runner of a test reads the progress of the simulation.
    pub(crate) fn progress(&self) -> Rc<Progress> {
        Rc::clone(&self.progress)
    }

    fn try_cycle_inner(&mut self) -> Result<(), Cause> {
        if self.cycle >= self.limit {
            let lines = self
                .agents()
                .map(|agent| format!("\n  {}", agent.borrow().describe()));
            return Err(Cause::CycleLimit {
                limit: self.limit,
                state: lines.collect(),
            });
        }
        if self.has_domains() {
            return self.next_instant();
        }
        for agent in &self.domains[0].agents {
            agent.borrow_mut().drive(self.dut.instance_mut());
        }
        self.settle()?;
        for agent in &self.domains[0].agents {
            agent.borrow_mut().sample(self.dut.instance(), self.cycle)?;
        }
        self.edge()
    }

    fn run_reset(&mut self) -> Result<(), Cause> {
        for last in (0..RESET_CYCLES).rev() {
            for agent in &self.domains[0].agents {
                let cycle = self.cycle;
                agent.borrow_mut().drive_reset(self.dut.instance_mut(), cycle);
            }
            self.settle()?;
            if last == 0 {
                for agent in &self.domains[0].agents {
                    agent.borrow().sample_reset(self.dut.instance())?;
                }
            }
            self.edge()?;
        }
        Ok(())
    }

    /// First half of a cycle: the clock falls and the design follows its new inputs.
    fn settle(&mut self) -> Result<(), Cause> {
        self.start_wave()?;
        let rise_ps = self.cycle * PERIOD_PS;
        let dut = self.dut.instance_mut();
        if dut.is_traced() {
            // In the waveform inputs change right after the rising edge, as outputs of registers do, and
            // not when the clock falls.
            dut.eval()?;
            dut.advance(rise_ps)?;
        }
        self.domains[0].clocking.set_clock(dut, false);
        dut.eval()?;
        if dut.is_traced() {
            dut.advance(rise_ps + PERIOD_PS / 2)?;
        }
        Ok(())
    }

    /// Second half of a cycle: the clock rises.
    fn edge(&mut self) -> Result<(), Cause> {
        let dut = self.dut.instance_mut();
        self.domains[0].clocking.set_clock(dut, true);
        dut.eval()?;
        self.cycle += 1;
        self.progress.cycle.set(self.cycle);
        Ok(())
    }

    fn start_wave(&mut self) -> Result<(), Cause> {
        if let Some((_, path)) = self.pending_wave.take_if(|(from, _)| *from <= self.cycle) {
            self.dut.instance_mut().trace_to(&path)?;
        }
        Ok(())
    }

    fn failure(&self, cause: Cause) -> Failure {
        Failure {
            model: M::NAME,
            cycle: self.cycle,
            seed: self.seed,
            cause,
        }
    }
}

impl<M: Model + fmt::Debug> fmt::Debug for Simulation<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents: Vec<String> = self.agents().map(|agent| agent.borrow().describe()).collect();
        f.debug_struct("Simulation")
            .field("dut", &self.dut)
            .field("cycle", &self.cycle)
            .field("seed", &self.seed)
            .field("agents", &agents)
            .finish_non_exhaustive()
    }
}

/// Why a simulation cannot go on.
#[derive(Debug, Error)]
#[error("{model}, cycle {cycle}: {cause} (reproduce with {}={seed})", seed::VARIABLE)]
pub struct Failure {
    /// Name of the model.
    pub model: &'static str,
    /// Cycles since the simulation was made.
    pub cycle: u64,
    /// The seed of the random choices.
    pub seed: Seed,
    /// The cause.
    #[source]
    pub cause: Cause,
}

/// Why a simulation stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Cause {
    /// The design broke a rule of a bus.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// The design cannot be simulated, or its waveform cannot be written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The simulation takes longer than was expected.
    #[error("the limit of {limit} cycles is reached; is there a deadlock?{state}")]
    CycleLimit {
        /// The limit in cycles.
        limit: u64,
        /// A line for each agent.
        state: String,
    },
    /// No clock of the design runs.
    #[error("all clocks stand: let one run before going on")]
    AllClocksStand,
    /// Something is unfinished at the end.
    #[error("the test ended too early:{state}")]
    Unfinished {
        /// A line for each agent that is not idle.
        state: String,
    },
}
