//! A failing handler ends only itself, with its cause. Mistakes in the runtime fail on the model as on the hardware.

use crate::bench::{Bench, make, runtime};
use spinneret_cluster::rv::Trap;
use spinneret_cluster::{Config, Ending, Event, SILENCE, WATCHDOG};
use std::fs;
use std::path::Path;

const WATCHDOG_CLOCKS: u64 = 20_000;

/// The first byte of the packet, and the causes that it may end with; none if it is no fault.
const CASES: &[(u8, &[u32])] = &[
    (1, &[2]),
    (2, &[2]),
    (3, &[]),
    (4, &[5]),
    (5, &[7]),
    (6, &[5]),
    (7, &[7]),
    (8, &[1]),
    (9, &[WATCHDOG]),
    (10, &[5, 7]),
    (11, &[3]),
    (12, &[8]),
    (13, &[]),
    (14, &[0, 1]),
    (15, &[5]),
    (16, &[]),
    (22, &[7]),
    (23, &[7]),
    (24, &[5]),
];
/// The same of handlers in the runtime's guard, for which others wait.
const GUARD_CASES: &[(u8, &[u32])] = &[(17, &[5]), (18, &[8]), (19, &[8]), (20, &[WATCHDOG]), (21, &[])];

fn bench() -> Bench {
    let config = Config {
        watchdog: WATCHDOG_CLOCKS,
        ..Config::default()
    };
    Bench::new("tests/faults", config)
}

#[test]
fn every_fault_has_its_cause() {
    let mut bench = bench();
    for (number, (case, causes)) in CASES.iter().chain(GUARD_CASES).enumerate() {
        bench.push(number as u32, true, &[*case, 7, 0, 0, 0, 0, 0, 0]);
        bench.run();
        let run = *bench.runs().last().expect("it has ended");
        match run.ending {
            Ending::Done => assert!(causes.is_empty(), "case {case} ended well"),
            Ending::Failed(cause) => assert!(causes.contains(&cause), "case {case} ended with {cause}"),
        }
        // The same HPU takes the next packet.
        bench.push(number as u32, true, &[0; 8]);
        bench.run();
        let after = *bench.runs().last().expect("it has ended");
        assert_eq!(
            (after.hpu, after.ending),
            (run.hpu, Ending::Done),
            "after case {case}"
        );
    }
    // Division by zero gives all ones, and the dividend as the remainder.
    let printed = bench.printed();
    assert!(
        printed.contains(&format!("value {}\n", u32::MAX.wrapping_add(7))),
        "{printed}"
    );
}

#[test]
fn reports_fault_with_its_location() {
    let mut bench = bench();
    bench.push(3, true, &[4; 8]);
    bench.run();
    let fault = bench.events.iter().find_map(|event| match event {
        Event::Failed(fault) => Some(*fault),
        _ => None,
    });
    let fault = fault.expect("it failed");
    assert_eq!(
        (fault.trap, fault.value, fault.message),
        (Trap::LoadFault, 0x4000_0000, 3)
    );
    let function = bench.program.function(fault.pc).expect("it is in a function");
    assert_eq!(function.name, "faults_ph");
    assert_eq!(fault.handler, bench.payload().address);
}

#[test]
fn other_handlers_continue_after_failures() {
    let mut bench = bench();
    for number in 0..200_u32 {
        // Every third packet is one of all faults in turn, of the others none.
        let case = if number % 3 == 0 {
            CASES[number as usize / 3 % CASES.len()].0
        } else {
            255
        };
        bench.push(number, true, &[case, 7, 0, 0, 0, 0, 0, 0]);
    }
    bench.run();
    let failed = bench.runs().filter(|run| run.ending != Ending::Done).count();
    let expected = (0..200_usize)
        .filter(|number| number % 3 == 0 && !CASES[number / 3 % CASES.len()].1.is_empty())
        .count();
    assert_eq!((bench.runs().count(), failed), (200, expected));
}

#[test]
fn watchdog_ends_a_stalled_handler() {
    // HPUs that print stall forever if standard output is full and is not read.
    let mut bench = bench();
    for number in 0..1000 {
        bench.push(number, true, &[0; 8]);
    }
    bench.run();
    let failed = bench
        .runs()
        .filter(|run| run.ending == Ending::Failed(WATCHDOG))
        .count();
    assert!(failed > 0, "8192 characters were room for all");
    assert_eq!(bench.runs().count(), 1000);
}

const PACKETS: u32 = 4;
/// Clocks that are enough for a packet without the mistake.
const PATIENCE: u64 = 20_000;
const SHORT_WATCHDOG: u64 = 5_000;

/// A change of a file of the runtime.
type Change = (&'static str, &'static str, &'static str);

/// Results of packets, one by one.
#[derive(Debug)]
struct Came {
    sent: usize,
    freed: usize,
    traps: Vec<Trap>,
    /// Clocks of the last handler.
    clocks: u64,
}

/// Runs handlers that were built with a changed runtime.
fn with(changes: &[Change], folder: &str) -> Came {
    let place = tempfile::tempdir().expect("there is room for files");
    copy(&runtime(), place.path());
    for (file, right, wrong) in changes {
        let path = place.path().join(file);
        let text = fs::read_to_string(&path).expect("it was copied");
        assert_eq!(text.matches(right).count(), 1, "{file} has `{right}` once");
        fs::write(&path, text.replace(right, wrong)).expect("it can be written");
    }
    let elf = make(&place.path().join(folder), &place.path().join("build"));
    let config = Config {
        watchdog: SHORT_WATCHDOG,
        ..Config::default()
    };
    let mut bench = Bench::with(&elf, config);
    for number in 0..PACKETS {
        bench.push(number, true, &[0; 98]);
        bench.run_for(PATIENCE);
    }
    let traps = bench.events.iter().filter_map(|event| match event {
        Event::Failed(fault) => Some(fault.trap),
        _ => None,
    });
    Came {
        sent: bench.sent.len(),
        freed: bench.freed.len(),
        traps: traps.collect(),
        clocks: bench.runs().last().map_or(0, |run| run.ended - run.begun),
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("it is a folder") {
        let entry = entry.expect("it can be read");
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).expect("a file can be copied");
        }
    }
}

fn all() -> usize {
    PACKETS as usize
}

/// The handler prints a character.
const PRINTS: Change = (
    "examples/udp_ping/udp_ping.c",
    "    uint32_t start = cycles();\n",
    "    putchar('.');\n    uint32_t start = cycles();\n",
);
const INCLUDES: Change = (
    "examples/udp_ping/udp_ping.c",
    "#include <packets.h>\n",
    "#include <packets.h>\n#include <stdio.h>\n",
);

#[test]
fn unmodified_runtime_works() {
    for changes in [&[][..], &[INCLUDES, PRINTS]] {
        let came = with(changes, "examples/udp_ping");
        assert_eq!(
            (came.sent, came.freed, came.traps.len()),
            (all(), all(), 0),
            "{came:?}"
        );
    }
}

#[test]
fn a_doorbell_that_is_read_first_ends_the_task() {
    let change = (
        "src/start.S",
        "#ifndef SPIN_STACK_ARGS\n    lw t2, HANDLER(t1)\n",
        "#ifndef SPIN_STACK_ARGS\n    lw t2, DOORBELL(t1)\n    lw t2, HANDLER(t1)\n",
    );
    let came = with(&[change], "examples/udp_ping");
    assert!(came.sent < all(), "{came:?}");
}

#[test]
fn a_trap_vector_in_the_middle_of_a_line_is_not_where_traps_go() {
    let change = (
        "src/start.S",
        "    .balign 256 /* mtvec keeps no more of an address */\n",
        "    .balign 4\n",
    );
    let came = with(&[change], "examples/udp_ping");
    assert!(came.freed < all(), "{came:?}");
}

#[test]
fn standard_output_where_there_is_none_hangs() {
    let change = (
        "include/spin_map.h",
        "#define SPIN_STDOUT_ADDR 0x1a104000\n",
        "#define SPIN_STDOUT_ADDR 0x1b206000\n",
    );
    let came = with(&[INCLUDES, PRINTS, change], "examples/udp_ping");
    assert_eq!(came.traps, [Trap::Custom(SILENCE); PACKETS as usize], "{came:?}");
}

#[test]
fn the_cycle_counter_is_not_for_handlers() {
    let change = (
        "include/pspin.h",
        "    asm volatile(\"ecall\" : \"=r\"(now) : \"r\"(number) : \"memory\");\n",
        "    (void)number;\n    asm volatile(\"rdcycle %0\" : \"=r\"(now));\n",
    );
    let came = with(&[change], "examples/udp_ping");
    assert_eq!(came.traps, [Trap::Illegal; PACKETS as usize], "{came:?}");
}

#[test]
fn a_cache_that_is_off_makes_handlers_slow() {
    let change = ("src/start.S", "    sw t1, ICACHE_ENABLE(t0)\n", "");
    let [slow, fast] = [&[change][..], &[]].map(|changes| with(changes, "examples/udp_ping").clocks);
    assert!(slow > 2 * fast, "{slow} clocks, {fast} with the cache");
}

#[test]
fn a_reservation_in_l2_is_refused_because_others_may_store_over_it() {
    let reserves = (
        "examples/udp_ping/udp_ping.c",
        "    uint32_t start = cycles();\n",
        "    volatile uint32_t *word = args->task->handler_mem;\n    while (store_conditional(word, load_reserved(word) + 1)) {\n    }\n    uint32_t start = cycles();\n",
    );
    let came = with(&[reserves], "examples/udp_ping");
    assert_eq!(came.traps, [Trap::LoadFault; PACKETS as usize], "{came:?}");
}
