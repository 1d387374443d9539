//! The reference model, and what it is compared with beside the buses.

use super::command::{Command, Fault};
use super::config::{LineJudge, Setup};
use crate::reference::Pins;
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

/// Commands by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Frames that were sent.
    pub sent: u64,
    /// Commands whose read failed.
    pub read_errors: u64,
    /// Commands that were refused.
    pub refused: u64,
}

impl Outcome {
    /// All of them.
    pub fn commands(&self) -> u64 {
        self.sent + self.read_errors + self.refused
    }
}

impl std::ops::AddAssign for Outcome {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.read_errors += other.read_errors;
        self.refused += other.refused;
    }
}

/// A command that is not over.
#[derive(Debug)]
struct Pending {
    command: Command,
    /// Why it comes to nothing, as far as is known.
    fault: Option<Fault>,
    /// Bursts that were not seen yet.
    bursts: VecDeque<(u64, u64)>,
    /// Lines of all commands up to this one.
    lines: u64,
    bytes: Vec<u8>,
    answered: bool,
    sent: bool,
}

impl Pending {
    fn is_over(&self) -> bool {
        self.answered && (self.sent || self.fault.is_some())
    }
}

/// The egress path in plain Rust.
#[derive(Debug)]
pub(super) struct Reference {
    setup: Setup,
    pending: VecDeque<Pending>,
    /// Lines of all commands since the reset.
    lines: u64,
    last_error: u64,
    pub(super) outcome: Outcome,
}

impl Reference {
    pub(super) fn new(setup: Setup) -> Self {
        Self {
            setup,
            pending: VecDeque::new(),
            lines: 0,
            last_error: 0,
            outcome: Outcome::default(),
        }
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.setup);
    }

    /// Commands that are not over.
    pub(super) fn under_way(&self) -> usize {
        self.pending.len()
    }

    /// A command is on its way; its bytes are those of the memory.
    pub(super) fn send(&mut self, command: Command, memory: &Memory) {
        let fault = command.refusal(&self.setup);
        let mut pending = Pending {
            command,
            fault,
            bursts: VecDeque::new(),
            lines: self.lines,
            bytes: Vec::new(),
            answered: false,
            sent: false,
        };
        if fault.is_none() {
            let Command { source, length, .. } = command;
            pending.bursts = self.setup.bursts(source, length).into();
            self.lines += self.setup.lines(source, length);
            pending.lines = self.lines;
            let bytes = memory.read(source, length as usize).into_iter();
            let byte = |byte: Option<u8>| byte.unwrap_or_else(|| panic!("{command:x?} has no bytes"));
            pending.bytes = bytes.map(byte).collect();
        }
        self.pending.push_back(pending);
    }

    /// A read was seen, and its lines were judged.
    pub(super) fn read(&mut self, read: &SlaveBurst, judge: &LineJudge) -> Result<(), String> {
        let seen = read.burst;
        let mut waiting = self
            .pending
            .iter_mut()
            .filter(|pending| !pending.bursts.is_empty());
        let Some(pending) = waiting.next() else {
            return Err(format!("{seen:x?} reads what no command names"));
        };
        let wanted = pending.bursts.pop_front().unwrap_or_default();
        let sound = seen.size == self.setup.beat && seen.kind == BurstKind::Incrementing && seen.id == 0;
        if (seen.address, seen.beats) != wanted || !sound {
            return Err(format!(
                "{seen:x?} instead of {wanted:x?} for {:x?}",
                pending.command
            ));
        }
        for _ in 0..seen.beats {
            let response = judge.take().ok_or("a line was not judged")?;
            pending.fault = pending.fault.or(Fault::of_response(response));
        }
        Ok(())
    }

    /// A cycle: whether the last error was cleared in the one before, what is answered now, the lines that
    /// were read since the reset, and what is shown as last error.
    pub(super) fn step(
        &mut self,
        cleared: bool,
        answer: Option<u64>,
        lines: u64,
        shown_error: u64,
    ) -> Result<(), String> {
        if cleared {
            self.last_error = 0;
        }
        if let Some(id) = answer {
            self.answer(id, lines)?;
        }
        if shown_error != self.last_error {
            return Err(format!(
                "the last error is {shown_error}, not {}",
                self.last_error
            ));
        }
        self.forget();
        Ok(())
    }

    fn answer(&mut self, id: u64, lines: u64) -> Result<(), String> {
        let next = self.pending.iter_mut().find(|pending| !pending.answered);
        let Some(pending) = next else {
            return Err(format!("there is an answer for id {id}, and no command waits"));
        };
        let command = pending.command;
        if command.id != id {
            return Err(format!("there is an answer for id {id} instead of {command:x?}"));
        }
        if !pending.bursts.is_empty() || lines < pending.lines {
            return Err(format!("{command:x?} is answered before its last line has come"));
        }
        pending.answered = true;
        if let Some(fault) = pending.fault {
            self.last_error = fault.code();
            if fault.is_refusal() {
                self.outcome.refused += 1;
            } else {
                self.outcome.read_errors += 1;
            }
        }
        Ok(())
    }

    /// A frame came out.
    pub(super) fn frame(&mut self, frame: &Frame) -> Result<(), String> {
        let mut next = self
            .pending
            .iter_mut()
            .filter(|pending| pending.fault.is_none() && !pending.sent);
        let Some(pending) = next.next() else {
            return Err(format!(
                "a frame of {} bytes comes of no command",
                frame.bytes.len()
            ));
        };
        let command = pending.command;
        if !pending.bursts.is_empty() {
            return Err(format!("a frame comes before {command:x?} was read"));
        }
        let wrong = frame.bytes.iter().zip(&pending.bytes).position(|(a, b)| a != b);
        if frame.bytes.len() != pending.bytes.len() || wrong.is_some() {
            return Err(format!(
                "the frame of {command:x?} has {} bytes and differs at {wrong:?}",
                frame.bytes.len()
            ));
        }
        if (frame.id, frame.dest, frame.user, frame.null_last) != (0, 0, self.setup.tx_user, false) {
            return Err(format!("the frame of {command:x?} has a wrong side band"));
        }
        pending.sent = true;
        self.outcome.sent += 1;
        self.forget();
        Ok(())
    }

    /// Forgets what is over.
    fn forget(&mut self) {
        while self.pending.front().is_some_and(Pending::is_over) {
            self.pending.pop_front();
        }
    }
}

/// What the path showed in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// The cycle.
    pub(super) cycle: u64,
    /// Id of the command that is answered, if one is.
    pub(super) answer: Option<u64>,
    /// Code of the newest error.
    pub(super) last_error: u64,
}

/// Looks at answers and errors, and checks that nothing is written and lines are always taken.
#[derive(Debug, Default)]
pub(super) struct OutputWatch {
    /// What the path showed in the last cycle.
    pub(super) shown: Shown,
}

impl crate::reference::Reference for OutputWatch {
    fn check(&self, pins: Pins<'_>) -> Result<(), String> {
        pins.expect("m_axi_pspin_no_awvalid", false)?;
        pins.expect("m_axi_pspin_no_wvalid", false)?;
        pins.expect("m_axi_pspin_no_rready", true)
    }

    fn check_reset(&self, pins: Pins<'_>) -> Result<(), String> {
        pins.expect("nic_cmd_resp_valid", false)?;
        pins.expect("egress_dma_last_error", 0_u64)?;
        self.check(pins)
    }

    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        self.shown = Shown {
            cycle: pins.cycle(),
            answer: pins
                .high("nic_cmd_resp_valid")
                .then(|| pins.value("nic_cmd_resp_id")),
            last_error: pins.value("egress_dma_last_error"),
        };
        Ok(())
    }

    fn reset(&mut self) {}

    fn inside(&self) -> usize {
        0
    }
}
