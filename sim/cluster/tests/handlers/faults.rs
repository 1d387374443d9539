//! Handlers that go wrong end alone, with their cause, and all others go on.

use crate::bench::Bench;
use spinneret_cluster::rv::Trap;
use spinneret_cluster::{Config, Ending, Event, WATCHDOG};

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
fn a_fault_is_told_with_its_place() {
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
fn others_go_on_beside_handlers_that_fail() {
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
fn an_endless_handler_that_waits_is_ended_too() {
    // A full standard output makes who prints wait for ever, if nobody reads.
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
