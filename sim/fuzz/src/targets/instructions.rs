//! Random instructions that reach for everything: RV32IMA with CSRs (RISC-V Instruction Set Manual, Volume I, chapter
//! "RV32/64G Instruction Set Listings").

use crate::mutate::number;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use spinneret_regmap::pspin::{
    DMA_BASE, DRIVER_BASE, HANDLER_BASE, ICACHE_BASE, L1_ALIAS, L1_BASE, L1_PACKETS, L1_SCRATCHPADS,
    L1_STRIDE, PACKET_BASE, PROGRAM_BASE, STDOUT, TERMINATE,
};

const ZERO: u32 = 0;
/// Registers that are drawn: t0 to t2, a0 to a5. The stack pointer is drawn now and then.
const REGISTERS: [u32; 9] = [5, 6, 7, 10, 11, 12, 13, 14, 15];
const SP: u32 = 2;
const A7: u32 = 17;

/// Where everything begins that a handler could want: its own, its neighbours', the runtime's, registers, and nothing.
const PLACES: [u32; 18] = [
    0,
    L1_BASE,
    L1_BASE + 0x600,
    L1_BASE + 0x800,
    L1_BASE + L1_PACKETS,
    L1_BASE + L1_SCRATCHPADS,
    L1_BASE + L1_STRIDE,
    L1_BASE + L1_STRIDE + L1_SCRATCHPADS,
    L1_ALIAS,
    HANDLER_BASE,
    PACKET_BASE,
    PROGRAM_BASE,
    DRIVER_BASE,
    DMA_BASE,
    ICACHE_BASE,
    STDOUT,
    TERMINATE,
    0x3000_0000,
];
/// Registers of the driver behind which commands are: issue, wait, test, kind.
const COMMAND: u32 = 0x80;
/// CSRs of the runtime, of the counters, and of the protection.
const CSRS: [u32; 14] = [
    0x000, 0x300, 0x304, 0x305, 0x320, 0x340, 0x341, 0x342, 0x3a0, 0x3b0, 0xb00, 0xc00, 0xf14, 0x7b0,
];

/// Code of up to so many bytes, which ends with a return.
pub(super) fn code(most: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut words = Vec::new();
    // Long ones come to their end but seldom.
    let pieces = match rng.random_ratio(3, 4) {
        true => rng.random_range(1..12),
        false => rng.random_range(1..most / 4),
    };
    for _ in 0..pieces {
        piece(&mut words, rng);
    }
    words.truncate(most / 4 - 1);
    words.push(jalr(ZERO, 1, 0));
    let mut bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    if rng.random_ratio(1, 8) {
        let at = rng.random_range(0..bytes.len());
        bytes[at] = rng.random();
    }
    bytes
}

fn piece(words: &mut Vec<u32>, rng: &mut ChaCha8Rng) {
    match rng.random_range(0..14) {
        0..3 => li(words, register(rng), place(rng)),
        3 => li(words, register(rng), number(rng) as u32),
        4..6 => words.push(load(rng)),
        6..8 => words.push(store(rng)),
        8 => command(words, rng),
        9 => copy(words, rng),
        10 => {
            li(words, A7, rng.random_range(0..12));
            words.push(ECALL);
        }
        11 => words.push(csr(rng)),
        12 => words.push(atomic(rng)),
        _ => words.push(odd(rng)),
    }
}

fn register(rng: &mut ChaCha8Rng) -> u32 {
    match rng.random_ratio(1, 16) {
        true => SP,
        false => *REGISTERS.choose(rng).unwrap_or(&5),
    }
}

fn place(rng: &mut ChaCha8Rng) -> u32 {
    let base = *PLACES.choose(rng).unwrap_or(&0);
    let offset = match rng.random_range(0..3) {
        0 => rng.random_range(0..0x100),
        1 => rng.random_range(0..0x2_0000),
        _ => rng.random_range(0..16) * 0x780,
    };
    base.wrapping_add(offset)
}

const ECALL: u32 = 0x73;

fn i_type(opcode: u32, rd: u32, funct: u32, rs1: u32, immediate: i32) -> u32 {
    (immediate as u32) << 20 | rs1 << 15 | funct << 12 | rd << 7 | opcode
}

fn s_type(funct: u32, rs1: u32, rs2: u32, immediate: i32) -> u32 {
    let immediate = immediate as u32;
    (immediate >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | funct << 12 | (immediate & 0x1f) << 7 | 0x23
}

fn jalr(rd: u32, rs1: u32, immediate: i32) -> u32 {
    i_type(0x67, rd, 0, rs1, immediate)
}

/// Two instructions that load a constant.
fn li(words: &mut Vec<u32>, rd: u32, value: u32) {
    let low = (value << 20) as i32 >> 20;
    words.push((value.wrapping_sub(low as u32) & 0xffff_f000) | rd << 7 | 0x37);
    words.push(i_type(0x13, rd, 0, rd, low));
}

fn load(rng: &mut ChaCha8Rng) -> u32 {
    let funct = *[0, 1, 2, 4, 5].choose(rng).unwrap_or(&2);
    let immediate = rng.random_range(-8..8) * 4;
    i_type(0x03, register(rng), funct, register(rng), immediate)
}

fn store(rng: &mut ChaCha8Rng) -> u32 {
    let immediate = rng.random_range(-8..8) * 4;
    s_type(rng.random_range(0..3), register(rng), register(rng), immediate)
}

fn csr(rng: &mut ChaCha8Rng) -> u32 {
    let csr = match rng.random_ratio(3, 4) {
        true => *CSRS.choose(rng).unwrap_or(&0),
        false => rng.random_range(0..4096),
    };
    i_type(
        0x73,
        register(rng),
        rng.random_range(1..8),
        register(rng),
        csr as i32,
    )
}

fn atomic(rng: &mut ChaCha8Rng) -> u32 {
    let operation = *[0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28].choose(rng).unwrap_or(&0);
    operation << 27 | register(rng) << 20 | register(rng) << 15 | 2 << 12 | register(rng) << 7 | 0x2f
}

/// Stores to registers, then a read or a write of another one.
fn registers(words: &mut Vec<u32>, base: u32, values: &[(i32, u32)], last: (i32, bool)) {
    li(words, 5, base);
    for (offset, value) in values {
        li(words, 6, *value);
        words.push(s_type(2, 5, 6, *offset));
    }
    words.push(match last {
        (offset, true) => i_type(0x03, 6, 2, 5, offset),
        (offset, false) => s_type(2, 5, 6, offset),
    });
}

/// A command: to send, to copy to or from the host, to write there, or none.
fn command(words: &mut Vec<u32>, rng: &mut ChaCha8Rng) {
    let mut values = vec![(0x0c, rng.random_range(0..8))];
    for word in 0..6 {
        let value = match rng.random_range(0..3) {
            0 => place(rng),
            1 => rng.random_range(0..2000),
            _ => number(rng) as u32,
        };
        values.push((0x10 + 4 * word, value));
    }
    let last = *[
        (0x00, true),
        (0x00, true),
        (0x04, false),
        (0x08, false),
        (0x08, true),
    ]
    .choose(rng)
    .unwrap_or(&(0, true));
    registers(words, DRIVER_BASE + COMMAND, &values, last);
}

/// A copy in the NIC.
fn copy(words: &mut Vec<u32>, rng: &mut ChaCha8Rng) {
    let bytes = match rng.random_ratio(3, 4) {
        true => rng.random_range(0..4096),
        false => number(rng) as u32,
    };
    let values = [(0x00, place(rng)), (0x08, place(rng)), (0x10, bytes)];
    registers(words, DMA_BASE, &values, (0x18, true));
}

/// What handlers have no business with, jumps, and anything.
fn odd(rng: &mut ChaCha8Rng) -> u32 {
    match rng.random_range(0..8) {
        // mret, wfi, ebreak, fence.i
        0 => *[0x3020_0073, 0x1050_0073, 0x0010_0073, 0x0000_100f]
            .choose(rng)
            .unwrap_or(&ECALL),
        1 => jalr(register(rng), register(rng), 0),
        // A branch forward or back by up to 32 bytes.
        2..4 => {
            let funct = *[0, 1, 4, 5, 6, 7].choose(rng).unwrap_or(&0);
            let to = rng.random_range(-8_i32..8) * 4;
            let bits = to as u32;
            (bits >> 12 & 1) << 31
                | (bits >> 5 & 0x3f) << 25
                | register(rng) << 20
                | register(rng) << 15
                | funct << 12
                | (bits >> 1 & 0xf) << 8
                | (bits >> 11 & 1) << 7
                | 0x63
        }
        4 => i_type(
            0x13,
            register(rng),
            rng.random_range(0..8),
            register(rng),
            rng.random_range(-2048..2048),
        ),
        _ => rng.random(),
    }
}
