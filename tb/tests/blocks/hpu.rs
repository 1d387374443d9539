//! Parts of the HPU: the decoder against that of the simulator, both of which come from the table of instructions, and the registers.

use spinneret_isa::{Format, Instruction, Unit};
use spinneret_models::{HpuDecoder, HpuRegisters};
use spinneret_sim::prelude::*;
use std::collections::VecDeque;

/// Clocks from a word to its fields.
const LATENCY: usize = 2;
/// Threads of the registers in the model.
const THREADS: usize = 8;
/// Random words of 32 bits, three quarters of them with the major opcode of an instruction.
const RANDOM_WORDS: usize = 40_000;

/// The block's outputs for a word, by port.
fn expected(word: u32) -> Vec<(&'static str, u64)> {
    let instruction = Instruction::decode(word);
    let Some(row) = instruction.op().row() else {
        return vec![("m_unit", 0), ("m_rd", 0)];
    };
    let has_function = !matches!(row.format, Format::U | Format::J);
    let digits: String = row.bits.chars().filter(|digit| *digit != '_').collect();
    let is_atomic = row.unit == Unit::Atomic;
    let adds_to_rs1 = is_atomic || row.unit == Unit::Store;
    let is_alternate = row.unit == Unit::Alu && digits.starts_with("01");
    let mut fields = vec![
        ("m_unit", 1 << row.unit as usize),
        ("m_rd", instruction.rd() as u64),
        (
            "m_imm",
            if is_atomic {
                0
            } else {
                u64::from(instruction.imm() as u32)
            },
        ),
        ("m_has_imm", u64::from(!row.format.registers()[2])),
        (
            "m_adds_imm",
            u64::from(!row.format.registers()[2] || adds_to_rs1 || row.unit == Unit::Branch),
        ),
        (
            "m_base",
            match (row.name, row.unit) {
                ("lui", _) => 2,
                ("auipc" | "jal", _) | (_, Unit::Branch) => 1,
                _ => 0,
            },
        ),
        (
            "m_is_unsigned",
            u64::from(matches!(row.name, "sltu" | "sltiu" | "bltu" | "bgeu")),
        ),
        ("m_alternate", u64::from(is_alternate)),
    ];
    if is_atomic {
        let which = u64::from_str_radix(&digits[..5], 2).expect("five digits");
        fields.push(("m_atomic", which));
    }
    if has_function && row.format != Format::None {
        fields.push((
            "m_function",
            u64::from_str_radix(&digits[17..20], 2).expect("three digits"),
        ));
    }
    fields
}

fn decodes(run: &mut TestRun, words: impl Iterator<Item = u32>) {
    let mut sim = run.simulation::<HpuDecoder>();
    let mut inside = VecDeque::new();
    for word in words {
        sim.set("word", word);
        sim.cycle();
        inside.push_back(word);
        let instruction = Instruction::decode(word);
        assert_eq!(
            sim.get("is_short"),
            u64::from(instruction.is_compressed()),
            "{instruction}"
        );
        for (port, has, register) in [
            ("rs1", "has_rs1", instruction.rs1()),
            ("rs2", "has_rs2", instruction.rs2()),
        ] {
            let read = if sim.get(has) == 1 { sim.get(port) } else { 0 };
            assert_eq!(read, register as u64, "{port} of {instruction}");
        }
        if inside.len() == LATENCY {
            let word = inside.pop_front().expect("two words are inside");
            for (port, value) in expected(word) {
                assert_eq!(
                    sim.get(port),
                    value,
                    "{port} of {word:#010x}, {}",
                    Instruction::decode(word)
                );
            }
        }
    }
    sim.finish();
}

#[test]
fn the_decoder_knows_every_instruction_of_16_bits() {
    run_test(0x0001_0dec, |run| {
        let shorts = (0..1_u32 << 16).filter(|half| half & 3 != 3);
        decodes(run, shorts.map(|half| half | 0xa5a5_0000));
    });
}

#[test]
fn the_decoder_knows_random_instructions_of_32_bits() {
    run_test(0x0002_0dec, |run| {
        let mut rng = run.rng("words");
        let opcodes = [
            0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33, 0x0f, 0x73, 0x2f,
        ];
        let mut words: Vec<u32> = vec![0x73, 0x0010_0073, 0x3020_0073, 0x1050_0073];
        for _ in 0..RANDOM_WORDS {
            let word = rng.random::<u32>() | 3;
            words.push(match rng.random_range(0..8) {
                0 => word,
                kind => {
                    let opcode = opcodes[rng.random_range(0..opcodes.len())];
                    // Most bits of functions are 0 in legal words.
                    let cleared = if kind < 4 { 0xbe00_0000 } else { 0 };
                    word & !cleared & !0x7f | opcode
                }
            });
        }
        decodes(run, words.into_iter());
    });
}

/// Two reads and a write of random registers in each clock, some of them of the same one.
#[test]
fn registers_hold_what_was_written_last() {
    run_test(0x0003_0dec, |run| {
        let mut rng = run.rng("registers");
        let mut sim = run.simulation::<HpuRegisters>();
        let mut words = vec![0_u32; 32 * THREADS];
        for _ in 0..20_000 {
            let place = |rng: &mut ChaCha8Rng| rng.random_range(0..words.len().min(40)) as u64;
            let (reads, to) = ([place(&mut rng), place(&mut rng)], place(&mut rng));
            let (write, value) = (rng.random_bool(0.6), rng.random::<u32>());
            for (port, read) in reads.iter().enumerate() {
                sim.set(&format!("read_{port}"), *read);
            }
            sim.set("write", write);
            sim.set("write_to", to);
            sim.set("write_value", value);
            // A read in the clock of a write gives the word before it.
            let expected = reads.map(|read| u64::from(words[read as usize]));
            sim.cycle();
            for (port, expected) in expected.iter().enumerate() {
                assert_eq!(sim.get(&format!("value_{port}")), *expected);
            }
            if write && to % 32 != 0 {
                words[to as usize] = value;
            }
        }
        sim.finish();
    });
}
