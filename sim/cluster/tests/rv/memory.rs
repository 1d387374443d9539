//! Loads and stores.

use crate::asm::{i, s};
use crate::world::{DATA, World, run};
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
