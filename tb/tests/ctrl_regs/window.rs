//! Every word of the window, and addresses beyond.

use crate::each_model;
use spinneret_regmap::bar::CONTROL_REGISTERS;
use spinneret_sim::axil::{LiteRead, LiteWrite, Response};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::TestRun;
use spinneret_tb::regs::{Activity, Bench};

/// Writes every word with a value of its own, then reads every word: an alias would show in the outputs, which
/// are compared in every clock, and in what is read.
fn whole_window<M: Model>(run: &mut TestRun) {
    let activity = Activity {
        live_percent: 100,
        stdout_percent: 0,
    };
    let mut bench = Bench::with(run.simulation::<M>(), Default::default(), activity);
    let offsets: Vec<u32> = (0..CONTROL_REGISTERS.size_bytes).step_by(4).collect();
    for offset in &offsets {
        let data = u64::from(offset.wrapping_mul(0x9e37_79b1));
        bench.master.write(LiteWrite::new((*offset).into(), data));
        bench.master.read(LiteRead::new((*offset).into()));
    }
    bench.settle();
    let okay = |responses: Vec<Response>| responses.iter().filter(|r| **r == Response::Okay).count();
    let reads = bench
        .master
        .take_reads()
        .iter()
        .map(|done| done.response)
        .collect();
    let writes = bench
        .master
        .take_writes()
        .iter()
        .map(|done| done.response)
        .collect();
    let (written, read) = match bench.layout.is_extended() {
        // Without the words that are read only: cl.fifo, cl.status, stats, counters, events.sent, constants.
        true => (152 + 1 + 16 + 1 + 17 + 3, 158 + 2 + 56 + 16 + 18 + 4 + 21),
        false => (152, 158),
    };
    assert_eq!((okay(writes), okay(reads)), (written, read));
    // Once more, with all of them holding what was written.
    for offset in &offsets {
        bench.master.read(LiteRead::new((*offset).into()));
    }
    bench.settle();
    assert_eq!(bench.master.take_reads().len(), offsets.len());
    bench.finish();
}

#[test]
fn every_word_of_the_window_is_at_one_address_only() {
    each_model!("regs_window", 1, whole_window);
}

/// Addresses with a bit more than the window has reach nothing, whatever lies at the same place in the window.
fn beyond<M: Model>(run: &mut TestRun) {
    let mut bench = Bench::new(run.simulation::<M>());
    for bit in 16..bench.layout.address_width {
        for offset in bench.layout.words() {
            let address = u64::from(offset | 1 << bit);
            bench.master.write(LiteWrite::new(address, 0xffff_ffff));
            bench.master.read(LiteRead::new(address));
        }
        bench.settle();
        assert!(
            bench
                .master
                .take_writes()
                .iter()
                .all(|done| done.response == Response::SlaveError)
        );
        let reads = bench.master.take_reads();
        assert!(
            reads
                .iter()
                .all(|done| (done.response, done.data) == (Response::SlaveError, 0))
        );
    }
    bench.finish();
}

#[test]
fn addresses_beyond_the_window_reach_nothing() {
    each_model!("regs_beyond", 2, beyond);
}
