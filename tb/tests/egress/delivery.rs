//! Frames are what was asked for, and every command is answered once.

use crate::{after, command, with_id};
use spinneret_models::{PspinEgressDatapath, PspinEgressDatapathBoard, PspinEgressDatapathSmall};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, with};
use spinneret_tb::egress::{Behaviour, EgressBench, Totals, behaviours, run_round};

spinneret_tb::each_model! {
    [PspinEgressDatapath, PspinEgressDatapathSmall, PspinEgressDatapathBoard]:
        1 frames_of_every_length_from_every_place_of_a_line;
}

/// Frames of every length up to three lines from every place of a line.
fn frames_of_every_length_from_every_place_of_a_line<M: Model>(run: &mut TestRun) {
    let mut bench: EgressBench<M> = EgressBench::new(run.simulation(), Behaviour::after(5));
    let beat = bench.setup.beat;
    for offset in 0..beat {
        for length in 1..=3 * beat + 1 {
            bench.send(command(0x1000 + offset, length));
            bench.wait_for_less_than(100);
        }
    }
    assert_eq!(bench.settle().sent, beat * (3 * beat + 1));
    bench.finish();
}

#[test]
fn frames_across_4_kib_are_read_by_several_bursts() {
    case(1, with(after, 3), |bench| {
        let mut reads = 0;
        for before in [0, 1, 63, 64, 65, 128, 1000, 4032, 4095] {
            for length in [64, 65, 128, 1500, 4096, 4097, 9600] {
                let source = 0x4000 - before;
                bench.send(command(source, length));
                reads += (source + length - 1) / 4096 - source / 4096 + 1;
            }
        }
        assert_eq!(bench.settle().sent, 63);
        assert_eq!(bench.slave.monitor().counts().address.beats, reads);
    });
}

#[test]
fn the_last_bytes_of_the_address_space_are_sent() {
    case(1, with(after, 3), |bench| {
        let end = bench.setup.address_end();
        let lengths = [1, 2, 63, 64, 65, 128, 129, 1500, 4096, 4097, 9599, 9600];
        for length in lengths {
            bench.send(command(end - length, length));
        }
        assert_eq!(bench.settle().sent, lengths.len() as u64);
    });
}

#[test]
fn frames_on_a_board_have_a_tag_that_corundum_never_gives() {
    run_test(1, |run| {
        let mut bench: EgressBench<PspinEgressDatapathBoard> =
            EgressBench::new(run.simulation(), Behaviour::after(3));
        bench.send(command(0, 1500));
        bench.settle();
        let frame = bench.last_frame.clone().expect("a frame").frame;
        assert_eq!((frame.user, frame.id, frame.dest), (0, 0, 0));
        bench.finish();
    });
}

#[test]
fn refused_commands_are_answered_in_their_turn() {
    case(1, with(after, 100), |bench| {
        // The model checks the order; here it is when they come.
        bench.send(with_id(1, 0, 64));
        for id in 2..12 {
            bench.send(with_id(id, 0, 0));
        }
        bench.send(with_id(12, 64, 64));
        bench.run(100);
        assert_eq!(bench.last_answer, None, "the first line has not come");
        let mut answers = Vec::new();
        while bench.under_way() > 0 {
            bench.cycle();
            answers.extend(bench.last_answer.filter(|answer| answers.last() != Some(answer)));
        }
        let ids: Vec<u64> = answers.iter().map(|(_, id)| *id).collect();
        assert_eq!(ids, (1..=12).collect::<Vec<u64>>());
        assert!(
            answers.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1),
            "{answers:?}"
        );
    });
}

#[test]
fn refused_commands_are_answered_one_a_clock() {
    case(1, with(after, 1), |bench| {
        for number in 0..200 {
            bench.send(with_id(number % 64, 0, 9601));
        }
        let start = bench.sim.cycle_count();
        bench.settle();
        assert_eq!(bench.last_answer.map(|(cycle, _)| cycle), Some(start + 199 + 4));
    });
}

#[test]
fn memory_may_change_as_soon_as_the_command_is_answered() {
    case(1, with(after, 7), |bench| {
        bench.wire.set_pause(Pause::AlwaysAfter(0));
        for (source, length) in [(0, 64), (0x1001, 64), (0x2fff, 1500), (0x4000, 9600)] {
            bench.send(command(source, length));
            let before = bench.last_answer;
            while bench.last_answer == before {
                bench.cycle();
            }
            // The model keeps the bytes that were there when the command was sent.
            bench.fill(source, length);
        }
        assert_eq!(bench.under_way(), 4, "the wire has taken nothing");
        bench.wire.set_pause(Pause::Never);
        assert_eq!(bench.settle().sent, 4);
    });
}

#[test]
fn as_many_commands_are_under_way_as_can_wait_for_their_answer() {
    case(1, with(after, 1), |bench| {
        bench.slave.set_latency(Latency::exactly(1000));
        for number in 0..200 {
            bench.send(command(64 * number, 64));
        }
        bench.run(500);
        // One more is in the register of the queue.
        assert_eq!(
            bench.slave.monitor().counts().address.beats,
            bench.setup.commands + 1
        );
        assert_eq!(bench.settle().sent, 200);
    });
}

/// Commands of a test.
const COMMANDS: u64 = 14_000;

fn random_commands<M: Model>(run: &mut TestRun) {
    let behaviours = behaviours();
    let share = COMMANDS.div_ceil(behaviours.len() as u64);
    let mut totals = Totals::default();
    for (index, (_, behaviour)) in behaviours.into_iter().enumerate() {
        let mut sim = run.simulation::<M>();
        sim.set_seed(Seed(run.seed().0.wrapping_add(index as u64)));
        totals += run_round(sim, behaviour, share);
    }
    let outcome = totals.outcome;
    assert!(
        outcome.sent > COMMANDS / 2 && outcome.read_errors > COMMANDS / 20 && outcome.refused > COMMANDS / 50,
        "{totals:?}"
    );
}

#[test]
fn random_commands_in_the_reference_configuration() {
    run_test(1, |run| {
        random_commands::<PspinEgressDatapath>(run);
    });
}

#[test]
fn random_commands_with_narrow_beats_and_small_queues() {
    run_test(2, |run| {
        random_commands::<PspinEgressDatapathSmall>(run);
    });
}

#[test]
fn random_commands_on_a_board() {
    run_test(3, |run| {
        random_commands::<PspinEgressDatapathBoard>(run);
    });
}
