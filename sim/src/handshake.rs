//! The rules that every bus with valid and ready obeys.
//!
//! A value is transferred in a cycle in which both are high. Once valid is high it stays high, with the same payload,
//! until ready is high too.

use crate::agent::Violation;
use crate::model::{Direction, Instance, ModelError, PortHandle};
use num_bigint::BigUint;
use std::fmt;

/// The side that drives valid and the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The design receives: valid is its input, ready its output.
    IntoDesign,
    /// The design sends: valid is its output, ready its input.
    OutOfDesign,
}

impl Side {
    /// The side of the bus with that valid port.
    pub(crate) fn of(dut: &Instance, valid: PortHandle) -> Self {
        match dut.info(valid).direction {
            Direction::Input => Self::IntoDesign,
            Direction::Output => Self::OutOfDesign,
        }
    }

    /// The side of a channel in the opposite direction.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::IntoDesign => Self::OutOfDesign,
            Self::OutOfDesign => Self::IntoDesign,
        }
    }

    /// Direction of valid and the payload.
    pub(crate) fn forward(self) -> Direction {
        match self {
            Self::IntoDesign => Direction::Input,
            Self::OutOfDesign => Direction::Output,
        }
    }

    /// Direction of ready.
    pub(crate) fn backward(self) -> Direction {
        match self {
            Self::IntoDesign => Direction::Output,
            Self::OutOfDesign => Direction::Input,
        }
    }
}

/// The ports of a channel: valid, ready and the payload.
#[derive(Clone, Debug)]
pub struct Handshake {
    pub(crate) bus: String,
    pub(crate) valid: PortHandle,
    pub(crate) ready: PortHandle,
    pub(crate) payload: Vec<PortHandle>,
}

impl Handshake {
    /// Looks up valid and ready, and checks all directions.
    pub(crate) fn find(
        dut: &Instance,
        bus: &str,
        [valid, ready]: [&str; 2],
        payload: Vec<PortHandle>,
        side: Option<Side>,
    ) -> Result<Self, ModelError> {
        let valid = one_bit(dut, valid)?;
        let side = side.unwrap_or_else(|| Side::of(dut, valid));
        let ready = one_bit(dut, ready)?;
        for port in payload.iter().chain([&valid]) {
            check_direction(dut, *port, side.forward())?;
        }
        check_direction(dut, ready, side.backward())?;
        Ok(Self {
            bus: bus.to_owned(),
            valid,
            ready,
            payload,
        })
    }

    /// Looks up valid, ready and the fields of a channel, with the direction seen from the design: `<prefix>_valid`,
    /// or `<prefix>valid` as in AXI.
    ///
    /// # Errors
    /// If the design has no such channel.
    pub fn attach(
        dut: &Instance,
        prefix: &str,
        fields: &[&str],
        direction: Direction,
    ) -> Result<Self, ModelError> {
        let side = match direction {
            Direction::Input => Side::IntoDesign,
            Direction::Output => Side::OutOfDesign,
        };
        let name = |signal: &str| {
            let joined = format!("{prefix}{signal}");
            if dut.find(&joined).is_some() {
                joined
            } else {
                format!("{prefix}_{signal}")
            }
        };
        let port = |field: &&str| {
            let name = name(field);
            dut.find(&name).ok_or_else(|| dut.unknown(&name))
        };
        let payload: Result<Vec<_>, _> = fields.iter().map(port).collect();
        Self::find(
            dut,
            prefix,
            [&name("valid"), &name("ready")],
            payload?,
            Some(side),
        )
    }

    /// Drives the fields.
    pub fn drive(&self, dut: &mut Instance, values: &[u128]) {
        for (port, value) in self.payload.iter().zip(values) {
            dut.set_value(*port, *value);
        }
    }

    /// The values of the fields.
    pub fn read(&self, dut: &Instance) -> Vec<u128> {
        self.payload.iter().map(|port| dut.value(*port)).collect()
    }

    /// The prefix of its ports.
    pub fn name(&self) -> &str {
        &self.bus
    }

    /// Whether there is a transfer in this cycle.
    #[inline]
    pub(crate) fn transfers(&self, dut: &Instance) -> bool {
        dut.is_high(self.valid) && dut.is_high(self.ready)
    }

    /// A broken rule of this bus.
    pub(crate) fn violation(&self, rule: impl Into<String>) -> Violation {
        Violation {
            bus: self.bus.clone(),
            rule: rule.into(),
        }
    }
}

/// The levels of valid and ready in the last cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Levels {
    pub(crate) valid: bool,
    pub(crate) ready: bool,
}

/// `valid=1 ready=0`, for the message of the watchdog.
impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "valid={} ready={}", u8::from(self.valid), u8::from(self.ready))
    }
}

/// The counters of a monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Transfers.
    pub beats: u64,
    /// Transfers that end a frame; on a bus without frames, the same as `beats`.
    pub frames: u64,
    /// Cycles with valid and without ready.
    pub stalls: u64,
    /// Cycles with ready and without valid.
    pub idles: u64,
}

/// Checks the rules of a bus, cycle by cycle, and counts.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) bus: Handshake,
    pub(crate) counts: Counts,
    pub(crate) levels: Levels,
    /// The payload that waits for ready, one port after the other.
    held: Vec<u8>,
    waiting: bool,
}

impl Watch {
    pub(crate) fn new(bus: Handshake) -> Self {
        let (counts, levels) = (Counts::default(), Levels::default());
        Self {
            bus,
            counts,
            levels,
            held: Vec::new(),
            waiting: false,
        }
    }

    /// Whether something waits for ready.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Discards the payload that waits.
    pub(crate) fn reset(&mut self) {
        self.waiting = false;
    }

    /// Checks one cycle and returns whether there is a transfer, which the caller counts.
    #[inline]
    pub(crate) fn check(&mut self, dut: &Instance) -> Result<bool, Violation> {
        let valid = dut.is_high(self.bus.valid);
        let ready = dut.is_high(self.bus.ready);
        self.levels = Levels { valid, ready };
        if !valid && !self.waiting {
            // As most channels are most of the time.
            self.counts.idles += u64::from(ready);
            return Ok(false);
        }
        self.check_valid(dut)
    }

    /// Checks a cycle in which a payload is offered, or has to be.
    fn check_valid(&mut self, dut: &Instance) -> Result<bool, Violation> {
        let Levels { valid, ready } = self.levels;
        self.counts.stalls += u64::from(valid && !ready);
        self.counts.idles += u64::from(!valid && ready);
        if self.waiting {
            if !valid {
                return Err(self.bus.violation("valid went low before ready was high"));
            }
            self.compare(dut)?;
        } else if valid && !ready {
            self.held.clear();
            for port in &self.bus.payload {
                self.held.extend_from_slice(dut.bytes(*port));
            }
        }
        self.waiting = valid && !ready;
        Ok(valid && ready)
    }

    /// Counts a transfer.
    pub(crate) fn count(&mut self, last: bool) {
        self.counts.beats += 1;
        self.counts.frames += u64::from(last);
    }

    /// Checks the last cycle of a reset.
    pub(crate) fn check_reset(&self, dut: &Instance) -> Result<(), Violation> {
        if dut.is_high(self.bus.valid) {
            Err(self.bus.violation("valid is high in reset"))
        } else {
            Ok(())
        }
    }

    fn compare(&self, dut: &Instance) -> Result<(), Violation> {
        let mut rest = &self.held[..];
        for port in &self.bus.payload {
            let now = dut.bytes(*port);
            let (before, after) = rest.split_at(now.len());
            if before != now {
                let (before, now) = (BigUint::from_bytes_le(before), BigUint::from_bytes_le(now));
                return Err(self.bus.violation(format!(
                    "{} changed while valid was high and ready was low: from 0x{before:x} to 0x{now:x}",
                    dut.info(*port).name
                )));
            }
            rest = after;
        }
        Ok(())
    }
}

/// A port of one bit, in either direction.
fn one_bit(dut: &Instance, name: &str) -> Result<PortHandle, ModelError> {
    let port = dut.find(name).ok_or_else(|| dut.unknown(name))?;
    if port.width() == 1 {
        return Ok(port);
    }
    let reason = format!("is {} bits wide; valid and ready are 1 bit", port.width());
    Err(ModelError::UnfitPort {
        model: dut.name(),
        port: name.to_owned(),
        reason,
    })
}

fn check_direction(dut: &Instance, port: PortHandle, needed: Direction) -> Result<(), ModelError> {
    let info = dut.info(port);
    if info.direction == needed {
        return Ok(());
    }
    Err(ModelError::wrong_direction(dut.name(), info.name, needed))
}

/// A port, whether its width fits, and the required width.
pub(crate) type Need = (PortHandle, bool, &'static str);

/// The ports of a design with a common prefix.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) dut: &'a Instance,
    pub(crate) prefix: &'a str,
    /// The item that requires the widths, for messages.
    pub(crate) bus: &'static str,
}

impl Names<'_> {
    fn name(self, signal: &str) -> String {
        format!("{}_{signal}", self.prefix)
    }

    /// A port, if the design has it.
    pub(crate) fn optional(self, signal: &str) -> Option<PortHandle> {
        self.dut.find(&self.name(signal))
    }

    /// Looks up a required port.
    pub(crate) fn port(self, signal: &str) -> Result<PortHandle, ModelError> {
        let name = self.name(signal);
        self.dut.find(&name).ok_or_else(|| self.dut.unknown(&name))
    }

    /// The handshake of a channel.
    pub(crate) fn channel(
        self,
        letters: &str,
        payload: Vec<PortHandle>,
        side: Side,
    ) -> Result<Handshake, ModelError> {
        let [valid, ready] = ["valid", "ready"].map(|signal| self.name(&format!("{letters}{signal}")));
        let bus = self.name(letters);
        Handshake::find(self.dut, &bus, [&valid, &ready], payload, Some(side))
    }

    /// Whether all widths fit.
    pub(crate) fn check_widths(self, needs: &[Need]) -> Result<(), ModelError> {
        let Some((port, _, need)) = needs.iter().find(|(_, fits, _)| !fits) else {
            return Ok(());
        };
        Err(ModelError::UnfitPort {
            model: self.dut.name(),
            port: self.dut.info(*port).name.to_owned(),
            reason: format!("is {} bits wide; {} needs {need}", port.width(), self.bus),
        })
    }
}
