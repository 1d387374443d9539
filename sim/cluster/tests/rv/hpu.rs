//! Registers, traps and instructions of our HPU: `CsrSet::Hpu`.

use crate::support::{
    BASE, DATA, EBREAK, ECALL, HANDLER, LEN, MRET, WFI, World, amo, csr, i, jalr, lr, lw, r, s, sc, sw,
};
use spinneret_cluster::rv::{
    Access, Bus, CsrSet, Fault, Hart, Instruction, Misaligned, Privilege, Ram, Reservations, Step, Trap,
    Width,
};

const RW: u32 = 1;
const RS: u32 = 2;

/// A world whose hart is one of our HPU.
fn world(mode: Privilege, program: &[u32]) -> World {
    let mut world = World::new(program);
    world.hart = Hart::new(5, BASE).with_csrs(CsrSet::Hpu);
    world.hart.set_csr(0x305, HANDLER, 0).unwrap();
    world.hart.set_privilege(mode);
    world.costs.misaligned = Misaligned::Split;
    world
}

/// Executes an instruction. Returns mcause, mtval and mepc if it trapped.
fn step(world: &mut World) -> Option<[u32; 3]> {
    match world.step() {
        Step::Retired { .. } => None,
        Step::Trapped { .. } => Some([0x342, 0x343, 0x341].map(|number| world.csr(number))),
        Step::Waits => panic!("an HPU never waits"),
    }
}

const ILLEGAL: Option<[u32; 3]> = Some([2, 0, BASE]);

#[test]
fn knows_its_registers_and_no_others() {
    use Privilege::{Machine, User};
    for number in 0..0x1000 {
        let is_counter = matches!(number, 0xc00..=0xc1f | 0xc80..=0xc9f);
        let known = is_counter
            || matches!(number, 0x300 | 0x301 | 0x304..=0x306 | 0x310 | 0x320 | 0x323..=0x33f | 0x340..=0x344
                | 0xb00 | 0xb02..=0xb1f | 0xb80 | 0xb82..=0xb9f | 0xf11..=0xf15);
        let read = |mode| step(&mut world(mode, &[csr(RS, 5, number, 0)]));
        let write = |mode| step(&mut world(mode, &[csr(RW, 0, number, 0)]));
        let wanted = |legal| if legal { None } else { ILLEGAL };
        assert_eq!(read(Machine), wanted(known), "read of {number:#x}");
        assert_eq!(read(User), wanted(is_counter), "{number:#x} in user mode");
        assert_eq!(
            write(Machine),
            wanted(known && number < 0xc00),
            "write of {number:#x}"
        );
        assert_eq!(write(User), ILLEGAL, "write of {number:#x} in user mode");
    }
}

#[test]
fn holds_only_what_can_be_held() {
    for number in 0..0x1000 {
        let mut hart = world(Privilege::Machine, &[]).hart;
        let Some(before) = hart.csr(number, 0) else {
            continue;
        };
        let _ = hart.set_csr(number, u32::MAX, 0);
        let after = match number {
            0x300 => 0x0002_1888,
            0x301 => 0x4090_1105,
            0x305 => 0xffff_fffc,
            0x306 => 7,
            0x340 | 0x343 => u32::MAX,
            0x341 => 0xffff_fffe,
            0x342 => 31,
            0xf14 => 5,
            _ => 0,
        };
        assert_eq!(hart.csr(number, 0), Some(after), "{number:#x}");
        if !matches!(number, 0x300 | 0x305 | 0x340..=0x343) {
            assert_eq!(before, after, "{number:#x} is written");
        }
    }
}

#[test]
fn counters_cannot_be_set() {
    let counters = [
        0xb00, 0xc00, 0xc01, 0xb80, 0xc80, 0xc81, 0xb02, 0xc02, 0xb82, 0xc82,
    ];
    let writes = [0xb00, 0xb80, 0xb02, 0xb82].map(|number| csr(RW, 0, number, 6));
    let mut world = world(Privilege::Machine, &writes).set(&[(6, 1000)]);
    for _ in writes {
        world.retire();
    }
    let read = counters.map(|number| world.hart.csr(number, 0x5_0000_0010));
    let wanted = [0x10, 0x10, 0x10, 5, 5, 5, 4, 4, 0, 0];
    assert_eq!(read, wanted.map(Some));
}

#[test]
fn traps_have_causes_and_values() {
    use Privilege::{Machine, User};
    let (end, at) = (BASE + LEN, DATA + 1);
    // Mode, instruction, x6, and cause, mtval, mepc.
    let cases = [
        (Machine, 0xffff_ffff, 0, [2, 0, BASE]),
        (Machine, 0, 0, [2, 0, BASE]),
        (User, MRET, 0, [2, 0, BASE]),
        (Machine, EBREAK, 0, [3, BASE, BASE]),
        (User, ECALL, 0, [8, 0, BASE]),
        (Machine, ECALL, 0, [11, 0, BASE]),
        (Machine, lw(5, 6, 4), end, [5, end + 4, BASE]),
        (Machine, sw(5, 6, 4), end, [7, end + 4, BASE]),
        // The first word of two is refused, the second, and the only one.
        (Machine, lw(5, 6, 0), BASE - 1, [5, BASE - 1, BASE]),
        (Machine, sw(5, 6, 0), BASE - 3, [7, BASE - 3, BASE]),
        (Machine, lw(5, 6, 0), end - 1, [5, end, BASE]),
        (Machine, sw(5, 6, 0), end - 3, [7, end, BASE]),
        (Machine, i(0x03, 1, 5, 6, 3), end - 4, [5, end, BASE]),
        (Machine, s(1, 6, 5, 3), end - 4, [7, end, BASE]),
        (Machine, i(0x03, 5, 5, 6, 1), end, [5, end + 1, BASE]),
        (Machine, lr(5, 6), at, [4, at, BASE]),
        (Machine, sc(5, 7, 6), at, [6, at, BASE]),
        (Machine, amo(0, 5, 6, 7), at, [6, at, BASE]),
        (Machine, lr(5, 6), end, [5, end, BASE]),
        (Machine, amo(0, 5, 6, 7), end, [7, end, BASE]),
    ];
    for (mode, bits, x6, wanted) in cases {
        let mut world = world(mode, &[bits]).set(&[(6, x6)]);
        assert_eq!(step(&mut world), Some(wanted), "{bits:#010x} with {x6:#x}");
        let mpp = if mode == Machine { 3 << 11 } else { 0 };
        assert_eq!(world.csr(0x300), mpp);
        assert_eq!((world.hart.pc(), world.hart.privilege()), (HANDLER, Machine));
    }
    let mut jump = world(User, &[jalr(0, 6, 0)]).set(&[(6, end)]);
    jump.retire();
    assert_eq!(step(&mut jump), Some([1, end, end]));
}

#[test]
fn a_second_half_that_is_refused_leaves_the_first() {
    let end = BASE + LEN;
    let mut store = world(Privilege::Machine, &[sw(7, 6, 0)]).set(&[(6, end - 2), (7, 0x1234_5678)]);
    assert_eq!(step(&mut store), Some([7, end, BASE]));
    assert_eq!(store.word(end - 4), 0x5678_0000);
    let mut load = world(Privilege::Machine, &[lw(5, 6, 0)]).set(&[(6, end - 2), (5, 9)]);
    assert_eq!((step(&mut load), load.x(5)), (Some([5, end, BASE]), 9));
}

#[test]
fn does_not_wait_for_interrupts() {
    for mode in [Privilege::Machine, Privilege::User] {
        let mut world = world(mode, &[WFI]);
        world.retire();
        assert_eq!((world.hart.pc(), world.hart.retired()), (BASE + 4, 1));
    }
}

fn csum(rd: u32, rs1: u32, rs2: u32) -> u32 {
    r(0x0b, 0, 0, rd, rs1, rs2)
}

#[test]
fn adds_with_the_carry_around_the_end() {
    for (a, b, sum) in [
        (0, 0, 0),
        (1, 2, 3),
        (u32::MAX, 0, u32::MAX),
        (u32::MAX, 1, 1),
        (u32::MAX, u32::MAX, u32::MAX),
        (0x8000_0000, 0x8000_0000, 1),
        (0xffff_0000, 0x0001_ffff, 0x0001_0000),
    ] {
        for (a, b) in [(a, b), (b, a)] {
            let mut world = world(Privilege::User, &[csum(5, 6, 7)]).set(&[(6, a), (7, b)]);
            assert_eq!(world.retire(), world.costs.alu);
            assert_eq!(world.x(5), sum, "{a:#x} and {b:#x}");
        }
    }
    assert_eq!(
        Instruction::decode(csum(10, 11, 12)).to_string(),
        "csum a0, a1, a2"
    );
}

#[test]
fn only_an_hpu_adds_so() {
    let bits = csum(31, 17, 12);
    for set in [CsrSet::All, CsrSet::Ri5cy] {
        let mut world = World::new(&[bits]);
        world.hart = Hart::new(0, BASE).with_csrs(set);
        let Step::Trapped { trap, value, .. } = world.step() else {
            panic!("{set:?} has csum");
        };
        assert_eq!((trap, value), (Trap::Illegal, bits), "{set:?}");
    }
    // Other functions of the major opcode.
    for bits in [r(0x0b, 1, 0, 5, 6, 7), r(0x0b, 0, 1, 5, 6, 7), bits | 1 << 31] {
        assert_eq!(step(&mut world(Privilege::Machine, &[bits])), ILLEGAL);
    }
}

/// Memory that is not for user mode.
struct Guarded(Ram);

impl Bus for Guarded {
    fn fetch(&mut self, address: u32, who: Privilege) -> Result<u32, Fault> {
        self.0.fetch(address, who)
    }

    fn load(&mut self, address: u32, width: Width, who: Privilege) -> Result<Access, Fault> {
        self.0.load(address, width, who)
    }

    fn store(&mut self, address: u32, width: Width, value: u32, who: Privilege) -> Result<Access, Fault> {
        self.0.store(address, width, value, who)
    }

    fn reserves(&self, _: u32, who: Privilege) -> Reservations {
        match who {
            Privilege::User => Reservations::Refused,
            Privilege::Machine => Reservations::Kept,
        }
    }

    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault> {
        self.0.modify(address, who, change)
    }
}

/// As in hardware, where memory checks the address before it looks for the reservation.
#[test]
fn a_refused_store_conditional_traps_without_a_reservation() {
    for (mode, mstatus, is_refused) in [
        (Privilege::Machine, 0, false),
        (Privilege::Machine, 1 << 17, true), // MPRV, with user mode before
        (Privilege::User, 0, true),
    ] {
        for (bits, cause) in [(lr(5, 6), Trap::LoadFault), (sc(5, 7, 6), Trap::StoreFault)] {
            let World {
                mut hart, ram, costs, ..
            } = world(mode, &[bits]).set(&[(6, DATA)]);
            hart.set_csr(0x300, mstatus, 0).unwrap();
            let is_trapped = match hart.step(&mut Guarded(ram), &costs, 0) {
                Step::Trapped { trap, value, .. } => (trap, value) == (cause, DATA),
                _ => false,
            };
            assert_eq!(is_trapped, is_refused, "{cause} in {mode:?}");
        }
    }
}
