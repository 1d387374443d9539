//! Lines that cannot be read, and the last error.

use crate::support::{Bench, after, command};
use spinneret_models::PspinEgressDatapathBoard;
use spinneret_sim::axi::Response::{self, DecodeError, SlaveError};
use spinneret_sim::test_run::run_test;
use spinneret_tb::egress::{Behaviour, EgressBench, LineFaults};

const CODES: [(Response, u64); 2] = [(SlaveError, 4), (DecodeError, 5)];

/// A frame between two others, of which these lines fail; the code of the error.
fn code_of(bench: &mut Bench, source: u64, length: u64, bad: &[(u64, Response)]) -> u64 {
    bench.set_faults(LineFaults::At(bad.to_vec()));
    let before = bench.settle();
    for neighbour in [0x8000, source, 0x9001] {
        bench.send(command(neighbour, length));
    }
    let now = bench.settle();
    assert_eq!(
        (now.sent - before.sent, now.read_errors - before.read_errors),
        (2, 1)
    );
    bench.last_error()
}

#[test]
fn one_bad_line_drops_its_frame_alone_wherever_it_is() {
    run_test("one_bad_line_drops_its_frame_alone_wherever_it_is", 1, |run| {
        let mut bench = after(run, 3);
        for (offset, length) in [(0, 1), (0, 64), (1, 64), (0, 200), (17, 300), (63, 66), (5, 1500)] {
            let source = 0x3000 - 128 + offset;
            for line in 0..bench.setup.lines(source, length) {
                for (response, code) in CODES {
                    let bad = [(0x3000 - 128 + 64 * line, response)];
                    assert_eq!(code_of(&mut bench, source, length, &bad), code);
                }
            }
        }
        bench.finish();
    });
}

#[test]
fn the_first_bad_line_decides_the_code() {
    run_test("the_first_bad_line_decides_the_code", 1, |run| {
        let mut bench = after(run, 3);
        for lines in [[0, 1], [0, 3], [1, 2], [2, 3]] {
            for (number, (_, code)) in CODES.into_iter().enumerate() {
                let responses = [CODES[number].0, CODES[1 - number].0];
                let bad = [0, 1].map(|index| (64 * lines[index], responses[index]));
                assert_eq!(code_of(&mut bench, 0, 256, &bad), code, "{bad:x?}");
            }
        }
        bench.finish();
    });
}

#[test]
fn bad_frames_at_every_second_place_are_dropped_at_full_rate() {
    run_test(
        "bad_frames_at_every_second_place_are_dropped_at_full_rate",
        1,
        |run| {
            let mut bench = after(run, 10);
            let bad = (0..128).map(|number| (128 * number, SlaveError)).collect();
            bench.set_faults(LineFaults::At(bad));
            for number in 0..256 {
                bench.send(command(64 * number, 64));
            }
            let start = bench.sim.cycle_count();
            let outcome = bench.settle();
            assert_eq!((outcome.sent, outcome.read_errors), (128, 128));
            let (last, _) = bench.last_answer.expect("an answer");
            assert_eq!(last - start, 255 + 3 + 10 + 3);
            bench.finish();
        },
    );
}

#[test]
fn good_commands_leave_the_last_error_and_newer_ones_replace_it() {
    run_test(
        "good_commands_leave_the_last_error_and_newer_ones_replace_it",
        1,
        |run| {
            let mut bench = after(run, 3);
            bench.set_faults(LineFaults::At(vec![(0x1000, SlaveError), (0x2000, DecodeError)]));
            assert_eq!(bench.last_error(), 0);
            for (source, length, code) in [
                (0, 64, 0),
                (0x1000, 64, 4),
                (0, 1500, 4),
                (0x1fff, 2, 5),
                (0, 64, 5),
                (0, 0, 12),
                (0, 64, 12),
                (1 << 32, 64, 13),
                (0x4000, 9600, 13),
                (0x1000, 64, 4),
            ] {
                bench.send(command(source, length));
                bench.settle();
                assert_eq!(bench.last_error(), code, "{length} at {source:#x}");
            }
            bench.reset();
            bench.run(1);
            assert_eq!(bench.last_error(), 0);
            bench.finish();
        },
    );
}

#[test]
fn the_last_error_can_be_cleared_unless_another_one_comes_in_the_same_clock() {
    let name = "the_last_error_can_be_cleared_unless_another_one_comes_in_the_same_clock";
    run_test(name, 1, |run| {
        let mut bench: EgressBench<PspinEgressDatapathBoard> =
            EgressBench::new(run.simulation(), Behaviour::after(1));
        bench.send(command(0, 0));
        bench.settle();
        assert_eq!(bench.last_error(), 12);
        bench.clear_error();
        bench.run(1);
        assert_eq!(bench.last_error(), 0);
        // An answer comes four clocks after its command: the clear falls before, into and behind its clock.
        for (clear_after, left) in [(2, 13), (3, 13), (4, 0)] {
            bench.send(command(1 << 40, 64));
            bench.run(clear_after);
            bench.clear_error();
            bench.run(10);
            assert_eq!(bench.last_error(), left, "cleared after {clear_after} clocks");
        }
        // A good answer does not keep an error.
        bench.send(command(0, 0));
        bench.run(10);
        bench.send(command(0, 64));
        bench.run(6);
        bench.clear_error();
        bench.settle();
        assert_eq!(bench.last_error(), 0);
        bench.finish();
    });
}
