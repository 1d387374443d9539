//! Random programs for the pipeline.

use super::{Program, encode};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use spinneret_isa::{COMPRESSED, CSRS, CsrRow, Format, Mode, Op, Row, TABLE, Unit};

/// Words of program memory.
const WORDS: usize = 8192;
/// Byte offset of the random part.
const BODY: usize = 0x1000;
/// No thread has this number.
const NOBODY: usize = 16;
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

impl Default for Layout {
    fn default() -> Self {
        Self {
            nonsense: 1,
            misaligned: 10,
        }
    }
}

/// Gives every register a value, and goes to a place of the random part that depends on the thread. The trap handler reads
/// what the trap left, chooses another mode and another place by the number of instructions so far, and returns.
///
/// One thread executes the text `guest` instead, in machine mode.
fn frame(rng: &mut ChaCha8Rng, thread: usize, guest: &str) -> String {
    // Reset sets few registers, and the first instruction may write one.
    let mut text =
        ".org 0x80\n csrrwi x1, mcause, 21\n csrrs x1, mcause, x0\n csrrs x1, mstatus, x0\n".to_owned();
    for register in 1..32 {
        let value = match BASES.contains(&register) {
            true => super::DATA + rng.random_range(0..14) * 0x1000 + rng.random_range(0..256) * 4,
            false => rng.random(),
        };
        text += &format!("li x{register}, {value}\n");
    }
    let rest = "
            csrrw  x0, mscratch, x5
            csrrw  x0, mepc, x6
            csrrw  x0, mcause, x7
            csrrw  x0, mtval, x5
            li     x31, handler
            csrrw  x0, mtvec, x31
            csrrs  x31, mhartid, x0
            addi   x30, x0, THREAD
            beq    x30, x31, guest
            slli   x31, x31, 10
            li     x30, body
            add    x31, x31, x30
            jalr   x0, 0(x31)
        .org 0x400
        handler:
            FIRST
            csrrw  x31, mscratch, x31
            csrrs  x31, mcause, x0
            csrrs  x31, mtval, x0
            csrrs  x31, mepc, x0
            csrrs  x31, mstatus, x0
            csrrs  x31, minstret, x0
            slli   x31, x31, 7
            csrrw  x31, mstatus, x31
            # body + 2 * instructions % 2048 + 2048 * (instructions % 8)
            csrrs  x31, minstret, x0
            andi   x30, x31, 7
            slli   x30, x30, 11
            slli   x31, x31, 1
            andi   x31, x31, 0x7fe
            add    x31, x31, x30
            li     x30, body
            add    x31, x31, x30
            csrrw  x0, mepc, x31
            csrrw  x31, mscratch, x31
            mret
        .org 0x600
        guest:
            GUEST
        .org 0x1000
        body:
    ";
    // A trap in the middle of an access or a division leaves nothing behind for the handler.
    let first = ["addi x31, x31, 4", "auipc x31, 8", "remu x31, x31, x30"];
    let first = first[rng.random_range(0..first.len())];
    text + &rest
        .replace("FIRST", first)
        .replace("THREAD", &thread.to_string())
        .replace("GUEST", guest)
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

/// A random CSR. `mtvec` and `mstatus` only change where the program means it.
fn csr(rng: &mut ChaCha8Rng, word: u32) -> u32 {
    // User mode may read few of them.
    let of_user: bool = rng.random();
    let rows = CSRS.iter().filter(|row| !of_user || row.mode == Mode::User);
    let rows: Vec<&CsrRow> = rows.collect();
    let row = rows[rng.random_range(0..rows.len())];
    let number = match rng.random_range(0..16) {
        0 => word >> 20,
        _ => filled(rng, row.bits),
    };
    let word = word & 0xf_ffff | number << 20;
    match spinneret_isa::csr_name(number) {
        Some("mtvec" | "mstatus") => with_register(word | 2 << 12, 15, 0),
        // Only reads.
        _ if rng.random() => with_register(word | 2 << 12, 15, 0),
        _ => word,
    }
}

/// Whether a jump or branch goes backwards.
fn goes_back(rng: &mut ChaCha8Rng) -> bool {
    rng.random_ratio(1, 256)
}

/// Whether an instruction that traps, or jumps to nowhere, is left out: the trap handler is long.
fn is_left_out(rng: &mut ChaCha8Rng, op: Op) -> bool {
    let traps = matches!(op, Op::Illegal | Op::Ecall | Op::Ebreak | Op::Mret | Op::Jalr);
    traps && rng.random_range(0..6) > 0
}

/// A random instruction of 16 bits.
fn short(rng: &mut ChaCha8Rng) -> u32 {
    let row = &COMPRESSED[rng.random_range(0..COMPRESSED.len())];
    let mut half = filled(rng, row.bits);
    let changes_base = BASES.contains(&row.rd.of(half)) && rng.random_range(0..10) > 0;
    if changes_base || is_left_out(rng, row.op) {
        return 1;
    }
    // The sign of the offset.
    if matches!(row.op, Op::Jal | Op::Beq | Op::Bne) && !goes_back(rng) {
        half &= !(1 << 12);
    }
    half
}

/// A random instruction of 32 bits of a row.
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
        // Near targets, most of them forwards: loops end rarely.
        (Unit::Branch, _) if goes_back(rng) => word | 0xfe00_0080,
        (Unit::Branch, _) => word & !0xfe00_0080,
        (Unit::Jump, Format::J) if goes_back(rng) => word | 0xf01f_f000,
        (Unit::Jump, Format::J) => word & !0xf01f_f000,
        (Unit::Csr, _) => csr(rng, word),
        _ => word,
    }
}

/// A row of a random unit, not that of the system, that uses a register: 0 rd, 1 rs1, 2 rs2.
fn row_with(rng: &mut ChaCha8Rng, register: usize) -> &'static Row {
    let uses = |row: &&Row| row.unit != Unit::System && row.format.registers()[register];
    let rows: Vec<&Row> = TABLE.iter().filter(uses).collect();
    let mut units: Vec<Unit> = rows.iter().map(|row| row.unit).collect();
    units.dedup();
    let unit = units[rng.random_range(0..units.len())];
    let of_it: Vec<&Row> = rows.into_iter().filter(|row| row.unit == unit).collect();
    of_it[rng.random_range(0..of_it.len())]
}

/// Two instructions: the second one reads what the first one writes.
fn pair(rng: &mut ChaCha8Rng, layout: Layout) -> [u32; 2] {
    let register = 10 + rng.random_range(0..8);
    let (operand, low) = if rng.random() { (1, 15) } else { (2, 20) };
    let (first, second) = (row_with(rng, 0), row_with(rng, operand));
    let first = match first.unit {
        Unit::Jump => encode(Op::Jal, [register, 0, 0], 4),
        _ => with_register(long(rng, layout, first), 7, register),
    };
    [first, with_register(long(rng, layout, second), low, register)]
}

/// Instructions as halves of words.
fn instruction(rng: &mut ChaCha8Rng, layout: Layout) -> Vec<u16> {
    let halves = |word: u32| vec![word as u16, (word >> 16) as u16];
    let base = BASES[rng.random_range(0..BASES.len())];
    if rng.random_ratio(layout.nonsense, 100) {
        return halves(rng.random());
    }
    match rng.random_range(0..18) {
        0 => {
            let page = super::DATA + rng.random_range(0..15) * 0x1000;
            halves(encode(Op::Lui, [base, 0, 0], page))
        }
        1 => halves(encode(Op::Addi, [base, base, 0], rng.random_range(0..16) * 4)),
        2..=7 => vec![short(rng) as u16],
        8 => {
            // To the next instruction, or to the second half of this one.
            let offset = rng.random_range(3..5) * 2;
            let pair = [
                encode(Op::Auipc, [10, 0, 0], 0),
                encode(Op::Jalr, [11, 10, 0], offset),
            ];
            pair.into_iter().flat_map(halves).collect()
        }
        9..=11 => pair(rng, layout).into_iter().flat_map(halves).collect(),
        12 => {
            let row = TABLE
                .iter()
                .filter(|row| row.unit == Unit::Csr)
                .nth(rng.random_range(0..6));
            halves(long(rng, layout, row.expect("six rows")))
        }
        _ => {
            let row = &TABLE[rng.random_range(0..TABLE.len())];
            match is_left_out(rng, row.op) {
                true => vec![1],
                false => halves(long(rng, layout, row)),
            }
        }
    }
}

/// A program for all threads: a start that gives registers their values, a trap handler, and random instructions.
pub fn random_program(rng: &mut ChaCha8Rng, layout: Layout) -> Vec<u32> {
    random_program_beside(rng, layout, NOBODY, "")
}

/// The same for all threads but one, which executes an assembly text, in machine mode.
pub fn random_program_beside(rng: &mut ChaCha8Rng, layout: Layout, thread: usize, guest: &str) -> Vec<u32> {
    let mut words = Program::assemble(&frame(rng, thread, guest)).words;
    assert_eq!(4 * words.len(), BODY, "the guest is too long");
    let mut halves: Vec<u16> = Vec::new();
    while halves.len() < 2 * WORDS - BODY / 2 {
        halves.extend(instruction(rng, layout));
    }
    let pairs = halves.chunks_exact(2).take(WORDS - words.len());
    words.extend(pairs.map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16));
    words
}
