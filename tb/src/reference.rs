//! Reference models that are compared with a design in every cycle.

use spinneret_sim::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// A cycle-accurate predictor of a design's outputs.
pub trait Reference: 'static {
    /// Compares the outputs of this cycle.
    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        let _ = pins;
        Ok(())
    }

    /// Compares the outputs of the last cycle of a reset.
    fn check_reset(&self, pins: Pins<'_>) -> Result<(), String> {
        self.check(pins)
    }

    /// Takes over what the rising edge of this cycle changes; outputs that [`check`](Self::check) left are compared
    /// here.
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String>;

    /// Drives inputs for this cycle, if it does.
    fn drive(&mut self, dut: &mut Instance) {
        let _ = dut;
    }

    /// Drives them for a reset.
    fn drive_idle(&self, dut: &mut Instance) {
        let _ = dut;
    }

    /// Back to the state after reset.
    fn reset(&mut self);

    /// Number of elements inside.
    fn inside(&self) -> usize;
}

/// Attaches a reference model to a design, and shares it.
pub fn attach<M: Model, R: Reference>(sim: &mut Simulation<M>, reference: R) -> Rc<RefCell<R>> {
    let reference = Rc::new(RefCell::new(reference));
    sim.attach(Rc::new(RefCell::new(Comparison(Rc::clone(&reference)))));
    reference
}

/// The settled ports of a design before the rising edge.
#[derive(Clone, Copy, Debug)]
pub struct Pins<'a> {
    dut: &'a Instance,
    cycle: u64,
}

impl<'a> Pins<'a> {
    /// The design.
    pub fn dut(self) -> &'a Instance {
        self.dut
    }

    /// The number of the cycle; 0 in reset.
    pub fn cycle(self) -> u64 {
        self.cycle
    }

    /// The value of a port of at most 128 bits.
    pub fn wide(self, name: &str) -> u128 {
        self.dut.value(self.port(name))
    }

    fn port(self, name: &str) -> PortHandle {
        let port = self.dut.find(name);
        port.unwrap_or_else(|| panic!("{} has no port {name}", self.dut.name()))
    }

    /// The bytes of a port of any width, lowest first.
    pub fn bytes(self, name: &str) -> &'a [u8] {
        self.dut.bytes(self.port(name))
    }

    /// The value of a port.
    pub fn value(self, name: &str) -> u64 {
        u64::try_from(self.wide(name)).unwrap_or_else(|_| panic!("{name} has more than 64 bits"))
    }

    /// Returns whether a port of one bit is high.
    pub fn high(self, name: &str) -> bool {
        self.value(name) == 1
    }

    /// Returns whether valid and ready of a bus are both high.
    pub fn fires(self, bus: &str) -> bool {
        self.high(&format!("{bus}_valid")) && self.high(&format!("{bus}_ready"))
    }

    /// Data and last flag of a bus.
    pub fn beat(self, bus: &str) -> (u64, bool) {
        (
            self.value(&format!("{bus}_data")),
            self.high(&format!("{bus}_last")),
        )
    }

    /// Compares an output with what the reference model says.
    pub fn expect(self, name: &str, expected: impl Into<u64>) -> Result<(), String> {
        let expected: u64 = expected.into();
        self.expect_wide(name, expected.into())
    }

    /// The same for an output of at most 128 bits.
    pub fn expect_wide(self, name: &str, expected: u128) -> Result<(), String> {
        let found = self.wide(name);
        if found == expected {
            return Ok(());
        }
        Err(format!(
            "{name} is {found:#x} where the reference model has {expected:#x}"
        ))
    }

    /// Compares an output of frames with what the reference model says.
    pub fn expect_beat(self, bus: &str, expected: Option<(u64, bool)>) -> Result<(), String> {
        self.expect(&format!("{bus}_valid"), expected.is_some())?;
        let Some((data, last)) = expected else {
            return Ok(());
        };
        self.expect(&format!("{bus}_data"), data)?;
        self.expect(&format!("{bus}_last"), last)
    }
}

struct Comparison<R>(Rc<RefCell<R>>);

impl<R: Reference> Agent for Comparison<R> {
    fn drive(&mut self, dut: &mut Instance) {
        self.0.borrow_mut().drive(dut);
    }

    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation> {
        let (mut reference, pins) = (self.0.borrow_mut(), Pins { dut, cycle });
        let checked = reference.check(pins).and_then(|()| reference.step(pins));
        checked.map_err(|rule| Violation {
            bus: "reference model".to_owned(),
            rule,
        })
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.0.borrow_mut().reset();
        self.0.borrow().drive_idle(dut);
    }

    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        let checked = self.0.borrow().check_reset(Pins { dut, cycle: 0 });
        checked.map_err(|rule| Violation {
            bus: "reference model in reset".to_owned(),
            rule,
        })
    }

    fn unfinished(&self) -> Option<String> {
        (self.0.borrow().inside() > 0).then(|| self.describe())
    }

    fn describe(&self) -> String {
        format!(
            "reference model: {} elements are inside",
            self.0.borrow().inside()
        )
    }
}

/// The output register of a FIFO that lets elements pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputRegister {
    /// Nothing: what waits is shown from the memory.
    None,
    /// A register for the first element that has to wait, which block RAM could not show in the next cycle. Those behind
    /// it are shown from the memory, two cycles after they came at the earliest.
    FirstWaiting,
    /// A register for whatever is the first.
    First,
}

/// A FIFO that lets elements pass while it is empty, as `PassFifo` promises it.
#[derive(Clone, Debug)]
pub struct PassQueue {
    depth: u64,
    register: OutputRegister,
    /// Contents of the output register.
    first: Option<u64>,
    /// Elements in the FIFO with the cycle in which they came.
    stored: VecDeque<(u64, u64)>,
    /// Cycles since reset.
    cycle: u64,
}

impl PassQueue {
    /// A queue whose FIFO has `depth` places.
    pub fn new(depth: u64, register: OutputRegister) -> Self {
        Self {
            depth,
            register,
            first: None,
            stored: VecDeque::new(),
            cycle: 0,
        }
    }

    /// Returns whether the queue accepts an element in this cycle.
    pub fn ready(&self) -> bool {
        self.cycle > 0 && (self.stored.len() as u64) < self.depth
    }

    /// Returns whether at most `margin` more elements fit into the FIFO.
    pub fn almost_full(&self, margin: u64) -> bool {
        self.stored.len() as u64 + margin >= self.depth
    }

    /// Returns the output of this cycle, given its input.
    pub fn output(&self, input: Option<u64>) -> Option<u64> {
        let latency = match self.register {
            OutputRegister::FirstWaiting => 2,
            OutputRegister::None | OutputRegister::First => 1,
        };
        match (self.first, self.stored.front()) {
            (Some(first), _) => Some(first),
            (None, Some((element, came))) => (came + latency <= self.cycle).then_some(*element),
            (None, None) => input,
        }
    }

    /// The rising edge: takes what comes in, and gives what it shows if the other side is ready.
    pub fn step(&mut self, input: Option<u64>, ready: bool) {
        let gives = ready && self.output(input).is_some();
        let empty = self.first.is_none() && self.stored.is_empty();
        let only_first = self.first.is_some() && self.stored.is_empty();
        if gives && self.first.take().is_none() {
            self.stored.pop_front();
        }
        if let Some(element) = input.filter(|_| !(empty && gives)) {
            if self.register != OutputRegister::None && (empty || (only_first && gives)) {
                self.first = Some(element);
            } else {
                self.stored.push_back((element, self.cycle));
            }
        }
        if self.register == OutputRegister::First && self.first.is_none() {
            self.first = self.stored.pop_front().map(|(element, _)| element);
        }
        self.cycle += 1;
    }

    /// Resets the state.
    pub fn reset(&mut self) {
        self.first = None;
        self.stored.clear();
        self.cycle = 0;
    }

    /// Number of elements inside.
    pub fn inside(&self) -> usize {
        self.stored.len() + usize::from(self.first.is_some())
    }
}
