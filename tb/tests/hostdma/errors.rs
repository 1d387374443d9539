//! What Corundum's DMA says about its descriptors.

use crate::support::{BASE, open, slow, test_each};
use spinneret_sim::axi::{ReadRequest, Response, WriteRequest};
use spinneret_sim::dma::{DmaFaults, Latency, Pause};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::TestRun;
use spinneret_tb::hostdma::{Behaviour, HostDmaBench};

/// Each code fails its burst, and no other, and is counted by itself.
fn every_status_code_fails_its_burst_alone<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::default());
    let bus = bench.setup.beat_bytes as usize;
    for code in 1..16u8 {
        let fault = |address| DmaFaults::At(vec![(address..=address, code)]);
        bench.writes.set_faults(fault(BASE + 4096));
        bench.reads.set_faults(fault(BASE + 4096 + 65536));
        let before = bench.counters();
        for page in 0..3 {
            let address = BASE + 4096 * page;
            bench.write(WriteRequest::bytes(page, address, &[code; 100], bus));
            bench.read(ReadRequest::bytes(page, address + 65536, 100, bus));
        }
        bench.settle();
        let counted = usize::from(if matches!(code, 1 | 2 | 4..=11) { code } else { 3 });
        let after = bench.counters();
        for (before, after) in [(before.writes, after.writes), (before.reads, after.reads)] {
            assert!(
                after.dma_errors[counted - 1] > before.dma_errors[counted - 1],
                "code {code}"
            );
            assert_eq!((after.refused, after.outside), (0, 0));
        }
    }
    bench.finish();
}

/// A burst of several descriptors fails if any of them does, whichever it is.
fn any_descriptor_of_a_burst_fails_it<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, slow());
    let bus = bench.setup.beat_bytes;
    // A run of two lanes in every eight.
    let lanes = (0..bus).step_by(8).fold(0, |all, lane| all | 3 << lane);
    for beat in 0..3 {
        for lane in (0..bus).step_by(8) {
            let byte = BASE + beat * bus + lane + 1;
            bench.writes.set_faults(DmaFaults::At(vec![(byte..=byte, 10)]));
            bench.write(crate::support::strobed(bus, BASE, &[lanes; 3], lane));
            bench.settle();
            assert_eq!(
                bench.last_write.map(|done| done.response),
                Some(Response::SlaveError)
            );
        }
    }
    bench.writes.set_faults(DmaFaults::Never);
    bench.write(crate::support::strobed(bus, BASE, &[lanes; 3], 1));
    bench.settle();
    assert_eq!(bench.last_write.map(|done| done.response), Some(Response::Okay));
    bench.finish();
}

/// A status for each tag that is not in flight, and for tags that there are not, with every code, while all is quiet
/// and while there is traffic.
fn statuses_for_tags_that_are_not_in_flight_are_counted<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::latency(30));
    let bus = bench.setup.beat_bytes as usize;
    let strays = |bench: &HostDmaBench<M>, from: u64, to: u64| {
        for tag in from..to {
            bench.writes.send_stray(tag, (tag % 16) as u8);
            bench.reads.send_stray(tag, (tag % 16) as u8);
        }
    };
    strays(&bench, 0, bench.setup.writes);
    for bit in bench.setup.writes.ilog2()..16 {
        strays(&bench, 1 << bit, (1 << bit) + 4);
    }
    bench.run(1000);
    let counters = bench.counters();
    let count = bench.setup.writes + 4 * u64::from(16 - bench.setup.writes.ilog2());
    assert_eq!(
        (counters.writes.stray_status, counters.reads.stray_status),
        (count, count)
    );
    // The tags in flight with upper bits set, so that only those tell them apart.
    for number in 0..200 {
        bench.write(WriteRequest::bytes(1, BASE + 8 * number, &[number as u8; 8], bus));
        bench.read(ReadRequest::bytes(1, BASE + 4096 + 8 * number, 8, bus));
        let tag = 0x8000 + number % bench.setup.writes;
        strays(&bench, tag, tag + 1);
        bench.run(3);
    }
    bench.settle();
    let counters = bench.counters();
    assert_eq!(counters.writes.stray_status, count + 200);
    assert_eq!(counters.reads.stray_status, count + 200);
    bench.finish();
}

/// A status for a descriptor that is valid and not taken answers nothing, whichever its tag is, and is counted.
fn a_status_for_a_descriptor_that_waits_is_ignored<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::default());
    let bus = bench.setup.beat_bytes as usize;
    assert_eq!(bench.setup.writes, bench.setup.reads);
    for tag in 0..bench.setup.writes {
        for dma in [&bench.writes, &bench.reads] {
            dma.set_pause(Pause::AlwaysAfter(0));
        }
        bench.write(WriteRequest::bytes(1, BASE, &[tag as u8; 8], bus));
        bench.read(ReadRequest::bytes(1, BASE + 4096, 8, bus));
        bench.run(30);
        for dma in [&bench.writes, &bench.reads] {
            assert!(dma.is_offered());
            dma.send_stray(tag, (tag % 16) as u8);
        }
        bench.run(30);
        assert_eq!(bench.under_way(), [1, 1], "tag {tag}");
        for dma in [&bench.writes, &bench.reads] {
            dma.set_pause(Pause::Never);
        }
        bench.settle();
        assert_eq!(bench.last_write.map(|done| done.response), Some(Response::Okay));
    }
    let (counters, tags) = (bench.counters(), bench.setup.writes);
    assert_eq!(
        (counters.writes.stray_status, counters.reads.stray_status),
        (tags, tags)
    );
    bench.finish();
}

/// A status for the next tag answers nothing before its descriptor is taken, in whichever clock it comes.
fn a_status_before_its_descriptor_is_taken_is_ignored<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::default());
    let bus = bench.setup.beat_bytes as usize;
    let send = |bench: &mut HostDmaBench<M>| {
        bench.write(WriteRequest::bytes(1, BASE, &[1, 2, 3], bus));
        bench.read(ReadRequest::bytes(1, BASE + 4096, 3, bus));
    };
    // Each burst has one descriptor, and tags are given in turn.
    send(&mut bench);
    bench.settle();
    for number in 1..20 {
        for dma in [&bench.writes, &bench.reads] {
            dma.set_pause(Pause::AlwaysAfter(0));
        }
        send(&mut bench);
        bench.run(number);
        bench.writes.send_stray(number % bench.setup.writes, 0);
        bench.reads.send_stray(number % bench.setup.reads, 0);
        bench.run(30);
        assert_eq!(bench.under_way(), [1, 1]);
        for dma in [&bench.writes, &bench.reads] {
            assert!(dma.is_offered());
            dma.set_pause(Pause::Never);
        }
        bench.settle();
        assert_eq!(bench.last_write.map(|done| done.response), Some(Response::Okay));
    }
    let counters = bench.counters();
    assert_eq!(
        (counters.writes.stray_status, counters.reads.stray_status),
        (19, 19)
    );
    bench.finish();
}

/// A DMA that answers after a very long time loses nothing.
fn late_statuses_are_waited_for<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Behaviour::latency(3000));
    let bus = bench.setup.beat_bytes as usize;
    for number in 0..300 {
        bench.write(WriteRequest::bytes(
            number % 16,
            BASE + 8 * number,
            &[number as u8; 8],
            bus,
        ));
        bench.read(ReadRequest::bytes(number % 16, BASE + 8192 + 8 * number, 8, bus));
    }
    bench.run(2000);
    // As many as there are tags, and no more.
    assert_eq!(bench.writes.in_flight() as u64, bench.setup.writes);
    assert_eq!(bench.reads.in_flight() as u64, bench.setup.reads);
    for dma in [&bench.writes, &bench.reads] {
        dma.set_latency(Latency::exactly(0));
    }
    bench.settle();
    bench.finish();
}

test_each!(
    every_status_code_fails_its_burst_alone,
    any_descriptor_of_a_burst_fails_it,
    statuses_for_tags_that_are_not_in_flight_are_counted,
    a_status_before_its_descriptor_is_taken_is_ignored,
    a_status_for_a_descriptor_that_waits_is_ignored,
    late_statuses_are_waited_for
);
