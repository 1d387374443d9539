//! Costs of instructions: the table of the manual, and the hazards.

use crate::support::{
    BASE, DATA, HANDLER, MRET, NOP, WFI, World, addi, amo, b, csr, i, jal, jalr, lr, lw, r, sc, sw,
};
use spinneret_cluster::rv::{
    Access, Bus, Costs, DecodeCache, DivisionCost, Fault, Hart, Instruction, Privilege, Ram, Step, Trap,
    Width,
};

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

/// Memory that answers only every third time, and takes five clocks.
struct Slow {
    ram: Ram,
    asked: u32,
}

impl Slow {
    fn ready(&mut self) -> bool {
        self.asked += 1;
        self.asked.is_multiple_of(3)
    }
}

fn late(access: Result<Access, Fault>) -> Result<Access, Fault> {
    match access? {
        Access::Done { value, clocks } => Ok(Access::Done {
            value,
            clocks: clocks + 5,
        }),
        Access::Wait => Ok(Access::Wait),
    }
}

impl Bus for Slow {
    fn fetch(&mut self, address: u32, who: Privilege) -> Result<u32, Fault> {
        self.ram.fetch(address, who)
    }

    fn load(&mut self, address: u32, width: Width, who: Privilege) -> Result<Access, Fault> {
        if self.ready() {
            late(self.ram.load(address, width, who))
        } else {
            Ok(Access::Wait)
        }
    }

    fn store(&mut self, address: u32, width: Width, value: u32, who: Privilege) -> Result<Access, Fault> {
        if self.ready() {
            late(self.ram.store(address, width, value, who))
        } else {
            Ok(Access::Wait)
        }
    }

    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault> {
        if self.ready() {
            late(self.ram.modify(address, who, change))
        } else {
            Ok(Access::Wait)
        }
    }
}

/// The state of a hart that is visible to programs.
fn state(hart: &Hart) -> (u32, Vec<u32>, u64, Option<u32>) {
    (
        hart.pc(),
        (0..32).map(|register| hart.x(register)).collect(),
        hart.retired(),
        hart.reservation(),
    )
}

#[test]
fn changes_nothing_while_the_bus_waits() {
    let program = [lw(6, 6, 0), sw(7, 5, 4), amo(0, 8, 5, 7), lr(9, 5), sc(10, 7, 5)];
    let World { mut hart, ram, .. } = World::new(&program).set(&[(5, DATA), (6, DATA), (7, 3)]);
    let mut bus = Slow { ram, asked: 0 };
    let costs = Costs::default();
    for _ in program {
        let before = state(&hart);
        let memory = bus.ram.clone();
        for _ in 0..2 {
            assert_eq!(hart.step(&mut bus, &costs, 0), Step::Waits);
            assert_eq!(state(&hart), before);
            assert_eq!(bus.ram.bytes(), memory.bytes());
        }
        assert_eq!(hart.step(&mut bus, &costs, 0), Step::Retired { clocks: 6 });
    }
    assert_eq!((hart.x(6), hart.x(8), hart.x(9), hart.x(10)), (0, 0, 3, 0));
    assert_eq!(bus.ram.read(DATA, 8), [3, 0, 0, 0, 3, 0, 0, 0]);
}

#[test]
fn leaves_a_wait_for_the_trap_handler() {
    let World { mut hart, ram, .. } = World::new(&[lw(6, 5, 0)]).set(&[(5, DATA)]);
    let mut bus = Slow { ram, asked: 0 };
    assert_eq!(hart.step(&mut bus, &Costs::default(), 0), Step::Waits);
    hart.raise(Trap::Custom(24), 77);
    assert_eq!((hart.pc(), hart.x(6)), (HANDLER, 0));
    assert_eq!(
        [0x341, 0x342, 0x343].map(|number| hart.csr(number, 0).unwrap()),
        [BASE, 24, 77]
    );
}

#[test]
fn waits_for_an_event() {
    let mut world = World::new(&[WFI, addi(5, 0, 1), WFI]);
    assert_eq!(world.step(), Step::Waits);
    assert_eq!(world.step(), Step::Waits);
    world.hart.wake();
    world.retire();
    world.retire();
    assert_eq!(world.hart.pc(), BASE + 8);
    assert_eq!(world.step(), Step::Waits, "one event ends one wait");
}

#[test]
fn does_not_lose_an_event_that_comes_first() {
    let mut world = World::new(&[addi(5, 0, 1), WFI]);
    world.hart.wake();
    world.retire();
    world.retire();
    assert_eq!(world.hart.pc(), BASE + 8);
}
