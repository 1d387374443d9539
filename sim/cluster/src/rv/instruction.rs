//! A decoded instruction.

use std::fmt;

/// Operation of an instruction. Compressed instructions have the operation of their long form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
#[allow(missing_docs)] // The names are those of the manual.
pub enum Op {
    /// Not an instruction: the place of a cache that holds none.
    Empty,
    /// No instruction, or one that this hart does not have.
    Illegal,
    Lui, Auipc, Jal, Jalr,
    Beq, Bne, Blt, Bge, Bltu, Bgeu,
    Lb, Lh, Lw, Lbu, Lhu, Sb, Sh, Sw,
    Addi, Slti, Sltiu, Xori, Ori, Andi, Slli, Srli, Srai,
    Add, Sub, Sll, Slt, Sltu, Xor, Srl, Sra, Or, And,
    Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu,
    Fence, FenceI, Ecall, Ebreak, Mret, Wfi,
    Csrrw, Csrrs, Csrrc, Csrrwi, Csrrsi, Csrrci,
    LrW, ScW,
    AmoswapW, AmoaddW, AmoxorW, AmoandW, AmoorW, AmominW, AmomaxW, AmominuW, AmomaxuW,
}

impl Op {
    /// Whether it is of the extension A.
    #[must_use]
    pub fn is_atomic(self) -> bool {
        use Op::{
            AmoaddW, AmoandW, AmomaxW, AmomaxuW, AmominW, AmominuW, AmoorW, AmoswapW, AmoxorW, LrW, ScW,
        };
        matches!(
            self,
            LrW | ScW
                | AmoswapW
                | AmoaddW
                | AmoxorW
                | AmoandW
                | AmoorW
                | AmominW
                | AmomaxW
                | AmominuW
                | AmomaxuW
        )
    }
}

/// A decoded instruction in eight bytes.
///
/// Register fields that the instruction does not use are 0, so that a dependence between two instructions can be seen
/// without looking at what they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    op: Op,
    /// Bits 4:0: the register; [`Self::LATE`].
    rd: u8,
    rs1: u8,
    /// Bits 4:0: the register; [`Self::SHORT`].
    rs2: u8,
    /// The immediate; the shift amount; for CSR instructions the register number in bits 11:0 and the five-bit
    /// immediate above; for illegal instructions their bits.
    imm: i32,
}

impl Instruction {
    /// The place of a cache that holds no instruction.
    pub(super) const EMPTY: Instruction = Instruction {
        op: Op::Empty,
        rd: 0,
        rs1: 0,
        rs2: 0,
        imm: 0,
    };
    /// In `rd`: the result comes from memory, one clock late.
    pub(super) const LATE: u8 = 0x80;
    /// In `rs2`: the instruction has 16 bits.
    const SHORT: u8 = 0x80;

    /// An instruction of 32 bits from its fields.
    pub(super) fn new(op: Op, rd: u32, rs1: u32, rs2: u32, imm: i32) -> Instruction {
        let late = match op {
            Op::Lb | Op::Lh | Op::Lw | Op::Lbu | Op::Lhu => Self::LATE,
            _ if op as u8 >= Op::LrW as u8 => Self::LATE,
            _ => 0,
        };
        Instruction {
            op,
            rd: rd as u8 & 31 | late,
            rs1: rs1 as u8 & 31,
            rs2: rs2 as u8 & 31,
            imm,
        }
    }

    /// The same instruction, in 16 bits.
    pub(super) fn short(self) -> Instruction {
        Instruction {
            rs2: self.rs2 | Self::SHORT,
            ..self
        }
    }

    /// Bits that are no instruction.
    pub(super) fn illegal(bits: u32) -> Instruction {
        Instruction::new(Op::Illegal, 0, 0, 0, bits as i32)
    }

    /// Returns its operation.
    #[inline(always)]
    pub const fn op(&self) -> Op {
        self.op
    }

    /// The register it writes, or 0.
    #[inline(always)]
    pub const fn rd(&self) -> usize {
        (self.rd & 31) as usize
    }

    /// The first register it reads, or 0.
    #[inline(always)]
    pub const fn rs1(&self) -> usize {
        (self.rs1 & 31) as usize
    }

    /// The second register it reads, or 0.
    #[inline(always)]
    pub const fn rs2(&self) -> usize {
        (self.rs2 & 31) as usize
    }

    /// The immediate, sign-extended: of `lui` and `auipc` already shifted, of shifts the amount, of illegal instructions
    /// their bits.
    #[inline(always)]
    pub const fn imm(&self) -> i32 {
        self.imm
    }

    /// The number of the CSR of a CSR instruction.
    #[inline(always)]
    pub const fn csr(&self) -> u32 {
        self.imm as u32 & 0xfff
    }

    /// The five-bit immediate of a CSR instruction that has one.
    #[inline(always)]
    pub const fn csr_imm(&self) -> u32 {
        self.imm as u32 >> 12
    }

    /// Its length: 2 or 4.
    #[inline(always)]
    pub const fn len_bytes(&self) -> u32 {
        if self.is_compressed() { 2 } else { 4 }
    }

    /// Whether it has 16 bits.
    #[inline(always)]
    pub const fn is_compressed(&self) -> bool {
        self.rs2 & Self::SHORT != 0
    }

    /// `rd` together with [`Self::LATE`].
    #[inline(always)]
    pub(super) const fn result(&self) -> u8 {
        self.rd
    }
}

#[rustfmt::skip]
const REGISTERS: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

#[rustfmt::skip]
fn mnemonic(op: Op) -> &'static str {
    match op {
        Op::Empty => "(empty)", Op::Illegal => "(illegal)",
        Op::Lui => "lui", Op::Auipc => "auipc", Op::Jal => "jal", Op::Jalr => "jalr",
        Op::Beq => "beq", Op::Bne => "bne", Op::Blt => "blt", Op::Bge => "bge", Op::Bltu => "bltu", Op::Bgeu => "bgeu",
        Op::Lb => "lb", Op::Lh => "lh", Op::Lw => "lw", Op::Lbu => "lbu", Op::Lhu => "lhu",
        Op::Sb => "sb", Op::Sh => "sh", Op::Sw => "sw",
        Op::Addi => "addi", Op::Slti => "slti", Op::Sltiu => "sltiu", Op::Xori => "xori", Op::Ori => "ori",
        Op::Andi => "andi", Op::Slli => "slli", Op::Srli => "srli", Op::Srai => "srai",
        Op::Add => "add", Op::Sub => "sub", Op::Sll => "sll", Op::Slt => "slt", Op::Sltu => "sltu", Op::Xor => "xor",
        Op::Srl => "srl", Op::Sra => "sra", Op::Or => "or", Op::And => "and",
        Op::Mul => "mul", Op::Mulh => "mulh", Op::Mulhsu => "mulhsu", Op::Mulhu => "mulhu",
        Op::Div => "div", Op::Divu => "divu", Op::Rem => "rem", Op::Remu => "remu",
        Op::Fence => "fence", Op::FenceI => "fence.i", Op::Ecall => "ecall", Op::Ebreak => "ebreak",
        Op::Mret => "mret", Op::Wfi => "wfi",
        Op::Csrrw => "csrrw", Op::Csrrs => "csrrs", Op::Csrrc => "csrrc",
        Op::Csrrwi => "csrrwi", Op::Csrrsi => "csrrsi", Op::Csrrci => "csrrci",
        Op::LrW => "lr.w", Op::ScW => "sc.w", Op::AmoswapW => "amoswap.w", Op::AmoaddW => "amoadd.w",
        Op::AmoxorW => "amoxor.w", Op::AmoandW => "amoand.w", Op::AmoorW => "amoor.w", Op::AmominW => "amomin.w",
        Op::AmomaxW => "amomax.w", Op::AmominuW => "amominu.w", Op::AmomaxuW => "amomaxu.w",
    }
}

/// The name of a CSR, if it has one that people use.
fn csr_name(number: u32) -> Option<&'static str> {
    Some(match number {
        0x300 => "mstatus",
        0x301 => "misa",
        0x304 => "mie",
        0x305 => "mtvec",
        0x306 => "mcounteren",
        0x340 => "mscratch",
        0x341 => "mepc",
        0x342 => "mcause",
        0x343 => "mtval",
        0x344 => "mip",
        0xb00 => "mcycle",
        0xb02 => "minstret",
        0xb80 => "mcycleh",
        0xb82 => "minstreth",
        0xc00 => "cycle",
        0xc01 => "time",
        0xc02 => "instret",
        0xc80 => "cycleh",
        0xc81 => "timeh",
        0xc82 => "instreth",
        0xf11 => "mvendorid",
        0xf12 => "marchid",
        0xf13 => "mimpid",
        0xf14 => "mhartid",
        _ => return None,
    })
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
        let name = mnemonic(i.op());
        let (rd, rs1, rs2) = (REGISTERS[i.rd()], REGISTERS[i.rs1()], REGISTERS[i.rs2()]);
        match i.op() {
            Op::Empty | Op::Fence if i.imm() == 0 => write!(f, "{name}"),
            Op::Empty | Op::FenceI | Op::Ecall | Op::Ebreak | Op::Mret | Op::Wfi => write!(f, "{name}"),
            Op::Illegal if i.is_compressed() => write!(f, ".2byte {:#06x}", i.imm()),
            Op::Illegal => write!(f, ".4byte {:#010x}", i.imm()),
            Op::Fence => fmt_fence(f, i.imm() as u32),
            Op::Lui | Op::Auipc => write!(f, "{name} {rd}, {:#x}", i.imm() as u32 >> 12),
            Op::Jal => write!(f, "{name} {rd}, {}", self.target()),
            Op::Jalr | Op::Lb | Op::Lh | Op::Lw | Op::Lbu | Op::Lhu => {
                write!(f, "{name} {rd}, {}({rs1})", i.imm())
            }
            Op::Sb | Op::Sh | Op::Sw => write!(f, "{name} {rs2}, {}({rs1})", i.imm()),
            Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu => {
                write!(f, "{name} {rs1}, {rs2}, {}", self.target())
            }
            Op::Csrrw | Op::Csrrs | Op::Csrrc => write!(f, "{name} {rd}, {}, {rs1}", Csr(i.csr())),
            Op::Csrrwi | Op::Csrrsi | Op::Csrrci => {
                write!(f, "{name} {rd}, {}, {}", Csr(i.csr()), i.csr_imm())
            }
            Op::LrW => write!(f, "{name}{} {rd}, ({rs1})", order(i)),
            op if op as u8 > Op::LrW as u8 => write!(f, "{name}{} {rd}, {rs2}, ({rs1})", order(i)),
            op if (Op::Addi as u8..=Op::Srai as u8).contains(&(op as u8)) => {
                write!(f, "{name} {rd}, {rs1}, {}", i.imm())
            }
            _ => write!(f, "{name} {rd}, {rs1}, {rs2}"),
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
