//! The Verilated matching engine as a matcher.

use super::{Matcher, MatcherError, Outcome};
use crate::agent::{Agent, Violation};
use crate::model::{Direction, Instance, Model, ModelError, PortHandle};
use crate::reference::matcher::{MatchResult, MatcherParams, PortValues, RuleTable};
use crate::simulation::Simulation;
use crate::stream::{Frame, Pause, Received, StreamSink, StreamSource};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

/// Frames that wait to go in, so that the stream has no gap between frames.
const FRAMES_AHEAD: usize = 4;
/// Cycles in which a frame must have come in or out; the largest takes 2048 beats on the narrowest stream.
const PATIENCE_CYCLES: u64 = 100_000;

/// Sends frames through a Verilated `pspin_pkt_match` at one beat per cycle, all outputs always ready.
///
/// Each frame carries its number in `tuser`, by which the two outputs are put into one order again.
pub struct VerilatedMatcher<M> {
    simulation: Simulation<M>,
    source: StreamSource,
    bypassed: Output,
    matched: Output,
    metadata: Rc<RefCell<Metadata>>,
    /// Ones in the bits of a frame's number that `tuser` carries.
    number_mask: u128,
    sent: u64,
    taken: u64,
    /// The cycle in which the first frame was ready to go in.
    first_cycle: u64,
    last_cycle: u64,
}

/// One of the streams out of the matcher.
#[derive(Debug)]
struct Output {
    sink: StreamSink,
    arrived: VecDeque<Received>,
}

impl<M: Model> VerilatedMatcher<M> {
    /// Resets a design with the ports of `pspin_pkt_match` and gives it its rules.
    ///
    /// # Errors
    /// If the design has other ports, or widths that do not fit the sizes, or breaks a rule in reset.
    pub fn new(design: M, params: &MatcherParams, rules: &RuleTable) -> Result<Self, MatcherError> {
        let unfit = |error: ModelError| MatcherError::Unfit(error.to_string());
        let mut simulation = Simulation::new(design).map_err(unfit)?;
        let width = input(simulation.dut.instance(), "s_axis_nic_rx_tdata")?.width();
        if width != params.data_width_bits {
            let wanted = params.data_width_bits;
            return Err(MatcherError::Unfit(format!("its stream has {width} bits, not {wanted}")));
        }
        let user = input(simulation.dut.instance(), "s_axis_nic_rx_tuser")?.width();
        let source =
            StreamSource::attach(&mut simulation, "s_axis_nic_rx", Pause::Never).map_err(unfit)?;
        let bypassed = Output::attach(&mut simulation, "m_axis_nic_rx").map_err(unfit)?;
        let matched = Output::attach(&mut simulation, "m_axis_pspin_rx").map_err(unfit)?;
        let metadata = Metadata::attach(&mut simulation).map_err(unfit)?;
        let mut matcher = Self {
            simulation,
            source,
            bypassed,
            matched,
            metadata,
            number_mask: 1u128.checked_shl(user as u32).unwrap_or(0).wrapping_sub(1),
            sent: 0,
            taken: 0,
            first_cycle: 0,
            last_cycle: 0,
        };
        matcher.simulation.set_cycle_limit(PATIENCE_CYCLES);
        matcher.simulation.try_reset().map_err(|failure| matcher.hardware(failure))?;
        matcher.drive_rules(&rules.port_values())?;
        // Rules are latched while no packet is inside: give them cycles without one.
        for _ in 0..LATCH_CYCLES {
            matcher.cycle()?;
        }
        matcher.first_cycle = matcher.simulation.cycle_count();
        matcher.last_cycle = matcher.first_cycle;
        Ok(matcher)
    }

    fn drive_rules(&mut self, values: &PortValues) -> Result<(), MatcherError> {
        let vectors = [
            ("match_idx", &values.idx),
            ("match_mask", &values.mask),
            ("match_start", &values.start),
            ("match_end", &values.end),
        ];
        let design = self.simulation.dut.instance_mut();
        for (name, words) in vectors {
            let port = input(design, name)?;
            if port.width() != 32 * words.len() {
                let (has, needs) = (port.width(), 32 * words.len());
                return Err(MatcherError::Unfit(format!("{name} has {has} bits, not {needs}")));
            }
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            design.set_bytes(port, &bytes);
        }
        let mode = input(design, "match_mode")?;
        design.set_value(mode, values.mode.into());
        let valid = input(design, "match_valid")?;
        design.set_high(valid, true);
        Ok(())
    }

    /// One clock cycle; what arrived in it is taken from the sinks.
    fn cycle(&mut self) -> Result<(), MatcherError> {
        self.simulation.try_cycle().map_err(|failure| self.hardware(failure))?;
        for output in [&mut self.bypassed, &mut self.matched] {
            while let Some(received) = output.sink.receive() {
                self.last_cycle = received.last_cycle + 1;
                output.arrived.push_back(received);
            }
        }
        Ok(())
    }

    /// Whether all frames that were sent have come out, with their metadata.
    fn is_drained(&self) -> bool {
        let arrived = self.bypassed.arrived.len() + self.matched.arrived.len();
        self.taken + arrived as u64 == self.sent
            && self.metadata.borrow().arrived.len() == self.matched.arrived.len()
    }

    /// The frame with that number, if it is the next of this output.
    fn take(output: &mut Output, number: u128) -> Option<Received> {
        let is_next = output.arrived.front().is_some_and(|received| received.frame.user == number);
        is_next.then(|| output.arrived.pop_front()).flatten()
    }

    fn hardware(&self, problem: impl fmt::Display) -> MatcherError {
        MatcherError::Hardware { packet: self.taken + 1, problem: problem.to_string() }
    }
}

/// Cycles that the matcher gets to latch its rules.
const LATCH_CYCLES: usize = 4;

impl<M: Model> Matcher for VerilatedMatcher<M> {
    fn engine(&self) -> &'static str {
        "hardware, run by Verilator"
    }

    fn push(&mut self, frame: &[u8]) -> Result<(), MatcherError> {
        self.simulation.set_cycle_limit(self.simulation.cycle_count() + PATIENCE_CYCLES);
        let number = u128::from(self.sent) & self.number_mask;
        self.source.send(Frame::new(frame).with_user(number));
        self.sent += 1;
        while self.source.waiting() > FRAMES_AHEAD {
            self.cycle()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), MatcherError> {
        self.simulation.set_cycle_limit(self.simulation.cycle_count() + PATIENCE_CYCLES);
        while !self.is_drained() {
            self.cycle()?;
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<Outcome>, MatcherError> {
        let number = u128::from(self.taken) & self.number_mask;
        if let Some(received) = Self::take(&mut self.bypassed, number) {
            self.taken += 1;
            return Ok(Some(Outcome { result: MatchResult::Bypass, frame: received.frame.bytes }));
        }
        if self.metadata.borrow().arrived.is_empty() {
            let stuck = !self.bypassed.arrived.is_empty() && !self.matched.arrived.is_empty();
            return if stuck { Err(self.hardware(OUT_OF_ORDER)) } else { Ok(None) };
        }
        let Some(received) = Self::take(&mut self.matched, number) else {
            let stuck = !self.bypassed.arrived.is_empty() && !self.matched.arrived.is_empty();
            return if stuck { Err(self.hardware(OUT_OF_ORDER)) } else { Ok(None) };
        };
        let metadata = self.metadata.borrow_mut().arrived.pop_front();
        let Some(result) = metadata.and_then(|(tag, size)| MatchResult::from_metadata(tag, size)) else {
            return Err(self.hardware(format!("its tag has bits beyond the message id: {metadata:x?}")));
        };
        self.taken += 1;
        Ok(Some(Outcome { result, frame: received.frame.bytes }))
    }

    fn cycles(&self) -> u64 {
        self.last_cycle - self.first_cycle
    }
}
