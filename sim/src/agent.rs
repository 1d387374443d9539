//! Agents: the sources, sinks and monitors that take part in a simulation besides the design.

use crate::model::Instance;
use thiserror::Error;

/// A bus model that is stepped once per clock cycle.
///
/// ```text
/// clk     ‾‾‾\______/‾‾‾‾‾‾\______/‾‾‾
///            |      |
///         drive   sample: what the rising edge sees
/// ```
///
/// In every cycle all agents drive their inputs, then the design settles, then all agents sample; none
/// of them sees a value that another one changes in the same cycle.
pub trait Agent {
    /// Drives inputs for this cycle; outputs are not settled yet and must not be read.
    fn drive(&mut self, dut: &mut Instance);

    /// Samples the settled values of this cycle, right before the rising edge.
    ///
    /// # Errors
    /// If the design breaks a rule of the bus.
    fn sample(&mut self, dut: &Instance, cycle: u64) -> Result<(), Violation>;

    /// Drives the idle state while the design is in reset, and discards what is in flight.
    fn reset(&mut self, dut: &mut Instance);

    /// Drives inputs in a cycle in which the design is in reset: for a model that stands for something with a reset
    /// of its own, and therefore keeps running.
    fn drive_reset(&mut self, dut: &mut Instance, cycle: u64) {
        let _ = (dut, cycle);
    }

    /// Samples the settled values in the last cycle of reset.
    ///
    /// # Errors
    /// If the design breaks a rule of the bus in reset.
    fn sample_reset(&self, dut: &Instance) -> Result<(), Violation> {
        let _ = dut;
        Ok(())
    }

    /// Describes what is left to do or in flight at the end of a test, if anything.
    fn unfinished(&self) -> Option<String> {
        None
    }

    /// One line for the message of the watchdog: the name of the bus and what it is waiting for.
    fn describe(&self) -> String;
}

/// The design broke a rule of a bus.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{bus}: {rule}")]
pub struct Violation {
    /// Prefix of the bus's ports.
    pub bus: String,
    /// The rule and how it was broken.
    pub rule: String,
}
