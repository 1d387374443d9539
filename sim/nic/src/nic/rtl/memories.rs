//! Memories of the clusters from outside, without simulating any time.

use spinneret_cluster::Segment;
use spinneret_regmap::pspin::{HANDLER_BASE, HANDLER_BYTES, PROGRAM_BASE, PROGRAM_BYTES};
use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of a line.
const LINE: u32 = 64;
/// Program memory and handler memory.
const PROGRAM: Range<u32> = PROGRAM_BASE..PROGRAM_BASE + PROGRAM_BYTES;
const HANDLER: Range<u32> = HANDLER_BASE..HANDLER_BASE + HANDLER_BYTES;

/// Ports of the top module to the memories.
#[derive(Debug)]
pub(super) struct Memories {
    clk: PortHandle,
    is_program: PortHandle,
    line: PortHandle,
    strobe: PortHandle,
    data: PortHandle,
    peek_line: PortHandle,
    peek_data: PortHandle,
}

/// A line that is written: its bytes, and a bit for each that is.
#[derive(Clone, Copy)]
struct Line {
    bytes: [u8; LINE as usize],
    strobe: u64,
}

impl Memories {
    pub(super) fn find(dut: &Instance) -> Result<Self, ModelError> {
        let input = |name: &str| dut.port(name, Direction::Input);
        Ok(Self {
            clk: input("load_clk")?,
            is_program: input("load_is_program")?,
            line: input("load_line")?,
            strobe: input("load_strobe")?,
            data: input("load_data")?,
            peek_line: input("peek_line")?,
            peek_data: dut.port("peek_data", Direction::Output)?,
        })
    }

    /// Writes segments; returns false, and writes nothing, if one is in another memory, or the hardware fails.
    /// The rest of a line of program memory becomes 0.
    pub(super) fn write(&self, dut: &mut Instance, segments: &[Segment]) -> bool {
        let mut lines = BTreeMap::new();
        for segment in segments {
            for (address, byte) in (segment.address..).zip(&segment.bytes) {
                if !PROGRAM.contains(&address) && !HANDLER.contains(&address) {
                    return false;
                }
                let line = lines.entry(address / LINE).or_insert(Line {
                    bytes: [0; LINE as usize],
                    strobe: 0,
                });
                line.bytes[(address % LINE) as usize] = *byte;
                line.strobe |= 1 << (address % LINE);
            }
        }
        let written = lines.into_iter().try_for_each(|(number, line)| {
            let is_program = PROGRAM.contains(&(number * LINE));
            let base = if is_program { PROGRAM_BASE } else { HANDLER_BASE };
            dut.set_high(self.is_program, is_program);
            dut.set_value(self.line, (number - base / LINE).into());
            dut.set_value(self.strobe, line.strobe.into());
            dut.set_bytes(self.data, &line.bytes);
            [true, false].into_iter().try_for_each(|is_high| {
                dut.set_high(self.clk, is_high);
                dut.eval()
            })
        });
        written.is_ok()
    }

    /// Reads handler memory; `None` outside of it.
    pub(super) fn peek(&self, dut: &mut Instance, address: u32, bytes: u32) -> Option<Vec<u8>> {
        let end = address.checked_add(bytes)?;
        if !HANDLER.contains(&address) || end > HANDLER.end {
            return None;
        }
        let lines = address / LINE..end.div_ceil(LINE);
        let mut all = Vec::new();
        for line in lines {
            dut.set_value(self.peek_line, (line - HANDLER_BASE / LINE).into());
            dut.eval().ok()?;
            all.extend_from_slice(dut.bytes(self.peek_data));
        }
        let start = (address % LINE) as usize;
        Some(all[start..start + bytes as usize].to_vec())
    }
}
