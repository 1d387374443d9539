//! Measures how many instructions a second one hart executes on plain memory:
//! `cargo run --release -p spinneret-cluster --example mips`.

use spinneret_cluster::rv::{Costs, Hart, Ram, Step};
use std::time::Instant;

const BASE: u32 = spinneret_regmap::pspin::PROGRAM_BASE;
const DATA: u32 = BASE + 0x1000;
const INSTRUCTIONS: u64 = 200_000_000;

/// Sums up and changes 256 words, again and again; ten instructions a turn, half of them compressed.
const PROGRAM: [u32; 10] = [
    0x0005_0593, // start: addi a1, a0, 0
    0x1000_0613, //        addi a2, zero, 256
    0x0005_a683, // loop:  lw a3, 0(a1)
    0x00d7_0733, //        add a4, a4, a3
    0x0016_c693, //        xori a3, a3, 1
    0x00d5_a023, //        sw a3, 0(a1)
    0x167d_0591, //        c.addi a1, 4; c.addi a2, -1
    0x0107_97b3, //        sll a5, a5, a6
    0x8fb9_97ba, //        c.add a5, a4; c.xor a5, a4
    0xfe06_12e3, //        bne a2, zero, loop
];

fn main() {
    let mut ram = Ram::new(BASE, 0x8000);
    for (index, word) in PROGRAM.iter().chain(&[0xfd9f_f06f]).enumerate() {
        ram.write(BASE + 4 * index as u32, &word.to_le_bytes()); // The last one: jal zero, start
    }
    let costs = Costs::default();
    for round in 1..=3 {
        let mut hart = Hart::new(0, BASE);
        hart.set_x(10, DATA);
        let mut now = 0;
        let start = Instant::now();
        for _ in 0..INSTRUCTIONS {
            match hart.step(&mut ram, &costs, now) {
                Step::Retired { clocks } => now += u64::from(clocks),
                stop => panic!("the program does not stop, but here it says {stop:?}"),
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        let mips = INSTRUCTIONS as f64 / seconds / 1e6;
        let clocks = now as f64 / INSTRUCTIONS as f64;
        println!(
            "round {round}: {mips:.0} MIPS, {clocks:.2} clocks an instruction, a4 = {:#010x}",
            hart.x(14)
        );
    }
}
