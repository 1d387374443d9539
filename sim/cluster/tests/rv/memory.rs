//! Loads and stores.

use crate::support::{DATA, World, amo, i, lr, run, s, sc, sw};
use spinneret_cluster::rv::{Misaligned, Trap};

const PATTERN: [u8; 8] = [0x81, 0x7f, 0x00, 0xff, 0x12, 0xa4, 0x56, 0x78];

fn world_for(instruction: u32, base: u32) -> World {
    let mut world = World::new(&[instruction]).set(&[(6, base), (7, 0xdead_beef)]);
    world.ram.write(DATA, &PATTERN);
    world
}

fn pattern(offset: usize, len: usize) -> u32 {
    PATTERN[offset..offset + len]
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// Name, funct3, bytes, and how the value becomes 32 bits.
type Load = (&'static str, u32, usize, fn(u32) -> u32);

const LOADS: [Load; 5] = [
    ("lb", 0, 1, |value| value as i8 as u32),
    ("lh", 1, 2, |value| value as i16 as u32),
    ("lw", 2, 4, |value| value),
    ("lbu", 4, 1, |value| value),
    ("lhu", 5, 2, |value| value),
];

#[test]
fn loads_at_aligned_addresses() {
    for (name, funct3, len, extend) in LOADS {
        for offset in (0..8).step_by(len) {
            let mut world = world_for(i(0x03, funct3, 5, 6, offset - 2048), DATA + 2048);
            world.retire();
            assert_eq!(
                world.x(5),
                extend(pattern(offset as usize, len)),
                "{name} at {offset}"
            );
        }
    }
}

#[test]
fn stores_only_its_bytes() {
    for (funct3, len) in [(0, 1_u32), (1, 2), (2, 4)] {
        for offset in (0..8).step_by(len as usize) {
            let mut world = world_for(s(funct3, 6, 7, offset + 2040), DATA - 2040);
            world.retire();
            let mut expected = PATTERN;
            let start = offset as usize;
            expected[start..start + len as usize]
                .copy_from_slice(&0xdead_beef_u32.to_le_bytes()[..len as usize]);
            assert_eq!(world.ram.read(DATA, 8), expected, "{len} bytes at {offset}");
        }
    }
}

#[test]
fn traps_at_misaligned_addresses() {
    for (funct3, at) in [(1, 1), (5, 3), (2, 1), (2, 2), (2, 3)] {
        let mut world = world_for(i(0x03, funct3, 5, 6, at), DATA);
        assert_eq!(world.trap(), (Trap::LoadMisaligned, DATA + at as u32));
    }
    for (funct3, at) in [(1, 1), (2, 1), (2, 2), (2, 3)] {
        let mut world = world_for(s(funct3, 6, 7, at), DATA);
        assert_eq!(world.trap(), (Trap::StoreMisaligned, DATA + at as u32));
        assert_eq!(world.ram.read(DATA, 8), PATTERN);
    }
}

#[test]
fn splits_misaligned_accesses_if_told() {
    for (name, funct3, len, extend) in LOADS {
        for offset in 0..=(8 - len) {
            let mut world = world_for(i(0x03, funct3, 5, 6, offset as i32), DATA);
            world.costs.misaligned = Misaligned::Split;
            let clocks = world.retire();
            assert_eq!(world.x(5), extend(pattern(offset, len)), "{name} at {offset}");
            assert_eq!(clocks, 1 + u32::from(offset % 4 + len > 4), "{name} at {offset}");
        }
    }
    for (funct3, len) in [(1, 2), (2, 4)] {
        for offset in 0..=(8 - len) {
            let mut world = world_for(s(funct3, 6, 7, offset as i32), DATA);
            world.costs.misaligned = Misaligned::Split;
            let clocks = world.retire();
            let mut expected = PATTERN;
            expected[offset..offset + len].copy_from_slice(&0xdead_beef_u32.to_le_bytes()[..len]);
            assert_eq!(world.ram.read(DATA, 8), expected, "{len} bytes at {offset}");
            assert_eq!(clocks, 1 + u32::from(offset % 4 + len > 4));
        }
    }
}

#[test]
fn faults_where_nothing_is() {
    for address in [0, 0xffff_fffc, DATA - 0x1004, DATA + 0x1000] {
        let mut world = world_for(i(0x03, 2, 5, 6, 0), address);
        assert_eq!(world.trap(), (Trap::LoadFault, address));
        let mut world = world_for(s(2, 6, 7, 0), address);
        assert_eq!(world.trap(), (Trap::StoreFault, address));
    }
}

#[test]
fn faults_at_the_byte_that_is_not_there_if_split() {
    let end = DATA + 0x1000;
    for (bits, trap) in [
        (i(0x03, 2, 5, 6, 0), Trap::LoadFault),
        (s(2, 6, 7, 0), Trap::StoreFault),
    ] {
        let mut world = world_for(bits, end - 2);
        world.costs.misaligned = Misaligned::Split;
        assert_eq!(world.trap(), (trap, end));
    }
}

#[test]
fn loads_to_x0_still_access() {
    assert_eq!(run(i(0x03, 2, 0, 6, 0), &[(6, DATA)]).x(0), 0);
    assert_eq!(world_for(i(0x03, 2, 0, 6, 0), 0).trap(), (Trap::LoadFault, 0));
}

#[test]
fn refuses_widths_that_rv32_does_not_have() {
    for bits in [
        i(0x03, 3, 5, 6, 0),
        i(0x03, 6, 5, 6, 0),
        i(0x03, 7, 5, 6, 0),
        s(3, 6, 7, 0),
        s(4, 6, 7, 0),
        s(7, 6, 7, 0),
    ] {
        assert_eq!(World::new(&[bits]).trap(), (Trap::Illegal, bits));
    }
}

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
