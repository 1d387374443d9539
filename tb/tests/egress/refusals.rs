//! Commands that are refused: nothing is read or sent for them.

use crate::support::{after, command};
use spinneret_models::PspinEgressDatapathSmall;
use spinneret_sim::model::Model;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::egress::{Behaviour, EgressBench};

/// Refuses these commands, each with its code, one by one and between good ones.
fn refuses<M: Model>(run: &mut TestRun, wrong: &[(u64, u64, u64)]) {
    let mut bench: EgressBench<M> = EgressBench::new(run.simulation(), Behaviour::after(3));
    for (source, length, code) in wrong {
        let before = bench.slave.monitor().counts();
        bench.send(command(*source, *length));
        bench.settle();
        assert_eq!(bench.last_error(), *code, "{length} bytes at {source:#x}");
        assert_eq!(bench.slave.monitor().counts().data.beats, before.data.beats);
        assert_eq!(bench.slave.monitor().counts().address.beats, before.address.beats);
    }
    for (source, length, _) in wrong {
        bench.send(command(0, 65));
        bench.send(command(*source, *length));
    }
    let count = wrong.len() as u64;
    let outcome = bench.settle();
    assert_eq!((outcome.sent, outcome.refused), (count, 2 * count));
    bench.finish();
}

#[test]
fn lengths_and_addresses_that_are_impossible_are_refused() {
    run_test(
        "lengths_and_addresses_that_are_impossible_are_refused",
        1,
        |run| {
            let end = 1 << 32;
            let wrong = [
                (0, 0, 12),
                (0, 9601, 12),
                (0, 16384, 12),
                (0, 1 << 31, 12),
                (0, end - 1, 12),
                // Beyond the highest address.
                (end - 1, 2, 13),
                (end - 64, 65, 13),
                (end - 9599, 9600, 13),
                // Addresses that the port does not have.
                (end, 1, 13),
                (1 << 63, 64, 13),
                (u64::MAX, 1, 13),
                // The length is told first.
                (u64::MAX, 0, 12),
                (end - 1, 9601, 12),
            ];
            refuses::<spinneret_models::PspinEgressDatapath>(run, &wrong);
        },
    );
}

#[test]
fn the_limits_follow_from_the_parameters() {
    run_test("the_limits_follow_from_the_parameters", 1, |run| {
        let end = 1 << 20;
        let wrong = [
            (0, 0, 12),
            (0, 1001, 12),
            (0, end - 1, 12),
            (end - 1, 2, 13),
            (end - 999, 1000, 13),
            (end, 1, 13),
            (1 << 23, 1000, 13),
        ];
        refuses::<PspinEgressDatapathSmall>(run, &wrong);
    });
}

#[test]
fn commands_at_the_limits_are_sent() {
    run_test("commands_at_the_limits_are_sent", 1, |run| {
        let mut bench = after(run, 3);
        let end = bench.setup.address_end();
        for (source, length) in [(0, 1), (0, 9600), (end - 1, 1), (end - 9600, 9600)] {
            bench.send(command(source, length));
        }
        assert_eq!(bench.settle().sent, 4);
        assert_eq!(bench.last_error(), 0);
        bench.finish();
    });
}
