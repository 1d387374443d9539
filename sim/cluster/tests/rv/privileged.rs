//! CSRs, modes and traps.

use crate::support::{BASE, DATA, EBREAK, ECALL, HANDLER, MRET, WFI, World, addi, csr, lw};
use spinneret_cluster::rv::{Access, Bus, Costs, CsrSet, Fault, Hart, Privilege, Ram, Step, Trap, Width};

const RW: u32 = 1;
const RS: u32 = 2;
const RC: u32 = 3;
const RWI: u32 = 5;
const RSI: u32 = 6;
const RCI: u32 = 7;

const MSTATUS: u32 = 0x300;
const MTVEC: u32 = 0x305;
const MSCRATCH: u32 = 0x340;
const MEPC: u32 = 0x341;

fn in_user_mode(program: &[u32]) -> World {
    let mut world = World::new(program);
    world.hart.set_privilege(Privilege::User);
    world
}

#[test]
fn reads_writes_sets_and_clears() {
    let cases = [
        (csr(RW, 5, MSCRATCH, 6), 0b1010),
        (csr(RS, 5, MSCRATCH, 6), 0b1110),
        (csr(RC, 5, MSCRATCH, 6), 0b0100),
        (csr(RWI, 5, MSCRATCH, 0b1010), 0b1010),
        (csr(RSI, 5, MSCRATCH, 0b1010), 0b1110),
        (csr(RCI, 5, MSCRATCH, 0b1010), 0b0100),
        (csr(RS, 5, MSCRATCH, 0), 0b1100),
        (csr(RC, 5, MSCRATCH, 0), 0b1100),
        (csr(RWI, 5, MSCRATCH, 0), 0),
        (csr(RW, 5, MSCRATCH, 0), 0),
    ];
    for (bits, after) in cases {
        let mut world = World::new(&[bits]).set(&[(6, 0b1010)]);
        world.hart.set_csr(MSCRATCH, 0b1100, 0).unwrap();
        world.retire();
        assert_eq!((world.x(5), world.csr(MSCRATCH)), (0b1100, after), "{bits:#010x}");
    }
    let mut world = World::new(&[csr(RW, 6, MSCRATCH, 6)]).set(&[(6, 7)]);
    world.retire();
    assert_eq!(
        (world.x(6), world.csr(MSCRATCH)),
        (0, 7),
        "the source is read before the result is written"
    );
}

#[test]
fn refuses_writes_to_read_only_registers_but_not_reads() {
    for number in [0xc00, 0xc01, 0xc02, 0xc80, 0xf11, 0xf14, 0xc10, 0xcc0] {
        for (bits, legal) in [
            (csr(RS, 5, number, 0), true),
            (csr(RC, 5, number, 0), true),
            (csr(RSI, 5, number, 0), true),
            (csr(RCI, 5, number, 0), true),
            (csr(RW, 5, number, 0), false),
            (csr(RWI, 5, number, 0), false),
            (csr(RS, 5, number, 6), false), // although x6 is zero
            (csr(RCI, 5, number, 1), false),
        ] {
            let mut world = World::new(&[bits]);
            if legal {
                world.retire();
            } else {
                assert_eq!(world.trap(), (Trap::Illegal, bits), "{bits:#010x}");
            }
        }
    }
}

#[test]
fn knows_these_registers_and_no_others() {
    let hart = Hart::new(0, 0);
    let known = |number: u32| {
        matches!(number,
            0x014 | 0x300 | 0x301 | 0x304..=0x306 | 0x310 | 0x320 | 0x323..=0x33f | 0x340..=0x344
            | 0x3a0..=0x3a3 | 0x3b0..=0x3bf | 0x780..=0x7a1 | 0x7e0 | 0x7e1
            | 0xb00 | 0xb02..=0xb1f | 0xb80 | 0xb82..=0xb9f | 0xc00..=0xc1f | 0xc80..=0xc9f
            | 0xcc0 | 0xcc1 | 0xf11..=0xf15)
    };
    for number in 0..0x1000 {
        assert_eq!(hart.csr(number, 0).is_some(), known(number), "{number:#x}");
        let bits = csr(RS, 5, number, 0);
        let mut world = World::new(&[bits]);
        if known(number) {
            world.retire();
        } else {
            assert_eq!(world.trap(), (Trap::Illegal, bits), "{number:#x}");
        }
    }
}

#[test]
fn gives_user_mode_only_its_own() {
    for number in 0..0x1000 {
        let bits = csr(RS, 5, number, 0);
        let allowed =
            matches!(number, 0x014 | 0xc00..=0xc02 | 0xc80..=0xc82 | 0x780..=0x79f | 0xc10 | 0xcc0 | 0xcc1);
        let mut world = in_user_mode(&[bits]);
        if allowed {
            world.retire();
        } else {
            assert_eq!(world.trap(), (Trap::Illegal, bits), "{number:#x}");
        }
        let bits = csr(RW, 0, number, 0);
        assert_eq!(
            in_user_mode(&[bits]).trap(),
            (Trap::Illegal, bits),
            "write of {number:#x}"
        );
    }
}

#[test]
fn hides_counters_from_user_mode_under_mcounteren() {
    for (number, bit) in [
        (0xc00, 0),
        (0xc80, 0),
        (0xc01, 1),
        (0xc81, 1),
        (0xc02, 2),
        (0xc82, 2),
        (0x780, 0),
        (0x781, 2),
    ] {
        for visible in 0..8_u32 {
            let bits = csr(RS, 5, number, 0);
            let mut world = in_user_mode(&[bits]);
            world.hart.set_csr(0x306, visible, 0).unwrap();
            match world.step() {
                Step::Retired { .. } => assert_eq!(visible >> bit & 1, 1, "{number:#x}"),
                Step::Trapped { trap, .. } => assert_eq!((trap, visible >> bit & 1), (Trap::Illegal, 0)),
                Step::Waits => panic!("a register never waits"),
            }
        }
    }
}

#[test]
fn holds_only_what_can_be_held() {
    let written = |number, value| {
        let mut hart = Hart::new(0, 0);
        hart.set_csr(number, value, 0).unwrap();
        hart.csr(number, 0).unwrap()
    };
    assert_eq!(written(MSTATUS, u32::MAX), 0x0002_1888, "MPRV, MPP, MPIE, MIE");
    assert_eq!(written(MSTATUS, 0), 0);
    assert_eq!(
        written(MSTATUS, 1 << 11),
        3 << 11,
        "there is no supervisor mode to return to"
    );
    assert_eq!(written(0x301, 0), 0x4010_1105, "misa");
    assert_eq!(written(MTVEC, u32::MAX), 0xffff_fffc);
    assert_eq!(written(MEPC, u32::MAX), 0xffff_fffe);
    assert_eq!(written(0x306, u32::MAX), 7);
    assert_eq!(written(0x344, u32::MAX), 0, "no interrupts");
    for number in [
        0x304, MSCRATCH, 0x342, 0x343, 0x3a0, 0x3a3, 0x3b0, 0x3bf, 0x7a0, 0x7e0,
    ] {
        assert_eq!(written(number, 0xdead_beef), 0xdead_beef, "{number:#x}");
    }
}

#[test]
fn identifies_itself() {
    let mut hart = Hart::new(37, 0x1d00_0080);
    assert_eq!((hart.csr(0xf14, 0), hart.csr(0x014, 0)), (Some(37), Some(37)));
    assert_eq!((hart.pc(), hart.privilege()), (0x1d00_0080, Privilege::Machine));
    hart.set_pc(0);
    hart.set_x(5, 5);
    hart.set_privilege(Privilege::User);
    hart.reset();
    assert_eq!(
        (hart.pc(), hart.x(5), hart.privilege(), hart.csr(0xf14, 0)),
        (0x1d00_0080, 0, Privilege::Machine, Some(37))
    );
}

#[test]
fn counts_clocks_of_the_machine() {
    let mut world = World::new(&[
        csr(RS, 5, 0xc00, 0),
        csr(RS, 6, 0xb00, 0),
        csr(RS, 7, 0x780, 0),
        csr(RS, 8, 0xc80, 0),
    ]);
    world.now = 0x5_0000_0010;
    for _ in 0..4 {
        world.retire();
    }
    assert_eq!(
        [5, 6, 7, 8].map(|register| world.x(register)),
        [0x10, 0x11, 0x12, 5]
    );
}

#[test]
fn counts_from_where_a_counter_was_set() {
    let mut world = World::new(&[
        csr(RW, 0, 0xb00, 6), // mcycle
        csr(RS, 7, 0xb00, 0),
        csr(RW, 0, 0xb02, 6), // minstret
        csr(RS, 8, 0xb02, 0),
        csr(RW, 0, 0x79f, 0), // all counters of PULP
        csr(RS, 9, 0x780, 0),
        csr(RS, 10, 0x781, 0),
        csr(RW, 0, 0xb80, 6),
        csr(RS, 11, 0xb80, 0),
        csr(RS, 12, 0xc81, 0),
    ])
    .set(&[(6, 1000)]);
    for _ in 0..10 {
        world.retire();
    }
    assert_eq!(
        [7, 8, 9, 10, 11, 12].map(|register| world.x(register)),
        [1001, 1000, 1, 1, 1000, 0]
    );
}

#[test]
fn calls_the_environment_and_returns() {
    for (mode, trap, mpp) in [
        (Privilege::User, Trap::EnvironmentCallU, 0),
        (Privilege::Machine, Trap::EnvironmentCallM, 3),
    ] {
        let mut world = World::new(&[ECALL, addi(5, 0, 1)]);
        world.ram.write(HANDLER, &addi(28, 28, 4).to_le_bytes());
        world.ram.write(HANDLER + 4, &csr(RW, 0, MEPC, 28).to_le_bytes());
        world.ram.write(HANDLER + 8, &MRET.to_le_bytes());
        world.hart.set_x(28, BASE);
        world.hart.set_csr(MSTATUS, 8, 0).unwrap();
        world.hart.set_privilege(mode);
        assert_eq!(world.trap(), (trap, 0));
        assert_eq!(world.hart.privilege(), Privilege::Machine);
        assert_eq!(
            world.csr(MSTATUS),
            mpp << 11 | 0x80,
            "interrupts are off, and were on"
        );
        for _ in 0..3 {
            world.retire();
        }
        assert_eq!((world.hart.pc(), world.hart.privilege()), (BASE + 4, mode));
        assert_eq!(world.csr(MSTATUS), 0x88, "MPP is user mode after a return");
        world.retire();
        assert_eq!(world.x(5), 1);
    }
}

#[test]
fn enters_user_mode_like_the_fpspin_runtime() {
    // mstatus.MPP cleared, mepc set, mret.
    let mut world = World::new(&[csr(RC, 0, MSTATUS, 5), csr(RW, 0, MEPC, 6), MRET])
        .set(&[(5, 3 << 11), (6, BASE + 0x40)]);
    for _ in 0..3 {
        world.retire();
    }
    assert_eq!(
        (world.hart.pc(), world.hart.privilege()),
        (BASE + 0x40, Privilege::User)
    );
}

#[test]
fn refuses_machine_instructions_in_user_mode() {
    assert_eq!(in_user_mode(&[MRET]).trap(), (Trap::Illegal, MRET));
    let bits = csr(RWI, 3, MTVEC, 17);
    assert_eq!(in_user_mode(&[bits]).trap(), (Trap::Illegal, bits));
    assert_eq!(
        in_user_mode(&[WFI]).step(),
        Step::Waits,
        "waiting is for everybody"
    );
}

#[test]
fn stops_at_breakpoints() {
    assert_eq!(World::new(&[EBREAK]).trap(), (Trap::Breakpoint, BASE));
    assert_eq!(
        World::new(&[0x9002]).trap(),
        (Trap::Breakpoint, BASE),
        "compressed"
    );
}

#[test]
fn refuses_other_system_instructions() {
    // sret, uret, sfence.vma, dret, ecall and mret with registers, funct3 4.
    for bits in [
        0x1020_0073,
        0x0020_0073,
        0x1200_0073,
        0x7b20_0073,
        0x0000_00f3,
        0x3020_8073,
        0x0000_4073,
    ] {
        assert_eq!(World::new(&[bits]).trap(), (Trap::Illegal, bits), "{bits:#010x}");
    }
}

#[test]
fn traps_for_reasons_from_outside() {
    let mut world = in_user_mode(&[addi(5, 0, 1), addi(5, 5, 1)]);
    world.retire();
    world.hart.raise(Trap::Custom(24), 9);
    assert_eq!(
        (world.hart.pc(), world.hart.privilege()),
        (HANDLER, Privilege::Machine)
    );
    assert_eq!(
        [MEPC, 0x342, 0x343, MSTATUS].map(|number| world.csr(number)),
        [BASE + 4, 24, 9, 0]
    );
    assert_eq!(world.x(5), 1);
}

#[test]
fn numbers_causes_as_the_manual_does() {
    let causes = [
        (Trap::InstructionMisaligned, 0),
        (Trap::InstructionFault, 1),
        (Trap::Illegal, 2),
        (Trap::Breakpoint, 3),
        (Trap::LoadMisaligned, 4),
        (Trap::LoadFault, 5),
        (Trap::StoreMisaligned, 6),
        (Trap::StoreFault, 7),
        (Trap::EnvironmentCallU, 8),
        (Trap::EnvironmentCallM, 11),
        (Trap::Custom(24), 24),
    ];
    for (trap, cause) in causes {
        assert_eq!(trap.cause(), cause, "{trap}");
    }
}

/// Memory that remembers who asked.
struct Watched {
    ram: Ram,
    fetched: Vec<Privilege>,
    loaded: Vec<Privilege>,
}

impl Bus for Watched {
    fn fetch(&mut self, address: u32, who: Privilege) -> Result<u32, Fault> {
        self.fetched.push(who);
        self.ram.fetch(address, who)
    }

    fn load(&mut self, address: u32, width: Width, who: Privilege) -> Result<Access, Fault> {
        self.loaded.push(who);
        self.ram.load(address, width, who)
    }

    fn store(&mut self, address: u32, width: Width, value: u32, who: Privilege) -> Result<Access, Fault> {
        self.ram.store(address, width, value, who)
    }

    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault> {
        self.ram.modify(address, who, change)
    }
}

#[test]
fn tells_the_bus_who_asks() {
    use Privilege::{Machine, User};
    for (mode, mstatus, data) in [
        (Machine, 0, Machine),
        (User, 0, User),
        (Machine, 1 << 17, User),              // MPRV, with user mode before
        (Machine, 1 << 17 | 3 << 11, Machine), // MPRV, with machine mode before
        (User, 1 << 17 | 3 << 11, User),       // MPRV is for machine mode only
    ] {
        for set in [CsrSet::All, CsrSet::Ri5cy, CsrSet::Hpu] {
            let World { hart, ram, .. } = World::new(&[lw(5, 6, 0)]).set(&[(6, DATA)]);
            let mut hart = hart.with_csrs(set);
            hart.set_privilege(mode);
            hart.set_csr(MSTATUS, mstatus, 0).unwrap();
            let mut bus = Watched {
                ram,
                fetched: vec![],
                loaded: vec![],
            };
            assert!(matches!(
                hart.step(&mut bus, &Costs::default(), 0),
                Step::Retired { .. }
            ));
            assert_eq!(
                (bus.fetched, bus.loaded),
                (vec![mode], vec![data]),
                "{set:?} {mode:?} {mstatus:#x}"
            );
        }
    }
}
