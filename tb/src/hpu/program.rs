//! Random programs for the pipeline.

use super::PROGRAM;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_isa::{COMPRESSED, CSRS, Format, Op, Row, TABLE, Unit};

/// Words of program memory.
const WORDS: usize = 8192;
/// Byte offsets of the reset vector, the trap handler, and the random part.
const RESET: usize = 0x80;
const HANDLER: usize = 0x400;
const BODY: usize = 0x1000;
/// Registers that hold addresses of data.
const BASES: [u32; 3] = [2, 8, 9];

/// Contents of a random program.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Percentage of words that are no instruction on purpose.
    pub nonsense: u32,
    /// Percentage of accesses that may be misaligned.
    pub misaligned: u32,
}

fn i(imm: u32, rs1: u32, funct3: u32, rd: u32, opcode: u32) -> u32 {
    (imm & 0xfff) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

fn addi(rd: u32, rs1: u32, imm: u32) -> u32 {
    i(imm, rs1, 0, rd, 0x13)
}

fn add(rd: u32, rs1: u32, rs2: u32) -> u32 {
    rs2 << 20 | rs1 << 15 | rd << 7 | 0x33
}

fn lui(rd: u32, imm: u32) -> u32 {
    imm & 0xffff_f000 | rd << 7 | 0x37
}

fn csrrw(rd: u32, csr: u32, rs1: u32) -> u32 {
    i(csr, rs1, 1, rd, 0x73)
}

fn csrr(rd: u32, csr: u32) -> u32 {
    i(csr, 0, 2, rd, 0x73)
}

const MSTATUS: u32 = 0x300;
const MTVEC: u32 = 0x305;
const MSCRATCH: u32 = 0x340;
const MEPC: u32 = 0x341;
const MCAUSE: u32 = 0x342;
const MTVAL: u32 = 0x343;
const MHARTID: u32 = 0xf14;
const MINSTRET: u32 = 0xb02;
const MRET: u32 = 0x3020_0073;

/// Gives every register a value, and goes to a place of the random part that depends on the thread.
fn start(rng: &mut ChaCha8Rng) -> Vec<u32> {
    let mut code: Vec<u32> = (1..32)
        .flat_map(|register| {
            let value = match BASES.contains(&register) {
                true => super::DATA + rng.random_range(0..14) * 0x1000 + rng.random_range(0..256) * 4,
                false => rng.random(),
            };
            // `addi` extends its sign.
            [
                lui(register, value.wrapping_add(0x800)),
                addi(register, register, value),
            ]
        })
        .collect();
    code.extend([
        csrrw(0, MSCRATCH, 5),
        csrrw(0, MEPC, 6),
        csrrw(0, MCAUSE, 7),
        csrrw(0, MTVAL, 5),
        lui(31, PROGRAM),
        addi(31, 31, HANDLER as u32),
        csrrw(0, MTVEC, 31),
        csrr(31, MHARTID),
        // x31 = body + thread * 1024
        i(10, 31, 1, 31, 0x13),
        lui(30, PROGRAM + BODY as u32),
        add(31, 31, 30),
        i(0, 31, 0, 0, 0x67),
    ]);
    code
}

/// Reads what the trap left, chooses another mode and another place by the number of instructions so far, and returns.
fn handler() -> Vec<u32> {
    vec![
        csrrw(31, MSCRATCH, 31),
        csrr(31, MCAUSE),
        csrr(31, MTVAL),
        csrr(31, MEPC),
        csrr(31, MSTATUS),
        csrr(31, MINSTRET),
        i(7, 31, 1, 31, 0x13),
        csrrw(31, MSTATUS, 31),
        // x31 = body + 2 * instructions % 2048 + 2048 * (instructions % 8)
        csrr(31, MINSTRET),
        i(7, 31, 7, 30, 0x13),
        i(11, 30, 1, 30, 0x13),
        i(1, 31, 1, 31, 0x13),
        i(0x7fe, 31, 7, 31, 0x13),
        add(31, 31, 30),
        lui(30, PROGRAM + BODY as u32),
        add(31, 31, 30),
        csrrw(0, MEPC, 31),
        csrrw(31, MSCRATCH, 31),
        MRET,
    ]
}

/// The bits of a pattern, with random ones for `?`.
fn filled(rng: &mut ChaCha8Rng, pattern: &str) -> u32 {
    let digits = pattern.chars().filter(|digit| *digit != '_');
    digits.fold(0, |word, digit| {
        let bit = match digit {
            '?' => rng.random_range(0..2),
            digit => u32::from(digit == '1'),
        };
        word << 1 | bit
    })
}

/// Replaces bits `low` to `low + 4` by a register.
fn with_register(word: u32, low: u32, register: u32) -> u32 {
    word & !(31 << low) | register << low
}

fn long(rng: &mut ChaCha8Rng, layout: Layout, row: &Row) -> u32 {
    let mut word = filled(rng, row.bits);
    let [rd, ..] = row.format.registers();
    if rd && BASES.contains(&(word >> 7 & 31)) && rng.random_range(0..20) > 0 {
        word = with_register(word, 7, 10 + rng.random_range(0..8));
    }
    let base = BASES[rng.random_range(0..BASES.len())];
    let aligned = !rng.random_ratio(layout.misaligned, 100);
    let offset = rng.random_range(0..64) & if aligned { !3 } else { !0 };
    match (row.unit, row.format) {
        (Unit::Load, _) => word & 0xf_ffff & !(31 << 15) | offset << 20 | base << 15,
        (Unit::Store, _) => {
            let word = with_register(word, 15, base);
            word & !(0x7f << 25 | 31 << 7) | (offset >> 5) << 25 | (offset & 31) << 7
        }
        (Unit::Atomic, _) => with_register(word, 15, base),
        // Near targets, forwards and backwards.
        (Unit::Branch, _) if word >> 31 == 1 => word | 0x7e00_0080,
        (Unit::Branch, _) => word & !0x7e00_0080,
        (Unit::Jump, Format::J) if word >> 31 == 1 => word | 0xf01f_f000 | 1 << 20,
        (Unit::Jump, Format::J) => word & !0x701f_f000,
        (Unit::Csr, _) => {
            let known = &CSRS[rng.random_range(0..CSRS.len())];
            let number = match rng.random_range(0..8) {
                0 => word >> 20,
                _ => filled(rng, known.bits),
            };
            let number = if number == MTVEC || number == MSTATUS {
                MSCRATCH
            } else {
                number
            };
            word & 0xf_ffff | number << 20
        }
        _ => word,
    }
}

/// Instructions as halves of words.
fn instruction(rng: &mut ChaCha8Rng, layout: Layout) -> Vec<u16> {
    let halves = |word: u32| vec![word as u16, (word >> 16) as u16];
    if rng.random_ratio(layout.nonsense, 100) {
        return halves(rng.random());
    }
    match rng.random_range(0..16) {
        0 => {
            let base = BASES[rng.random_range(0..BASES.len())];
            halves(lui(base, super::DATA + rng.random_range(0..15) * 0x1000))
        }
        1 => {
            let base = BASES[rng.random_range(0..BASES.len())];
            halves(addi(base, base, rng.random_range(0..16) * 4))
        }
        2..=7 => {
            let row = &COMPRESSED[rng.random_range(0..COMPRESSED.len())];
            let half = filled(rng, row.bits);
            let changes_base = BASES.contains(&row.rd.of(half)) && rng.random_range(0..20) > 0;
            if row.op == Op::Illegal || changes_base {
                vec![1]
            } else {
                vec![half as u16]
            }
        }
        _ => {
            let row = &TABLE[rng.random_range(0..TABLE.len())];
            halves(long(rng, layout, row))
        }
    }
}

/// A program for all threads: a start that gives registers their values, a trap handler, and random instructions.
pub fn random_program(rng: &mut ChaCha8Rng, layout: Layout) -> Vec<u32> {
    let mut words = vec![0; WORDS];
    let start = start(rng);
    words[RESET / 4..][..start.len()].copy_from_slice(&start);
    let handler = handler();
    words[HANDLER / 4..][..handler.len()].copy_from_slice(&handler);
    let mut halves: Vec<u16> = Vec::new();
    while halves.len() < 2 * WORDS - BODY / 2 {
        halves.extend(instruction(rng, layout));
    }
    for (word, pair) in words[BODY / 4..].iter_mut().zip(halves.chunks_exact(2)) {
        *word = u32::from(pair[0]) | u32::from(pair[1]) << 16;
    }
    words
}
