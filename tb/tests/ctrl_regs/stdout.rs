//! Standard output of the handlers.

use crate::each_model;
use crate::support::{answer, response};
use spinneret_regmap::cl;
use spinneret_sim::axil::{LiteRead, MasterPauses, Pause, Response};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::TestRun;
use spinneret_tb::regs::Bench;

const FIFO: u32 = cl::FIFO.offset;
const EMPTY: u64 = u32::MAX as u64;

fn words_once<M: Model>(run: &mut TestRun) {
    let mut bench = Bench::new(run.simulation::<M>());
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
    bench.finish();
}

#[test]
fn every_read_takes_one_word_and_none_when_there_is_none() {
    each_model!("regs_stdout", 1, words_once);
}

fn only_reads_of_it<M: Model>(run: &mut TestRun) {
    let mut bench = Bench::new(run.simulation::<M>());
    bench.around.print(0x41);
    assert_eq!(response(bench.write(FIFO, 0)), Response::SlaveError);
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
    bench.finish();
}

#[test]
fn nothing_else_takes_a_word() {
    each_model!("regs_stdout_others", 1, only_reads_of_it);
}

/// A read whose answer waits keeps its word, and takes one only.
fn waiting<M: Model>(run: &mut TestRun) {
    let mut bench = Bench::new(run.simulation::<M>());
    bench.master.set_pauses(&MasterPauses {
        read_data: Pause::AlwaysAfter(0),
        ..MasterPauses::default()
    });
    (0..5).for_each(|word| bench.around.print(word));
    for _ in 0..5 {
        bench.master.read(LiteRead::new(FIFO.into()));
    }
    bench.sim.run(50);
    // One answer waits at the port and one behind it; a third read has its address taken and has not looked.
    assert_eq!(bench.around.take_printed(), [0, 1]);
    assert_eq!(bench.master.take_reads().len(), 0);
    bench.master.set_pauses(&MasterPauses::default());
    bench.settle();
    let read: Vec<u64> = bench.master.take_reads().iter().map(|done| done.data).collect();
    assert_eq!(read, [0, 1, 2, 3, 4]);
    assert_eq!(bench.around.take_printed(), [2, 3, 4]);
    bench.finish();
}

#[test]
fn a_word_waits_with_its_answer() {
    each_model!("regs_stdout_waiting", 1, waiting);
}

fn resets<M: Model>(run: &mut TestRun) {
    let mut bench = Bench::new(run.simulation::<M>());
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
        // What was not taken is still there, in its order.
        while bench.around.printed_left() > 0 {
            assert_ne!(bench.read(FIFO).data, EMPTY);
            assert_eq!(bench.around.take_printed().len(), 1);
        }
        assert_eq!(bench.read(FIFO).data, EMPTY);
    }
    bench.finish();
}

#[test]
fn a_reset_leaves_the_words_that_were_not_taken() {
    each_model!("regs_stdout_resets", 1, resets);
}
