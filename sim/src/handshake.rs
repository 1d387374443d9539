//! The rules that every bus with valid and ready obeys.
//!
//! A value moves in a cycle in which both are high. Once valid is high it stays high, with the same
//! payload, until ready is high too.

use crate::agent::Violation;
use crate::model::{Direction, Instance, ModelError, PortHandle};
use num_bigint::BigUint;

/// Who drives valid and the payload.
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

/// The ports of a bus with valid and ready.
#[derive(Clone, Debug)]
pub(crate) struct Handshake {
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

    /// Whether there is something to transfer.
    pub(crate) fn is_valid(&self, dut: &Instance) -> bool {
        dut.is_high(self.valid)
    }

    /// Whether something is transferred at the end of this cycle.
    pub(crate) fn fires(&self, dut: &Instance) -> bool {
        dut.is_high(self.valid) && dut.is_high(self.ready)
    }

    /// A broken rule of this bus.
    pub(crate) fn violation(&self, rule: impl Into<String>) -> Violation {
        Violation {
            bus: self.bus.clone(),
            rule: rule.into(),
        }
    }

    /// `valid=1 ready=0` for the watchdog.
    pub(crate) fn levels(last: Levels) -> String {
        format!("valid={} ready={}", u8::from(last.valid), u8::from(last.ready))
    }
}

/// What valid and ready were in the last cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Levels {
    pub(crate) valid: bool,
    pub(crate) ready: bool,
}

/// What a monitor counts.
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

/// Checks that valid and the payload stay until ready comes.
#[derive(Debug, Default)]
pub(crate) struct Stability {
    /// The payload that waits for ready, one port after the other.
    held: Vec<u8>,
    waiting: bool,
}

impl Stability {
    /// Whether something waits for ready.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Forgets what waits.
    pub(crate) fn reset(&mut self) {
        self.waiting = false;
    }

    /// Checks one cycle.
    pub(crate) fn check(&mut self, dut: &Instance, bus: &Handshake, now: Levels) -> Result<(), Violation> {
        if self.waiting {
            if !now.valid {
                return Err(bus.violation("valid went low before ready was high"));
            }
            self.compare(dut, bus)?;
        } else if now.valid && !now.ready {
            self.held.clear();
            for port in &bus.payload {
                self.held.extend_from_slice(dut.bytes(*port));
            }
        }
        self.waiting = now.valid && !now.ready;
        Ok(())
    }

    fn compare(&self, dut: &Instance, bus: &Handshake) -> Result<(), Violation> {
        let mut rest = &self.held[..];
        for port in &bus.payload {
            let now = dut.bytes(*port);
            let (before, after) = rest.split_at(now.len());
            if before != now {
                let (before, now) = (BigUint::from_bytes_le(before), BigUint::from_bytes_le(now));
                return Err(bus.violation(format!(
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
