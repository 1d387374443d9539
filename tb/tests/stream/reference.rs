//! A reference model beside a design, compared in every cycle.

use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Instance, Model};
use spinneret_sim::simulation::Simulation;
use std::cell::RefCell;
use std::rc::Rc;

/// What a design must do, cycle by cycle.
pub(crate) trait Reference: 'static {
    /// Compares the outputs of this cycle, then takes over what its rising edge changes.
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String>;

    /// Back to the state after reset.
    fn reset(&mut self);

    /// How many elements are inside.
    fn inside(&self) -> usize;
}

/// Attaches a reference model to a design.
pub(crate) fn attach<M: Model>(sim: &mut Simulation<M>, reference: impl Reference) {
    sim.attach(Rc::new(RefCell::new(Comparison(reference))));
}

/// The settled ports of a design before the rising edge.
#[derive(Clone, Copy)]
pub(crate) struct Pins<'a>(&'a Instance);

impl Pins<'_> {
    /// The value of a port.
    pub(crate) fn value(self, name: &str) -> u64 {
        let port = self
            .0
            .find(name)
            .unwrap_or_else(|| panic!("{} has no port {name}", self.0.name()));
        u64::try_from(self.0.value(port)).unwrap_or_else(|_| panic!("{name} has more than 64 bits"))
    }

    /// Whether a port of one bit is high.
    pub(crate) fn high(self, name: &str) -> bool {
        self.value(name) == 1
    }

    /// Whether something is transferred on a bus at the end of this cycle.
    pub(crate) fn fires(self, bus: &str) -> bool {
        self.high(&format!("{bus}_valid")) && self.high(&format!("{bus}_ready"))
    }

    /// Data and last flag of a bus.
    pub(crate) fn beat(self, bus: &str) -> (u64, bool) {
        (
            self.value(&format!("{bus}_data")),
            self.high(&format!("{bus}_last")),
        )
    }

    /// Compares an output with what the reference model says.
    pub(crate) fn expect(self, name: &str, expected: impl Into<u64>) -> Result<(), String> {
        let (found, expected) = (self.value(name), expected.into());
        if found == expected {
            return Ok(());
        }
        Err(format!(
            "{name} is {found:#x} where the reference model has {expected:#x}"
        ))
    }

    /// Compares an output of frames with what the reference model says.
    pub(crate) fn expect_beat(self, bus: &str, expected: Option<(u64, bool)>) -> Result<(), String> {
        self.expect(&format!("{bus}_valid"), expected.is_some())?;
        let Some((data, last)) = expected else {
            return Ok(());
        };
        self.expect(&format!("{bus}_data"), data)?;
        self.expect(&format!("{bus}_last"), last)
    }
}

struct Comparison<R>(R);

impl<R: Reference> Agent for Comparison<R> {
    fn drive(&mut self, _dut: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _cycle: u64) -> Result<(), Violation> {
        self.0.step(Pins(dut)).map_err(|rule| Violation {
            bus: "reference model".to_owned(),
            rule,
        })
    }

    fn reset(&mut self, _dut: &mut Instance) {
        self.0.reset();
    }

    fn unfinished(&self) -> Option<String> {
        (self.0.inside() > 0).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!("reference model: {} elements are inside", self.0.inside())
    }
}
