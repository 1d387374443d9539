//! The control registers against the table's model, in every clock.

mod answers;
mod outputs;

use spinneret_models::{PspinCtrlRegs, PspinCtrlRegsBoard, PspinCtrlRegsOdd};
use spinneret_regmap::me;
use spinneret_sim::prelude::*;
use spinneret_tb::regs::{Bench, Totals, behaviours, measure, run_round};

/// A bench in which the master does not pause and nothing happens by itself.
fn calm<M: Model>(run: &mut TestRun) -> Bench<M> {
    Bench::new(run.simulation())
}

/// What a read was answered.
fn answer(done: LiteReadDone) -> (u64, Response) {
    (done.data, done.response)
}

spinneret_tb::each_model! {
    [PspinCtrlRegs, PspinCtrlRegsBoard, PspinCtrlRegsOdd]:
        1 writes_take_two_clocks_reads_three_and_each_one_every_two,
        1 address_and_data_come_in_any_order,
        1 reads_and_writes_do_not_wait_for_each_other,
        1 a_read_that_meets_a_write_gives_the_value_of_before,
        1 what_is_answered_can_be_read,
        1 one_more_write_and_two_more_reads_are_kept;
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

/// Responses to writes that nobody takes do not stop reads, and the other way round.
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

/// A read and a write of one word whose addresses are taken so many clocks apart.
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
fn what_is_answered_can_be_read<M: Model>(run: &mut TestRun) {
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

/// What is taken while nobody takes responses: three writes and reads at most, of which one and two are kept.
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
    let all = behaviours();
    let share = ACCESSES / all.len() as u64;
    let mut totals = Totals::default();
    for (_, behaviour) in all {
        totals += run_round(run.simulation::<M>(), behaviour, share);
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
