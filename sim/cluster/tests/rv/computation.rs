//! Integer computation: each instruction with the edges of its operands.

use crate::support::{BASE, World, addi, b, i, jal, jalr, r, run, u};
use spinneret_cluster::rv::{Step, Trap};

const MIN: u32 = 0x8000_0000;
const MAX: u32 = 0x7fff_ffff;

/// For operations of two registers: funct7, funct3, and operands with results.
type Table = (&'static str, u32, u32, &'static [(u32, u32, u32)]);

#[rustfmt::skip]
const REGISTER: &[Table] = &[
    ("add", 0x00, 0, &[(0, 0, 0), (1, 2, 3), (MAX, 1, MIN), (u32::MAX, 1, 0), (MIN, MIN, 0), (5, u32::MAX, 4)]),
    ("sub", 0x20, 0, &[(0, 0, 0), (3, 2, 1), (0, 1, u32::MAX), (MIN, 1, MAX), (MAX, u32::MAX, MIN)]),
    ("sll", 0x00, 1, &[(1, 0, 1), (1, 31, MIN), (1, 32, 1), (0xf000_000f, 4, 0xf0), (3, 0xffff_ffe1, 6)]),
    ("slt", 0x00, 2, &[(0, 0, 0), (0, 1, 1), (u32::MAX, 0, 1), (0, u32::MAX, 0), (MIN, MAX, 1), (MAX, MIN, 0)]),
    ("sltu", 0x00, 3, &[(0, 0, 0), (0, 1, 1), (u32::MAX, 0, 0), (0, u32::MAX, 1), (MIN, MAX, 0), (MAX, MIN, 1)]),
    ("xor", 0x00, 4, &[(0b1100, 0b1010, 0b0110), (u32::MAX, 0x1234_5678, 0xedcb_a987)]),
    ("srl", 0x00, 5, &[(MIN, 31, 1), (MIN, 32, MIN), (0xf000_000f, 4, 0x0f00_0000), (6, 0xffff_ffe1, 3)]),
    ("sra", 0x20, 5, &[(MIN, 31, u32::MAX), (MIN, 32, MIN), (0x7000_0000, 28, 7), (0xf000_000f, 4, 0xff00_0000)]),
    ("or", 0x00, 6, &[(0b1100, 0b1010, 0b1110), (0, u32::MAX, u32::MAX)]),
    ("and", 0x00, 7, &[(0b1100, 0b1010, 0b1000), (0, u32::MAX, 0), (0x1234_5678, u32::MAX, 0x1234_5678)]),
    ("mul", 0x01, 0, &[(7, 6, 42), (u32::MAX, u32::MAX, 1), (MIN, 2, 0), (0x1_0001, 0x1_0001, 0x2_0001)]),
    ("mulh", 0x01, 1, &[(7, 6, 0), (u32::MAX, u32::MAX, 0), (MIN, MIN, 0x4000_0000), (MIN, 2, u32::MAX), (MAX, MAX, 0x3fff_ffff)]),
    ("mulhsu", 0x01, 2, &[(7, 6, 0), (u32::MAX, u32::MAX, u32::MAX), (MIN, MIN, 0xc000_0000), (2, u32::MAX, 1), (u32::MAX, 1, u32::MAX)]),
    ("mulhu", 0x01, 3, &[(7, 6, 0), (u32::MAX, u32::MAX, 0xffff_fffe), (MIN, MIN, 0x4000_0000), (MIN, 2, 1)]),
    ("div", 0x01, 4, &[(20, 6, 3), (0xffff_ffec, 6, 0xffff_fffd), (20, 0xffff_fffa, 0xffff_fffd), (5, 0, u32::MAX),
        (MIN, 0, u32::MAX), (MIN, u32::MAX, MIN), (MIN, 1, MIN)]),
    ("divu", 0x01, 5, &[(20, 6, 3), (0xffff_ffec, 6, 0x2aaa_aaa7), (5, 0, u32::MAX), (MIN, u32::MAX, 0), (u32::MAX, 1, u32::MAX)]),
    ("rem", 0x01, 6, &[(20, 6, 2), (0xffff_ffec, 6, 0xffff_fffe), (20, 0xffff_fffa, 2), (5, 0, 5), (MIN, 0, MIN),
        (MIN, u32::MAX, 0), (0xffff_fffb, 0, 0xffff_fffb)]),
    ("remu", 0x01, 7, &[(20, 6, 2), (0xffff_ffec, 6, 2), (5, 0, 5), (MIN, u32::MAX, MIN), (u32::MAX, 1, 0)]),
];

#[test]
fn computes_from_two_registers() {
    for &(name, funct7, funct3, cases) in REGISTER {
        for &(a, b, result) in cases {
            let world = run(r(0x33, funct3, funct7, 5, 6, 7), &[(6, a), (7, b)]);
            assert_eq!(world.x(5), result, "{name} of {a:#x} and {b:#x}");
            assert_eq!((world.x(6), world.x(7)), (a, b), "{name} leaves its operands");
            assert_eq!(world.hart.pc(), BASE + 4);
        }
    }
}

#[test]
fn computes_where_all_registers_are_the_same() {
    for &(name, funct7, funct3, cases) in REGISTER {
        for &(a, b, result) in cases.iter().filter(|(a, b, _)| a == b) {
            let world = run(r(0x33, funct3, funct7, 9, 9, 9), &[(9, a)]);
            assert_eq!(world.x(9), result, "{name} of {a:#x} and {b:#x}");
        }
    }
}

#[test]
fn keeps_x0_zero() {
    for &(name, funct7, funct3, cases) in REGISTER {
        let (a, b, _) = cases[0];
        let world = run(r(0x33, funct3, funct7, 0, 6, 7), &[(6, a | 1), (7, b | 3)]);
        assert_eq!(world.x(0), 0, "{name}");
    }
}

/// funct3, and operand, immediate, result.
type ImmediateTable = (&'static str, u32, &'static [(u32, i32, u32)]);

#[rustfmt::skip]
const IMMEDIATE: &[ImmediateTable] = &[
    ("addi", 0, &[(0, 0, 0), (1, 2047, 2048), (0, -2048, 0xffff_f800), (MAX, 1, MIN), (1, -1, 0)]),
    ("slti", 2, &[(0, 1, 1), (1, 0, 0), (u32::MAX, 0, 1), (0, -1, 0), (MIN, -2048, 1), (5, 5, 0)]),
    ("sltiu", 3, &[(0, 1, 1), (1, 1, 0), (u32::MAX, 0, 0), (0, -1, 1), (0xffff_f7ff, -2048, 1), (u32::MAX, -1, 0)]),
    ("xori", 4, &[(0x0f, 0xff, 0xf0), (0x1234_5678, -1, 0xedcb_a987), (0, -2048, 0xffff_f800)]),
    ("ori", 6, &[(0x0f, 0xf0, 0xff), (0, -1, u32::MAX), (MIN, 2047, 0x8000_07ff)]),
    ("andi", 7, &[(0x0f, 0xff, 0x0f), (0x1234_5678, -1, 0x1234_5678), (u32::MAX, -2048, 0xffff_f800)]),
];

#[test]
fn computes_with_immediates() {
    for &(name, funct3, cases) in IMMEDIATE {
        for &(a, imm, result) in cases {
            let world = run(i(0x13, funct3, 31, 30, imm), &[(30, a)]);
            assert_eq!(world.x(31), result, "{name} of {a:#x} and {imm}");
        }
    }
}

#[test]
fn shifts_by_immediates() {
    let value = 0x9000_0006;
    for amount in 0..32 {
        let shift = |funct3, funct7| run(r(0x13, funct3, funct7, 5, 6, amount), &[(6, value)]).x(5);
        assert_eq!(shift(1, 0x00), value << amount);
        assert_eq!(shift(5, 0x00), value >> amount);
        assert_eq!(shift(5, 0x20), (value as i32 >> amount) as u32);
    }
}

#[test]
fn loads_upper_immediates() {
    assert_eq!(run(u(0x37, 5, 0xfffff), &[]).x(5), 0xffff_f000);
    assert_eq!(run(u(0x37, 5, 1), &[]).x(5), 0x1000);
    assert_eq!(run(u(0x17, 5, 0), &[]).x(5), BASE);
    assert_eq!(run(u(0x17, 5, 0xfffff), &[]).x(5), BASE - 0x1000);
    assert_eq!(run(u(0x17, 5, 0xf0000), &[]).x(5), 0, "the sum wraps around");
}

#[test]
fn refuses_reserved_encodings() {
    let reserved = [
        r(0x13, 1, 0x20, 5, 6, 7), // slli with the bit of srai
        r(0x13, 1, 0x01, 5, 6, 0), // slli by 32
        r(0x13, 5, 0x01, 5, 6, 0), // srli by 32
        r(0x13, 5, 0x21, 5, 6, 0), // srai by 32
        r(0x33, 1, 0x20, 5, 6, 7), // sll with the bit of sub
        r(0x33, 0, 0x02, 5, 6, 7),
        r(0x33, 0, 0x7f, 5, 6, 7),
        r(0x33, 4, 0x20, 5, 6, 7), // xnor, of another extension
        i(0x1b, 0, 5, 6, 7),       // addiw, of RV64
        r(0x3b, 0, 0, 5, 6, 7),    // addw, of RV64
        i(0x07, 2, 5, 6, 0),       // flw
        i(0x27, 2, 5, 6, 0),       // fsw
        r(0x53, 0, 0, 5, 6, 7),    // fadd.s
        i(0x0b, 0, 5, 6, 7),       // lw with post-increment of PULP
        0xffff_ffff,
        0x0000_001f, // the beginning of a longer instruction
        0x0000_007f,
    ];
    for bits in reserved {
        let mut world = World::new(&[bits]);
        let (trap, value) = world.trap();
        assert_eq!((trap.cause(), value), (2, bits), "{bits:#010x}");
    }
}

/// Name, funct3, and when it is taken.
type Branch = (&'static str, u32, fn(u32, u32) -> bool);

const BRANCHES: [Branch; 6] = [
    ("beq", 0, |a, b| a == b),
    ("bne", 1, |a, b| a != b),
    ("blt", 4, |a, b| (a as i32) < b as i32),
    ("bge", 5, |a, b| a as i32 >= b as i32),
    ("bltu", 6, |a, b| a < b),
    ("bgeu", 7, |a, b| a >= b),
];

#[test]
fn branches_on_every_relation() {
    let edges = [
        0,
        1,
        2,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_fffe,
        0xffff_ffff,
    ];
    for (name, funct3, taken) in BRANCHES {
        for x in edges {
            for y in edges {
                let world = run(b(funct3, 5, 6, 24), &[(5, x), (6, y)]);
                let target = BASE + if taken(x, y) { 24 } else { 4 };
                assert_eq!(world.hart.pc(), target, "{name} of {x:#x} and {y:#x}");
            }
        }
    }
}

#[test]
fn branches_as_far_as_the_offset_goes() {
    for offset in [-4096, -2048, -32, -2, 2, 30, 32, 1024, 2048, 4094] {
        let world = run(b(0, 0, 0, offset), &[]);
        assert_eq!(world.hart.pc(), BASE.wrapping_add(offset as u32), "{offset}");
    }
}

#[test]
fn jumps_and_links() {
    for offset in [
        -0x10_0000, -0x8_0000, -2048, -2, 2, 2046, 2048, 0x800, 0x1000, 0xf_f000, 0xf_fffe,
    ] {
        let world = run(jal(1, offset), &[]);
        assert_eq!(world.hart.pc(), BASE.wrapping_add(offset as u32), "{offset}");
        assert_eq!(world.x(1), BASE + 4);
    }
    assert_eq!(run(jal(0, 8), &[]).x(0), 0);
}

#[test]
fn jumps_to_registers_with_the_lowest_bit_cleared() {
    for (base, imm, target) in [
        (0x2000_0000, 0, 0x2000_0000),
        (0x2000_0001, 0, 0x2000_0000),
        (0x2000_0000, 7, 0x2000_0006),
        (0, -2, 0xffff_fffe),
        (0xffff_ffff, 1, 0),
        (0x2000_0800, -2048, 0x2000_0000),
    ] {
        let world = run(jalr(1, 5, imm), &[(5, base)]);
        assert_eq!(
            (world.hart.pc(), world.x(1)),
            (target, BASE + 4),
            "{base:#x} {imm}"
        );
        let same = run(jalr(5, 5, imm), &[(5, base)]);
        assert_eq!(
            (same.hart.pc(), same.x(5)),
            (target, BASE + 4),
            "link to the base register"
        );
    }
}

#[test]
fn faults_at_the_target_of_a_jump_not_at_the_jump() {
    let mut world = World::new(&[jalr(0, 5, 0)]).set(&[(5, 0x4000_0000)]);
    world.retire();
    let (trap, value) = world.trap();
    assert_eq!((trap, value), (Trap::InstructionFault, 0x4000_0000));
}

#[test]
fn faults_where_a_long_instruction_leaves_the_memory() {
    let end = BASE + crate::support::LEN;
    let mut world = World::new(&[]);
    world.ram.write(end - 2, &[0x13, 0x00]);
    world.hart.set_pc(end - 2);
    assert_eq!(world.trap(), (Trap::InstructionFault, end - 2));

    let mut world = World::new(&[]);
    world.ram.write(end - 2, &0x0505_u16.to_le_bytes());
    world.hart.set_pc(end - 2);
    world.retire();
    assert_eq!(world.x(10), 1, "a short one still runs");
}

#[test]
fn goes_on_over_the_end_of_the_address_space() {
    let mut world = run(jal(0, 0), &[]);
    world.hart.set_pc(0xffff_fffe);
    assert!(matches!(
        world.step(),
        Step::Trapped {
            trap: Trap::InstructionFault,
            pc: 0xffff_fffe,
            ..
        }
    ));
}

#[test]
fn takes_odd_funct3_of_branches_and_jumps_as_illegal() {
    for bits in [
        b(2, 0, 0, 8),
        b(3, 0, 0, 8),
        i(0x67, 1, 1, 5, 0),
        i(0x67, 7, 1, 5, 0),
    ] {
        assert_eq!(World::new(&[bits]).trap(), (Trap::Illegal, bits));
    }
}

#[test]
fn runs_a_loop() {
    let mut world = World::new(&[addi(5, 0, 10), addi(6, 6, 3), addi(5, 5, -1), b(1, 5, 0, -8)]);
    while world.hart.pc() != BASE + 16 {
        world.retire();
    }
    assert_eq!(world.x(6), 30);
    assert_eq!(world.hart.retired(), 31);
}

#[test]
fn ignores_what_fences_say_beyond_their_kind() {
    for bits in [0x0ff0_000f, 0x8330_000f, 0xf000_0f8f, 0x0000_100f, 0xfff0_9f8f] {
        let world = run(bits, &[(1, 7)]);
        assert_eq!((world.hart.pc(), world.x(31)), (BASE + 4, 0), "{bits:#010x}");
    }
    assert_eq!(World::new(&[0x0000_200f]).trap(), (Trap::Illegal, 0x0000_200f));
}
