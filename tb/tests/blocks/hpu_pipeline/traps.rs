//! Each reason for a trap: cause, address and value as the program reads them, the mode, and the registers after it.

use super::*;
use spinneret_tb::hpu::{DATA, Lockstep, PROGRAM, Program, Report, STOPPED, Setup};

/// Data that user mode may access: one grain.
const INSIDE: u32 = DATA + 64;
const RANGE: (u32, u32) = (INSIDE / 64, INSIDE / 64 + 1);
/// Nothing is there.
const NOWHERE: u32 = 0x3000_0000;
/// The last two bytes of data and of program memory.
const DATA_END: u32 = DATA + 0xfffe;
const PROGRAM_END: u32 = PROGRAM + 0x7ffe;
/// Offsets of the trap handler and of the first case, and bytes of a case.
const HANDLER: u32 = 0x300;
const CASES: u32 = 0x400;
const CASE: u32 = 16;

/// Values of registers while a case runs; the handler needs x30 and x31.
fn initial(register: u32) -> u32 {
    let addresses = [
        (2, INSIDE),
        (3, DATA),
        (4, NOWHERE),
        (5, DATA_END),
        (6, PROGRAM + 0x8000),
        (7, PROGRAM_END),
        (8, PROGRAM_END - 2),
        (9, PROGRAM - 4),
    ];
    let address = addresses.iter().find(|(of, _)| *of == register);
    address.map_or(0x0101_0101 * register, |(_, value)| *value)
}

/// A trap: cause, where if not at the instruction, and the value in `mtval` if that is not the same address.
#[derive(Clone, Copy, Debug)]
struct Trap {
    cause: u32,
    pc: Option<u32>,
    value: Option<u32>,
}

/// An instruction, and the trap in user and in machine mode, if there is one.
#[derive(Clone, Debug)]
struct Case {
    code: String,
    user: Option<Trap>,
    machine: Option<Trap>,
}

fn trap(cause: u32, value: u32) -> Option<Trap> {
    Some(Trap {
        cause,
        pc: None,
        value: Some(value),
    })
}

fn case(code: &str, user: Option<Trap>, machine: Option<Trap>) -> Case {
    let code = code.to_owned();
    Case { code, user, machine }
}

/// Traps in both modes.
fn always(code: &str, cause: u32, value: u32) -> Case {
    case(code, trap(cause, value), trap(cause, value))
}

/// Traps in user mode only.
fn in_user(code: &str, cause: u32, value: u32) -> Case {
    case(code, trap(cause, value), None)
}

/// The next instruction is outside of program memory.
fn outside(code: &str, target: u32) -> Case {
    let trap = Some(Trap {
        cause: 1,
        pc: Some(target),
        value: None,
    });
    case(code, trap, trap)
}

/// Words that are no instructions, by what is wrong with them.
#[rustfmt::skip]
const ILLEGAL: &[(&str, u32)] = &[
    ("zeros", 0), ("ones", 0xffff_ffff), ("longer than 32 bits", 0x0000_001f),
    ("flw", 0x0000_2007), ("fsw", 0x0000_2027), ("fadd.s", 0x0000_0053), ("fmadd.s", 0x0000_0043),
    ("addiw", 0x0000_001b), ("addw", 0x0000_003b), ("custom-1", 0x0000_002b), ("custom-2", 0x0000_005b),
    ("custom-3", 0x0000_007b), ("custom-0, funct3", 0x0000_100b), ("custom-0, funct7", 0x0200_000b),
    ("vector", 0x0000_0057), ("reserved opcode", 0x0000_006b), ("reserved opcode 77", 0x0000_0077),
    ("jalr, funct3", 0x0000_1067), ("branch 2", 0x0000_2063), ("branch 3", 0x0000_3063),
    ("ld", 0x0000_3003), ("lwu", 0x0000_6003), ("load 7", 0x0000_7003),
    ("sd", 0x0000_3023), ("store 4", 0x0000_4023), ("store 7", 0x0000_7023),
    ("slli by 32", 0x0200_1013), ("slli, bit 30", 0x4000_1013), ("srai by 32", 0x4200_5013), ("srli, bit 31", 0x8000_5013),
    ("op, funct7", 0x0400_0033), ("sub with funct3 1", 0x4000_1033), ("op, bit 31", 0x8000_0033),
    ("misc-mem 2", 0x0000_200f), ("system 4", 0x0000_4073),
    ("uret", 0x0020_0073), ("sret", 0x1020_0073), ("dret", 0x7b20_0073), ("sfence.vma", 0x1200_0073),
    ("ecall with rd", 0x0000_00f3), ("ebreak with rs1", 0x0010_8073), ("mret with rd", 0x3020_00f3),
    ("amoadd.d", 0x0000_302f), ("amo, funct3 0", 0x0000_002f), ("lr.w with rs2", 0x1010_202f), ("amo 5", 0x2800_202f),
    ("amo 31", 0xf800_202f),
];

/// The same of 16 bits.
#[rustfmt::skip]
const ILLEGAL_SHORT: &[(&str, u32)] = &[
    ("zeros", 0x0000), ("c.addi4spn of 0", 0x0004), ("c.fld", 0x2000), ("c.flw", 0x6000), ("reserved", 0x8000),
    ("c.fsd", 0xa000), ("c.fsw", 0xe000), ("c.lui of 0", 0x6081), ("c.addi16sp of 0", 0x6101),
    ("c.srli by 32", 0x9001), ("c.srai by 32", 0x9401), ("c.subw", 0x9c01), ("c.addw", 0x9c21), ("reserved", 0x9c41),
    ("c.slli by 32", 0x1082), ("c.fldsp", 0x2002), ("c.lwsp to x0", 0x4002), ("c.flwsp", 0x6002), ("c.jr x0", 0x8002),
    ("c.fsdsp", 0xa002), ("c.fswsp", 0xe002),
];

fn cases() -> Vec<Case> {
    let mut cases = vec![
        // Protection ranges: accesses, and both halves of those in two parts.
        in_user("lw x10, 0(x3)", 5, DATA),
        in_user("lbu x10, 63(x3)", 5, DATA + 63),
        in_user("sw x11, 0(x3)", 7, DATA),
        in_user("sb x11, 64(x2)", 7, INSIDE + 64),
        in_user("lr.w x10, (x3)", 5, DATA),
        in_user("sc.w x10, x11, (x3)", 7, DATA),
        in_user("amoadd.w x10, x11, (x3)", 7, DATA),
        in_user("lw x10, -2(x2)", 5, INSIDE - 2),
        in_user("sw x11, -2(x2)", 7, INSIDE - 2),
        in_user("lw x10, 62(x2)", 5, INSIDE + 64),
        in_user("lh x10, 63(x2)", 5, INSIDE + 64),
        in_user("sw x11, 61(x2)", 7, INSIDE + 64),
        in_user("sh x11, 63(x2)", 7, INSIDE + 64),
        // No such address; the second half only.
        always("lw x10, 0(x4)", 5, NOWHERE),
        always("lb x10, 3(x4)", 5, NOWHERE + 3),
        always("lw x10, 3(x4)", 5, NOWHERE + 3),
        always("sw x11, 4(x4)", 7, NOWHERE + 4),
        always("sw x11, 5(x4)", 7, NOWHERE + 5),
        always("lr.w x10, (x4)", 5, NOWHERE),
        always("sc.w x10, x11, (x4)", 7, NOWHERE),
        always("amoswap.w x10, x11, (x4)", 7, NOWHERE),
        always("lw x10, 0(x0)", 5, 0),
        case("lw x10, 0(x5)", trap(5, DATA_END), trap(5, DATA_END + 2)),
        case("sw x11, 0(x5)", trap(7, DATA_END), trap(7, DATA_END + 2)),
        // Atomic instructions are aligned; that is checked before the address.
        always("lr.w x10, (x5)", 4, DATA_END),
        always("sc.w x10, x11, (x5)", 6, DATA_END),
        always("amoadd.w x10, x11, (x5)", 6, DATA_END),
        always("amomaxu.w x10, x11, (x12)", 7, initial(12)),
        always("amomaxu.w x10, x11, (x13)", 6, initial(13)),
        // Misaligned accesses that are allowed.
        case("lw x10, 57(x2)", None, None),
        case("lh x10, 1(x2)", None, None),
        case("lhu x10, 3(x2)", None, None),
        case("sw x11, 2(x2)", None, None),
        case("sh x11, 7(x2)", None, None),
        // Control and status registers.
        always("csrrw x10, cycle, x11", 2, 0),
        always("csrrs x10, instret, x11", 2, 0),
        always("csrrc x10, cycleh, x11", 2, 0),
        always("csrrwi x10, time, 0", 2, 0),
        always("csrrsi x10, 0xc03, 1", 2, 0),
        always("csrrw x0, mhartid, x0", 2, 0),
        always("csrrci x10, mvendorid, 1", 2, 0),
        case("csrrs x10, 0xc1f, x0", None, None),
        case("csrrci x10, 0xc9f, 0", None, None),
        in_user("csrrs x10, mhartid, x0", 2, 0),
        in_user("csrrs x10, mstatus, x0", 2, 0),
        in_user("csrrw x10, mscratch, x11", 2, 0),
        in_user("csrrw x0, mtval, x11", 2, 0),
        in_user("csrrwi x10, mcycle, 1", 2, 0),
        in_user("csrrs x10, 0xb1f, x0", 2, 0),
        always("csrrs x10, 0x000, x0", 2, 0),
        always("csrrs x10, 0x003, x0", 2, 0),
        always("csrrs x10, 0x180, x0", 2, 0),
        always("csrrw x10, 0x3a0, x11", 2, 0),
        always("csrrw x10, 0x3b0, x11", 2, 0),
        always("csrrs x10, 0x7a0, x0", 2, 0),
        always("csrrs x10, 0x7b0, x0", 2, 0),
        always("csrrs x10, 0xb01, x0", 2, 0),
        always("csrrs x10, 0xc20, x0", 2, 0),
        // The system.
        case("ecall", trap(8, 0), trap(11, 0)),
        case("wfi", None, None),
        case("fence", None, None),
        case("fence.i", None, None),
        // Jumps to nowhere, around the ends of program memory. There is an instruction of 16 bits at its end less 4 bytes, and half
        // of one of 32 bits in its last two.
        outside("jalr x10, 0(x4)", NOWHERE),
        outside("jalr x0, 5(x4)", NOWHERE + 4),
        outside("jalr x0, 0(x0)", 0),
        outside("jalr x0, 0(x6)", PROGRAM + 0x8000),
        outside("jalr x0, 0(x7)", PROGRAM_END),
        outside("jalr x0, 0(x8)", PROGRAM_END),
        outside("jalr x0, 0(x9)", PROGRAM - 4),
        outside("jal x0, PROGRAM + 0x8000", PROGRAM + 0x8000),
    ];
    for code in ["ebreak", ".half 0x9002"] {
        let here = Some(Trap {
            cause: 3,
            pc: None,
            value: None,
        });
        cases.push(case(code, here, here));
    }
    let longs = ILLEGAL
        .iter()
        .map(|(what, word)| (what, format!(".word {word:#x}")));
    let shorts = ILLEGAL_SHORT
        .iter()
        .map(|(what, half)| (what, format!(".half {half:#x}")));
    cases.extend(
        longs
            .chain(shorts)
            .map(|(what, code)| always(&format!("{code} # {what}"), 2, 0)),
    );
    // The last one, as in machine mode it returns to itself.
    cases.push(in_user("mret", 2, 0));
    cases
}

/// All cases one after the other in one mode. Each ends with a trap: its own, or `ecall`.
fn program(cases: &[Case], is_user: bool) -> Program {
    let mut text = format!(
        ".org 0x80\n li x31, handler\n csrrw x0, mtvec, x31\n csrrw x0, mscratch, x0\n li x30, first + {}\n",
        -(CASE as i32)
    );
    for register in 1..30 {
        text += &format!("li x{register}, {}\n", initial(register));
    }
    text += &format!(
        "
            j    next
        .org {HANDLER}
        handler:
            addi x31, x30, 1        # nothing is left of an access in two parts
        cause:
            csrrs x31, mcause, x0
            csrrs x31, mepc, x0
            csrrs x31, mtval, x0
            csrrs x31, mstatus, x0
        registers:
        "
    );
    for register in 1..30 {
        text += &format!("add x0, x{register}, x0\n");
    }
    let mode = if is_user { 0 } else { 3 << 11 };
    text += &format!(
        "
        next:
            li   x10, {}
            addi x30, x30, {CASE}
            csrrw x0, mepc, x30
            li   x31, {mode}
            csrrw x0, mstatus, x31
            mret
        .org {CASES}
        first:
        ",
        initial(10)
    );
    for (number, Case { code, .. }) in cases.iter().enumerate() {
        text += &format!(".org {}\n {code}\n ecall\n", CASES + CASE * number as u32);
    }
    text += "done: j done\n .org 0x7ffc\n .half 0x0001\n .half 0x0013\n";
    Program::assemble(&text)
}

/// The values that an instruction wrote for a thread.
fn written(reports: &[Report], pc: u32) -> Vec<u32> {
    let of_it = reports.iter().filter(|report| report.pc[0] == pc);
    of_it.map(|report| report.writes.1).collect()
}

fn every_case_traps<M: Pipeline>(run: &mut TestRun) {
    for is_user in [true, false] {
        let mut cases = cases();
        if !is_user {
            cases.pop();
        }
        let program = program(&cases, is_user);
        let setup = Setup {
            program: program.words.clone(),
            ranges: vec![RANGE],
            ..Setup::default()
        };
        let mut bench = Lockstep::<M>::new(run.simulation(), setup, run.rng("lockstep"));
        // Registers and 12 more instructions of at most three slots.
        let slots = 60 * (cases.len() as u64 + 1);
        let reports = bench.run(slots * M::THREADS as u64);
        bench.finish();
        for thread in 0..M::THREADS {
            let own = reports.iter().filter(|report| report.thread == thread);
            check(&cases, &program, &own.copied().collect::<Vec<_>>(), is_user);
        }
    }
}

/// Checks what one thread did.
fn check(cases: &[Case], program: &Program, reports: &[Report], is_user: bool) {
    let handler = program.address("handler");
    let cause = program.address("cause");
    let [causes, pcs, values, modes] = [0, 4, 8, 12].map(|offset| written(reports, cause + offset));
    assert!(causes.len() >= cases.len(), "{} of {}", causes.len(), cases.len());
    for (number, case) in cases.iter().enumerate() {
        let here = PROGRAM + CASES + CASE * number as u32;
        let found = [causes[number], pcs[number], values[number]];
        let expected = match if is_user { case.user } else { case.machine } {
            Some(Trap { cause, pc, value }) => {
                let pc = pc.unwrap_or(here);
                [cause, pc, value.unwrap_or(pc)]
            }
            None => [if is_user { 8 } else { 11 }, here + 4, 0],
        };
        assert_eq!(found, expected, "{}, user mode: {is_user}", case.code);
        assert_eq!(
            modes[number] >> 11 & 3,
            if is_user { 0 } else { 3 },
            "{}",
            case.code
        );
        // A jump wrote its register before its target trapped.
        let has_trapped = found[1] == here;
        let registers = (1..30).filter(|register| has_trapped || *register != 10);
        for register in registers {
            let at = program.address("registers") + 4 * (register - 1);
            let reads = reports.iter().filter(|report| report.pc[0] == at);
            let value = reads.map(|report| report.reads[0].1).nth(number);
            assert_eq!(value, Some(initial(register)), "x{register} after {}", case.code);
        }
    }
    let in_handler = |report: &&Report| (handler..PROGRAM + CASES).contains(&report.pc[0]);
    assert!(reports.iter().filter(in_handler).all(|report| !report.is_user));
}

/// Threads are in machine mode for a while, then in an endless loop of user mode. One of them is stopped.
fn stopped_program(body: &str) -> Program {
    Program::assemble(&format!(
        "
        .org 0x80
            li   x31, handler
            csrrw x0, mtvec, x31
            li   x31, user
            csrrw x0, mepc, x31
            li   x2, {INSIDE}
            li   x5, 50
            li   x6, 6
            li   x30, 30
        machine:
            addi x5, x5, -1
            bne  x5, x0, machine
            csrrw x0, mstatus, x0
            mret
        .org 0x200
        user:
            {body}
            j    user
        .org {HANDLER}
        handler:
            addi x31, x30, 1        # nothing is left of an access in two parts
        cause:
            csrrs x31, mcause, x0
            csrrs x31, mepc, x0
            csrrs x31, mtval, x0
        parked:
            j    parked
        "
    ))
}

/// Starts a program whose loop is `body`, stops a thread after a number of clocks, and returns the clock of the trap.
fn stop<M: Pipeline>(run: &mut TestRun, body: &str, waits: u32, after: u64) -> u64 {
    let program = stopped_program(body);
    let setup = Setup {
        program: program.words.clone(),
        waits,
        ranges: vec![RANGE],
        ..Setup::default()
    };
    let mut bench = Lockstep::<M>::new(run.simulation(), setup, run.rng("lockstep"));
    let thread = M::THREADS - 2;
    let mut reports = bench.run(after);
    bench.set_stopped(1 << thread);
    reports.extend(bench.run(400 * M::THREADS as u64));
    bench.finish();
    let traps: Vec<&Report> = reports.iter().filter(|report| report.cause.is_some()).collect();
    let [trap] = traps[..] else {
        panic!("{body}: {traps:?}")
    };
    assert_eq!(
        (trap.thread, trap.cause, trap.is_user),
        (thread, Some(STOPPED), true)
    );
    assert!((PROGRAM + 0x200..PROGRAM + HANDLER).contains(&trap.pc[0]));
    let read = [0, 4, 8].map(|offset| written(&reports, program.address("cause") + offset));
    assert_eq!(read, [vec![STOPPED], vec![trap.pc[0]], vec![0]], "{body}");
    let is_parked = |report: &Report| report.pc[0] == program.address("parked") && !report.is_user;
    assert!(reports.iter().any(is_parked));
    trap.clock
}

fn endless_loops_are_stopped<M: Pipeline>(run: &mut TestRun) {
    let threads = M::THREADS as u64;
    let loops = [
        ("nop", 0),
        ("div x6, x2, x5", 0),
        ("lw x6, 2(x2)", 0),
        ("sw x6, 2(x2)", 0),
        ("amoadd.w x6, x6, (x2)", 0),
        ("csrrs x6, cycle, x0", 0),
        // Memory that never takes an offer.
        ("lw x6, 0(x2)", u32::MAX),
        ("sw x6, 3(x2)", u32::MAX),
        ("sc.w x6, x6, (x2)", u32::MAX),
    ];
    for (body, waits) in loops {
        // Every part of a loop, for some time.
        for slot in 0..8 {
            let after = threads * (400 + slot);
            let clock = stop::<M>(run, body, waits, after);
            assert!(clock - after <= 5 * threads, "{body}: {} clocks", clock - after);
        }
    }
}

/// `stop` is high from the reset on.
fn machine_mode_is_not_stopped<M: Pipeline>(run: &mut TestRun) {
    let clock = stop::<M>(run, "nop", 0, 0);
    // A loop of a hundred instructions came before it.
    assert!(clock > 100 * M::THREADS as u64);
}

#[test]
fn every_trap_has_its_cause_address_and_value() {
    every_pipeline!(1, every_case_traps);
}

#[test]
fn endless_loops_end_when_they_are_stopped() {
    every_pipeline!(2, endless_loops_are_stopped);
}

#[test]
fn stops_wait_for_user_mode() {
    every_pipeline!(3, machine_mode_is_not_stopped);
}
