//! What happens while the wire or the memory does not keep up.

use crate::support::{after, command};
use spinneret_models::{PspinEgressDatapath, PspinEgressDatapathBoard};
use spinneret_sim::axi::Pause;
use spinneret_sim::model::Model;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::egress::{Behaviour, EgressBench, LineFaults, cycles_of_longest, longest_frames};

#[test]
fn reads_stop_while_the_buffer_has_no_room_for_the_longest_frame() {
    run_test(
        "reads_stop_while_the_buffer_has_no_room_for_the_longest_frame",
        1,
        |run| {
            for length in [64, 65, 1500, 9600] {
                let mut bench = after(run, 3);
                bench.wire.set_pause(Pause::AlwaysAfter(0));
                for number in 0..600 {
                    bench.send(command(64 * (number % 512), length));
                }
                bench.run(3000);
                let (beats, longest) = (bench.setup.beats(length), bench.setup.beats(9600));
                let read = bench.slave.monitor().counts().data.beats / beats;
                // Frames start while 150 of 512 places are free, and none of the next one has.
                let free = bench.setup.buffer_beats - read * beats;
                assert!(
                    free < longest && free + beats >= longest,
                    "{read} frames of {length}"
                );
                bench.wire.set_pause(Pause::Never);
                assert_eq!(bench.settle().sent, 600);
                bench.finish();
            }
        },
    );
}

/// Longest frames go through at a beat a clock, before and after a wire that stands still, and errors.
fn no_room_is_lost<M: Model>(run: &mut TestRun) {
    let mut bench: EgressBench<M> = EgressBench::new(run.simulation(), Behaviour::after(1));
    let wanted = (longest_frames(&bench.setup) - 1) * bench.setup.beats(bench.setup.max_frame);
    assert_eq!(cycles_of_longest(&mut bench), wanted);
    for round in 0..20_u32 {
        bench.set_faults(LineFaults::Random(100));
        bench.wire.set_pause(Pause::Random {
            percent: 10 * round % 100,
        });
        for number in 0..50 {
            bench.send(command(
                70 * number,
                1 + (97 * number * (u64::from(round) + 1)) % 9600,
            ));
        }
        bench.settle();
    }
    assert_eq!(cycles_of_longest(&mut bench), wanted);
    bench.finish();
}

#[test]
fn no_room_is_lost_by_errors_and_a_slow_wire() {
    run_test("no_room_is_lost_by_errors_and_a_slow_wire", 1, |run| {
        no_room_is_lost::<PspinEgressDatapath>(run);
        no_room_is_lost::<PspinEgressDatapathBoard>(run);
    });
}

#[test]
fn a_frame_leaves_without_a_pause_however_slow_the_memory_is() {
    run_test(
        "a_frame_leaves_without_a_pause_however_slow_the_memory_is",
        1,
        |run| {
            let mut bench = after(run, 20);
            let slow = || Pause::Random { percent: 90 };
            bench.slave.set_pauses(slow(), slow());
            for length in [64, 500, 1500, 9600] {
                bench.send(command(7, length));
                bench.settle();
                let frame = bench.last_frame.as_ref().expect("a frame");
                let beats = bench.setup.beats(length);
                assert_eq!(frame.last_cycle - frame.first_cycle, beats - 1);
            }
            bench.finish();
        },
    );
}

#[test]
fn commands_wait_while_the_memory_takes_no_reads() {
    run_test("commands_wait_while_the_memory_takes_no_reads", 1, |run| {
        let mut bench = after(run, 3);
        bench.slave.set_pauses(Pause::AlwaysAfter(0), Pause::Never);
        for number in 0..100 {
            bench.send(command(64 * number, 64));
        }
        bench.run(300);
        assert!(bench.commands.waiting() > 80, "commands must wait outside");
        bench.slave.set_pauses(Pause::Never, Pause::Never);
        assert_eq!(bench.settle().sent, 100);
        bench.finish();
    });
}
