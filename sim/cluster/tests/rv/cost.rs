//! What instructions cost: the table of the manual, and the hazards.

use crate::asm::{MRET, NOP, addi, amo, b, csr, i, jal, jalr, lw, r, sw};
use crate::world::{BASE, DATA, World};
use spinneret_cluster::rv::{Costs, DivisionCost};

/// The clocks of the last instruction of a program that runs from top to bottom.
fn last(program: &[u32], registers: &[(u32, u32)]) -> u32 {
    let mut world = World::new(program).set(registers);
    (0..program.len()).map(|_| world.retire()).last().unwrap()
}

#[test]
fn costs_what_the_manual_says() {
    let data = [(5, DATA), (6, 3)];
    assert_eq!(last(&[addi(7, 7, 1)], &[]), 1);
    assert_eq!(last(&[r(0x33, 0, 1, 7, 5, 6)], &data), 1, "mul");
    for funct3 in 1..4 {
        assert_eq!(last(&[r(0x33, funct3, 1, 7, 5, 6)], &data), 5, "mulh");
    }
    assert_eq!(last(&[lw(7, 5, 0)], &data), 1);
    assert_eq!(last(&[sw(7, 5, 0)], &data), 1);
    assert_eq!(last(&[amo(0, 7, 5, 6)], &data), 1);
    assert_eq!(last(&[b(0, 0, 0, 8)], &[]), 3, "taken");
    assert_eq!(last(&[b(1, 0, 0, 8)], &[]), 1, "not taken");
    assert_eq!(last(&[jal(1, 8)], &[]), 2);
    assert_eq!(last(&[jalr(1, 5, 0)], &data), 2);
    assert_eq!(last(&[0x0000_100f], &[]), 2, "fence.i");
    assert_eq!(last(&[csr(2, 7, 0x300, 0)], &[]), 4);
    for number in [
        0x305, 0x341, 0x342, 0xb00, 0xb02, 0xb80, 0xb82, 0x320, 0x323, 0x340, 0x343, 0xf14, 0xc00, 0x780,
    ] {
        assert_eq!(last(&[csr(2, 7, number, 0)], &[]), 1, "{number:#x}");
    }
    assert_eq!(last(&[MRET], &[]), 4);
}

#[test]
fn divides_as_long_as_the_divisor_is_short() {
    // funct3 4 and 6 are signed, 5 and 7 unsigned.
    let clocks = |funct3, divisor| last(&[r(0x33, funct3, 1, 7, 5, 6)], &[(5, 100), (6, divisor)]);
    for funct3 in [5, 7] {
        assert_eq!(clocks(funct3, 0x8000_0000), 3);
        assert_eq!(clocks(funct3, 1), 34);
        assert_eq!(clocks(funct3, 0), 35);
    }
    for funct3 in [4, 6] {
        assert_eq!(clocks(funct3, 0x8000_0000), 4);
        assert_eq!(clocks(funct3, 0x7fff_ffff), 4);
        assert_eq!(clocks(funct3, 0), 35);
    }
    let mut world = World::new(&[r(0x33, 5, 1, 7, 5, 6)]);
    world.costs = Costs {
        div: DivisionCost::Fixed(20),
        ..Costs::default()
    };
    assert_eq!(world.retire(), 20);
}

#[test]
fn waits_for_the_result_of_a_load() {
    let data = [(5, DATA), (6, 3)];
    assert_eq!(last(&[lw(7, 5, 0), addi(8, 7, 0)], &data), 2);
    assert_eq!(last(&[lw(7, 5, 0), r(0x33, 0, 0, 8, 0, 7)], &data), 2);
    assert_eq!(last(&[lw(7, 5, 0), sw(7, 5, 4)], &data), 2);
    assert_eq!(last(&[amo(0, 7, 5, 6), addi(8, 7, 0)], &data), 2);
    assert_eq!(last(&[lw(7, 5, 0), addi(8, 6, 0)], &data), 1, "another register");
    assert_eq!(
        last(&[lw(7, 5, 0), NOP, addi(8, 7, 0)], &data),
        1,
        "one instruction between"
    );
    assert_eq!(last(&[lw(0, 5, 0), addi(8, 0, 0)], &data), 1, "x0 is never late");
    assert_eq!(
        last(&[lw(7, 5, 0), csr(5, 8, 0x340, 7)], &data),
        1,
        "an immediate is no register"
    );
    assert_eq!(
        last(&[lw(7, 5, 0), i(0x13, 1, 8, 6, 7)], &data),
        1,
        "a shift amount is no register"
    );
}

#[test]
fn waits_for_the_target_of_a_jump() {
    assert_eq!(last(&[addi(7, 0, 16), jalr(1, 7, 0)], &[]), 3);
    assert_eq!(last(&[addi(7, 0, 16), NOP, jalr(1, 7, 0)], &[]), 2);
    assert_eq!(
        last(&[lw(7, 5, 0), jalr(1, 7, 0)], &[(5, DATA)]),
        4,
        "a load is later still"
    );
}

#[test]
fn fetches_a_long_instruction_in_two_words_after_a_jump() {
    let clocks = |target: u32, bits: u32, straight: bool| {
        let mut world = World::new(&[if straight {
            NOP
        } else {
            jal(0, (target - BASE) as i32)
        }]);
        world.ram.write(target, &bits.to_le_bytes());
        world.retire();
        if straight {
            world.hart.set_pc(target);
        }
        world.retire()
    };
    assert_eq!(clocks(BASE + 10, NOP, false), 2);
    assert_eq!(clocks(BASE + 12, NOP, false), 1);
    assert_eq!(clocks(BASE + 10, 0x0001_0001, false), 1, "a short one is whole");
    assert_eq!(clocks(BASE + 10, NOP, true), 1, "no jump");
}

#[test]
fn costs_one_each_for_checking_results() {
    let mut world = World::new(&[lw(7, 5, 0), jalr(1, 7, 2)]).set(&[(5, DATA)]);
    world.costs = Costs::unit();
    assert_eq!((world.retire(), world.retire()), (1, 1));
}
