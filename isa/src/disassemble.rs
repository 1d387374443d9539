//! Instructions as assembly.

use super::{CsrRow, Format, Instruction, Op};
use std::fmt;

#[rustfmt::skip]
const REGISTERS: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

/// The name of a CSR, if it has one that people use.
pub fn csr_name(number: u32) -> Option<&'static str> {
    CsrRow::of(number).filter(|row| row.is_one()).map(|row| row.name)
}

/// An instruction at an address: targets of jumps and branches show as addresses.
#[derive(Clone, Copy, Debug)]
pub struct Located {
    instruction: Instruction,
    pc: Option<u32>,
}

impl Instruction {
    /// The instruction at an address.
    pub const fn at(self, pc: u32) -> Located {
        Located {
            instruction: self,
            pc: Some(pc),
        }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Located {
            instruction: *self,
            pc: None,
        }
        .fmt(f)
    }
}

impl fmt::Debug for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({} bytes)", self.len_bytes())
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let i = self.instruction;
        let Some(row) = i.op().row() else {
            return match i.op() {
                Op::Empty => write!(f, "(empty)"),
                _ if i.is_compressed() => write!(f, ".2byte {:#06x}", i.imm()),
                _ => write!(f, ".4byte {:#010x}", i.imm()),
            };
        };
        let name = row.name;
        let (rd, rs1, rs2) = (REGISTERS[i.rd()], REGISTERS[i.rs1()], REGISTERS[i.rs2()]);
        match row.format {
            Format::Fence if i.imm() == 0 => write!(f, "{name}"),
            Format::Fence => fmt_fence(f, i.imm() as u32),
            Format::None => write!(f, "{name}"),
            Format::U => write!(f, "{name} {rd}, {:#x}", i.imm() as u32 >> 12),
            Format::J => write!(f, "{name} {rd}, {}", self.target()),
            Format::Load => write!(f, "{name} {rd}, {}({rs1})", i.imm()),
            Format::S => write!(f, "{name} {rs2}, {}({rs1})", i.imm()),
            Format::B => write!(f, "{name} {rs1}, {rs2}, {}", self.target()),
            Format::Csr => write!(f, "{name} {rd}, {}, {rs1}", Csr(i.csr())),
            Format::CsrImm => write!(f, "{name} {rd}, {}, {}", Csr(i.csr()), i.csr_imm()),
            Format::Reserve => write!(f, "{name}{} {rd}, ({rs1})", order(i)),
            Format::Atomic => write!(f, "{name}{} {rd}, {rs2}, ({rs1})", order(i)),
            Format::I | Format::Shift => write!(f, "{name} {rd}, {rs1}, {}", i.imm()),
            Format::R => write!(f, "{name} {rd}, {rs1}, {rs2}"),
        }
    }
}

impl Located {
    fn target(&self) -> String {
        let offset = self.instruction.imm();
        match self.pc {
            Some(pc) => format!("{:#x}", pc.wrapping_add(offset as u32)),
            None if offset < 0 => format!(". - {}", offset.unsigned_abs()),
            None => format!(". + {offset}"),
        }
    }
}

struct Csr(u32);

impl fmt::Display for Csr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match csr_name(self.0) {
            Some(name) => f.write_str(name),
            None => write!(f, "{:#x}", self.0),
        }
    }
}

/// The suffix of an atomic operation for its acquire and release bits.
fn order(instruction: Instruction) -> &'static str {
    ["", ".rl", ".aq", ".aqrl"][instruction.imm() as usize & 3]
}

fn fmt_fence(f: &mut fmt::Formatter<'_>, imm: u32) -> fmt::Result {
    let set = |bits: u32| -> String {
        let kinds = [(8, 'i'), (4, 'o'), (2, 'r'), (1, 'w')];
        kinds
            .into_iter()
            .filter(|(bit, _)| bits & bit != 0)
            .map(|(_, kind)| kind)
            .collect()
    };
    if imm >> 8 & 15 == 8 {
        return write!(f, "fence.tso");
    }
    write!(f, "fence {}, {}", set(imm >> 4 & 15), set(imm & 15))
}
