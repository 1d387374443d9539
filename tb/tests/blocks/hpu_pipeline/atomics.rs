//! Atomic instructions between threads.

use super::*;
use spinneret_tb::hpu::{DATA, Lockstep, Program, Report, Setup};

/// Turns of each thread.
const TURNS: u32 = 50;

/// Runs a program until all threads are at `done`, with words of data 0.
fn finished<M: Pipeline>(run: &mut TestRun, program: &Program) -> (Lockstep<M>, Vec<Report>) {
    let setup = Setup {
        program: program.words.clone(),
        busy: 30,
        ..Setup::default()
    };
    let mut bench = Lockstep::<M>::new(run.simulation(), setup, run.rng("lockstep"));
    for word in 0..1024 {
        bench.set_word(DATA + 4 * word, 0);
    }
    let (mut reports, mut is_done) = (Vec::new(), vec![false; M::THREADS]);
    while is_done.contains(&false) {
        let report = bench.clock();
        if let Some(report) = &report {
            is_done[report.thread] |= report.pc[0] == program.address("done");
        }
        reports.extend(report);
        assert!(bench.totals().clocks < 400_000, "a thread never ends");
    }
    (bench, reports)
}

/// Values that the instruction at a label wrote.
fn written(reports: &[Report], program: &Program, label: &str) -> Vec<u32> {
    let at = program.address(label);
    let of_it = reports.iter().filter(|report| report.pc[0] == at);
    of_it.map(|report| report.writes.1).collect()
}

/// A program of which each thread does the same `TURNS` times.
fn turns(body: &str) -> Program {
    Program::assemble(&format!(
        "
        .org 0x80
            li   x2, DATA
            li   x3, 1
            li   x4, {TURNS}
        again:
            {body}
            addi x4, x4, -1
            bne  x4, x0, again
        done:
            j    done
        "
    ))
}

/// No two threads get the same number, and none is left out.
fn amoadd_counts<M: Pipeline>(run: &mut TestRun) {
    let program = turns("amoadd.w x5, x3, (x2)");
    let (bench, reports) = finished::<M>(run, &program);
    let all = M::THREADS as u32 * TURNS;
    let mut numbers = written(&reports, &program, "again");
    numbers.sort();
    assert_eq!(numbers, (0..all).collect::<Vec<_>>());
    assert_eq!(bench.word(DATA), all);
    bench.finish();
}

fn a_spin_lock_excludes<M: Pipeline>(run: &mut TestRun) {
    let program = turns(
        "
        taken:
            amoswap.w x5, x3, (x2)
            bne  x5, x0, taken
            lw   x6, 64(x2)
            addi x6, x6, 1
            sw   x6, 64(x2)
            amoswap.w x0, x0, (x2)
        ",
    );
    let (bench, reports) = finished::<M>(run, &program);
    assert_eq!(bench.word(DATA + 64), M::THREADS as u32 * TURNS);
    assert!(
        written(&reports, &program, "taken").contains(&1),
        "nobody had to wait"
    );
    bench.finish();
}

fn reserved_increments_count<M: Pipeline>(run: &mut TestRun) {
    let program = turns(
        "
        retry:
            lr.w x5, (x2)
            addi x5, x5, 1
        store:
            sc.w x6, x5, (x2)
            bne  x6, x0, retry
        ",
    );
    let (bench, reports) = finished::<M>(run, &program);
    assert_eq!(bench.word(DATA), M::THREADS as u32 * TURNS);
    let failed = written(&reports, &program, "store");
    assert!(failed.contains(&1), "no two threads were in each other's way");
    bench.finish();
}

/// Even threads write data, then a flag; odd ones read the flag, then data, which must not be older.
fn messages_pass_in_order<M: Pipeline>(run: &mut TestRun) {
    let program = Program::assemble(
        "
        .org 0x80
            csrrs x1, mhartid, x0
            srli x5, x1, 1
            slli x5, x5, 7
            li   x2, DATA
            add  x2, x2, x5
            li   x8, 200
            andi x6, x1, 1
            bne  x6, x0, reader
        writer:
            addi x7, x7, 1
            sw   x7, 0(x2)
            sw   x7, 64(x2)
            bne  x7, x8, writer
            j    done
        reader:
            lw   x9, 64(x2)
            lw   x10, 0(x2)
            bltu x10, x9, broken
            bne  x9, x8, reader
        done:
            j    done
        broken:
            j    broken
        ",
    );
    let (bench, reports) = finished::<M>(run, &program);
    let at_broken = |report: &Report| report.pc[0] == program.address("broken");
    assert!(!reports.iter().any(at_broken));
    let mut flags = written(&reports, &program, "reader");
    flags.dedup();
    assert!(flags.len() > 100, "readers are too late: {}", flags.len());
    bench.finish();
}

/// Thread 0 reserves a word, thread 1 does something, thread 0 tries to store: what `sc.w` gives.
fn store_conditional_after<M: Pipeline>(run: &mut TestRun, own: &str, other: &str) -> u32 {
    let text = format!(
        "
        .org 0x80
            li   x10, handler
            csrrw x0, mtvec, x10
            csrrs x1, mhartid, x0
            li   x2, DATA + 256
            li   x3, DATA
            li   x4, 1
            beq  x1, x0, first
            beq  x1, x4, second
            j    done
        first:
            lr.w x5, (x2)
            {own}
            sw   x4, 0(x3)
        wait:
            lw   x5, 4(x3)
            beq  x5, x0, wait
        store:
            sc.w x5, x4, (x2)
            j    done
        second:
            lw   x5, 0(x3)
            beq  x5, x0, second
            {other}
            sw   x4, 4(x3)
        done:
            j    done
        .org 0x400
        handler:
            csrrs x6, mepc, x0
            addi x6, x6, 4
            csrrw x0, mepc, x6
            mret
        "
    );
    let program = Program::assemble(&text);
    let (bench, reports) = finished::<M>(run, &program);
    bench.finish();
    written(&reports, &program, "store")[0]
}

fn reservations_end<M: Pipeline>(run: &mut TestRun) {
    let (stored, failed) = (0, 1);
    let cases = [
        ("nop", "nop", stored),
        ("nop", "sw x4, 0(x2)", failed),
        ("nop", "sb x4, 3(x2)", failed),
        ("nop", "sw x4, 2(x2)", failed),
        ("nop", "sw x4, -2(x2)", failed),
        ("nop", "amoadd.w x0, x0, (x2)", failed),
        ("nop", "sw x4, 4(x2)", stored),
        ("nop", "sw x4, -4(x2)", stored),
        ("nop", "lw x5, 0(x2)", stored),
        ("nop", "lr.w x5, (x2)", stored),
        ("nop", "sc.w x5, x4, (x2)", stored),
        ("sw x4, 0(x2)", "nop", stored),
        ("ecall", "nop", failed),
        ("ebreak", "nop", failed),
        ("lr.w x5, (x3)", "nop", failed),
        ("sc.w x5, x4, (x2)", "nop", failed),
        ("nop", "ecall", stored),
    ];
    for (own, other, expected) in cases {
        let found = store_conditional_after::<M>(run, own, other);
        assert_eq!(found, expected, "thread 0: {own}, thread 1: {other}");
    }
}

#[test]
fn amoadd_gives_each_number_once() {
    every_pipeline!(1, amoadd_counts);
}

#[test]
fn spin_locks_exclude() {
    every_pipeline!(2, a_spin_lock_excludes);
}

#[test]
fn increments_with_reservations_are_not_lost() {
    every_pipeline!(3, reserved_increments_count);
}

#[test]
fn messages_are_seen_in_order() {
    every_pipeline!(4, messages_pass_in_order);
}

#[test]
fn stores_of_others_and_traps_end_reservations() {
    every_pipeline!(5, reservations_end);
}
