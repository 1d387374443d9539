//! Decoding: instructions of 32 bits, and those of 16 bits, each of which becomes the long instruction it stands for.
//!
//! Reserved encodings are illegal, and so are those of floating point and the shifts by 32 and more that RV32 leaves to
//! custom extensions. Hints are instructions without effect, as the manual asks.

use super::instruction::{Instruction, Op};

/// `bits[high:low]`.
const fn field(bits: u32, high: u32, low: u32) -> u32 {
    bits << (31 - high) >> (31 - high + low)
}

const fn rd(bits: u32) -> u32 {
    field(bits, 11, 7)
}

const fn rs1(bits: u32) -> u32 {
    field(bits, 19, 15)
}

const fn rs2(bits: u32) -> u32 {
    field(bits, 24, 20)
}

const fn funct3(bits: u32) -> u32 {
    field(bits, 14, 12)
}

const fn funct7(bits: u32) -> u32 {
    field(bits, 31, 25)
}

const fn imm_i(bits: u32) -> i32 {
    bits as i32 >> 20
}

const fn imm_s(bits: u32) -> i32 {
    bits as i32 >> 25 << 5 | rd(bits) as i32
}

const fn imm_b(bits: u32) -> i32 {
    let low = field(bits, 7, 7) << 11 | field(bits, 30, 25) << 5 | field(bits, 11, 8) << 1;
    bits as i32 >> 31 << 12 | low as i32
}

const fn imm_j(bits: u32) -> i32 {
    let low = field(bits, 19, 12) << 12 | field(bits, 20, 20) << 11 | field(bits, 30, 21) << 1;
    bits as i32 >> 31 << 20 | low as i32
}

const fn imm_u(bits: u32) -> i32 {
    (bits & 0xffff_f000) as i32
}

impl Instruction {
    /// Decodes the instruction in the low bits: 16 if these are no long instruction, else 32.
    pub fn decode(bits: u32) -> Instruction {
        match bits & 3 {
            3 => decode(bits),
            _ => decode_compressed(bits as u16).short(),
        }
    }
}

/// Decodes an instruction whose lowest two bits are set.
fn decode(bits: u32) -> Instruction {
    let decoded = match bits & 0x7f {
        0x37 => Some(Instruction::new(Op::Lui, rd(bits), 0, 0, imm_u(bits))),
        0x17 => Some(Instruction::new(Op::Auipc, rd(bits), 0, 0, imm_u(bits))),
        0x6f => Some(Instruction::new(Op::Jal, rd(bits), 0, 0, imm_j(bits))),
        0x67 => (funct3(bits) == 0).then(|| Instruction::new(Op::Jalr, rd(bits), rs1(bits), 0, imm_i(bits))),
        0x63 => branch(bits),
        0x03 => load(bits),
        0x23 => store(bits),
        0x13 => immediate(bits),
        0x33 => register(bits),
        0x0f => fence(bits),
        0x73 => system(bits),
        0x2f => atomic(bits),
        _ => None,
    };
    decoded.unwrap_or_else(|| Instruction::illegal(bits))
}

fn branch(bits: u32) -> Option<Instruction> {
    let op = match funct3(bits) {
        0 => Op::Beq,
        1 => Op::Bne,
        4 => Op::Blt,
        5 => Op::Bge,
        6 => Op::Bltu,
        7 => Op::Bgeu,
        _ => return None,
    };
    Some(Instruction::new(op, 0, rs1(bits), rs2(bits), imm_b(bits)))
}

fn load(bits: u32) -> Option<Instruction> {
    let op = match funct3(bits) {
        0 => Op::Lb,
        1 => Op::Lh,
        2 => Op::Lw,
        4 => Op::Lbu,
        5 => Op::Lhu,
        _ => return None,
    };
    Some(Instruction::new(op, rd(bits), rs1(bits), 0, imm_i(bits)))
}

fn store(bits: u32) -> Option<Instruction> {
    let op = match funct3(bits) {
        0 => Op::Sb,
        1 => Op::Sh,
        2 => Op::Sw,
        _ => return None,
    };
    Some(Instruction::new(op, 0, rs1(bits), rs2(bits), imm_s(bits)))
}

fn immediate(bits: u32) -> Option<Instruction> {
    let amount = rs2(bits) as i32;
    let (op, imm) = match (funct3(bits), funct7(bits)) {
        (0, _) => (Op::Addi, imm_i(bits)),
        (2, _) => (Op::Slti, imm_i(bits)),
        (3, _) => (Op::Sltiu, imm_i(bits)),
        (4, _) => (Op::Xori, imm_i(bits)),
        (6, _) => (Op::Ori, imm_i(bits)),
        (7, _) => (Op::Andi, imm_i(bits)),
        (1, 0x00) => (Op::Slli, amount),
        (5, 0x00) => (Op::Srli, amount),
        (5, 0x20) => (Op::Srai, amount),
        _ => return None,
    };
    Some(Instruction::new(op, rd(bits), rs1(bits), 0, imm))
}

fn register(bits: u32) -> Option<Instruction> {
    let op = match (funct7(bits), funct3(bits)) {
        (0x00, 0) => Op::Add,
        (0x00, 1) => Op::Sll,
        (0x00, 2) => Op::Slt,
        (0x00, 3) => Op::Sltu,
        (0x00, 4) => Op::Xor,
        (0x00, 5) => Op::Srl,
        (0x00, 6) => Op::Or,
        (0x00, 7) => Op::And,
        (0x20, 0) => Op::Sub,
        (0x20, 5) => Op::Sra,
        (0x01, 0) => Op::Mul,
        (0x01, 1) => Op::Mulh,
        (0x01, 2) => Op::Mulhsu,
        (0x01, 3) => Op::Mulhu,
        (0x01, 4) => Op::Div,
        (0x01, 5) => Op::Divu,
        (0x01, 6) => Op::Rem,
        (0x01, 7) => Op::Remu,
        _ => return None,
    };
    Some(Instruction::new(op, rd(bits), rs1(bits), rs2(bits), 0))
}

/// The other fields of fences are to be ignored, so that future finer fences work here.
fn fence(bits: u32) -> Option<Instruction> {
    match funct3(bits) {
        0 => Some(Instruction::new(Op::Fence, 0, 0, 0, imm_i(bits))),
        1 => Some(Instruction::new(Op::FenceI, 0, 0, 0, 0)),
        _ => None,
    }
}

fn system(bits: u32) -> Option<Instruction> {
    let number = field(bits, 31, 20) as i32;
    let with_register = |op| Some(Instruction::new(op, rd(bits), rs1(bits), 0, number));
    let with_immediate = |op| {
        Some(Instruction::new(
            op,
            rd(bits),
            0,
            0,
            (rs1(bits) << 12) as i32 | number,
        ))
    };
    match funct3(bits) {
        0 => {
            let op = match bits {
                0x0000_0073 => Op::Ecall,
                0x0010_0073 => Op::Ebreak,
                0x3020_0073 => Op::Mret,
                0x1050_0073 => Op::Wfi,
                _ => return None,
            };
            Some(Instruction::new(op, 0, 0, 0, 0))
        }
        1 => with_register(Op::Csrrw),
        2 => with_register(Op::Csrrs),
        3 => with_register(Op::Csrrc),
        5 => with_immediate(Op::Csrrwi),
        6 => with_immediate(Op::Csrrsi),
        7 => with_immediate(Op::Csrrci),
        _ => None,
    }
}

/// The acquire and release bits have no effect: every hart sees the accesses of the others in the order of the bus. They
/// are kept in the immediate for the disassembler.
fn atomic(bits: u32) -> Option<Instruction> {
    let op = match (funct3(bits), field(bits, 31, 27)) {
        (2, 0x02) if rs2(bits) == 0 => Op::LrW,
        (2, 0x03) => Op::ScW,
        (2, 0x01) => Op::AmoswapW,
        (2, 0x00) => Op::AmoaddW,
        (2, 0x04) => Op::AmoxorW,
        (2, 0x0c) => Op::AmoandW,
        (2, 0x08) => Op::AmoorW,
        (2, 0x10) => Op::AmominW,
        (2, 0x14) => Op::AmomaxW,
        (2, 0x18) => Op::AmominuW,
        (2, 0x1c) => Op::AmomaxuW,
        _ => return None,
    };
    Some(Instruction::new(
        op,
        rd(bits),
        rs1(bits),
        rs2(bits),
        field(bits, 26, 25) as i32,
    ))
}

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

/// The second register field of 16-bit instructions.
const fn short_rs2(bits: u32) -> u32 {
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
fn decode_compressed(half: u16) -> Instruction {
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
    let (rd, rs2) = (rd(bits), short_rs2(bits));
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
