//! How fast the path has to be.

use spinneret_models::{PspinEgressDatapath, PspinEgressDatapathBoard};
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::egress::{Behaviour, EgressBench, Place, measure};

/// Sizes and the cycles that they may take at most, from the start of a line.
const BARS: [(u64, f64); 2] = [(64, 1.2), (1500, 24.5)];

#[test]
fn small_and_large_frames_take_no_longer_than_they_may() {
    run_test("small_and_large_frames_take_no_longer_than_they_may", 1, |run| {
        let mut reference: EgressBench<PspinEgressDatapath> =
            EgressBench::new(run.simulation(), Behaviour::after(40));
        let mut board: EgressBench<PspinEgressDatapathBoard> =
            EgressBench::new(run.simulation(), Behaviour::after(40));
        for (size, most) in BARS {
            let rates = [
                measure(&mut reference, size, Place::Offset(0)),
                measure(&mut board, size, Place::Offset(0)),
            ];
            for rate in rates {
                assert!(rate.per_frame <= most, "{size} bytes: {rate:?}");
            }
        }
        reference.finish();
        board.finish();
    });
}

#[test]
fn small_frames_take_one_clock_a_line_from_every_place_of_it() {
    run_test(
        "small_frames_take_one_clock_a_line_from_every_place_of_it",
        1,
        |run| {
            let mut bench: EgressBench<PspinEgressDatapath> =
                EgressBench::new(run.simulation(), Behaviour::after(40));
            for offset in 0..64 {
                let rate = measure(&mut bench, 64, Place::Offset(offset));
                let lines = if offset == 0 { 1.0 } else { 2.0 };
                assert_eq!((rate.per_frame, rate.lines), (lines, lines), "{offset}");
            }
            bench.finish();
        },
    );
}

#[test]
fn sends_a_line_of_memory_a_clock_whatever_the_latency() {
    run_test("sends_a_line_of_memory_a_clock_whatever_the_latency", 1, |run| {
        for latency in [1, 10, 40] {
            let mut bench: EgressBench<PspinEgressDatapath> =
                EgressBench::new(run.simulation(), Behaviour::after(latency));
            for size in [1, 64, 65, 128, 256, 512, 1024, 1500, 1514, 4096, 9600] {
                for place in [
                    Place::Offset(0),
                    Place::Offset(1),
                    Place::Offset(32),
                    Place::Offset(63),
                    Place::Everywhere,
                ] {
                    let rate = measure(&mut bench, size, place);
                    assert!(
                        rate.per_frame <= rate.lines,
                        "{size} bytes, {place:?}, lines after {latency}: {rate:?}"
                    );
                }
            }
            bench.finish();
        }
    });
}

/// Cycles of a frame of one line, with lines after that many cycles.
fn cycles_of_small_frames(run: &mut TestRun, latency: u64) -> f64 {
    let mut bench: EgressBench<PspinEgressDatapath> =
        EgressBench::new(run.simulation(), Behaviour::after(latency));
    let rate = measure(&mut bench, 64, Place::Offset(0));
    bench.finish();
    rate.per_frame
}

#[test]
fn small_frames_keep_their_pace_as_long_as_their_commands_can_wait() {
    run_test(
        "small_frames_keep_their_pace_as_long_as_their_commands_can_wait",
        1,
        |run| {
            // 64 commands and one more wait at most, each for its line, and three clocks in the queues.
            assert_eq!(cycles_of_small_frames(run, 61), 1.0);
            assert!(cycles_of_small_frames(run, 62) > 1.0);
        },
    );
}
