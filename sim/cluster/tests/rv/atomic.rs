//! Atomic operations, load-reserved and store-conditional.

use crate::asm::{amo, lr, sc, sw};
use crate::world::{DATA, World};
use spinneret_cluster::rv::{Misaligned, Trap};

const MIN: u32 = 0x8000_0000;

/// funct5, and memory, operand, memory afterwards.
type Table = (&'static str, u32, &'static [(u32, u32, u32)]);

#[rustfmt::skip]
const OPERATIONS: &[Table] = &[
    ("amoswap", 0x01, &[(1, 2, 2), (0, u32::MAX, u32::MAX)]),
    ("amoadd", 0x00, &[(1, 2, 3), (u32::MAX, 1, 0), (MIN, MIN, 0)]),
    ("amoxor", 0x04, &[(0b1100, 0b1010, 0b0110)]),
    ("amoand", 0x0c, &[(0b1100, 0b1010, 0b1000)]),
    ("amoor", 0x08, &[(0b1100, 0b1010, 0b1110)]),
    ("amomin", 0x10, &[(1, 2, 1), (2, 1, 1), (u32::MAX, 0, u32::MAX), (0, MIN, MIN)]),
    ("amomax", 0x14, &[(1, 2, 2), (2, 1, 2), (u32::MAX, 0, 0), (0, MIN, 0)]),
    ("amominu", 0x18, &[(1, 2, 1), (2, 1, 1), (u32::MAX, 0, 0), (0, MIN, 0)]),
    ("amomaxu", 0x1c, &[(1, 2, 2), (2, 1, 2), (u32::MAX, 0, u32::MAX), (0, MIN, MIN)]),
];

fn world_with(memory: u32, program: &[u32], operand: u32) -> World {
    let mut world = World::new(program).set(&[(6, DATA), (7, operand)]);
    world.ram.write(DATA, &memory.to_le_bytes());
    world
}

#[test]
fn modifies_memory_and_gives_the_old_value() {
    for &(name, funct5, cases) in OPERATIONS {
        for &(memory, operand, after) in cases {
            for order in 0..4 {
                let mut world = world_with(memory, &[amo(funct5, 5, 6, 7) | order << 25], operand);
                world.retire();
                assert_eq!(
                    (world.x(5), world.word(DATA)),
                    (memory, after),
                    "{name} {memory:#x} {operand:#x}"
                );
            }
            // The reference simulator of `reference.rs` does these two wrongly, so they are only here.
            let mut world = world_with(memory, &[amo(funct5, 7, 6, 7)], operand);
            world.retire();
            assert_eq!(
                (world.x(7), world.word(DATA)),
                (memory, after),
                "{name} with rd = rs2"
            );
            let mut world = world_with(memory, &[amo(funct5, 0, 6, 7)], operand);
            world.retire();
            assert_eq!(
                (world.x(0), world.word(DATA)),
                (0, after),
                "{name} without result"
            );
            let mut world = world_with(memory, &[amo(funct5, 6, 6, 7)], operand);
            world.retire();
            assert_eq!(
                (world.x(6), world.word(DATA)),
                (memory, after),
                "{name} with rd = rs1"
            );
        }
    }
}

#[test]
fn traps_where_atomic_operations_cannot_be() {
    for misaligned in [Misaligned::Trap, Misaligned::Split] {
        for &(name, funct5, _) in OPERATIONS {
            for offset in 1..4 {
                let mut world = world_with(0, &[amo(funct5, 5, 6, 7)], 1).set(&[(6, DATA + offset)]);
                world.costs.misaligned = misaligned;
                assert_eq!(world.trap(), (Trap::StoreMisaligned, DATA + offset), "{name}");
            }
            let mut world = world_with(0, &[amo(funct5, 5, 6, 7)], 1).set(&[(6, 16)]);
            assert_eq!(world.trap(), (Trap::StoreFault, 16), "{name}");
        }
        for (bits, trap) in [
            (lr(5, 6), Trap::LoadMisaligned),
            (sc(5, 7, 6), Trap::StoreMisaligned),
        ] {
            let mut world = world_with(0, &[bits], 1).set(&[(6, DATA + 2)]);
            world.costs.misaligned = misaligned;
            assert_eq!(world.trap(), (trap, DATA + 2));
        }
    }
    assert_eq!(
        world_with(0, &[lr(5, 6)], 1).set(&[(6, 16)]).trap(),
        (Trap::LoadFault, 16)
    );
}

#[test]
fn stores_conditionally_after_a_reservation() {
    let mut world = world_with(11, &[lr(5, 6), sc(8, 7, 6), sc(9, 7, 6)], 22);
    world.retire();
    assert_eq!((world.x(5), world.hart.reservation()), (11, Some(DATA)));
    world.retire();
    assert_eq!(
        (world.x(8), world.word(DATA), world.hart.reservation()),
        (0, 22, None)
    );
    world.ram.write(DATA, &[0; 4]);
    world.retire();
    assert_eq!(
        (world.x(9), world.word(DATA)),
        (1, 0),
        "one reservation is good for one store"
    );
}

#[test]
fn fails_to_store_without_a_reservation_of_that_word() {
    let mut world = world_with(11, &[sc(8, 7, 6)], 22);
    world.retire();
    assert_eq!((world.x(8), world.word(DATA)), (1, 11), "none at all");

    let mut world = world_with(11, &[lr(5, 6), sc(8, 7, 10), sc(9, 7, 6)], 22).set(&[(10, DATA + 4)]);
    for _ in 0..3 {
        world.retire();
    }
    assert_eq!(
        (world.x(8), world.x(9)),
        (1, 1),
        "another word, and a failure ends the reservation"
    );
    assert_eq!(world.word(DATA), 11);
}

#[test]
fn loses_its_reservation_to_others_only() {
    let program = [lr(5, 6), sc(8, 7, 6)];
    for (address, kept) in [
        (DATA, false),
        (DATA + 3, false),
        (DATA + 4, true),
        (DATA - 1, true),
    ] {
        let mut world = world_with(11, &program, 22);
        world.retire();
        world.hart.lost_reservation(address);
        assert_eq!(world.hart.reservation().is_some(), kept);
        world.retire();
        assert_eq!(
            world.x(8),
            u32::from(!kept),
            "after a store of another hart to {address:#x}"
        );
    }
    let mut world = world_with(11, &[lr(5, 6), sw(0, 6, 4), sc(8, 7, 6)], 22);
    for _ in 0..3 {
        world.retire();
    }
    assert_eq!(world.x(8), 0, "own stores next to it do no harm");
}

#[test]
fn loses_its_reservation_with_a_trap() {
    let mut world = world_with(11, &[lr(5, 6)], 22);
    world.retire();
    world.hart.raise(Trap::Custom(24), 0);
    assert_eq!(world.hart.reservation(), None);
}

#[test]
fn takes_result_registers_that_are_operands() {
    let mut world = world_with(DATA, &[lr(6, 6), sc(7, 7, 6)], 22);
    world.retire();
    world.retire();
    assert_eq!((world.x(6), world.x(7), world.word(DATA)), (DATA, 0, 22));
}

#[test]
fn refuses_reserved_atomic_encodings() {
    for bits in [
        amo(2, 5, 6, 7),
        amo(5, 5, 6, 7),
        amo(0x1f, 5, 6, 7),
        amo(0, 5, 6, 7) | 1 << 12,
        amo(0, 5, 6, 7) & !(7 << 12),
    ] {
        assert_eq!(World::new(&[bits]).trap(), (Trap::Illegal, bits), "{bits:#010x}");
    }
}
