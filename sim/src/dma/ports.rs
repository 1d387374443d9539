//! The ports of descriptors, of statuses and of the RAM's segments.

use super::ram::RamShape;
use crate::agent::Violation;
use crate::handshake::{Handshake, Side};
use crate::model::{Direction, Instance, ModelError, PortHandle};

/// The descriptor channel out of the design.
#[derive(Clone, Debug)]
pub(super) struct DescriptorPorts {
    pub(super) bus: Handshake,
    pub(super) dma_addr: PortHandle,
    pub(super) ram_sel: PortHandle,
    pub(super) ram_addr: PortHandle,
    pub(super) len: PortHandle,
    pub(super) tag: PortHandle,
    /// Whether the descriptor has immediate data; read descriptors have no such port.
    pub(super) imm_en: Option<PortHandle>,
}

/// The status channel into the design, which has no ready.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusPorts {
    pub(super) tag: PortHandle,
    pub(super) error: PortHandle,
    pub(super) valid: PortHandle,
}

impl DescriptorPorts {
    /// Looks up the ports with that prefix.
    pub(super) fn find(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        let name = |signal: &str| format!("{prefix}_{signal}");
        let port = |signal: &str| dut.port(&name(signal), Direction::Output);
        let [dma_addr, ram_sel, ram_addr] = [port("dma_addr")?, port("ram_sel")?, port("ram_addr")?];
        let [len, tag] = [port("len")?, port("tag")?];
        for port in [dma_addr, ram_sel, ram_addr, len, tag] {
            at_most_64(dut, port)?;
        }
        let optional = ["imm", "imm_en"].map(|signal| dut.find(&name(signal)));
        let payload = [dma_addr, ram_sel, ram_addr, len, tag]
            .into_iter()
            .chain(optional.into_iter().flatten())
            .collect();
        let [valid, ready] = [name("valid"), name("ready")];
        let bus = Handshake::find(dut, prefix, [&valid, &ready], payload, Some(Side::OutOfDesign))?;
        Ok(Self {
            bus,
            dma_addr,
            ram_sel,
            ram_addr,
            len,
            tag,
            imm_en: optional[1],
        })
    }
}

impl StatusPorts {
    /// Looks up the ports with that prefix.
    pub(super) fn find(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        let port = |signal: &str| dut.port(&format!("{prefix}_{signal}"), Direction::Input);
        let found = Self {
            tag: port("tag")?,
            error: port("error")?,
            valid: port("valid")?,
        };
        at_most_64(dut, found.tag)?;
        fits(dut, found.error, found.error.width() == 4, "a status code has 4")?;
        fits(dut, found.valid, found.valid.width() == 1, "valid has 1")?;
        Ok(found)
    }
}

fn at_most_64(dut: &Instance, port: PortHandle) -> Result<(), ModelError> {
    fits(
        dut,
        port,
        port.width() <= 64,
        "the model of the DMA knows at most 64",
    )
}

/// The error for a port with a wrong width.
pub(super) fn fits(dut: &Instance, port: PortHandle, fits: bool, need: &str) -> Result<(), ModelError> {
    if fits {
        return Ok(());
    }
    Err(ModelError::UnfitPort {
        model: dut.name(),
        port: dut.info(port).name.to_owned(),
        reason: format!("is {} bits wide; {need}", port.width()),
    })
}

/// The command ports, shared by all segments, lowest segment first.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentPorts {
    pub(super) address: PortHandle,
    /// Byte enables and data, if the commands write.
    pub(super) write: Option<[PortHandle; 2]>,
    pub(super) valid: PortHandle,
    pub(super) ready: PortHandle,
}

impl SegmentPorts {
    /// Looks up the ports with that prefix, such as `ram_wr_cmd`, and that direction of commands; `write` means that
    /// they carry data.
    pub(super) fn find(
        dut: &Instance,
        prefix: &str,
        shape: RamShape,
        (commands, write): (Direction, bool),
    ) -> Result<Self, ModelError> {
        let answers = match commands {
            Direction::Input => Direction::Output,
            Direction::Output => Direction::Input,
        };
        let port = |signal: &str, direction| dut.port(&format!("{prefix}_{signal}"), direction);
        let segments = shape.segments as usize;
        let address = port("addr", commands)?;
        let whole = address.width().is_multiple_of(segments) && address.width() <= 128;
        let need = "the segments need the same width, and 128 together at most";
        fits(dut, address, whole, need)?;
        let [valid, ready] = [port("valid", commands)?, port("ready", answers)?];
        for port in [valid, ready] {
            fits(dut, port, port.width() == segments, "each segment has 1")?;
        }
        let write = if write {
            let [enables, data] = [port("be", commands)?, port("data", commands)?];
            let bytes = segments * shape.segment_bytes as usize;
            fits(dut, enables, enables.width() == bytes, "each byte has 1")?;
            fits(dut, data, data.width() == 8 * bytes, "each byte has 8")?;
            let aligned = shape.segment_bytes.is_multiple_of(8) && shape.segment_bytes <= 128;
            let need = "a segment needs a multiple of 8, 128 at most";
            fits(dut, enables, aligned, need)?;
            Some([enables, data])
        } else {
            None
        };
        Ok(Self {
            address,
            write,
            valid,
            ready,
        })
    }
}

/// The commands of the design to all segments.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    pub(super) bus: String,
    pub(super) shape: RamShape,
    ports: SegmentPorts,
    /// For each segment the command that waits for ready.
    held: Vec<Option<Command>>,
}

/// A command of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) line: u64,
    /// The bytes of the data that are written.
    pub(super) enables: u128,
    pub(super) data: Vec<u8>,
}

impl Commands {
    /// Looks up the ports with that prefix, such as `ram_wr_cmd`; `write` means that they carry data.
    pub(super) fn find(
        dut: &Instance,
        prefix: &str,
        shape: RamShape,
        write: bool,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            bus: prefix.to_owned(),
            shape,
            ports: SegmentPorts::find(dut, prefix, shape, (Direction::Output, write))?,
            held: vec![None; shape.segments as usize],
        })
    }

    /// Number of segments.
    pub(super) fn segments(&self) -> usize {
        self.held.len()
    }

    /// Drives ready of all segments.
    pub(super) fn set_ready(&self, dut: &mut Instance, ready: impl Fn(usize) -> bool) {
        set_bits(dut, self.ports.ready, self.segments(), ready);
    }

    /// Checks the rules of valid and ready of one segment; returns the command that is transferred, if any.
    pub(super) fn check(&mut self, dut: &Instance, segment: usize) -> Result<Option<Command>, Violation> {
        let is_high = |port| dut.value(port) >> segment & 1 == 1;
        if !is_high(self.ports.valid) {
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
        if is_high(self.ports.ready) {
            return Ok(Some(command));
        }
        self.held[segment] = Some(command);
        Ok(None)
    }

    /// Checks the last cycle of a reset.
    pub(super) fn check_reset(&self, dut: &Instance) -> Result<(), Violation> {
        if dut.value(self.ports.valid) == 0 {
            return Ok(());
        }
        Err(self.violation("valid is high in reset".to_owned()))
    }

    /// Whether a command waits for ready.
    pub(super) fn is_waiting(&self) -> bool {
        self.held.iter().any(Option::is_some)
    }

    /// Discards what waits.
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
        let width = self.ports.address.width() / self.segments();
        let line = dut.value(self.ports.address) >> (segment * width) & ((1 << width) - 1);
        let size = self.shape.segment_bytes as usize;
        let [enables, data] = self.ports.write.map_or([&[][..]; 2], |[enables, data]| {
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
