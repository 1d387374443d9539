//! Compressed instructions: literal encodings with what they stand for, and all reserved ones.
//!
//! `reference.rs` executes every one of the 65,536 halfwords also in the reference simulator.

use crate::support::{BASE, DATA, ECALL, MRET, WFI, World, amo, b, csr, i, jal, jalr, lr, r, s, sc, u};
use spinneret_cluster::rv::{Instruction, Op, Trap};

#[test]
fn stands_for_the_long_instruction() {
    let cases: &[(u16, &str)] = &[
        (0x1fe0, "addi s0, sp, 1020"),
        (0x0048, "addi a0, sp, 4"),
        (0x0808, "addi a0, sp, 16"),
        (0x5d7c, "lw a5, 124(a0)"),
        (0x4188, "lw a0, 0(a1)"),
        (0xdd7c, "sw a5, 124(a0)"),
        (0xc188, "sw a0, 0(a1)"),
        (0x0001, "addi zero, zero, 0"),
        (0x1ffd, "addi t6, t6, -1"),
        (0x057d, "addi a0, a0, 31"),
        (0x1501, "addi a0, a0, -32"),
        (0x2001, "jal ra, . + 0"),
        (0x3001, "jal ra, . - 2048"),
        (0x2ffd, "jal ra, . + 2046"),
        (0xbffd, "jal zero, . - 2"),
        (0xa011, "jal zero, . + 4"),
        (0x557d, "addi a0, zero, -1"),
        (0x457d, "addi a0, zero, 31"),
        (0x6141, "addi sp, sp, 16"),
        (0x7139, "addi sp, sp, -64"),
        (0x7101, "addi sp, sp, -512"),
        (0x617d, "addi sp, sp, 496"),
        (0x6505, "lui a0, 0x1"),
        (0x757d, "lui a0, 0xfffff"),
        (0x657d, "lui a0, 0x1f"),
        (0x7501, "lui a0, 0xfffe0"),
        (0x8105, "srli a0, a0, 1"),
        (0x817d, "srli a0, a0, 31"),
        (0x8505, "srai a0, a0, 1"),
        (0x857d, "srai a0, a0, 31"),
        (0x997d, "andi a0, a0, -1"),
        (0x897d, "andi a0, a0, 31"),
        (0x8d0d, "sub a0, a0, a1"),
        (0x8d2d, "xor a0, a0, a1"),
        (0x8d4d, "or a0, a0, a1"),
        (0x8d6d, "and a0, a0, a1"),
        (0xd101, "beq a0, zero, . - 256"),
        (0xcd7d, "beq a0, zero, . + 254"),
        (0xfd7d, "bne a0, zero, . - 2"),
        (0xe119, "bne a0, zero, . + 6"),
        (0x0506, "slli a0, a0, 1"),
        (0x0ffe, "slli t6, t6, 31"),
        (0x4502, "lw a0, 0(sp)"),
        (0x50fe, "lw ra, 252(sp)"),
        (0xc02a, "sw a0, 0(sp)"),
        (0xdf86, "sw ra, 252(sp)"),
        (0x8082, "jalr zero, 0(ra)"),
        (0x9502, "jalr ra, 0(a0)"),
        (0x852e, "add a0, zero, a1"),
        (0x952e, "add a0, a0, a1"),
        (0x9002, "ebreak"),
    ];
    for &(half, text) in cases {
        let instruction = Instruction::decode(0xffff_0000 | u32::from(half));
        assert_eq!(instruction.to_string(), text, "{half:#06x}");
        assert_eq!(instruction.len_bytes(), 2);
    }
}

/// Whether RV32C without floating point leaves this halfword reserved, or to custom extensions. Written from the tables
/// of chapter 16.8 of the manual, line by line, without regard to how the hart decodes.
pub(crate) fn is_reserved(half: u16) -> bool {
    let bits = |high: u32, low: u32| u32::from(half) >> low & ((1 << (high - low + 1)) - 1);
    match (bits(1, 0), bits(15, 13)) {
        (0, 0) => bits(12, 5) == 0, // c.addi4spn with no immediate; all zeroes
        (0, 1 | 3 | 5 | 7) => true, // c.fld, c.flw, c.fsd, c.fsw
        (0, 4) => true,             // reserved
        (1, 3) => bits(12, 12) == 0 && bits(6, 2) == 0, // c.lui, c.addi16sp with no immediate
        (1, 4) => match bits(11, 10) {
            0 | 1 => bits(12, 12) == 1, // c.srli, c.srai by 32 and more
            3 => bits(12, 12) == 1,     // c.subw, c.addw, reserved
            _ => false,
        },
        (2, 0) => bits(12, 12) == 1, // c.slli by 32 and more
        (2, 1 | 3 | 5 | 7) => true,  // c.fldsp, c.flwsp, c.fsdsp, c.fswsp
        (2, 2) => bits(11, 7) == 0,  // c.lwsp to x0
        (2, 4) => bits(12, 2) == 0,  // c.jr of x0
        _ => false,
    }
}

#[test]
fn traps_on_everything_reserved() {
    let mut reserved = 0;
    for half in 0..=u16::MAX {
        if half & 3 == 3 {
            continue;
        }
        let instruction = Instruction::decode(u32::from(half));
        assert_eq!(
            instruction.op() == Op::Illegal,
            is_reserved(half),
            "{half:#06x} is {instruction}"
        );
        reserved += u32::from(is_reserved(half));
        if is_reserved(half) && half % 61 == 0 {
            let mut world = World::new(&[0xffff_0000 | u32::from(half)]);
            assert_eq!(world.trap(), (Trap::Illegal, u32::from(half)));
        }
    }
    assert!(reserved > 16_384, "half of two quadrants, and more");
}

#[test]
fn runs_at_addresses_between_words() {
    let mut world = World::new(&[]).set(&[(2, DATA)]);
    // c.li a0, 21; c.add a0, a0; addi a0, a0, 1; c.swsp a0, 4(sp); c.jal . + 4; (skipped); c.lwsp a1, 4(sp)
    let program: [u16; 8] = [0x4555, 0x952a, 0x0513, 0x0015, 0xc22a, 0x2011, 0x0000, 0x4592];
    let bytes: Vec<u8> = program.iter().flat_map(|half| half.to_le_bytes()).collect();
    world.ram.write(BASE + 2, &bytes);
    world.hart.set_pc(BASE + 2);
    for _ in 0..6 {
        world.retire();
    }
    assert_eq!((world.x(10), world.x(11), world.x(1)), (43, 43, BASE + 14));
    assert_eq!(world.hart.pc(), BASE + 18);
}

#[test]
fn writes_the_notation_of_the_manual() {
    let cases = [
        (u(0x37, 10, 0xfffff), "lui a0, 0xfffff"),
        (u(0x17, 5, 1), "auipc t0, 0x1"),
        (jal(1, -2048), "jal ra, . - 2048"),
        (jalr(0, 1, 0), "jalr zero, 0(ra)"),
        (b(1, 8, 0, 12), "bne s0, zero, . + 12"),
        (i(0x03, 5, 12, 2, -4), "lhu a2, -4(sp)"),
        (s(0, 31, 30, 2047), "sb t5, 2047(t6)"),
        (i(0x13, 0, 3, 4, -1), "addi gp, tp, -1"),
        (r(0x13, 5, 0x20, 9, 18, 31), "srai s1, s2, 31"),
        (r(0x33, 0, 0x20, 17, 27, 28), "sub a7, s11, t3"),
        (r(0x33, 6, 1, 6, 7, 16), "rem t1, t2, a6"),
        (0x0ff0_000f, "fence iorw, iorw"),
        (0x0230_000f, "fence r, rw"),
        (0x8330_000f, "fence.tso"),
        (0x0000_100f, "fence.i"),
        (ECALL, "ecall"),
        (MRET, "mret"),
        (WFI, "wfi"),
        (csr(1, 0, 0x305, 10), "csrrw zero, mtvec, a0"),
        (csr(2, 10, 0x780, 0), "csrrs a0, 0x780, zero"),
        (csr(7, 10, 0x300, 8), "csrrci a0, mstatus, 8"),
        (lr(10, 11) | 1 << 26, "lr.w.aq a0, (a1)"),
        (sc(10, 12, 11) | 1 << 25, "sc.w.rl a0, a2, (a1)"),
        (amo(0, 10, 11, 12) | 3 << 25, "amoadd.w.aqrl a0, a2, (a1)"),
        (0xffff_ffff, ".4byte 0xffffffff"),
        (0x0000_0000, ".2byte 0x0000"),
        (0x0505, "addi a0, a0, 1"),
        (0x8082, "jalr zero, 0(ra)"),
    ];
    for (bits, text) in cases {
        assert_eq!(Instruction::decode(bits).to_string(), text, "{bits:#010x}");
    }
    assert_eq!(
        Instruction::decode(jal(0, -8)).at(0x1d00_0108).to_string(),
        "jal zero, 0x1d000100"
    );
    assert_eq!(
        Instruction::decode(b(0, 1, 2, 8)).at(0x1d00_0108).to_string(),
        "beq ra, sp, 0x1d000110"
    );
    assert_eq!(
        format!("{:?}", Instruction::decode(0x0505)),
        "addi a0, a0, 1 (2 bytes)"
    );
}
