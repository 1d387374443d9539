//! The control registers against the table's model, in every clock.

mod answers;

use spinneret_models::{PspinCtrlRegs, PspinCtrlRegsBoard, PspinCtrlRegsOdd};
use spinneret_regmap::{cl, events, guard, her, her_meta, me, stats};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::case;
use spinneret_tb::regs::{Bench, Totals, measure, run_round, stimuli};

spinneret_tb::each_model! {
    [PspinCtrlRegs, PspinCtrlRegsBoard, PspinCtrlRegsOdd]:
        1 writes_take_two_clocks_reads_three_and_each_one_every_two,
        1 address_and_data_come_in_any_order,
        1 reads_and_writes_do_not_wait_for_each_other,
        1 a_read_that_meets_a_write_gives_the_value_of_before,
        1 written_value_is_readable_after_the_response,
        1 one_more_write_and_two_more_reads_are_kept,
        1 outputs_hold_elements_side_by_side,
        1 every_read_takes_one_word_and_none_when_there_is_none,
        1 only_reads_of_the_fifo_take_a_word,
        1 word_waits_with_its_read_response,
        1 reset_keeps_words_that_were_not_taken;
}

/// A bench in which the master does not pause and all models are idle.
fn calm<M: Model>(run: &mut TestRun) -> Bench<M> {
    Bench::new(run.simulation())
}

/// Data and response of a read.
fn answer(done: LiteReadDone) -> (u64, Response) {
    (done.data, done.response)
}

const WORD: u32 = me::MASK.offset;

fn writes_take_two_clocks_reads_three_and_each_one_every_two<M: Model>(run: &mut TestRun) {
    let measured = measure(run.simulation::<M>());
    assert_eq!((measured.write_latency, measured.read_latency), (2, 3));
    assert_eq!(
        (measured.writes, measured.reads),
        (2000, 2000),
        "one of each every two clocks"
    );
}

/// Address and data in any order; the later of them counts.
fn address_and_data_come_in_any_order<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    bench.master.set_skew(Skew::Random { most: 9 });
    let (mut address_first, mut data_first) = (0, 0);
    for number in 0..100 {
        let done = bench.write(WORD, number);
        assert_eq!(done.latency_cycles(), 2);
        address_first += u32::from(done.address_cycle < done.data_cycle);
        data_first += u32::from(done.data_cycle < done.address_cycle);
        assert_eq!(bench.read(WORD).data, u64::from(number));
    }
    assert!(
        address_first > 10 && data_first > 10,
        "{address_first}, {data_first}"
    );
}

/// Responses that are not taken block only their own direction.
fn reads_and_writes_do_not_wait_for_each_other<M: Model>(run: &mut TestRun) {
    for writes_stop in [true, false] {
        let mut bench = calm::<M>(run);
        let mut pauses = MasterPauses::default();
        let stopped = if writes_stop {
            &mut pauses.response
        } else {
            &mut pauses.read_data
        };
        *stopped = Pause::AlwaysAfter(0);
        bench.master.set_pauses(&pauses);
        for number in 0..20 {
            bench.master.write(LiteWrite::new(WORD.into(), number));
            bench.master.read(LiteRead::new(WORD.into()));
        }
        bench.sim.run(100);
        let expected = if writes_stop { (20, 0) } else { (0, 20) };
        assert_eq!((bench.master.writes_left(), bench.master.reads_left()), expected);
        bench.master.set_pauses(&MasterPauses::default());
        bench.settle();
        assert_eq!(
            bench.master.take_writes().len() + bench.master.take_reads().len(),
            40
        );
    }
}

/// A read and a write of one word, with `read_later` clocks between their addresses.
fn a_read_that_meets_a_write_gives_the_value_of_before<M: Model>(run: &mut TestRun) {
    for (read_later, expected) in [(0, 1), (1, 2), (2, 2)] {
        let mut bench = calm::<M>(run);
        bench.write(WORD, 1);
        bench.master.write(LiteWrite::new(WORD.into(), 2));
        bench.sim.run(read_later);
        bench.master.read(LiteRead::new(WORD.into()));
        bench.settle();
        let (write, read) = (bench.master.take_writes()[0], bench.master.take_reads()[0]);
        assert_eq!(read.address_cycle, write.address_cycle + read_later);
        assert_eq!(read.data, expected, "{read_later} clocks later");
    }
}

/// Software that writes, waits for the response and reads sees what it wrote; so does one that sends its read in
/// the clock of the response.
fn written_value_is_readable_after_the_response<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    bench.write(WORD, 7);
    let done = bench.write(WORD, 8);
    bench.master.write(LiteWrite::new(WORD.into(), 9));
    let response = done.response_cycle - done.address_cycle;
    bench.sim.run(response);
    bench.master.read(LiteRead::new(WORD.into()));
    bench.settle();
    let (write, read) = (bench.master.take_writes()[0], bench.master.take_reads()[0]);
    assert_eq!((read.address_cycle, read.data), (write.response_cycle, 9));
}

/// Without a taker of responses the block accepts at most three writes and reads, and keeps one and two of them.
fn one_more_write_and_two_more_reads_are_kept<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    bench.master.set_pauses(&MasterPauses {
        response: Pause::AlwaysAfter(0),
        read_data: Pause::AlwaysAfter(0),
        ..MasterPauses::default()
    });
    for number in 0..10 {
        bench.master.write(LiteWrite::new(WORD.into(), number));
        bench.master.read(LiteRead::new(WORD.into()));
    }
    bench.sim.run(60);
    let [writes, reads] = bench.master.counts();
    let taken = [writes.address, writes.data, reads.address];
    assert_eq!(taken.map(|channel| channel.beats), [2, 2, 3]);
    bench.master.set_pauses(&MasterPauses::default());
    bench.settle();
    assert_eq!(
        bench.master.take_writes().len() + bench.master.take_reads().len(),
        20
    );
}

/// Accesses to each model: together 210,000.
const ACCESSES: u64 = 70_000;

fn random_accesses<M: Model>(run: &mut TestRun) {
    let all = stimuli();
    let share = ACCESSES / all.len() as u64;
    let mut totals = Totals::default();
    for (_, stimulus) in all {
        totals += run_round(run.simulation::<M>(), stimulus, share);
    }
    assert_eq!(totals.accesses(), ACCESSES);
    // Each kind of answer was seen often.
    for (what, count) in [
        ("written", totals.written),
        ("read", totals.read),
        ("refused", totals.refused),
        ("printed", totals.printed),
    ] {
        assert!(count > ACCESSES / 50, "{what}: {count} only");
    }
    assert!(totals.resets > 10 && totals.forgotten > 10, "{totals:?}");
}

#[test]
fn random_accesses_to_the_drop_in() {
    run_test(1, random_accesses::<PspinCtrlRegs>);
}

#[test]
fn random_accesses_to_all_registers() {
    run_test(1, random_accesses::<PspinCtrlRegsBoard>);
}

#[test]
fn random_accesses_with_other_counts_and_wider_addresses() {
    run_test(1, random_accesses::<PspinCtrlRegsOdd>);
}

/// The bits of an output that are 1.
fn ones<M: Model>(bench: &Bench<M>, port: &str) -> Vec<u64> {
    let value = bench.sim.dut.get(port).expect("an output");
    (0..value.bits()).filter(|bit| value.bit(*bit)).collect()
}

fn outputs_hold_elements_side_by_side<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    assert_eq!(ones(&bench, "aux_rst_o"), [0]);
    bench.write(cl::AUX_RESET, 0xffff_fffe);
    assert_eq!(ones(&bench, "aux_rst_o"), [0_u64; 0]);
    bench.write(cl::FETCH_ENABLE, 2);
    assert_eq!(ones(&bench, "cl_fetch_en_o"), [1]);
    let rule = me::mask(2, 1).expect("there is such a rule");
    bench.write(rule, 0x0000_ffff);
    let expected: Vec<u64> = (32 * 9..32 * 9 + 16).collect();
    assert_eq!(ones(&bench, "match_mask"), expected, "as software wrote it");
    bench.write(me::mode(3).expect("there is such a ruleset"), 1);
    assert_eq!(ones(&bench, "match_mode"), [3]);
    bench.write(her::ctx_enabled(2).expect("there is such a context"), 1);
    assert_eq!(ones(&bench, "her_gen_ctx_enabled"), [2]);
    for (name, value) in [("host_mem_addr_0", 1), ("host_mem_addr_1", 2)] {
        bench.write(her_meta::offset(name, 3).expect("there is such a field"), value);
    }
    assert_eq!(ones(&bench, "her_gen_host_mem_addr"), [3 * 64, 3 * 64 + 33]);
    bench.write(her_meta::offset("th_size", 1).expect("there is such a field"), 5);
    assert_eq!(ones(&bench, "her_gen_th_size"), [32, 34]);
}

#[test]
fn windows_of_the_host_dma_are_64_bits_wide() {
    case(1, calm::<PspinCtrlRegsBoard>, |bench| {
        for flag in ["guard_enforce", "guard_by_context"] {
            assert_eq!(ones(bench, flag), [0_u64; 0], "not limited after reset");
        }
        let (low, high) = guard::base(1).expect("there is such a context");
        bench.write(low, 0x1000);
        bench.write(high, 0x7);
        bench.write(guard::size(1).expect("there is such a context"), 0x2000);
        bench.write(guard::enabled(1).expect("there is such a context"), 1);
        bench.write(guard::ENFORCE.offset, 1);
        assert_eq!(ones(bench, "guard_base"), [64 + 12, 64 + 32, 64 + 33, 64 + 34]);
        assert_eq!(ones(bench, "guard_size"), [32 + 13]);
        assert_eq!(ones(bench, "guard_enabled"), [1]);
        assert_eq!(ones(bench, "guard_enforce"), [0]);
        bench.write(guard::BY_CONTEXT.offset, u32::MAX);
        assert_eq!(ones(bench, "guard_by_context"), [0]);
        bench.write(me::relative(1, 3).expect("there is such a rule"), 1);
        assert_eq!(ones(bench, "match_relative"), [7]);
    });
}

#[test]
fn lines_of_events_are_cleared_for_one_clock_by_those_that_are_written() {
    case(1, calm::<PspinCtrlRegsBoard>, |bench| {
        let offset = u64::from(events::PENDING.offset);
        for (write, expected) in [
            (LiteWrite::new(offset, 0xffff_ffd2), vec![1, 4]),
            (LiteWrite::new(offset, 0x3f).strobed(0xe), vec![]),
            (LiteWrite::new(offset + 4, 0x3f), vec![]),
        ] {
            bench.master.write(write);
            let mut seen = Vec::new();
            for _ in 0..20 {
                bench.sim.cycle();
                seen.extend(ones(bench, "events_clear"));
            }
            assert_eq!(bench.master.take_writes().len(), 1);
            assert_eq!(seen, expected);
        }
        assert_eq!(ones(bench, "events_enable"), [0, 1, 2, 3, 4, 5]);
        bench.write(events::MODERATION.offset, 0xffff_8001);
        assert_eq!(ones(bench, "events_moderation"), [0, 15]);
    });
}

#[test]
fn the_last_error_is_cleared_by_a_pulse_of_one_clock() {
    case(1, calm::<PspinCtrlRegsBoard>, |bench| {
        let pulses = |bench: &mut Bench<PspinCtrlRegsBoard>, write: LiteWrite| {
            bench.master.write(write);
            let mut high = 0;
            for _ in 0..20 {
                bench.sim.cycle();
                high += ones(bench, "error_clear").len();
            }
            assert_eq!(bench.master.take_writes().len(), 1);
            high
        };
        let offset = u64::from(stats::ERROR_CLEAR.offset);
        assert_eq!(pulses(bench, LiteWrite::new(offset, 1)), 1);
        assert_eq!(pulses(bench, LiteWrite::new(offset, 0xffff_ffff).strobed(1)), 1);
        assert_eq!(
            pulses(bench, LiteWrite::new(offset, 0xffff_fffe)),
            0,
            "bit 0 is 0"
        );
        assert_eq!(
            pulses(bench, LiteWrite::new(offset, 1).strobed(0xe)),
            0,
            "byte 0 is not written"
        );
        assert_eq!(
            pulses(bench, LiteWrite::new(offset - 4, 1)),
            0,
            "another register"
        );
        assert_eq!(bench.read(stats::ERROR_CLEAR.offset).data, 0);
    });
}

const FIFO: u32 = cl::FIFO.offset;
const EMPTY: u64 = u32::MAX as u64;

fn every_read_takes_one_word_and_none_when_there_is_none<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    assert_eq!(answer(bench.read(FIFO)), (EMPTY, Response::Okay));
    let words: Vec<u32> = (0..30).map(|word| 0x100 + word).collect();
    words.iter().for_each(|word| bench.around.print(*word));
    // As fast as the block takes them, and two more than there are.
    for _ in 0..32 {
        bench.master.read(LiteRead::new(FIFO.into()));
    }
    bench.settle();
    let read: Vec<u64> = bench.master.take_reads().iter().map(|done| done.data).collect();
    let expected: Vec<u64> = words
        .iter()
        .map(|word| u64::from(*word))
        .chain([EMPTY; 2])
        .collect();
    assert_eq!(read, expected);
    assert_eq!(bench.around.take_printed(), words);
}

fn only_reads_of_the_fifo_take_a_word<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    bench.around.print(0x41);
    assert_eq!(bench.write(FIFO, 0).response, Response::SlaveError);
    for address in [FIFO ^ 4, FIFO ^ 0x10, FIFO ^ 0x1000, FIFO ^ 0x8000] {
        bench.read(address);
    }
    assert_eq!(
        (bench.around.take_printed(), bench.around.printed_left()),
        (vec![], 1)
    );
    assert_eq!(
        bench.read(FIFO + 2).data,
        0x41,
        "the word that contains the address"
    );
    assert_eq!(bench.around.take_printed(), [0x41]);
}

/// A read whose answer waits keeps its word, and takes one only.
fn word_waits_with_its_read_response<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    bench.master.set_pauses(&MasterPauses {
        read_data: Pause::AlwaysAfter(0),
        ..MasterPauses::default()
    });
    (0..5).for_each(|word| bench.around.print(word));
    for _ in 0..5 {
        bench.master.read(LiteRead::new(FIFO.into()));
    }
    bench.sim.run(50);
    // One answer waits at the port and one after it; a third read has its address taken and has not looked.
    assert_eq!(bench.around.take_printed(), [0, 1]);
    assert_eq!(bench.master.take_reads().len(), 0);
    bench.master.set_pauses(&MasterPauses::default());
    bench.settle();
    let read: Vec<u64> = bench.master.take_reads().iter().map(|done| done.data).collect();
    assert_eq!(read, [0, 1, 2, 3, 4]);
    assert_eq!(bench.around.take_printed(), [2, 3, 4]);
}

fn reset_keeps_words_that_were_not_taken<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    for clocks in 0..8 {
        bench.around.print(clocks);
        bench.master.read(LiteRead::new(FIFO.into()));
        bench.sim.run(clocks.into());
        bench.master.clear();
        bench.sim.reset();
        bench.master.clear();
        bench.settle();
        bench.master.take_reads();
        bench.around.take_printed();
        // Words that were not taken remain, in order.
        while bench.around.printed_left() > 0 {
            assert_ne!(bench.read(FIFO).data, EMPTY);
            assert_eq!(bench.around.take_printed().len(), 1);
        }
        assert_eq!(bench.read(FIFO).data, EMPTY);
    }
}
