//! One clock of a design with several: the times of its edges.

use crate::agent::Agent;
use crate::model::{Direction, Instance, ModelError, PortHandle};
use crate::seed::Seed;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::rc::Rc;

/// A clock of a design that has several, with its reset.
///
/// The clock is high for the first half of a period and low for the second. Its first rising edge comes half a period
/// after its phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockDomain {
    pub(super) clock: String,
    pub(super) reset: Option<(String, bool)>,
    /// The design has an input for it.
    pub(super) is_input: bool,
    pub(super) period_ps: u64,
    phase_ps: u64,
    jitter_ps: u64,
}

impl ClockDomain {
    /// The clock at that input, with that period in picoseconds.
    ///
    /// # Panics
    /// If the period is less than 2 ps: it has two halves.
    pub fn new(clock: impl Into<String>, period_ps: u64) -> Self {
        assert!(
            period_ps >= 2,
            "a clock period of {period_ps} ps is too short, the minimum is 2 ps"
        );
        Self {
            clock: clock.into(),
            reset: None,
            is_input: true,
            period_ps,
            phase_ps: 0,
            jitter_ps: 0,
        }
    }

    /// A clock of the surroundings alone, for agents that drive and sample the design more often than a clock of its own does.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn outside(name: impl Into<String>, period_ps: u64) -> Self {
        Self {
            is_input: false,
            ..Self::new(name, period_ps)
        }
    }

    /// The same with a reset at that input, active high.
    #[must_use]
    pub fn with_reset(self, port: impl Into<String>) -> Self {
        Self {
            reset: Some((port.into(), true)),
            ..self
        }
    }

    /// The same that many picoseconds later.
    #[must_use]
    pub fn with_phase(self, phase_ps: u64) -> Self {
        Self { phase_ps, ..self }
    }

    /// The same with random jitter: periods are longer or shorter by up to that many picoseconds.
    ///
    /// # Panics
    /// If that is half a period or more.
    #[must_use]
    pub fn with_jitter(self, jitter_ps: u64) -> Self {
        assert!(
            2 * jitter_ps < self.period_ps,
            "jitter of {jitter_ps} ps is too much for a clock of {} ps",
            self.period_ps
        );
        Self { jitter_ps, ..self }
    }
}

/// The time of the next edge of a clock.
#[derive(Debug)]
pub(super) struct Timing {
    domain: ClockDomain,
    rng: ChaCha8Rng,
    /// Time of the next edge; none while the clock stands.
    next_ps: Option<u64>,
    /// The next edge rises.
    rises: bool,
    /// The length of the current period.
    period_ps: u64,
}

impl Timing {
    /// Starts with a falling edge, so that inputs are driven before the first rising one.
    pub(super) fn new(domain: ClockDomain, seed: Seed) -> Self {
        Self {
            rng: seed.rng(&format!("jitter of {}", domain.clock)),
            next_ps: Some(domain.phase_ps),
            rises: false,
            period_ps: domain.period_ps,
            domain,
        }
    }

    /// Makes the jitter depend on that seed.
    pub(super) fn set_seed(&mut self, seed: Seed) {
        self.rng = seed.rng(&format!("jitter of {}", self.domain.clock));
    }

    /// Time of the next edge; none while the clock stands.
    pub(super) fn next_ps(&self) -> Option<u64> {
        self.next_ps
    }

    /// Whether an edge of that direction comes at that time.
    pub(super) fn is_due(&self, time_ps: u64, rises: bool) -> bool {
        self.next_ps == Some(time_ps) && self.rises == rises
    }

    /// Advances to the next edge.
    pub(super) fn advance(&mut self) {
        let Some(time_ps) = self.next_ps else { return };
        self.rises = !self.rises;
        let half = self.period_ps / 2;
        if self.rises {
            self.next_ps = Some(time_ps + self.period_ps - half);
            return;
        }
        self.next_ps = Some(time_ps + half);
        let jitter = self.domain.jitter_ps;
        if jitter > 0 {
            self.period_ps = self.domain.period_ps - jitter + self.rng.random_range(0..=2 * jitter);
        }
    }

    /// Lets the clock stand as it is.
    pub(super) fn stop(&mut self) {
        self.next_ps = None;
    }

    /// Lets a clock that stands run again from that time on.
    pub(super) fn start(&mut self, time_ps: u64) {
        let half = (self.domain.period_ps / 2).max(1);
        self.next_ps.get_or_insert(time_ps + half);
    }
}

/// A clock with its agents.
pub(super) struct Domain {
    pub(super) clocking: Clocking,
    pub(super) agents: Vec<Rc<RefCell<dyn Agent>>>,
    pub(super) name: String,
    pub(super) timing: Option<Timing>,
    pub(super) edges: u64,
    pub(super) in_reset: bool,
}

impl Domain {
    /// The only clock of a design.
    pub(super) fn only(clocking: Clocking) -> Self {
        Self {
            clocking,
            agents: Vec::new(),
            name: "clk".to_owned(),
            timing: None,
            edges: 0,
            in_reset: false,
        }
    }

    pub(super) fn set_seed(&mut self, seed: Seed) {
        if let Some(timing) = &mut self.timing {
            timing.set_seed(seed);
        }
    }

    pub(super) fn is_due(&self, time_ps: u64, rises: bool) -> bool {
        self.timing
            .as_ref()
            .is_some_and(|timing| timing.is_due(time_ps, rises))
    }

    pub(super) fn advance(&mut self) {
        if let Some(timing) = &mut self.timing {
            timing.advance();
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.timing
            .as_ref()
            .is_some_and(|timing| timing.next_ps().is_some())
    }
}

/// The clock and the reset of a design: `clk`, and `rstn` (active low), `rst` (active high) or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocking {
    clock: Option<PortHandle>,
    reset: Option<Reset>,
}

#[derive(Clone, Copy, Debug)]
struct Reset {
    port: PortHandle,
    active_high: bool,
}

impl Clocking {
    /// Looks up the ports.
    pub(crate) fn find(dut: &Instance) -> Result<Self, ModelError> {
        let reset = match (dut.find("rstn"), dut.find("rst")) {
            (Some(_), _) => Some(Reset {
                port: one_bit(dut, "rstn")?,
                active_high: false,
            }),
            (None, Some(_)) => Some(Reset {
                port: one_bit(dut, "rst")?,
                active_high: true,
            }),
            (None, None) => None,
        };
        Ok(Self {
            clock: Some(one_bit(dut, "clk")?),
            reset,
        })
    }

    /// Looks up a clock by name, and its reset with the polarity (`true`: active high).
    pub(crate) fn named(
        dut: &Instance,
        clock: Option<&str>,
        reset: Option<&(String, bool)>,
    ) -> Result<Self, ModelError> {
        let find = |(name, active_high): &(String, bool)| -> Result<Reset, ModelError> {
            Ok(Reset {
                port: one_bit(dut, name)?,
                active_high: *active_high,
            })
        };
        Ok(Self {
            clock: clock.map(|clock| one_bit(dut, clock)).transpose()?,
            reset: reset.map(find).transpose()?,
        })
    }

    /// Whether the design can be reset.
    pub(crate) fn has_reset(self) -> bool {
        self.reset.is_some()
    }

    /// The clock, if the design has one.
    pub(crate) fn clock(self) -> Option<PortHandle> {
        self.clock
    }

    /// Lets the clock rise or fall.
    pub(crate) fn set_clock(self, dut: &mut Instance, high: bool) {
        if let Some(clock) = self.clock {
            dut.set_high(clock, high);
        }
    }

    /// Puts the design in or out of reset, if it has one.
    pub(crate) fn set_reset(self, dut: &mut Instance, active: bool) {
        if let Some(reset) = self.reset {
            dut.set_high(reset.port, active == reset.active_high);
        }
    }
}

/// An input of one bit.
fn one_bit(dut: &Instance, name: &str) -> Result<PortHandle, ModelError> {
    let port = dut.port(name, Direction::Input)?;
    if port.width() == 1 {
        return Ok(port);
    }
    let reason = format!("is {} bits wide; a clock or reset is 1 bit", port.width());
    Err(ModelError::UnfitPort {
        model: dut.name(),
        port: name.to_owned(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::{ClockDomain, Timing};
    use crate::seed::Seed;

    fn rising(domain: ClockDomain, count: usize) -> Vec<u64> {
        let mut timing = Timing::new(domain, Seed(1));
        let mut edges = Vec::new();
        while edges.len() < count {
            let time = timing.next_ps().expect("the clock runs");
            edges.extend(timing.is_due(time, true).then_some(time));
            timing.advance();
        }
        edges
    }

    #[test]
    fn edges_come_once_a_period() {
        assert_eq!(rising(ClockDomain::new("clk", 4000), 3), [2000, 6000, 10_000]);
        assert_eq!(rising(ClockDomain::new("clk", 5), 3), [3, 8, 13]);
        assert_eq!(rising(ClockDomain::new("clk", 10).with_phase(3), 2), [8, 18]);
    }

    #[test]
    fn jitter_stays_in_its_bounds_and_moves_edges() {
        let edges = rising(ClockDomain::new("clk", 1000).with_jitter(100), 500);
        let periods: Vec<u64> = edges.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(periods.iter().all(|period| (899..=1101).contains(period)));
        assert!(periods.iter().any(|period| *period < 950) && periods.iter().any(|period| *period > 1050));
    }

    #[test]
    fn a_stopped_clock_resumes_where_it_stopped() {
        let mut timing = Timing::new(ClockDomain::new("clk", 10), Seed(1));
        timing.advance();
        timing.stop();
        assert_eq!(timing.next_ps(), None);
        timing.start(100);
        assert!(timing.is_due(105, true));
    }

    #[test]
    #[should_panic(expected = "jitter of 500 ps is too much for a clock of 1000 ps")]
    fn jitter_is_less_than_half_a_period() {
        let _ = ClockDomain::new("clk", 1000).with_jitter(500);
    }
}
