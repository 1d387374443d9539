//! Instructions of 16 bits: each becomes the long instruction it stands for.
//!
//! Reserved encodings are illegal, and so are those of floating point and the shifts by 32 and more that RV32 leaves to
//! custom extensions. Hints are instructions without effect, as the manual asks.

use super::instruction::{Instruction, Op};

const SP: u32 = 2;
const RA: u32 = 1;

/// `bits[high:low]`, shifted to `to`.
const fn bits_to(bits: u32, high: u32, low: u32, to: u32) -> i32 {
    (bits << (31 - high) >> (31 - high + low) << to) as i32
}

/// Bit 12 as the sign, from bit `to` up.
const fn sign_to(bits: u32, to: u32) -> i32 {
    (bits << 19) as i32 >> 31 << to
}

/// The full register fields.
const fn rd(bits: u32) -> u32 {
    bits >> 7 & 31
}

const fn rs2(bits: u32) -> u32 {
    bits >> 2 & 31
}

/// The three-bit register fields, for x8 to x15.
const fn high_short(bits: u32) -> u32 {
    8 + (bits >> 7 & 7)
}

const fn low_short(bits: u32) -> u32 {
    8 + (bits >> 2 & 7)
}

/// The six-bit signed immediate of most instructions.
const fn imm6(bits: u32) -> i32 {
    sign_to(bits, 5) | bits_to(bits, 6, 2, 0)
}

/// Decodes an instruction whose lowest two bits are not both set.
pub(super) fn decode(half: u16) -> Instruction {
    let bits = u32::from(half);
    let decoded = match bits & 3 {
        0 => quadrant_0(bits),
        1 => quadrant_1(bits),
        _ => quadrant_2(bits),
    };
    decoded.unwrap_or_else(|| Instruction::illegal(bits))
}

fn quadrant_0(bits: u32) -> Option<Instruction> {
    let word_offset = bits_to(bits, 12, 10, 3) | bits_to(bits, 6, 6, 2) | bits_to(bits, 5, 5, 6);
    let (low, high) = (low_short(bits), high_short(bits));
    match bits >> 13 {
        0b000 => {
            let imm = bits_to(bits, 12, 11, 4)
                | bits_to(bits, 10, 7, 6)
                | bits_to(bits, 6, 6, 2)
                | bits_to(bits, 5, 5, 3);
            // All zeroes are illegal by definition, the others without immediate are reserved.
            (imm != 0).then(|| Instruction::new(Op::Addi, low, SP, 0, imm))
        }
        0b010 => Some(Instruction::new(Op::Lw, low, high, 0, word_offset)),
        0b110 => Some(Instruction::new(Op::Sw, 0, high, low, word_offset)),
        _ => None,
    }
}

fn quadrant_1(bits: u32) -> Option<Instruction> {
    let (rd, imm) = (rd(bits), imm6(bits));
    match bits >> 13 {
        0b000 => Some(Instruction::new(Op::Addi, rd, rd, 0, imm)),
        0b001 => Some(Instruction::new(Op::Jal, RA, 0, 0, jump_offset(bits))),
        0b010 => Some(Instruction::new(Op::Addi, rd, 0, 0, imm)),
        0b011 if imm == 0 => None,
        0b011 if rd == SP => Some(Instruction::new(Op::Addi, SP, SP, 0, stack_step(bits))),
        0b011 => Some(Instruction::new(Op::Lui, rd, 0, 0, imm << 12)),
        0b100 => arithmetic(bits),
        0b101 => Some(Instruction::new(Op::Jal, 0, 0, 0, jump_offset(bits))),
        0b110 => Some(Instruction::new(
            Op::Beq,
            0,
            high_short(bits),
            0,
            branch_offset(bits),
        )),
        _ => Some(Instruction::new(
            Op::Bne,
            0,
            high_short(bits),
            0,
            branch_offset(bits),
        )),
    }
}

/// `c.srli` to `c.and`.
fn arithmetic(bits: u32) -> Option<Instruction> {
    let (rd, rs2) = (high_short(bits), low_short(bits));
    let op = match (bits >> 10 & 3, bits >> 12 & 1, bits >> 5 & 3) {
        (0, 0, _) => return Some(Instruction::new(Op::Srli, rd, rd, 0, bits_to(bits, 6, 2, 0))),
        (1, 0, _) => return Some(Instruction::new(Op::Srai, rd, rd, 0, bits_to(bits, 6, 2, 0))),
        (2, _, _) => return Some(Instruction::new(Op::Andi, rd, rd, 0, imm6(bits))),
        (3, 0, 0) => Op::Sub,
        (3, 0, 1) => Op::Xor,
        (3, 0, 2) => Op::Or,
        (3, 0, 3) => Op::And,
        _ => return None,
    };
    Some(Instruction::new(op, rd, rd, rs2, 0))
}

fn quadrant_2(bits: u32) -> Option<Instruction> {
    let (rd, rs2) = (rd(bits), rs2(bits));
    match (bits >> 13, bits >> 12 & 1) {
        (0b000, 0) => Some(Instruction::new(Op::Slli, rd, rd, 0, rs2 as i32)),
        (0b010, _) if rd != 0 => {
            let offset = bits_to(bits, 12, 12, 5) | bits_to(bits, 6, 4, 2) | bits_to(bits, 3, 2, 6);
            Some(Instruction::new(Op::Lw, rd, SP, 0, offset))
        }
        (0b100, 0) if rs2 != 0 => Some(Instruction::new(Op::Add, rd, 0, rs2, 0)),
        (0b100, 0) if rd != 0 => Some(Instruction::new(Op::Jalr, 0, rd, 0, 0)),
        (0b100, 1) if rs2 != 0 => Some(Instruction::new(Op::Add, rd, rd, rs2, 0)),
        (0b100, 1) if rd != 0 => Some(Instruction::new(Op::Jalr, RA, rd, 0, 0)),
        (0b100, 1) => Some(Instruction::new(Op::Ebreak, 0, 0, 0, 0)),
        (0b110, _) => {
            let offset = bits_to(bits, 12, 9, 2) | bits_to(bits, 8, 7, 6);
            Some(Instruction::new(Op::Sw, 0, SP, rs2, offset))
        }
        _ => None,
    }
}

/// The immediate of `c.addi16sp`.
fn stack_step(bits: u32) -> i32 {
    sign_to(bits, 9)
        | bits_to(bits, 6, 6, 4)
        | bits_to(bits, 5, 5, 6)
        | bits_to(bits, 4, 3, 7)
        | bits_to(bits, 2, 2, 5)
}

fn jump_offset(bits: u32) -> i32 {
    sign_to(bits, 11)
        | bits_to(bits, 11, 11, 4)
        | bits_to(bits, 10, 9, 8)
        | bits_to(bits, 8, 8, 10)
        | bits_to(bits, 7, 7, 6)
        | bits_to(bits, 6, 6, 7)
        | bits_to(bits, 5, 3, 1)
        | bits_to(bits, 2, 2, 5)
}

fn branch_offset(bits: u32) -> i32 {
    sign_to(bits, 8)
        | bits_to(bits, 11, 10, 3)
        | bits_to(bits, 6, 5, 6)
        | bits_to(bits, 4, 3, 1)
        | bits_to(bits, 2, 2, 5)
}
