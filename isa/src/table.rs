//! The table: RV32IMAC with Zicsr and Zifencei, machine and user mode, and `csum` for checksums.
//!
//! Source: The RISC-V Instruction Set Manual, volume I (20191213), chapters 2, 3, 7, 8, 9, 16 and 24, and volume II (20211203),
//! section 3.3.

use std::collections::BTreeSet;

/// Where the fields of an instruction of 32 bits are, and how the disassembler writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// `add rd, rs1, rs2`
    R,
    /// `addi rd, rs1, imm`
    I,
    /// `slli rd, rs1, imm`: the amount is in the place of rs2.
    Shift,
    /// `lw rd, imm(rs1)`
    Load,
    /// `sw rs2, imm(rs1)`
    S,
    /// `beq rs1, rs2, target`
    B,
    /// `lui rd, imm`
    U,
    /// `jal rd, target`
    J,
    /// `csrrw rd, csr, rs1`
    Csr,
    /// `csrrwi rd, csr, imm`
    CsrImm,
    /// `lr.w rd, (rs1)`: acquire and release are kept in the immediate.
    Reserve,
    /// `amoadd.w rd, rs2, (rs1)`
    Atomic,
    /// `fence predecessors, successors`: all other fields are ignored, so that future finer fences work.
    Fence,
    /// `ecall`: no operands.
    None,
}

/// Every value of a column of the table, in order.
fn every<T: Copy + Ord, const N: usize>(column: fn(&Row) -> T) -> [T; N] {
    let all: BTreeSet<_> = TABLE.iter().map(column).collect();
    let all: Vec<_> = all.into_iter().collect();
    std::array::from_fn(|number| all[number])
}

impl Format {
    /// How many there are.
    pub const COUNT: usize = Self::None as usize + 1;

    /// All of them in order, as the instructions of the table need them.
    pub fn all() -> [Self; Self::COUNT] {
        every(|row| row.format)
    }

    /// The immediate: where its bits are in the word.
    #[rustfmt::skip]
    pub const fn imm(self) -> &'static [Piece] {
        match self {
            Self::R | Self::None => &[],
            Self::I | Self::Load | Self::Fence => const { &[signed(31, 20, 0)] },
            Self::Shift => const { &[bits(24, 20, 0)] },
            Self::S => const { &[signed(31, 25, 5), bits(11, 7, 0)] },
            Self::B => const { &[signed(31, 31, 12), bits(7, 7, 11), bits(30, 25, 5), bits(11, 8, 1)] },
            Self::U => const { &[signed(31, 12, 12)] },
            Self::J => const { &[signed(31, 31, 20), bits(19, 12, 12), bits(20, 20, 11), bits(30, 21, 1)] },
            Self::Csr => const { &[bits(31, 20, 0)] },
            Self::CsrImm => const { &[bits(31, 20, 0), bits(19, 15, 12)] },
            Self::Reserve | Self::Atomic => const { &[bits(26, 25, 0)] },
        }
    }

    /// Whether an instruction of this format writes rd, reads rs1, and reads rs2.
    pub const fn registers(self) -> [bool; 3] {
        match self {
            Self::R | Self::Atomic => [true, true, true],
            Self::I | Self::Shift | Self::Load | Self::Csr | Self::Reserve => [true, true, false],
            Self::S | Self::B => [false, true, true],
            Self::U | Self::J | Self::CsrImm => [true, false, false],
            Self::Fence | Self::None => [false, false, false],
        }
    }
}

/// The unit that executes an instruction. It decides how many clocks the instruction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // The names say it.
pub enum Unit {
    Alu,
    Multiply,
    Divide,
    Jump,
    Branch,
    Load,
    Store,
    Atomic,
    Csr,
    System,
    Custom,
}

impl Unit {
    /// How many there are.
    pub const COUNT: usize = Self::Custom as usize + 1;

    /// All of them in order, as the instructions of the table need them.
    pub fn all() -> [Self; Self::COUNT] {
        every(|row| row.unit)
    }
}

/// An instruction of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its operation.
    pub op: Op,
    /// Its name in assembly.
    pub name: &'static str,
    /// Bits 31 to 0; `?` is a field, `_` only separates.
    pub bits: &'static str,
    /// Its fields.
    pub format: Format,
    /// The unit that executes it.
    pub unit: Unit,
    /// Its effect, in the notation of the manual: `x` are registers, `m8`, `m16` and `m32` is memory, by width. Everything is
    /// read before anything is written. [`crate::rules()`] translates it.
    pub does: &'static str,
}

macro_rules! instructions {
    ($($op:ident $name:literal $bits:literal $format:ident $unit:ident $does:literal;)+) => {
        /// Operation of an instruction. Compressed instructions have the operation of their long form.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)] // The names are those of the manual.
        #[repr(u8)]
        pub enum Op {
            /// Not an instruction: the place of a cache that holds none.
            Empty,
            /// No instruction, or one that this processor does not have.
            Illegal,
            $($op,)+
        }

        /// All instructions of 32 bits. At most one fits a word.
        pub const TABLE: &[Row] = &[$(Row {
            op: Op::$op,
            name: $name,
            bits: $bits,
            format: Format::$format,
            unit: Unit::$unit,
            does: $does,
        },)+];
    };
}

instructions! {
    Lui       "lui"       "????????????????????_?????_0110111"          U       Alu      "x[rd] = imm";
    Auipc     "auipc"     "????????????????????_?????_0010111"          U       Alu      "x[rd] = pc + imm";
    Jal       "jal"       "????????????????????_?????_1101111"          J       Jump     "x[rd] = next pc; pc += imm";
    Jalr      "jalr"      "????????????_?????_000_?????_1100111"        Load    Jump     "x[rd] = next pc; pc = (x[rs1] + imm) & ~1";
    Beq       "beq"       "???????_?????_?????_000_?????_1100011"       B       Branch   "if x[rs1] == x[rs2] { pc += imm }";
    Bne       "bne"       "???????_?????_?????_001_?????_1100011"       B       Branch   "if x[rs1] != x[rs2] { pc += imm }";
    Blt       "blt"       "???????_?????_?????_100_?????_1100011"       B       Branch   "if x[rs1] < x[rs2], signed { pc += imm }";
    Bge       "bge"       "???????_?????_?????_101_?????_1100011"       B       Branch   "if x[rs1] >= x[rs2], signed { pc += imm }";
    Bltu      "bltu"      "???????_?????_?????_110_?????_1100011"       B       Branch   "if x[rs1] < x[rs2] { pc += imm }";
    Bgeu      "bgeu"      "???????_?????_?????_111_?????_1100011"       B       Branch   "if x[rs1] >= x[rs2] { pc += imm }";
    Lb        "lb"        "????????????_?????_000_?????_0000011"        Load    Load     "x[rd] = m8[x[rs1] + imm], sign-extended";
    Lh        "lh"        "????????????_?????_001_?????_0000011"        Load    Load     "x[rd] = m16[x[rs1] + imm], sign-extended";
    Lw        "lw"        "????????????_?????_010_?????_0000011"        Load    Load     "x[rd] = m32[x[rs1] + imm]";
    Lbu       "lbu"       "????????????_?????_100_?????_0000011"        Load    Load     "x[rd] = m8[x[rs1] + imm]";
    Lhu       "lhu"       "????????????_?????_101_?????_0000011"        Load    Load     "x[rd] = m16[x[rs1] + imm]";
    Sb        "sb"        "???????_?????_?????_000_?????_0100011"       S       Store    "m8[x[rs1] + imm] = x[rs2]";
    Sh        "sh"        "???????_?????_?????_001_?????_0100011"       S       Store    "m16[x[rs1] + imm] = x[rs2]";
    Sw        "sw"        "???????_?????_?????_010_?????_0100011"       S       Store    "m32[x[rs1] + imm] = x[rs2]";
    Addi      "addi"      "????????????_?????_000_?????_0010011"        I       Alu      "x[rd] = x[rs1] + imm";
    Slti      "slti"      "????????????_?????_010_?????_0010011"        I       Alu      "x[rd] = x[rs1] < imm, signed";
    Sltiu     "sltiu"     "????????????_?????_011_?????_0010011"        I       Alu      "x[rd] = x[rs1] < imm";
    Xori      "xori"      "????????????_?????_100_?????_0010011"        I       Alu      "x[rd] = x[rs1] ^ imm";
    Ori       "ori"       "????????????_?????_110_?????_0010011"        I       Alu      "x[rd] = x[rs1] | imm";
    Andi      "andi"      "????????????_?????_111_?????_0010011"        I       Alu      "x[rd] = x[rs1] & imm";
    Slli      "slli"      "0000000_?????_?????_001_?????_0010011"       Shift   Alu      "x[rd] = x[rs1] << imm";
    Srli      "srli"      "0000000_?????_?????_101_?????_0010011"       Shift   Alu      "x[rd] = x[rs1] >> imm";
    Srai      "srai"      "0100000_?????_?????_101_?????_0010011"       Shift   Alu      "x[rd] = x[rs1] >> imm, signed";
    Add       "add"       "0000000_?????_?????_000_?????_0110011"       R       Alu      "x[rd] = x[rs1] + x[rs2]";
    Sub       "sub"       "0100000_?????_?????_000_?????_0110011"       R       Alu      "x[rd] = x[rs1] - x[rs2]";
    Sll       "sll"       "0000000_?????_?????_001_?????_0110011"       R       Alu      "x[rd] = x[rs1] << x[rs2] % 32";
    Slt       "slt"       "0000000_?????_?????_010_?????_0110011"       R       Alu      "x[rd] = x[rs1] < x[rs2], signed";
    Sltu      "sltu"      "0000000_?????_?????_011_?????_0110011"       R       Alu      "x[rd] = x[rs1] < x[rs2]";
    Xor       "xor"       "0000000_?????_?????_100_?????_0110011"       R       Alu      "x[rd] = x[rs1] ^ x[rs2]";
    Srl       "srl"       "0000000_?????_?????_101_?????_0110011"       R       Alu      "x[rd] = x[rs1] >> x[rs2] % 32";
    Sra       "sra"       "0100000_?????_?????_101_?????_0110011"       R       Alu      "x[rd] = x[rs1] >> x[rs2] % 32, signed";
    Or        "or"        "0000000_?????_?????_110_?????_0110011"       R       Alu      "x[rd] = x[rs1] | x[rs2]";
    And       "and"       "0000000_?????_?????_111_?????_0110011"       R       Alu      "x[rd] = x[rs1] & x[rs2]";
    Mul       "mul"       "0000001_?????_?????_000_?????_0110011"       R       Multiply "x[rd] = x[rs1] * x[rs2], the low word";
    Mulh      "mulh"      "0000001_?????_?????_001_?????_0110011"       R       Multiply "x[rd] = x[rs1] * x[rs2], signed, the high word";
    Mulhsu    "mulhsu"    "0000001_?????_?????_010_?????_0110011"       R       Multiply "x[rd] = x[rs1] * x[rs2], the first signed, the high word";
    Mulhu     "mulhu"     "0000001_?????_?????_011_?????_0110011"       R       Multiply "x[rd] = x[rs1] * x[rs2], the high word";
    Div       "div"       "0000001_?????_?????_100_?????_0110011"       R       Divide   "if x[rs2] == 0 { x[rd] = -1 } else { x[rd] = x[rs1] / x[rs2], signed }";
    Divu      "divu"      "0000001_?????_?????_101_?????_0110011"       R       Divide   "if x[rs2] == 0 { x[rd] = -1 } else { x[rd] = x[rs1] / x[rs2] }";
    Rem       "rem"       "0000001_?????_?????_110_?????_0110011"       R       Divide   "if x[rs2] == 0 { x[rd] = x[rs1] } else { x[rd] = x[rs1] % x[rs2], signed }";
    Remu      "remu"      "0000001_?????_?????_111_?????_0110011"       R       Divide   "if x[rs2] == 0 { x[rd] = x[rs1] } else { x[rd] = x[rs1] % x[rs2] }";
    Csum      "csum"      "0000000_?????_?????_000_?????_0001011"       R       Custom   "x[rd] = x[rs1] + x[rs2], plus the carry";
    Fence     "fence"     "????????????_?????_000_?????_0001111"        Fence   System   "nothing: accesses are in order";
    FenceI    "fence.i"   "????????????_?????_001_?????_0001111"        None    System   "nothing: fetches see all stores";
    Ecall     "ecall"     "000000000000_00000_000_00000_1110011"        None    System   "if mode == user { trap 8 } else { trap 11 }";
    Ebreak    "ebreak"    "000000000001_00000_000_00000_1110011"        None    System   "trap 3";
    Mret      "mret"      "001100000010_00000_000_00000_1110011"        None    System   "if mode == user { trap 2 } else { pc = mepc; mode = mpp }";
    Wfi       "wfi"       "000100000101_00000_000_00000_1110011"        None    System   "nothing: the processor may wait until it is woken";
    Csrrw     "csrrw"     "????????????_?????_001_?????_1110011"        Csr     Csr      "x[rd] = csr; csr = x[rs1]";
    Csrrs     "csrrs"     "????????????_?????_010_?????_1110011"        Csr     Csr      "x[rd] = csr; if rs1 != 0 { csr |= x[rs1] }";
    Csrrc     "csrrc"     "????????????_?????_011_?????_1110011"        Csr     Csr      "x[rd] = csr; if rs1 != 0 { csr &= ~x[rs1] }";
    Csrrwi    "csrrwi"    "????????????_?????_101_?????_1110011"        CsrImm  Csr      "x[rd] = csr; csr = imm";
    Csrrsi    "csrrsi"    "????????????_?????_110_?????_1110011"        CsrImm  Csr      "x[rd] = csr; if imm != 0 { csr |= imm }";
    Csrrci    "csrrci"    "????????????_?????_111_?????_1110011"        CsrImm  Csr      "x[rd] = csr; if imm != 0 { csr &= ~imm }";
    LrW       "lr.w"      "00010_??_00000_?????_010_?????_0101111"      Reserve Atomic   "x[rd] = m32[x[rs1]]; reserved = true";
    ScW       "sc.w"      "00011_??_?????_?????_010_?????_0101111"      Atomic  Atomic   "if reserved { m32[x[rs1]] = x[rs2]; x[rd] = 0 } else { x[rd] = 1 }; reserved = false";
    AmoswapW  "amoswap.w" "00001_??_?????_?????_010_?????_0101111"      Atomic  Atomic   "x[rd] = m32[x[rs1]]; m32[x[rs1]] = x[rs2]";
    AmoaddW   "amoadd.w"  "00000_??_?????_?????_010_?????_0101111"      Atomic  Atomic   "x[rd] = m32[x[rs1]]; m32[x[rs1]] += x[rs2]";
    AmoxorW   "amoxor.w"  "00100_??_?????_?????_010_?????_0101111"      Atomic  Atomic   "x[rd] = m32[x[rs1]]; m32[x[rs1]] ^= x[rs2]";
    AmoandW   "amoand.w"  "01100_??_?????_?????_010_?????_0101111"      Atomic  Atomic   "x[rd] = m32[x[rs1]]; m32[x[rs1]] &= x[rs2]";
    AmoorW    "amoor.w"   "01000_??_?????_?????_010_?????_0101111"      Atomic  Atomic   "x[rd] = m32[x[rs1]]; m32[x[rs1]] |= x[rs2]";
    AmominW   "amomin.w"  "10000_??_?????_?????_010_?????_0101111"      Atomic  Atomic   "x[rd] = m32[x[rs1]]; m32[x[rs1]] = min(m32[x[rs1]], x[rs2]), signed";
    AmomaxW   "amomax.w"  "10100_??_?????_?????_010_?????_0101111"      Atomic  Atomic   "x[rd] = m32[x[rs1]]; m32[x[rs1]] = max(m32[x[rs1]], x[rs2]), signed";
    AmominuW  "amominu.w" "11000_??_?????_?????_010_?????_0101111"      Atomic  Atomic   "x[rd] = m32[x[rs1]]; m32[x[rs1]] = min(m32[x[rs1]], x[rs2])";
    AmomaxuW  "amomaxu.w" "11100_??_?????_?????_010_?????_0101111"      Atomic  Atomic   "x[rd] = m32[x[rs1]]; m32[x[rs1]] = max(m32[x[rs1]], x[rs2])";
}

/// Where an instruction of 16 bits says its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// Always this register.
    Is(u8),
    /// Bits 11:7.
    High,
    /// Bits 6:2.
    Low,
    /// Bits 9:7, for x8 to x15.
    HighOf8,
    /// Bits 4:2, for x8 to x15.
    LowOf8,
}

/// Bits of an immediate: from `high` to `low` of the instruction, to bit `to` and above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Highest bit.
    pub high: u8,
    /// Lowest bit.
    pub low: u8,
    /// Where the lowest bit goes.
    pub to: u8,
    /// The highest bit is the sign of the immediate.
    pub signed: bool,
}

const fn bits(high: u8, low: u8, to: u8) -> Piece {
    Piece {
        high,
        low,
        to,
        signed: false,
    }
}

const fn signed(high: u8, low: u8, to: u8) -> Piece {
    Piece {
        signed: true,
        ..bits(high, low, to)
    }
}

/// Bit 12 as the sign, in bit `to`.
const fn sign(to: u8) -> Piece {
    signed(12, 12, to)
}

/// An instruction of 16 bits, and the one of 32 bits that it stands for.
#[derive(Clone, Copy, Debug)]
pub struct CompressedRow {
    /// Bits 15 to 0, as in [`Row::bits`].
    pub bits: &'static str,
    /// Its name in assembly.
    pub name: &'static str,
    /// The operation.
    pub op: Op,
    /// The register that is written.
    pub rd: Short,
    /// The first that is read.
    pub rs1: Short,
    /// The second.
    pub rs2: Short,
    /// The immediate.
    pub imm: &'static [Piece],
}

const WORD: &[Piece] = &[bits(12, 10, 3), bits(6, 6, 2), bits(5, 5, 6)];
const SIX: &[Piece] = &[sign(5), bits(6, 2, 0)];
const AMOUNT: &[Piece] = &[bits(6, 2, 0)];
const UPPER: &[Piece] = &[sign(17), bits(6, 2, 12)];
#[rustfmt::skip]
const JUMP: &[Piece] = &[
    sign(11), bits(11, 11, 4), bits(10, 9, 8), bits(8, 8, 10), bits(7, 7, 6), bits(6, 6, 7), bits(5, 3, 1), bits(2, 2, 5),
];
const BRANCH: &[Piece] = &[
    sign(8),
    bits(11, 10, 3),
    bits(6, 5, 6),
    bits(4, 3, 1),
    bits(2, 2, 5),
];
const STACK_STEP: &[Piece] = &[
    sign(9),
    bits(6, 6, 4),
    bits(5, 5, 6),
    bits(4, 3, 7),
    bits(2, 2, 5),
];
const STACK_PLACE: &[Piece] = &[bits(12, 11, 4), bits(10, 7, 6), bits(6, 6, 2), bits(5, 5, 3)];
const STACK_LOAD: &[Piece] = &[bits(12, 12, 5), bits(6, 4, 2), bits(3, 2, 6)];
const STACK_STORE: &[Piece] = &[bits(12, 9, 2), bits(8, 7, 6)];

const ZERO: Short = Short::Is(0);
const RA: Short = Short::Is(1);
const SP: Short = Short::Is(2);

macro_rules! compressed {
    ($($bits:literal $name:literal $op:ident $rd:expr, $rs1:expr, $rs2:expr, $imm:expr;)+) => {
        /// Instructions of 16 bits. Of several rows that fit the first counts; where none does, the bits are illegal.
        pub const COMPRESSED: &[CompressedRow] = &[$(CompressedRow {
            bits: $bits,
            name: $name,
            op: Op::$op,
            rd: $rd,
            rs1: $rs1,
            rs2: $rs2,
            imm: $imm,
        },)+];
    };
}

use Short::{High, HighOf8, Low, LowOf8};

compressed! {
    "000_00000000_???_00"     "reserved"   Illegal ZERO,    ZERO,    ZERO,   &[];
    "000_????????_???_00"     "c.addi4spn" Addi    LowOf8,  SP,      ZERO,   STACK_PLACE;
    "010_???_???_??_???_00"   "c.lw"       Lw      LowOf8,  HighOf8, ZERO,   WORD;
    "110_???_???_??_???_00"   "c.sw"       Sw      ZERO,    HighOf8, LowOf8, WORD;
    "000_?_?????_?????_01"    "c.addi"     Addi    High,    High,    ZERO,   SIX;
    "001_???????????_01"      "c.jal"      Jal     RA,      ZERO,    ZERO,   JUMP;
    "010_?_?????_?????_01"    "c.li"       Addi    High,    ZERO,    ZERO,   SIX;
    "011_0_?????_00000_01"    "reserved"   Illegal ZERO,    ZERO,    ZERO,   &[];
    "011_?_00010_?????_01"    "c.addi16sp" Addi    SP,      SP,      ZERO,   STACK_STEP;
    "011_?_?????_?????_01"    "c.lui"      Lui     High,    ZERO,    ZERO,   UPPER;
    "100_0_00_???_?????_01"   "c.srli"     Srli    HighOf8, HighOf8, ZERO,   AMOUNT;
    "100_0_01_???_?????_01"   "c.srai"     Srai    HighOf8, HighOf8, ZERO,   AMOUNT;
    "100_?_10_???_?????_01"   "c.andi"     Andi    HighOf8, HighOf8, ZERO,   SIX;
    "100_0_11_???_00_???_01"  "c.sub"      Sub     HighOf8, HighOf8, LowOf8, &[];
    "100_0_11_???_01_???_01"  "c.xor"      Xor     HighOf8, HighOf8, LowOf8, &[];
    "100_0_11_???_10_???_01"  "c.or"       Or      HighOf8, HighOf8, LowOf8, &[];
    "100_0_11_???_11_???_01"  "c.and"      And     HighOf8, HighOf8, LowOf8, &[];
    "101_???????????_01"      "c.j"        Jal     ZERO,    ZERO,    ZERO,   JUMP;
    "110_???_???_?????_01"    "c.beqz"     Beq     ZERO,    HighOf8, ZERO,   BRANCH;
    "111_???_???_?????_01"    "c.bnez"     Bne     ZERO,    HighOf8, ZERO,   BRANCH;
    "000_0_?????_?????_10"    "c.slli"     Slli    High,    High,    ZERO,   AMOUNT;
    "010_?_00000_?????_10"    "reserved"   Illegal ZERO,    ZERO,    ZERO,   &[];
    "010_?_?????_?????_10"    "c.lwsp"     Lw      High,    SP,      ZERO,   STACK_LOAD;
    "100_0_00000_00000_10"    "reserved"   Illegal ZERO,    ZERO,    ZERO,   &[];
    "100_0_?????_00000_10"    "c.jr"       Jalr    ZERO,    High,    ZERO,   &[];
    "100_0_?????_?????_10"    "c.mv"       Add     High,    ZERO,    Low,    &[];
    "100_1_00000_00000_10"    "c.ebreak"   Ebreak  ZERO,    ZERO,    ZERO,   &[];
    "100_1_?????_00000_10"    "c.jalr"     Jalr    RA,      High,    ZERO,   &[];
    "100_1_?????_?????_10"    "c.add"      Add     High,    High,    Low,    &[];
    "110_??????_?????_10"     "c.swsp"     Sw      ZERO,    SP,      Low,    STACK_STORE;
}
