//! Instructions as text.

use crate::asm::{ECALL, MRET, WFI, amo, b, csr, i, jal, jalr, lr, r, s, sc, u};
use spinneret_cluster::rv::Instruction;

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
