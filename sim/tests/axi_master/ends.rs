//! Resets, and the end of a test.

use crate::bench::{bench, calm, random_pauses};
use crate::support::panic_message;
use spinneret_sim::axi::{
    Latency, MasterConfig, MasterPauses, Pause, ReadRequest, Skew, SlaveConfig, WriteRequest,
};

#[test]
fn nothing_is_left_at_the_end() {
    for (cycles, expected) in [
        (
            0,
            "s_axi: master: 1 writes are not sent, 0 wait for their answer, 0 answers were not looked at; \
             1 reads are not sent, 0 wait for their answer, 0 answers were not looked at",
        ),
        (
            6,
            "0 writes are not sent, 1 wait for their answer, 0 answers were not looked at; 0 reads are not \
             sent, 1 wait for their answer, 0 answers were not looked at",
        ),
        (
            60,
            "0 wait for their answer, 1 answers were not looked at; 0 reads are not sent, 0 wait for their \
             answer, 1 answers were not looked at",
        ),
    ] {
        let mut bench = calm();
        bench.writes.set_latency(Latency::exactly(30));
        bench.reads.set_latency(Latency::exactly(30));
        bench.master.write(WriteRequest::bytes(0, 0, &[1; 16], 8));
        bench.master.read(ReadRequest::bytes(0, 0, 16, 8));
        bench.sim.run(cycles);
        let message = panic_message(|| bench.sim.finish());
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_reset_forgets_what_is_begun_and_sends_the_rest() {
    let mut kept = 0;
    for cycles in 1..80 {
        let config = MasterConfig {
            pauses: random_pauses(cycles),
            skew: Skew::Random { most: 6 },
        };
        let mut bench = bench(config, SlaveConfig::default(), SlaveConfig::default());
        bench.writes.set_latency(Latency::exactly(20));
        for number in 0..8 {
            bench
                .master
                .write(WriteRequest::bytes(number, 64 * number, &[1; 32], 8));
            bench.master.read(ReadRequest::bytes(number, 64 * number, 32, 8));
        }
        bench.sim.run(cycles);
        bench.sim.reset();
        let left = (bench.master.writes_left(), bench.master.reads_left());
        bench.master.take_writes();
        bench.master.take_reads();
        bench.writes.take_bursts();
        bench.settle();
        assert_eq!(bench.master.take_writes().len(), left.0);
        assert_eq!(bench.master.take_reads().len(), left.1);
        assert_eq!(bench.writes.take_bursts().len(), left.0);
        kept += usize::from(left.0 > 0 && left.0 < 8);
        bench.sim.finish();
    }
    assert!(kept > 20, "{kept} resets came in the middle");
}

#[test]
fn a_reset_forgets_data_whose_address_was_not_sent() {
    let config = MasterConfig {
        skew: Skew::Random { most: 6 },
        pauses: MasterPauses {
            write_address: Pause::AlwaysAfter(0),
            ..MasterPauses::default()
        },
    };
    let mut bench = bench(config, SlaveConfig::default(), SlaveConfig::default());
    bench
        .writes
        .set_pauses(Pause::Never, Pause::Cycle(vec![true, false]));
    let monitor = bench.master.write_monitor().expect("the fixture writes");
    let mut seen = [0; 2];
    for _ in 0..40 {
        let before = monitor.counts().data.beats;
        bench.master.write(WriteRequest::bytes(0, 0, &[1; 64], 8));
        bench.sim.run(6);
        let data_moved = monitor.counts().data.beats > before;
        bench.sim.reset();
        assert_eq!(bench.master.writes_left(), usize::from(!data_moved));
        bench.master.clear();
        seen[usize::from(data_moved)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
    bench.sim.finish();
}

#[test]
fn a_burst_that_was_offered_before_a_reset_begins_anew() {
    let mut bench = calm();
    bench
        .writes
        .set_pauses(Pause::AlwaysAfter(0), Pause::AlwaysAfter(0));
    bench.master.write(WriteRequest::bytes(0, 0, &[1; 8], 8));
    bench.sim.run(5);
    bench.sim.reset();
    bench.writes.set_pauses(Pause::Never, Pause::Never);
    bench.master.set_pauses(&MasterPauses {
        write_address: Pause::Cycle([[true; 9].as_slice(), &[false]].concat()),
        ..MasterPauses::default()
    });
    bench.settle();
    let write = bench.master.take_writes()[0];
    assert_eq!(write.address_cycle, write.data_cycle, "together");
    bench.sim.finish();
}

#[test]
fn what_is_not_begun_can_be_forgotten() {
    let mut bench = calm();
    bench
        .reads
        .set_pauses(Pause::Cycle(vec![true, true, false]), Pause::Never);
    for number in 0..8 {
        bench.master.write(WriteRequest::bytes(number, 0, &[1; 64], 8));
        bench.master.read(ReadRequest::bytes(number, 0, 8, 8));
    }
    bench.sim.run(4);
    bench.master.clear();
    assert!((1..8).contains(&bench.master.writes_left()));
    assert_eq!(bench.master.reads_left(), 1, "what is offered stays");
    bench.settle();
    bench.master.take_writes();
    bench.master.take_reads();
    bench.sim.finish();
}
