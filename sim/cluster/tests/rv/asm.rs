//! A tiny assembler: the formats of the manual, and the instructions that several tests use.

fn scatter(value: i32, high: u32, low: u32, to: u32) -> u32 {
    (value as u32) << (31 - high) >> (31 - high + low) << to
}

pub(crate) fn r(opcode: u32, funct3: u32, funct7: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

pub(crate) fn i(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
    scatter(imm, 11, 0, 20) | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

pub(crate) fn s(funct3: u32, rs1: u32, rs2: u32, imm: i32) -> u32 {
    scatter(imm, 11, 5, 25) | rs2 << 20 | rs1 << 15 | funct3 << 12 | scatter(imm, 4, 0, 7) | 0x23
}

pub(crate) fn b(funct3: u32, rs1: u32, rs2: u32, imm: i32) -> u32 {
    scatter(imm, 12, 12, 31)
        | scatter(imm, 10, 5, 25)
        | rs2 << 20
        | rs1 << 15
        | funct3 << 12
        | scatter(imm, 4, 1, 8)
        | scatter(imm, 11, 11, 7)
        | 0x63
}

pub(crate) fn u(opcode: u32, rd: u32, imm20: u32) -> u32 {
    imm20 << 12 | rd << 7 | opcode
}

pub(crate) fn jal(rd: u32, imm: i32) -> u32 {
    scatter(imm, 20, 20, 31)
        | scatter(imm, 10, 1, 21)
        | scatter(imm, 11, 11, 20)
        | scatter(imm, 19, 12, 12)
        | rd << 7
        | 0x6f
}

pub(crate) fn jalr(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x67, 0, rd, rs1, imm)
}

pub(crate) fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x13, 0, rd, rs1, imm)
}

pub(crate) fn lw(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x03, 2, rd, rs1, imm)
}

pub(crate) fn sw(rs2: u32, rs1: u32, imm: i32) -> u32 {
    s(2, rs1, rs2, imm)
}

pub(crate) fn amo(funct5: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    r(0x2f, 2, funct5 << 2, rd, rs1, rs2)
}

pub(crate) fn lr(rd: u32, rs1: u32) -> u32 {
    amo(2, rd, rs1, 0)
}

pub(crate) fn sc(rd: u32, rs2: u32, rs1: u32) -> u32 {
    amo(3, rd, rs1, rs2)
}

/// `funct3`: 1 `csrrw`, 2 `csrrs`, 3 `csrrc`, and 5, 6, 7 with an immediate for `rs1`.
pub(crate) fn csr(funct3: u32, rd: u32, number: u32, rs1: u32) -> u32 {
    number << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x73
}

pub(crate) const ECALL: u32 = 0x0000_0073;
pub(crate) const EBREAK: u32 = 0x0010_0073;
pub(crate) const MRET: u32 = 0x3020_0073;
pub(crate) const WFI: u32 = 0x1050_0073;
pub(crate) const NOP: u32 = 0x0000_0013;
