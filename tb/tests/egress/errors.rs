//! Lines that cannot be read, commands that are refused, and resets.

use crate::{Bench, after, command};
use spinneret_models::{PspinEgressDatapath, PspinEgressDatapathBoard, PspinEgressDatapathSmall};
use spinneret_sim::axi::Response::{self, DecodeError, SlaveError};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, with};
use spinneret_tb::egress::{EgressBench, LineFaults, Stimulus, cycles_of_longest};

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
    case(1, with(after, 3), |bench| {
        for (offset, length) in [(0, 1), (0, 64), (1, 64), (0, 200), (17, 300), (63, 66), (5, 1500)] {
            let source = 0x3000 - 128 + offset;
            for line in 0..bench.setup.lines(source, length) {
                for (response, code) in CODES {
                    let bad = [(0x3000 - 128 + 64 * line, response)];
                    assert_eq!(code_of(bench, source, length, &bad), code);
                }
            }
        }
    });
}

#[test]
fn the_first_bad_line_decides_the_code() {
    case(1, with(after, 3), |bench| {
        for lines in [[0, 1], [0, 3], [1, 2], [2, 3]] {
            for (number, (_, code)) in CODES.into_iter().enumerate() {
                let responses = [CODES[number].0, CODES[1 - number].0];
                let bad = [0, 1].map(|index| (64 * lines[index], responses[index]));
                assert_eq!(code_of(bench, 0, 256, &bad), code, "{bad:x?}");
            }
        }
    });
}

#[test]
fn bad_frames_at_every_second_place_are_dropped_at_full_rate() {
    case(1, with(after, 10), |bench| {
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
    });
}

#[test]
fn good_commands_leave_the_last_error_and_newer_ones_replace_it() {
    case(1, with(after, 3), |bench| {
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
    });
}

#[test]
fn the_last_error_can_be_cleared_unless_another_one_comes_in_the_same_clock() {
    run_test(1, |run| {
        let mut bench: EgressBench<PspinEgressDatapathBoard> =
            EgressBench::new(run.simulation(), Stimulus::after(1));
        bench.send(command(0, 0));
        bench.settle();
        assert_eq!(bench.last_error(), 12);
        bench.clear_error();
        bench.run(1);
        assert_eq!(bench.last_error(), 0);
        // An answer comes four clocks after its command: the clear falls before, into and after its clock.
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

/// Refuses these commands, each with its code, one by one and between good ones.
fn refuses<M: Model>(run: &mut TestRun, wrong: &[(u64, u64, u64)]) {
    let mut bench: EgressBench<M> = EgressBench::new(run.simulation(), Stimulus::after(3));
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
    run_test(1, |run| {
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
            // The length is reported first.
            (u64::MAX, 0, 12),
            (end - 1, 9601, 12),
        ];
        refuses::<PspinEgressDatapath>(run, &wrong);
    });
}

#[test]
fn the_limits_follow_from_the_parameters() {
    run_test(1, |run| {
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
    case(1, with(after, 3), |bench| {
        let end = bench.setup.address_end();
        for (source, length) in [(0, 1), (0, 9600), (end - 1, 1), (end - 9600, 9600)] {
            bench.send(command(source, length));
        }
        assert_eq!(bench.settle().sent, 4);
        assert_eq!(bench.last_error(), 0);
    });
}

#[test]
fn a_reset_in_any_clock_of_a_transfer_leaves_nothing_behind() {
    case(1, with(after, 5), |bench| {
        for clock in 0..60 {
            // Several lines, one of them bad, and a refused one; then whole frames.
            bench.set_faults(LineFaults::At(vec![(0x1080, SlaveError)]));
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
    });
}

#[test]
fn a_reset_gives_all_room_back() {
    case(1, with(after, 1), |bench| {
        let fresh = cycles_of_longest(bench);
        for number in 0..5 {
            bench
                .wire
                .set_pause(Pause::AlwaysAfter(bench.wire.monitor().counts().beats + 10));
            for _ in 0..10 {
                bench.send(command(number, 9600 - 1000 * number));
            }
            bench.run(700);
            bench.reset();
            assert_eq!(cycles_of_longest(bench), fresh);
        }
    });
}

/// A path whose read channels the test drives itself; all data is zero.
struct Raw {
    sim: Simulation<PspinEgressDatapath>,
    commands: ChannelSource,
    reads: ChannelSink,
    /// Lines: id, response, last.
    lines: ChannelSource,
    wire: StreamSink,
}

impl Raw {
    fn new(run: &mut TestRun) -> Self {
        let mut sim = run.simulation::<PspinEgressDatapath>();
        let command = ["id", "src_addr", "length"];
        let commands = sim.channel_source("nic_cmd_req", &command, Pause::Never);
        let reads = sim.channel_sink("m_axi_pspin_no_ar", &["addr", "len"], Pause::Never);
        let lines = sim.channel_source("m_axi_pspin_no_r", &["id", "resp", "last"], Pause::Never);
        let wire = sim.sink("m_axis_nic_tx", Pause::Never);
        sim.reset();
        Self {
            sim,
            commands,
            reads,
            lines,
            wire,
        }
    }

    /// A command for four lines that are answered so; the length of its frame, if there is one, and the last
    /// error.
    fn send(&mut self, lines: [[u64; 3]; 4]) -> (Option<usize>, u8) {
        self.commands.send(&[9, 0x1000, 256]);
        self.sim.run(10);
        let read = self.reads.receive().map(|item| item.values);
        assert_eq!(read, Some(vec![0x1000, 3]));
        for line in &lines {
            self.lines.send(line);
        }
        self.sim.run(20);
        let frame = self.wire.receive().map(|received| received.frame.bytes.len());
        let error = self.sim.dut.get("egress_dma_last_error").unwrap();
        (frame, error.try_into().unwrap())
    }
}

#[test]
fn unsolicited_lines_are_ignored() {
    run_test(1, |run| {
        let mut raw = Raw::new(run);
        for stray in 0..5 {
            for _ in 0..stray {
                raw.lines.send(&[0, 2, 1]);
            }
            raw.sim.run(20);
            assert_eq!(
                raw.send([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]),
                (Some(256), 0)
            );
        }
    });
}

#[test]
fn ids_and_last_of_lines_are_ignored() {
    run_test(1, |run| {
        let mut raw = Raw::new(run);
        assert_eq!(
            raw.send([[7, 0, 1], [1, 0, 1], [255, 0, 0], [3, 0, 0]]),
            (Some(256), 0)
        );
    });
}

#[test]
fn exokay_is_no_okay() {
    run_test(1, |run| {
        for line in 0..4 {
            let mut raw = Raw::new(run);
            let mut lines = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]];
            lines[line][1] = 1;
            assert_eq!(raw.send(lines), (None, 4));
        }
    });
}
