//! Resets in the middle of everything.

use crate::support::{after, command};
use spinneret_sim::axi::Pause;
use spinneret_sim::test_run::run_test;
use spinneret_tb::egress::{LineFaults, cycles_of_longest};

#[test]
fn a_reset_in_any_clock_of_a_transfer_leaves_nothing_behind() {
    run_test(
        "a_reset_in_any_clock_of_a_transfer_leaves_nothing_behind",
        1,
        |run| {
            let mut bench = after(run, 5);
            for clock in 0..60 {
                // Several lines, one of them bad, and a refused one; then whole frames.
                bench.set_faults(LineFaults::At(vec![(
                    0x1080,
                    spinneret_sim::axi::Response::SlaveError,
                )]));
                for (source, length) in [(1, 700), (0x1001, 300), (0, 0), (0x2000, 64), (0x3fff, 4097)] {
                    bench.send(command(source, length));
                }
                bench.run(clock);
                bench.reset();
                for (source, length) in [(0x2000, 64), (3, 1500), (0x2041, 64)] {
                    bench.send(command(source, length));
                }
                let outcome = bench.settle();
                assert_eq!((outcome.sent, outcome.commands()), (3, 3));
                assert_eq!(bench.last_error(), 0);
            }
            bench.finish();
        },
    );
}

#[test]
fn a_reset_gives_all_room_back() {
    run_test("a_reset_gives_all_room_back", 1, |run| {
        let mut bench = after(run, 1);
        let fresh = cycles_of_longest(&mut bench);
        for number in 0..5 {
            bench
                .wire
                .set_pause(Pause::AlwaysAfter(bench.wire.monitor().counts().beats + 10));
            for _ in 0..10 {
                bench.send(command(number, 9600 - 1000 * number));
            }
            bench.run(700);
            bench.reset();
            assert_eq!(cycles_of_longest(&mut bench), fresh);
        }
        bench.finish();
    });
}
