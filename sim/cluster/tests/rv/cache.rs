//! Decoded instructions never outlive the bytes they came from.

use crate::asm::{NOP, addi, jal, sw};
use crate::world::{BASE, DATA, World};
use spinneret_cluster::rv::{DecodeCache, Instruction};

#[test]
fn executes_what_was_just_stored() {
    let mut world =
        World::new(&[addi(10, 10, 1), sw(6, 5, 0), jal(0, -8)]).set(&[(5, BASE), (6, addi(10, 10, 100))]);
    for _ in 0..4 {
        world.retire();
    }
    assert_eq!(world.x(10), 101);
}

#[test]
fn forgets_a_long_instruction_if_its_second_half_changes() {
    let mut world = World::new(&[]);
    world.ram.write(BASE + 2, &addi(10, 0, 5).to_le_bytes());
    world.hart.set_pc(BASE + 2);
    world.retire();
    assert_eq!(world.x(10), 5);
    world.ram.write(BASE + 4, &addi(10, 0, 7).to_le_bytes()[2..]);
    world.hart.set_pc(BASE + 2);
    world.retire();
    assert_eq!(world.x(10), 7);
}

#[test]
fn decodes_both_readings_of_overlapping_code() {
    // addi a0, a0, 0x050, whose upper half is c.addi a0, 1.
    let long = addi(10, 10, 0x050);
    assert_eq!(long >> 16, 0x0505);
    let mut world = World::new(&[long]);
    world.retire();
    assert_eq!(world.x(10), 0x50);
    world.hart.set_pc(BASE + 2);
    world.retire();
    assert_eq!(world.x(10), 0x51);
    world.hart.set_pc(BASE);
    world.retire();
    assert_eq!(world.x(10), 0xa1);
}

#[test]
fn invalidates_exactly_what_changed() {
    let filled = || {
        let mut cache = DecodeCache::new(0x1000, 0x20);
        for address in (0x1000..0x1020).step_by(2) {
            cache.insert(address, Instruction::decode(NOP));
        }
        cache
    };
    for len in 0..=6 {
        for start in 0x0ff0..0x1030 {
            let mut cache = filled();
            cache.invalidate(start, len);
            for address in (0x1000_u32..0x1020).step_by(2) {
                let touched = len != 0 && address + 4 > start && address < start + len;
                let known = cache.get(address).is_some();
                assert!(
                    !(touched && known),
                    "{address:#x} is stale after {len} bytes at {start:#x}"
                );
                let near = len != 0 && address + 6 > start && address < start + len + 2;
                assert!(
                    near || known,
                    "{address:#x} is lost after {len} bytes at {start:#x}"
                );
            }
        }
    }
}

#[test]
fn ignores_addresses_outside() {
    let mut cache = DecodeCache::new(0x1000, 0x20);
    for address in [0, 0xffe, 0x1020, 0x1022, 0xffff_fffe] {
        cache.insert(address, Instruction::decode(NOP));
        assert_eq!(cache.get(address), None, "{address:#x}");
        cache.invalidate(address, 4);
    }
    cache.invalidate(0, u32::MAX);
    cache.invalidate(u32::MAX, u32::MAX);
}

#[test]
fn loads_and_stores_next_to_code_leave_it() {
    let mut world = World::new(&[sw(0, 5, 0), jal(0, -4)]).set(&[(5, DATA)]);
    for _ in 0..6 {
        world.retire();
    }
    assert_eq!(world.hart.retired(), 6);
}
