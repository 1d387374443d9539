//! How long a command takes through an empty path.

use crate::support::{Bench, after, command};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::run_test;

/// Cycles from that of a command to those of its ARVALID, its last line, its answer and its first beat.
fn cycles(bench: &mut Bench, source: u64, length: u64) -> [u64; 4] {
    let start = bench.sim.cycle_count();
    let lines = bench.slave.monitor().counts().data.beats + bench.setup.lines(source, length);
    bench.send(command(source, length));
    let (mut read, mut last_line) = (None, None);
    for cycle in 0..300 {
        bench.cycle();
        let counts = bench.slave.monitor().counts();
        if read.is_none() && bench.sim.dut.get("m_axi_pspin_no_arvalid").unwrap() == 1_u8.into() {
            // What is shown behind the rising edge belongs to the next cycle.
            read = Some(cycle + 1);
        }
        if last_line.is_none() && counts.data.beats == lines {
            last_line = Some(cycle);
        }
    }
    bench.settle();
    let answer = bench.last_answer.expect("an answer").0 - start;
    let first = bench.last_frame.as_ref().expect("a frame").first_cycle - start;
    [read.expect("a read"), last_line.expect("lines"), answer, first]
}

#[test]
fn reads_answers_and_sends_as_soon_as_promised() {
    run_test("reads_answers_and_sends_as_soon_as_promised", 1, |run| {
        for latency in [1, 10, 40] {
            let mut bench = after(run, latency);
            for length in [1, 64, 65, 1500, 4096] {
                for offset in [0, 1, 63] {
                    let [read, last_line, answer, first] = cycles(&mut bench, 0x2000 + offset, length);
                    let lines = bench.setup.lines(0x2000 + offset, length);
                    assert_eq!(read, 3, "{length} at {offset}");
                    assert_eq!(last_line, 3 + latency + lines - 1, "{length} at {offset}");
                    assert_eq!(answer, last_line + 3, "{length} at {offset}");
                    let ahead = if lines == bench.setup.beats(length) { 5 } else { 4 };
                    assert_eq!(first, last_line + ahead, "{length} at {offset}");
                }
            }
            bench.finish();
        }
    });
}

#[test]
fn a_refused_command_is_answered_after_four_clocks() {
    run_test("a_refused_command_is_answered_after_four_clocks", 1, |run| {
        let mut bench = after(run, 1);
        for (source, length) in [(0, 0), (u64::MAX, 1)] {
            let start = bench.sim.cycle_count();
            bench.send(command(source, length));
            bench.settle();
            assert_eq!(bench.last_answer.expect("an answer").0 - start, 4);
        }
        bench.finish();
    });
}
