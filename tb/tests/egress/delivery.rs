//! What is sent: the bytes that a command names, as one frame.

use crate::support::{after, command};
use spinneret_models::{PspinEgressDatapath, PspinEgressDatapathBoard, PspinEgressDatapathSmall};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::egress::{Behaviour, EgressBench};

/// Frames of every length up to three lines from every place of a line.
fn every_place<M: Model>(run: &mut TestRun) {
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
fn frames_of_every_length_from_every_place_of_a_line() {
    run_test("frames_of_every_length_from_every_place_of_a_line", 1, |run| {
        every_place::<PspinEgressDatapath>(run);
        every_place::<PspinEgressDatapathSmall>(run);
        every_place::<PspinEgressDatapathBoard>(run);
    });
}

#[test]
fn frames_across_4_kib_are_read_by_several_bursts() {
    run_test("frames_across_4_kib_are_read_by_several_bursts", 1, |run| {
        let mut bench = after(run, 3);
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
        bench.finish();
    });
}

#[test]
fn the_last_bytes_of_the_address_space_are_sent() {
    run_test("the_last_bytes_of_the_address_space_are_sent", 1, |run| {
        let mut bench = after(run, 3);
        let end = bench.setup.address_end();
        let lengths = [1, 2, 63, 64, 65, 128, 129, 1500, 4096, 4097, 9599, 9600];
        for length in lengths {
            bench.send(command(end - length, length));
        }
        assert_eq!(bench.settle().sent, lengths.len() as u64);
        bench.finish();
    });
}

#[test]
fn frames_on_a_board_have_a_tag_that_corundum_never_gives() {
    run_test(
        "frames_on_a_board_have_a_tag_that_corundum_never_gives",
        1,
        |run| {
            let mut bench: EgressBench<PspinEgressDatapathBoard> =
                EgressBench::new(run.simulation(), Behaviour::after(3));
            bench.send(command(0, 1500));
            bench.settle();
            let frame = bench.last_frame.clone().expect("a frame").frame;
            assert_eq!((frame.user, frame.id, frame.dest), (0, 0, 0));
            bench.finish();
        },
    );
}
