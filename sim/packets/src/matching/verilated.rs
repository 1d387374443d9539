//! The Verilated matching engine as a matcher.

use super::{Matcher, MatcherError, Outcome};
use crate::reference::matcher::{MatchResult, PortValues, RuleTable};
use spinneret_rules::MatcherParams;
use spinneret_sim::channel::ChannelSink;
use spinneret_sim::model::{Direction, Instance, Model, ModelError, PortHandle};
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::{Frame, Pause, Received, StreamSink, StreamSource};
use std::collections::VecDeque;
use std::fmt;

/// Frames that wait to go in, so that the stream has no gap between frames.
const FRAMES_AHEAD: usize = 4;
/// Cycles in which a frame must enter or leave; the largest takes 2048 beats on the narrowest stream.
const PATIENCE_CYCLES: u64 = 100_000;
/// Cycles that the matcher gets to latch its rules.
const LATCH_CYCLES: usize = 4;

/// Sends frames through a Verilated `pspin_pkt_match` at one beat per cycle, all outputs always ready.
///
/// `tuser` carries the number of each frame, by which the two outputs are merged in order.
pub struct VerilatedMatcher<M> {
    simulation: Simulation<M>,
    source: StreamSource,
    bypassed: Output,
    matched: Output,
    metadata: ChannelSink,
    /// Ones in the bits of a frame's number that `tuser` carries.
    number_mask: u128,
    sent: u64,
    taken: u64,
    /// Cycle in which the first frame was ready.
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
            return Err(MatcherError::Unfit(format!(
                "its stream has {width} bits, not {wanted}"
            )));
        }
        let user = input(simulation.dut.instance(), "s_axis_nic_rx_tuser")?.width();
        let source = StreamSource::attach(&mut simulation, "s_axis_nic_rx", Pause::Never).map_err(unfit)?;
        let bypassed = Output::attach(&mut simulation, "m_axis_nic_rx").map_err(unfit)?;
        let matched = Output::attach(&mut simulation, "m_axis_pspin_rx").map_err(unfit)?;
        let metadata = ChannelSink::attach(&mut simulation, "packet_meta", &["tag", "size"], Pause::Never)
            .map_err(unfit)?;
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
        matcher
            .simulation
            .try_reset()
            .map_err(|failure| matcher.hardware(failure))?;
        matcher.drive_rules(&rules.port_values())?;
        // Rules are latched while no packet is inside, so wait some cycles without one.
        for _ in 0..LATCH_CYCLES {
            matcher.cycle()?;
        }
        matcher.first_cycle = matcher.simulation.cycle_count();
        matcher.last_cycle = matcher.first_cycle;
        Ok(matcher)
    }

    fn drive_rules(&mut self, values: &PortValues) -> Result<(), MatcherError> {
        let design = self.simulation.dut.instance_mut();
        drive_rules(design, values)?;
        let valid = input(design, "match_valid")?;
        design.set_high(valid, true);
        Ok(())
    }

    /// Runs one clock cycle and collects what arrived.
    fn cycle(&mut self) -> Result<(), MatcherError> {
        self.simulation
            .try_cycle()
            .map_err(|failure| self.hardware(failure))?;
        for output in [&mut self.bypassed, &mut self.matched] {
            while let Some(received) = output.sink.receive() {
                self.last_cycle = received.last_cycle + 1;
                output.arrived.push_back(received);
            }
        }
        Ok(())
    }

    fn take_bypassed(&mut self) -> Option<Outcome> {
        let received = self.bypassed.arrived.pop_front()?;
        self.taken += 1;
        Some(Outcome {
            result: MatchResult::Bypass,
            frame: received.frame.bytes,
        })
    }

    /// Takes a matched frame once its metadata is there too.
    fn take_matched(&mut self) -> Result<Option<Outcome>, MatcherError> {
        if self.metadata.waiting() == 0 || self.matched.arrived.is_empty() {
            return Ok(None);
        }
        let (Some(item), Some(received)) = (self.metadata.receive(), self.matched.arrived.pop_front()) else {
            return Ok(None);
        };
        let (tag, size) = (item.values[0], item.values[1] as u32);
        let Some(result) = MatchResult::from_metadata(tag, size) else {
            return Err(self.hardware(format!("its tag {tag:#x} has bits beyond the message id")));
        };
        self.taken += 1;
        Ok(Some(Outcome {
            result,
            frame: received.frame.bytes,
        }))
    }

    /// Returns whether all frames have come out, with their metadata.
    fn is_drained(&self) -> bool {
        let arrived = self.bypassed.arrived.len() + self.matched.arrived.len();
        self.taken + arrived as u64 == self.sent && self.metadata.waiting() == self.matched.arrived.len()
    }

    fn hardware(&self, problem: impl fmt::Display) -> MatcherError {
        MatcherError::Hardware {
            packet: self.taken + 1,
            problem: problem.to_string(),
        }
    }
}

impl<M: Model> Matcher for VerilatedMatcher<M> {
    fn engine(&self) -> &'static str {
        "hardware, run by Verilator"
    }

    fn push(&mut self, frame: &[u8]) -> Result<(), MatcherError> {
        self.simulation
            .set_cycle_limit(self.simulation.cycle_count() + PATIENCE_CYCLES);
        let number = u128::from(self.sent) & self.number_mask;
        self.source.send(Frame::new(frame).with_user(number));
        self.sent += 1;
        while self.source.waiting() > FRAMES_AHEAD {
            self.cycle()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), MatcherError> {
        self.simulation
            .set_cycle_limit(self.simulation.cycle_count() + PATIENCE_CYCLES);
        while !self.is_drained() {
            self.cycle()?;
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<Outcome>, MatcherError> {
        let number = Some(u128::from(self.taken) & self.number_mask);
        let next = [self.bypassed.next_number(), self.matched.next_number()];
        if next[0] == number {
            return Ok(self.take_bypassed());
        }
        if next[1] == number {
            return self.take_matched();
        }
        // Each output keeps the order, so a frame that neither delivers next is lost.
        if next.iter().all(Option::is_some) {
            return Err(self.hardware("frames left an output in another order than they came in"));
        }
        Ok(None)
    }

    fn cycles(&self) -> u64 {
        self.last_cycle - self.first_cycle
    }
}

impl<M> fmt::Debug for VerilatedMatcher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerilatedMatcher")
            .field("sent", &self.sent)
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl Output {
    fn attach<M: Model>(simulation: &mut Simulation<M>, prefix: &str) -> Result<Self, ModelError> {
        let sink = StreamSink::attach(simulation, prefix, Pause::Never)?;
        Ok(Self {
            sink,
            arrived: VecDeque::new(),
        })
    }

    /// The number that the next frame of this output carries.
    fn next_number(&self) -> Option<u128> {
        self.arrived.front().map(|received| received.frame.user)
    }
}

/// Puts rules on the ports `match_idx`, `match_mask`, `match_start`, `match_end` and `match_mode` of a design, and on
/// `match_relative` if it has that.
///
/// # Errors
/// If the design has other ports, or not as many rules, or a rule counts from the IP payload and the design cannot.
pub fn drive_rules(design: &mut Instance, values: &PortValues) -> Result<(), MatcherError> {
    let vectors = [
        ("match_idx", &values.idx),
        ("match_mask", &values.mask),
        ("match_start", &values.start),
        ("match_end", &values.end),
    ];
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
    drive_relative(design, &values.relative)
}

/// Puts the flags on the port `match_relative`, which a matcher without the option `ip_relative` does not have.
fn drive_relative(design: &mut Instance, flags: &[bool]) -> Result<(), MatcherError> {
    let has_port = design.ports().iter().any(|port| port.name == "match_relative");
    if !has_port && !flags.contains(&true) {
        return Ok(());
    }
    let port = input(design, "match_relative")?;
    if port.width() != flags.len() {
        let (has, needs) = (port.width(), flags.len());
        return Err(MatcherError::Unfit(format!(
            "match_relative has {has} bits, not {needs}"
        )));
    }
    let bits = flags
        .iter()
        .rev()
        .fold(0, |bits, flag| bits << 1 | u128::from(*flag));
    design.set_value(port, bits);
    Ok(())
}

fn input(design: &Instance, name: &str) -> Result<PortHandle, MatcherError> {
    design
        .port(name, Direction::Input)
        .map_err(|error| MatcherError::Unfit(error.to_string()))
}
