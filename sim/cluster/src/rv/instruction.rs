//! A decoded instruction.

/// What an instruction does. Compressed instructions have the operation of their long form.
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

    /// What it does.
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
