//! Descriptors that fail, and bursts that are refused.

use crate::{BASE, burst, open, slow, strobed};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::Finish;
use spinneret_tb::hostdma::{HostDmaBench, Stimulus};

/// Each code fails its burst, and no other, and is counted separately.
fn every_status_code_fails_its_burst_alone<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::default());
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
            bench.write(strobed(bus, BASE, &[lanes; 3], lane));
            bench.settle();
            assert_eq!(
                bench.last_write.map(|done| done.response),
                Some(Response::SlaveError)
            );
        }
    }
    bench.writes.set_faults(DmaFaults::Never);
    bench.write(strobed(bus, BASE, &[lanes; 3], 1));
    bench.settle();
    assert_eq!(bench.last_write.map(|done| done.response), Some(Response::Okay));
    bench.finish();
}

/// A status for each tag that is not in flight, and for tags that there are not, with every code, while all is quiet
/// and while there is traffic.
fn statuses_for_tags_that_are_not_in_flight_are_counted<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::latency(30));
    let bus = bench.setup.beat_bytes as usize;
    let unsolicited = |bench: &HostDmaBench<M>, from: u64, to: u64| {
        for tag in from..to {
            bench.writes.send_unsolicited_status(tag, (tag % 16) as u8);
            bench.reads.send_unsolicited_status(tag, (tag % 16) as u8);
        }
    };
    unsolicited(&bench, 0, bench.setup.writes);
    for bit in bench.setup.writes.ilog2()..16 {
        unsolicited(&bench, 1 << bit, (1 << bit) + 4);
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
        unsolicited(&bench, tag, tag + 1);
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
    let mut bench = open::<M>(run, Stimulus::default());
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
            dma.send_unsolicited_status(tag, (tag % 16) as u8);
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
    let mut bench = open::<M>(run, Stimulus::default());
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
        bench
            .writes
            .send_unsolicited_status(number % bench.setup.writes, 0);
        bench.reads.send_unsolicited_status(number % bench.setup.reads, 0);
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
fn waits_for_late_statuses<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::latency(3000));
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

/// Bursts that cannot be done on a bus of that many bytes.
fn impossible(bus: u64) -> Vec<Burst> {
    let kinds = [BurstKind::Fixed, BurstKind::Wrapping, BurstKind::Reserved];
    let of_kinds = kinds.into_iter().flat_map(|kind| {
        [1, 2, 4, 8, 16].map(|beats| Burst {
            kind,
            ..burst(beats, BASE, beats, bus)
        })
    });
    let long = [BurstKind::Fixed, BurstKind::Reserved].map(|kind| Burst {
        kind,
        ..burst(1, BASE, 256, 1)
    });
    let wide =
        (bus.ilog2() + 1..8).flat_map(|power| [1, 2, 3, 16].map(|beats| burst(2, BASE, beats, 1 << power)));
    let beats_of_page = 4096 / bus;
    let crossing = [2, 3, 64, 256].into_iter().flat_map(move |beats| {
        let behind = |address| burst(3, address, beats, bus);
        [
            behind(BASE + 4096 - bus),
            behind(BASE + 4096 - 1),
            behind(BASE + 4096 - (beats - 1).min(beats_of_page) * bus),
        ]
    });
    let narrow = [burst(4, BASE + 4095, 2, 1), burst(4, BASE + 4094, 256, 2)];
    of_kinds
        .chain(long)
        .chain(wide)
        .chain(crossing)
        .chain(narrow)
        .collect()
}

/// A read and a write of one beat go through.
fn works<M: Model>(bench: &mut HostDmaBench<M>) {
    let bus = bench.setup.beat_bytes as usize;
    bench.write(WriteRequest::bytes(5, BASE + 3, &[1, 2, 3], bus));
    bench.read(ReadRequest::bytes(5, BASE + 8192, 17, bus));
}

fn writes_that_cannot_be_done<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::default());
    let bus = bench.setup.beat_bytes;
    let bursts = impossible(bus);
    let count = bursts.len() as u64;
    for burst in bursts {
        let strobes = vec![u128::MAX >> (128 - bus); burst.beats as usize];
        let request = strobed(bus, burst.address, &strobes, burst.id).illegal();
        bench.write(WriteRequest { burst, ..request });
        works(&mut bench);
    }
    bench.settle();
    let counters = bench.counters();
    assert_eq!(
        (counters.writes.refused, counters.writes.bursts),
        (count, 2 * count)
    );
    assert_eq!(bench.descriptors, [count, count]);
    bench.finish();
}

fn reads_that_cannot_be_done<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::default());
    let bursts = impossible(bench.setup.beat_bytes);
    let count = bursts.len() as u64;
    for burst in bursts {
        bench.read(ReadRequest::new(burst).illegal());
        works(&mut bench);
    }
    bench.settle();
    let counters = bench.counters();
    assert_eq!(
        (counters.reads.refused, counters.reads.bursts),
        (count, 2 * count)
    );
    bench.finish();
}

/// WLAST too early, missing, both, in each beat.
fn a_wrong_wlast_fails_its_burst_alone<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::default());
    let bus = bench.setup.beat_bytes;
    let all = u128::MAX >> (128 - bus);
    let mut count = 0;
    for beats in 1..=5usize {
        for flags in 0..1u32 << beats {
            let mut request = strobed(bus, BASE, &vec![all; beats], count).illegal();
            for (beat, data) in request.beats.iter_mut().enumerate() {
                data.last = flags >> beat & 1 == 1;
            }
            bench.write(request);
            bench.settle();
            let right = flags == 1 << (beats - 1);
            let response = bench.last_write.map(|done| done.response);
            let expected = if right {
                Response::Okay
            } else {
                Response::SlaveError
            };
            assert_eq!(response, Some(expected), "{beats} beats, {flags:#b}");
            works(&mut bench);
            count += 1;
        }
    }
    bench.settle();
    // One of the flags of each length is right.
    assert_eq!(bench.counters().writes.refused, count - 5);
    bench.finish();
}

/// Strobes of lanes that a narrow or unaligned beat does not address.
fn strobes_of_other_lanes_fail_their_burst_alone<M: Model>(run: &mut TestRun) {
    let mut bench = open::<M>(run, Stimulus::default());
    let bus = bench.setup.beat_bytes;
    let mut count = 0;
    for size in (0..bus.ilog2()).map(|power| 1 << power) {
        for lane in 0..bus {
            let burst = burst(1, BASE + bus / 2, 2, size);
            for beat in 0..2 {
                let mut strobes = [burst.lanes(0, bus), burst.lanes(1, bus)];
                if strobes[beat] >> lane & 1 == 1 {
                    continue;
                }
                strobes[beat] |= 1 << lane;
                let request = strobed(bus, burst.address, &strobes, count).illegal();
                bench.write(WriteRequest { burst, ..request });
                count += 1;
                works(&mut bench);
            }
        }
        bench.settle();
    }
    assert_eq!(bench.counters().writes.refused, count);
    bench.finish();
}

test_each!(
    every_status_code_fails_its_burst_alone,
    any_descriptor_of_a_burst_fails_it,
    statuses_for_tags_that_are_not_in_flight_are_counted,
    a_status_before_its_descriptor_is_taken_is_ignored,
    a_status_for_a_descriptor_that_waits_is_ignored,
    waits_for_late_statuses,
    writes_that_cannot_be_done,
    reads_that_cannot_be_done,
    a_wrong_wlast_fails_its_burst_alone,
    strobes_of_other_lanes_fail_their_burst_alone
);
