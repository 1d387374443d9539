//! Jumps and branches.

use crate::asm::{addi, b, i, jal, jalr};
use crate::world::{BASE, World, run};
use spinneret_cluster::rv::{Step, Trap};

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
    let end = BASE + crate::world::LEN;
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
