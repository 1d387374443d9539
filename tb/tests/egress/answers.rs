//! When commands are answered.

use crate::support::{after, command, with_id};
use spinneret_sim::axi::{Latency, Pause};
use spinneret_sim::test_run::run_test;

#[test]
fn refused_commands_are_answered_in_their_turn() {
    run_test("refused_commands_are_answered_in_their_turn", 1, |run| {
        let mut bench = after(run, 100);
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
        bench.finish();
    });
}

#[test]
fn refused_commands_are_answered_one_a_clock() {
    run_test("refused_commands_are_answered_one_a_clock", 1, |run| {
        let mut bench = after(run, 1);
        for number in 0..200 {
            bench.send(with_id(number % 64, 0, 9601));
        }
        let start = bench.sim.cycle_count();
        bench.settle();
        assert_eq!(bench.last_answer.map(|(cycle, _)| cycle), Some(start + 199 + 4));
        bench.finish();
    });
}

#[test]
fn memory_may_change_as_soon_as_the_command_is_answered() {
    run_test("memory_may_change_as_soon_as_the_command_is_answered", 1, |run| {
        let mut bench = after(run, 7);
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
        bench.finish();
    });
}

#[test]
fn as_many_commands_are_under_way_as_can_wait_for_their_answer() {
    run_test(
        "as_many_commands_are_under_way_as_can_wait_for_their_answer",
        1,
        |run| {
            let mut bench = after(run, 1);
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
            bench.finish();
        },
    );
}
