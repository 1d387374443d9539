//! Buses of which each segment of a RAM has its own: all segments share ports, lowest segment first.

use super::ports::fits;
use super::ram::RamShape;
use crate::agent::Violation;
use crate::model::{Direction, Instance, ModelError, PortHandle};

/// The command ports of all segments.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    pub(super) bus: String,
    pub(super) shape: RamShape,
    address: PortHandle,
    /// Byte enables and data, if the commands write.
    write: Option<[PortHandle; 2]>,
    valid: PortHandle,
    ready: PortHandle,
    /// For each segment the command that waits for ready.
    held: Vec<Option<Command>>,
}

/// A command of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) line: u64,
    /// Bytes of the data that are written.
    pub(super) enables: u128,
    pub(super) data: Vec<u8>,
}

impl Commands {
    /// Looks up the ports with that prefix, such as `ram_wr_cmd`; `write` says that there are data.
    pub(super) fn find(
        dut: &Instance,
        prefix: &str,
        shape: RamShape,
        write: bool,
    ) -> Result<Self, ModelError> {
        let port = |signal: &str, direction| dut.port(&format!("{prefix}_{signal}"), direction);
        let output = |signal: &str| port(signal, Direction::Output);
        let segments = shape.segments as usize;
        let address = output("addr")?;
        let whole = address.width().is_multiple_of(segments) && address.width() <= 128;
        fits(
            dut,
            address,
            whole,
            "the segments need the same width, and 128 together at most",
        )?;
        let [valid, ready] = [output("valid")?, port("ready", Direction::Input)?];
        for port in [valid, ready] {
            fits(dut, port, port.width() == segments, "each segment has 1")?;
        }
        let write = if write {
            let [enables, data] = [output("be")?, output("data")?];
            let bytes = segments * shape.segment_bytes as usize;
            fits(dut, enables, enables.width() == bytes, "each byte has 1")?;
            fits(dut, data, data.width() == 8 * bytes, "each byte has 8")?;
            let aligned = shape.segment_bytes.is_multiple_of(8) && shape.segment_bytes <= 128;
            fits(
                dut,
                enables,
                aligned,
                "a segment needs a multiple of 8, 128 at most",
            )?;
            Some([enables, data])
        } else {
            None
        };
        Ok(Self {
            bus: prefix.to_owned(),
            shape,
            address,
            write,
            valid,
            ready,
            held: vec![None; segments],
        })
    }

    /// Number of segments.
    pub(super) fn segments(&self) -> usize {
        self.held.len()
    }

    /// Drives ready of all segments.
    pub(super) fn set_ready(&self, dut: &mut Instance, ready: impl Fn(usize) -> bool) {
        set_bits(dut, self.ready, self.segments(), ready);
    }

    /// Checks the rules of valid and ready of one segment; the command that is transferred, if one is.
    pub(super) fn check(&mut self, dut: &Instance, segment: usize) -> Result<Option<Command>, Violation> {
        let is_high = |port| dut.value(port) >> segment & 1 == 1;
        if !is_high(self.valid) {
            return match self.held[segment] {
                None => Ok(None),
                Some(_) => Err(self.violation(format!(
                    "valid of segment {segment} went low before ready was high"
                ))),
            };
        }
        let command = self.command(dut, segment);
        if let Some(held) = self.held[segment].take()
            && held != command
        {
            return Err(self.violation(format!(
                "the command of segment {segment} changed while valid was high and ready was low"
            )));
        }
        if is_high(self.ready) {
            return Ok(Some(command));
        }
        self.held[segment] = Some(command);
        Ok(None)
    }

    /// Checks the last cycle of a reset.
    pub(super) fn check_reset(&self, dut: &Instance) -> Result<(), Violation> {
        if dut.value(self.valid) == 0 {
            return Ok(());
        }
        Err(self.violation("valid is high in reset".to_owned()))
    }

    /// Whether a command waits for ready.
    pub(super) fn is_waiting(&self) -> bool {
        self.held.iter().any(Option::is_some)
    }

    /// Forgets what waits.
    pub(super) fn reset(&mut self) {
        self.held.fill(None);
    }

    /// A broken rule of this bus.
    pub(super) fn violation(&self, rule: String) -> Violation {
        Violation {
            bus: self.bus.clone(),
            rule,
        }
    }

    fn command(&self, dut: &Instance, segment: usize) -> Command {
        let width = self.address.width() / self.segments();
        let line = dut.value(self.address) >> (segment * width) & ((1 << width) - 1);
        let size = self.shape.segment_bytes as usize;
        let [enables, data] = self.write.map_or([&[][..]; 2], |[enables, data]| {
            let part = segment * size / 8..(segment + 1) * size / 8;
            [
                &dut.bytes(enables)[part],
                &dut.bytes(data)[segment * size..(segment + 1) * size],
            ]
        });
        let mut bits = [0; 16];
        bits[..enables.len()].copy_from_slice(enables);
        Command {
            line: line as u64,
            enables: u128::from_le_bytes(bits),
            data: data.to_vec(),
        }
    }
}

/// Drives an input that has one bit for each segment.
pub(super) fn set_bits(dut: &mut Instance, port: PortHandle, count: usize, bit: impl Fn(usize) -> bool) {
    let bits = (0..count).map(|segment| u128::from(bit(segment)) << segment);
    let bits = bits.fold(0, |all, bit| all | bit);
    dut.set_value(port, bits);
}
