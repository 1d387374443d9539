//! The instructions of the handler processor, and its control and status registers.
//!
//! [`TABLE`], [`COMPRESSED`] and [`CSRS`] are the only list of them: the simulator, the disassembler, the page of instructions
//! the decoders in hardware and the properties of proofs are made from it.
//!
//! Reserved encodings are illegal, and so are those of floating point and the shifts by 32 and more that RV32 leaves to
//! custom extensions. Hints are instructions without effect, as the manual asks.

pub mod cause;
mod csrs;
mod disassemble;
mod expand;
mod page;
mod rules;
mod table;

pub use csrs::{CSRS, CsrRow, Mode, Writes};
pub use disassemble::{Located, csr_name};
pub use expand::Source;
pub use page::page;
pub use rules::rules;
pub use table::{COMPRESSED, CompressedRow, Format, Op, Piece, Row, Short, TABLE, Unit};

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

/// Mask and value of a pattern of bits.
const fn pattern(text: &str) -> (u32, u32) {
    let text = text.as_bytes();
    let (mut mask, mut value, mut at) = (0_u32, 0_u32, 0);
    while at < text.len() {
        if text[at] != b'_' {
            mask = mask << 1 | (text[at] != b'?') as u32;
            value = value << 1 | (text[at] == b'1') as u32;
        }
        at += 1;
    }
    (mask, value)
}

/// Masks and values of [`TABLE`].
const LONG: [(u32, u32); TABLE.len()] = {
    let (mut all, mut row) = ([(0, 0); TABLE.len()], 0);
    while row < TABLE.len() {
        all[row] = pattern(TABLE[row].bits);
        row += 1;
    }
    all
};

/// Masks and values of [`COMPRESSED`].
const SHORT: [(u32, u32); COMPRESSED.len()] = {
    let (mut all, mut row) = ([(0, 0); COMPRESSED.len()], 0);
    while row < COMPRESSED.len() {
        all[row] = pattern(COMPRESSED[row].bits);
        row += 1;
    }
    all
};

fn find<'a, R>(rows: &'a [R], patterns: &[(u32, u32)], word: u32) -> Option<&'a R> {
    let row = patterns.iter().position(|(mask, value)| word & mask == *value);
    row.and_then(|row| rows.get(row))
}

/// `word[high:low]`.
const fn field(word: u32, high: u32, low: u32) -> u32 {
    word << (31 - high) >> (31 - high + low)
}

impl Short {
    /// The register in an instruction of 16 bits.
    pub const fn of(self, half: u32) -> u32 {
        match self {
            Self::Is(register) => register as u32,
            Self::High => field(half, 11, 7),
            Self::Low => field(half, 6, 2),
            Self::HighOf8 => 8 + field(half, 9, 7),
            Self::LowOf8 => 8 + field(half, 4, 2),
        }
    }
}

impl Piece {
    /// Its part of the immediate.
    fn of(self, word: u32) -> i32 {
        let (high, low, to) = (u32::from(self.high), u32::from(self.low), u32::from(self.to));
        match self.signed {
            true => (word << (31 - high)) as i32 >> (31 - high + low) << to,
            false => (field(word, high, low) << to) as i32,
        }
    }
}

fn immediate(pieces: &[Piece], word: u32) -> i32 {
    pieces.iter().fold(0, |imm, piece| imm | piece.of(word))
}

impl Op {
    /// Its row in the table; none of [`Op::Empty`] and [`Op::Illegal`].
    pub fn row(self) -> Option<&'static Row> {
        (self as usize)
            .checked_sub(Self::Lui as usize)
            .map(|row| &TABLE[row])
    }

    /// Whether it is of the extension A.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        self as u8 >= Self::LrW as u8
    }
}

impl Instruction {
    /// The place of a cache that holds no instruction.
    pub const EMPTY: Self = Self {
        op: Op::Empty,
        rd: 0,
        rs1: 0,
        rs2: 0,
        imm: 0,
    };
    /// In [`Instruction::result`]: the result comes from memory, one clock late.
    pub const LATE: u8 = 0x80;
    /// In `rs2`: the instruction has 16 bits.
    const SHORT: u8 = 0x80;

    /// An instruction of 32 bits from its fields.
    fn new(op: Op, rd: u32, rs1: u32, rs2: u32, imm: i32) -> Self {
        let late = match op {
            Op::Lb | Op::Lh | Op::Lw | Op::Lbu | Op::Lhu => Self::LATE,
            _ if op.is_atomic() => Self::LATE,
            _ => 0,
        };
        Self {
            op,
            rd: rd as u8 & 31 | late,
            rs1: rs1 as u8 & 31,
            rs2: rs2 as u8 & 31,
            imm,
        }
    }

    /// Decodes the instruction in the low bits: 16 if these are no long instruction, else 32.
    pub fn decode(word: u32) -> Self {
        match word & 3 {
            3 => Self::decode_long(word),
            _ => Self::decode_short(word & 0xffff),
        }
    }

    fn decode_long(word: u32) -> Self {
        let Some(row) = find(TABLE, &LONG, word) else {
            return Self::new(Op::Illegal, 0, 0, 0, word as i32);
        };
        let [rd, rs1, rs2] = row.format.registers();
        let register = |is_used: bool, low| if is_used { field(word, low + 4, low) } else { 0 };
        Self::new(
            row.op,
            register(rd, 7),
            register(rs1, 15),
            register(rs2, 20),
            immediate(row.format.imm(), word),
        )
    }

    fn decode_short(half: u32) -> Self {
        let instruction = match find(COMPRESSED, &SHORT, half).filter(|row| row.op != Op::Illegal) {
            Some(row) => {
                let (rd, rs1, rs2) = (row.rd.of(half), row.rs1.of(half), row.rs2.of(half));
                Self::new(row.op, rd, rs1, rs2, immediate(row.imm, half))
            }
            None => Self::new(Op::Illegal, 0, 0, 0, half as i32),
        };
        Self {
            rs2: instruction.rs2 | Self::SHORT,
            ..instruction
        }
    }

    /// Its operation.
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
    pub const fn result(&self) -> u8 {
        self.rd
    }
}

#[cfg(test)]
mod tests {
    use super::{COMPRESSED, LONG, Op, SHORT, TABLE};

    #[test]
    fn patterns_have_all_bits() {
        let bits = |text: &str| text.chars().filter(|bit| *bit != '_').count();
        assert!(TABLE.iter().all(|row| bits(row.bits) == 32));
        for row in COMPRESSED {
            assert_eq!(bits(row.bits), 16, "{}", row.name);
        }
    }

    /// The decoder in hardware looks at all rows at once.
    #[test]
    fn at_most_one_long_instruction_fits_a_word() {
        for (number, (mask, value)) in LONG.iter().enumerate() {
            for (other, (other_mask, other_value)) in LONG.iter().enumerate().skip(number + 1) {
                let both = mask & other_mask;
                assert_ne!(
                    value & both,
                    other_value & both,
                    "{} and {}",
                    TABLE[number].name,
                    TABLE[other].name
                );
            }
        }
    }

    #[test]
    fn every_row_is_reached() {
        for (number, (mask, value)) in SHORT.iter().enumerate() {
            let is_first = |half: &u32| {
                half & mask == *value && SHORT[..number].iter().all(|(mask, value)| half & mask != *value)
            };
            assert!(
                (0..1_u32 << 16).any(|half| is_first(&half)),
                "{}",
                COMPRESSED[number].name
            );
        }
        assert!(
            TABLE
                .iter()
                .all(|row| row.op.row().is_some_and(|found| found.name == row.name))
        );
        assert!(Op::Illegal.row().is_none());
    }
}
