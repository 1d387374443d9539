//! The egress path against its reference model, and each line of its contract.

mod errors;
mod pass;

use spinneret_models::{
    PspinEgressDatapath, PspinEgressDatapathBoard, PspinEgressDatapathLean, PspinEgressDatapathSmall,
    PspinEgressDatapathW64, PspinEgressDatapathW128, PspinEgressDatapathW256,
};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, with};
use spinneret_tb::egress::{
    Command, EgressBench, LineFaults, Place, Stimulus, Totals, Way, cycles_of_longest, longest_frames,
    measure, run_round, stimuli,
};

spinneret_tb::each_model! {
    [PspinEgressDatapath, PspinEgressDatapathBoard, PspinEgressDatapathW64]:
        1 no_room_is_lost_by_errors_and_a_slow_wire;
    [PspinEgressDatapath, PspinEgressDatapathSmall, PspinEgressDatapathBoard, PspinEgressDatapathW64,
     PspinEgressDatapathW256]:
        1 frames_of_every_length_from_every_place_of_a_line;
    [PspinEgressDatapath, PspinEgressDatapathW64, PspinEgressDatapathW128, PspinEgressDatapathW256]:
        1 sends_a_line_of_memory_a_clock_whatever_the_latency,
        1 reads_answers_and_sends_as_soon_as_promised;
    [PspinEgressDatapathW64, PspinEgressDatapathW128, PspinEgressDatapathW256, PspinEgressDatapathLean]:
        4 random_commands;
}

/// The path in the reference configuration between bus models.
type Bench = EgressBench<PspinEgressDatapath>;

/// The path with everything ready, and lines after that many cycles.
fn after(run: &mut TestRun, cycles: u64) -> Bench {
    any_after(run, cycles)
}

/// The same in any configuration.
fn any_after<M: Model>(run: &mut TestRun, cycles: u64) -> EgressBench<M> {
    let mut bench = EgressBench::new(run.simulation(), Stimulus::after(cycles));
    // In the first cycle after a reset it takes nothing.
    bench.run(2);
    bench
}

/// A command whose id follows from its address.
fn command(source: u64, length: u64) -> Command {
    Command {
        id: (source / 64 + length) % 64,
        source,
        length,
        way: Way::Wire,
    }
}

/// The same with an id.
fn with_id(id: u64, source: u64, length: u64) -> Command {
    Command {
        id,
        source,
        length,
        way: Way::Wire,
    }
}

#[test]
fn reads_stop_while_the_buffer_has_no_room_for_the_longest_frame() {
    run_test(1, |run| {
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
    });
}

/// Longest frames go through at a beat a clock, before and after a wire that stands still, and errors.
fn no_room_is_lost_by_errors_and_a_slow_wire<M: Model>(run: &mut TestRun) {
    let mut bench: EgressBench<M> = EgressBench::new(run.simulation(), Stimulus::after(1));
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
fn a_frame_leaves_without_a_pause_however_slow_the_memory_is() {
    case(1, with(after, 20), |bench| {
        let slow = || Pause::Random { percent: 90 };
        bench.slave.set_pauses(slow(), slow());
        for length in [64, 500, 1500, 9600] {
            bench.send(command(7, length));
            bench.settle();
            let frame = bench.last_frame.as_ref().expect("a frame");
            let beats = bench.setup.beats(length);
            assert_eq!(frame.last_cycle - frame.first_cycle, beats - 1);
        }
    });
}

#[test]
fn commands_wait_while_the_memory_takes_no_reads() {
    case(1, with(after, 3), |bench| {
        bench.slave.set_pauses(Pause::AlwaysAfter(0), Pause::Never);
        for number in 0..100 {
            bench.send(command(64 * number, 64));
        }
        bench.run(300);
        assert!(bench.commands.waiting() > 80, "commands must wait outside");
        bench.slave.set_pauses(Pause::Never, Pause::Never);
        assert_eq!(bench.settle().sent, 100);
    });
}

/// Sizes and the cycles that they may take at most, from the start of a line.
const BARS: [(u64, f64); 2] = [(64, 1.2), (1500, 24.5)];

#[test]
fn small_and_large_frames_take_no_longer_than_they_may() {
    run_test(1, |run| {
        let mut reference: EgressBench<PspinEgressDatapath> =
            EgressBench::new(run.simulation(), Stimulus::after(40));
        let mut board: EgressBench<PspinEgressDatapathBoard> =
            EgressBench::new(run.simulation(), Stimulus::after(40));
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
    run_test(1, |run| {
        let mut bench: EgressBench<PspinEgressDatapath> =
            EgressBench::new(run.simulation(), Stimulus::after(40));
        for offset in 0..64 {
            let rate = measure(&mut bench, 64, Place::Offset(offset));
            let lines = if offset == 0 { 1.0 } else { 2.0 };
            assert_eq!((rate.per_frame, rate.lines), (lines, lines), "{offset}");
        }
        bench.finish();
    });
}

/// One line of memory a clock, however late the lines come, from wherever frames start.
fn sends_a_line_of_memory_a_clock_whatever_the_latency<M: Model>(run: &mut TestRun) {
    for latency in [1, 10, 40] {
        let mut bench: EgressBench<M> = EgressBench::new(run.simulation(), Stimulus::after(latency));
        let beat = bench.setup.beat;
        let offsets = [0, 1, beat / 2, beat - 1].map(Place::Offset);
        let places = offsets.into_iter().chain([Place::Everywhere]);
        for place in places {
            for size in [1, 64, 65, 128, 256, 512, 1024, 1500, 1514, 1518, 4096, 9600] {
                // A long frame of narrow beats takes a thousand clocks, so its places are measured together.
                if beat < 64 && size > 1518 && place != Place::Everywhere {
                    continue;
                }
                let rate = measure(&mut bench, size, place);
                assert!(
                    rate.per_frame <= rate.lines,
                    "{}: {size} bytes, {place:?}, lines after {latency}: {rate:?}",
                    M::NAME
                );
            }
        }
        bench.finish();
    }
}

/// Cycles of a frame of one line, with lines after that many cycles.
fn cycles_of_small_frames(run: &mut TestRun, latency: u64) -> f64 {
    let mut bench: EgressBench<PspinEgressDatapath> =
        EgressBench::new(run.simulation(), Stimulus::after(latency));
    let rate = measure(&mut bench, 64, Place::Offset(0));
    bench.finish();
    rate.per_frame
}

#[test]
fn small_frames_keep_their_pace_as_long_as_their_commands_can_wait() {
    run_test(1, |run| {
        // 64 commands and one more wait at most, each for its line, and three clocks in the queues.
        assert_eq!(cycles_of_small_frames(run, 61), 1.0);
        assert!(cycles_of_small_frames(run, 62) > 1.0);
    });
}

/// Cycles from that of a command to those of its ARVALID, its last line, its answer and its first beat.
fn cycles<M: Model>(bench: &mut EgressBench<M>, source: u64, length: u64) -> [u64; 4] {
    let start = bench.sim.cycle_count();
    let of_frame = bench.setup.lines(source, length);
    let lines = bench.slave.monitor().counts().data.beats + of_frame;
    bench.send(command(source, length));
    let (mut read, mut last_line) = (None, None);
    for cycle in 0..200 + of_frame {
        bench.cycle();
        let counts = bench.slave.monitor().counts();
        if read.is_none() && bench.sim.dut.get("m_axi_pspin_no_arvalid").unwrap() == 1_u8.into() {
            // Outputs after the rising edge belong to the next cycle.
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

/// Reads, answers and frames come exactly as many clocks after their command as the contract says.
fn reads_answers_and_sends_as_soon_as_promised<M: Model>(run: &mut TestRun) {
    for latency in [1, 10, 40] {
        let mut bench = any_after::<M>(run, latency);
        for length in [1, 64, 65, 1500, 4096] {
            for offset in [0, 1, bench.setup.beat - 1] {
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
}

#[test]
fn a_refused_command_is_answered_after_four_clocks() {
    case(1, with(after, 1), |bench| {
        for (source, length) in [(0, 0), (u64::MAX, 1)] {
            let start = bench.sim.cycle_count();
            bench.send(command(source, length));
            bench.settle();
            assert_eq!(bench.last_answer.expect("an answer").0 - start, 4);
        }
    });
}

/// Frames of every length up to three lines from every place of a line.
fn frames_of_every_length_from_every_place_of_a_line<M: Model>(run: &mut TestRun) {
    let mut bench: EgressBench<M> = EgressBench::new(run.simulation(), Stimulus::after(5));
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
            EgressBench::new(run.simulation(), Stimulus::after(3));
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
    let stimuli = stimuli();
    let share = COMMANDS.div_ceil(stimuli.len() as u64);
    let mut totals = Totals::default();
    for (index, (_, stimulus)) in stimuli.into_iter().enumerate() {
        let mut sim = run.simulation::<M>();
        sim.set_seed(Seed(run.seed().0.wrapping_add(index as u64)));
        totals += run_round(sim, stimulus, share);
    }
    let outcome = totals.outcome;
    assert!(
        outcome.sent + outcome.passed > COMMANDS / 2
            && outcome.read_errors > COMMANDS / 20
            && outcome.refused > COMMANDS / 50,
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
