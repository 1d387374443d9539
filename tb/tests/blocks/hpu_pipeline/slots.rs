//! Slots that instructions take, and that no thread takes those of another one.

use super::*;
use spinneret_tb::hpu::{Layout, Lockstep, Program, Report, STOPPED, Setup, random_program_beside};

/// Code, and its slots with four threads, and with more.
type Cost = (&'static str, [u64; 2]);

/// x2 is the address of a word, x6 and x7 are numbers, and traps, `mret` and x9 lead to what follows.
#[rustfmt::skip]
const COSTS: &[Cost] = &[
    // One slot.
    ("addi x5, x6, 1", [1, 1]), ("lui x5, 1", [1, 1]), ("auipc x5, 1", [1, 1]), ("sll x5, x6, x7", [1, 1]),
    ("mul x5, x6, x7", [1, 1]), ("mulhsu x5, x6, x7", [1, 1]), ("csum x5, x6, x7", [1, 1]),
    ("fence", [1, 1]), ("fence.i", [1, 1]), ("wfi", [1, 1]),
    ("csrrs x5, mhartid, x0", [1, 1]), ("csrrw x5, mscratch, x6", [1, 1]), ("csrrw x5, mstatus, x0", [1, 1]),
    ("lw x5, 0(x2)", [1, 1]), ("lb x5, 3(x2)", [1, 1]), ("sw x5, 0(x2)", [1, 1]), ("sb x5, 1(x2)", [1, 1]),
    ("lr.w x5, (x2)", [1, 1]), ("sc.w x5, x6, (x2)", [1, 1]), ("amoadd.w x5, x6, (x2)", [1, 1]),
    ("bne x0, x0, after", [1, 1]), (".half 0x0001\n .half 0x0001", [2, 2]),
    // With four threads the next instruction is under way when these jump.
    ("beq x0, x0, after", [2, 1]), ("blt x6, x7, after", [2, 1]), ("jal x5, after", [2, 1]), ("jalr x5, 0(x9)", [2, 1]),
    ("ecall", [2, 1]), ("ebreak", [2, 1]), ("mret", [2, 1]), (".word 0", [2, 1]),
    ("lw x5, 0(x0)", [2, 1]), ("amoadd.w x5, x6, (x6)", [2, 1]),
    // A result is there for the next instruction, or late.
    ("addi x5, x6, 1\n add x7, x5, x5", [2, 2]), ("csum x5, x6, x7\n sub x7, x6, x5", [2, 2]),
    ("lui x5, 65536\n lw x7, 0(x5)", [2, 2]), ("jal x5, next\n next: add x7, x5, x5", [3, 2]),
    ("lw x5, 0(x2)\n add x7, x5, x6", [3, 2]), ("lw x5, 0(x2)\n add x7, x6, x5", [3, 2]),
    ("lw x5, 0(x2)\n sw x5, 4(x2)", [3, 2]), ("mul x5, x6, x7\n add x7, x5, x5", [3, 2]),
    ("csrrs x5, mhartid, x0\n add x7, x5, x5", [3, 2]), ("amoadd.w x5, x6, (x2)\n add x7, x5, x5", [3, 2]),
    ("sc.w x5, x6, (x2)\n bne x5, x5, after", [3, 2]),
    ("lw x5, 0(x2)\n add x7, x6, x6", [2, 2]), ("lw x5, 0(x2)\n nop\n add x7, x5, x5", [3, 3]),
    ("lw x0, 0(x2)\n add x7, x0, x0", [2, 2]), ("lw x5, 0(x2)\n addi x5, x6, 1", [2, 2]),
    // An access in two parts, and one that is misaligned in its word.
    ("lw x5, 1(x2)", [3, 2]), ("lh x5, 3(x2)", [3, 2]), ("sw x5, 2(x2)", [3, 2]), ("lh x5, 1(x2)", [1, 1]),
    ("sh x5, 1(x2)", [1, 1]),
    // Two bits of a quotient in each slot, and one slot for the sign.
    ("div x5, x6, x7", [33, 17]), ("remu x5, x6, x0", [33, 17]), ("divu x5, x6, x7\n add x7, x5, x5", [35, 18]),
];

/// With a memory that takes each access at the second offer.
#[rustfmt::skip]
const COSTS_WAITING: &[Cost] = &[
    ("addi x5, x6, 1", [1, 1]), ("lw x5, 0(x2)", [3, 2]), ("sw x5, 0(x2)", [3, 2]), ("amoadd.w x5, x6, (x2)", [3, 2]),
    ("lw x5, 1(x2)", [7, 4]), ("sw x5, 2(x2)", [7, 4]), ("lw x5, 0(x0)", [2, 1]),
];

/// Slots from the instruction after `before` to `after`, the same for each thread.
fn cost<M: Pipeline>(run: &mut TestRun, code: &str, waits: u32) -> u64 {
    let program = Program::assemble(&format!(
        "
        .org 0x80
            csrrs x5, mhartid, x0
            slli x5, x5, 6
            li   x2, DATA + 256
            add  x2, x2, x5
            li   x6, 6
            li   x7, 77
            li   x9, after
            csrrw x0, mtvec, x9
            csrrw x0, mepc, x9
            csrrw x0, mscratch, x9
        before:
            nop
            {code}
        after:
            nop
        end:
            j    end
        "
    ));
    let setup = Setup {
        program: program.words.clone(),
        waits,
        ..Setup::default()
    };
    let mut bench = Lockstep::<M>::new(run.simulation(), setup, run.rng("lockstep"));
    let reports = bench.run(80 * M::THREADS as u64);
    bench.finish();
    let clocks = |label: &str| -> Vec<u64> {
        let at = program.address(label);
        let of_it = |thread| move |report: &&Report| report.thread == thread && report.pc[0] == at;
        let first = |thread| reports.iter().find(of_it(thread)).map(|report| report.clock);
        (0..M::THREADS)
            .map(|thread| first(thread).expect("a report"))
            .collect()
    };
    let slots = clocks("after")
        .into_iter()
        .zip(clocks("before"))
        .map(|(after, before)| {
            assert_eq!((after - before) % M::THREADS as u64, 0, "{code}");
            (after - before) / M::THREADS as u64 - 1
        });
    let slots: Vec<u64> = slots.collect();
    assert!(slots.iter().all(|count| *count == slots[0]), "{code}: {slots:?}");
    slots[0]
}

fn costs<M: Pipeline>(run: &mut TestRun) {
    let column = usize::from(M::THREADS > 4);
    let measure = |table: &[Cost], waits: u32, run: &mut TestRun| {
        let wrong = table.iter().filter_map(|(code, expected)| {
            let found = cost::<M>(run, code, waits);
            (found != expected[column]).then(|| format!("{code}: {found} slots"))
        });
        wrong.collect::<Vec<_>>()
    };
    let mut wrong = measure(COSTS, 0, run);
    wrong.extend(measure(COSTS_WAITING, 1, run));
    assert_eq!(wrong, [""; 0]);
}

/// Program of a thread while others are watched. Its data is in a page of its own.
#[rustfmt::skip]
const GUESTS: &[(&str, &str)] = &[
    ("faults", "
            li   x1, skip
            csrrw x0, mtvec, x1
        again:
            lw   x5, 0(x0)
            .word 0
            ebreak
            ecall
            sw   x5, -1(x0)
            lr.w x5, (x1)
            amoadd.w x5, x5, (x1)
            csrrw x0, mhartid, x5
            j    again
        skip:
            csrrs x3, mepc, x0
            addi x3, x3, 4
            csrrw x0, mepc, x3
            mret"),
    ("jumps to nowhere", "
            li   x1, again
            csrrw x0, mtvec, x1
        again:
            li   x4, 0x30000000
            jalr x0, 0(x4)"),
    ("an endless loop that is stopped", "
            li   x1, again
            csrrw x0, mtvec, x1
            li   x1, loop
        again:
            csrrw x0, mepc, x1
            csrrw x0, mstatus, x0
            mret
        loop:
            j    loop"),
    ("misaligned and atomic accesses, divisions", "
            li   x2, DATA + 0xf000
        again:
            lw   x5, 1(x2)
            div  x6, x5, x2
            sw   x6, 2(x2)
            rem  x7, x2, x6
            sh   x7, 63(x2)
            amoadd.w x5, x7, (x2)
            lr.w x5, (x2)
            sc.w x6, x5, (x2)
            mul  x7, x6, x5
            add  x8, x7, x7
            j    again"),
];

/// Program of all threads but one.
fn trace_of_others<M: Pipeline>(run: &mut TestRun, thread: usize, guest: &str, waits: u32) -> Vec<Report> {
    let program = random_program_beside(&mut run.rng("program"), Layout::default(), thread, guest);
    let setup = Setup {
        program,
        waits,
        // Only the guest is stopped in user mode, or has to wait.
        stops: 10,
        spared: !(1 << thread),
        ..Setup::default()
    };
    let mut bench = Lockstep::<M>::new(run.simulation(), setup, run.rng("lockstep"));
    let (guests, others): (Vec<Report>, _) = bench
        .run(4000 * M::THREADS as u64)
        .into_iter()
        .partition(|report| report.thread == thread);
    bench.finish();
    assert!(guests.len() > 100);
    if guest.contains("loop:") {
        assert!(guests.iter().any(|report| report.cause == Some(STOPPED)));
    }
    others
}

/// Clock for clock, whatever a thread does.
fn others_are_not_disturbed<M: Pipeline>(run: &mut TestRun) {
    let thread = M::THREADS / 2 + 1;
    let quiet = trace_of_others::<M>(run, thread, "j guest", 0);
    for waits in [0, 3] {
        for (what, guest) in GUESTS {
            let others = trace_of_others::<M>(run, thread, guest, waits);
            let same = quiet.iter().zip(&others).take_while(|(one, other)| one == other);
            let same = same.count();
            assert_eq!(
                quiet.get(same),
                others.get(same),
                "a thread is disturbed by {what}, {waits} waits"
            );
        }
    }
}

#[test]
fn instructions_take_the_slots_of_the_table() {
    every_pipeline!(1, costs);
}

#[test]
fn a_thread_takes_no_slot_of_others() {
    every_pipeline!(2, others_are_not_disturbed);
}
