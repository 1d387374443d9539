//! Frames that are passed to the host.

use crate::command;
use spinneret_models::PspinEgressDatapathBoard;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{case, with};
use spinneret_tb::egress::{Command, EgressBench, LineFaults, Stimulus, Way};

type Board = EgressBench<PspinEgressDatapathBoard>;

/// The path with everything ready, and lines after that many cycles.
fn after(run: &mut TestRun, cycles: u64) -> Board {
    let mut bench = EgressBench::new(run.simulation(), Stimulus::after(cycles));
    // In the first cycle after a reset it takes nothing.
    bench.run(2);
    bench
}

/// A command whose frame goes to the host.
fn pass(source: u64, length: u64) -> Command {
    Command {
        way: Way::Host,
        ..command(source, length)
    }
}

/// Every second frame goes to the host.
fn in_turn(number: u64, source: u64, length: u64) -> Command {
    if number.is_multiple_of(2) {
        pass(source, length)
    } else {
        command(source, length)
    }
}

#[test]
fn frames_of_every_length_go_their_way_with_their_side_band() {
    case(1, with(after, 5), |bench| {
        let mut number = 0;
        for offset in 0..64 {
            for length in 1..=130 {
                number += 1;
                // Runs of one to seven frames of each way, so that frames of all forms follow each other.
                let command = in_turn(number / (1 + offset % 7), 0x1000 + offset, length);
                bench.send(command);
                bench.wait_for_less_than(100);
            }
        }
        let outcome = bench.settle();
        assert_eq!(outcome.sent + outcome.passed, number);
        assert!(
            outcome.sent > number / 3 && outcome.passed > number / 3,
            "{outcome:?}"
        );
    });
}

#[test]
fn both_ways_together_take_one_clock_a_beat() {
    case(1, with(after, 10), |bench| {
        for length in [64, 1500, 9600] {
            let frames = 200;
            for number in 0..frames {
                bench.send(in_turn(number, 0x2000, length));
            }
            bench.settle();
            let first = bench.last_frame.as_ref().map_or(0, |frame| frame.last_cycle);
            for number in 0..frames {
                bench.send(in_turn(number, 0x2000, length));
            }
            let start = bench.sim.cycle_count();
            bench.settle();
            let last = bench.last_frame.as_ref().map_or(0, |frame| frame.last_cycle);
            assert!(first < start);
            // Command to its first line, from its last line to the first beat of the frame, and all frames; the first one
            // leaves when it is complete.
            let latency = 3 + 10 + 5;
            let beats = (frames + 1) * bench.setup.beats(length);
            assert!(
                last - start <= latency + beats,
                "{length} bytes: {} clocks",
                last - start
            );
        }
    });
}

#[test]
fn a_frame_keeps_its_side_band_when_its_slot_is_used_again() {
    case(1, with(after, 3), |bench| {
        let host = bench.host.clone().expect("a path that passes frames");
        host.set_pause(Pause::AlwaysAfter(0));
        for (source, length) in [(0, 64), (0x1001, 64), (0x2fff, 1500), (0x4000, 9600)] {
            bench.send(pass(source, length));
            let before = bench.last_answer;
            while bench.last_answer == before {
                bench.cycle();
            }
            bench.reuse_slot();
        }
        bench.run(10);
        assert_eq!(bench.under_way(), 4, "the host has taken nothing");
        host.set_pause(Pause::Never);
        assert_eq!(bench.settle().passed, 4);
    });
}

#[test]
fn a_frame_that_its_side_does_not_take_holds_back_those_after_it() {
    case(1, with(after, 3), |bench| {
        let host = bench.host.clone().expect("a path that passes frames");
        for to_host in [false, true] {
            let held = if to_host { &host } else { &bench.wire };
            held.set_pause(Pause::AlwaysAfter(held.monitor().counts().beats));
            bench.send(in_turn(u64::from(!to_host), 0, 200));
            bench.send(in_turn(u64::from(to_host), 0, 200));
            bench.run(200);
            assert_eq!(bench.under_way(), 2);
            for sink in [&host, &bench.wire] {
                sink.set_pause(Pause::Never);
            }
            bench.settle();
        }
    });
}

#[test]
fn addresses_at_which_no_slot_starts_are_refused() {
    case(1, with(after, 3), |bench| {
        let slots = bench.setup.slots.expect("a path that passes frames");
        let end = slots.base + slots.size;
        let wrong = [
            0,
            slots.base - slots.unit,
            slots.base + 64,
            end - 1,
            end,
            0x7fff_ff80,
        ];
        for address in wrong {
            bench.send(Command {
                way: Way::NoSlot(address as u32),
                ..command(0, 64)
            });
            bench.send(pass(0, 64));
            let outcome = bench.settle();
            assert_eq!(outcome.refused, outcome.passed);
            assert_eq!(bench.last_error(), 13, "{address:#x}");
            bench.clear_error();
        }
        // A wrong length comes first.
        bench.send(Command {
            way: Way::NoSlot(0),
            ..command(0, 0)
        });
        bench.settle();
        assert_eq!(bench.last_error(), 12);
    });
}

#[test]
fn a_reset_of_the_cluster_in_any_clock_counts_every_command_once() {
    case(1, with(after, 5), |bench| {
        let mut lost = 0;
        for clock in 0..70 {
            bench.set_faults(LineFaults::At(vec![(0x1080, Response::SlaveError)]));
            for (number, (source, length)) in [
                (1, 700),
                (0x1001, 300),
                (0, 0),
                (0x2000, 64),
                (0x2011, 64),
                (0x3fff, 4097),
            ]
            .into_iter()
            .enumerate()
            {
                bench.send(in_turn(number as u64, source, length));
            }
            while !bench.commands.is_idle() {
                bench.cycle();
            }
            bench.run(clock);
            lost += bench.hold_cluster(1 + clock % 3);
            assert_eq!(bench.sim.get("egress_dropped_reset_o"), lost, "in clock {clock}");
            bench.set_faults(LineFaults::Never);
            bench.send(pass(0x2000, 100));
            bench.send(command(3, 1500));
            bench.settle();
        }
        assert!(lost > 70, "{lost} commands were lost");
    });
}
