//! Devices that do not answer yet, and `wfi`.

use crate::asm::{WFI, addi, amo, lr, lw, sc, sw};
use crate::world::{BASE, DATA, HANDLER, World};
use spinneret_cluster::rv::{Access, Bus, Costs, Fault, Hart, Privilege, Ram, Step, Trap, Width};

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

/// What a program can see of a hart.
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
