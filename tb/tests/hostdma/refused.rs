//! Bursts that cannot be done are answered with as many beats as they have, and the next one goes through.

use crate::support::{BASE, burst, open, strobed, test_each};
use spinneret_sim::axi::{Burst, BurstKind, ReadRequest, Response, WriteRequest};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::TestRun;
use spinneret_tb::hostdma::{Behaviour, HostDmaBench};

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
    let mut bench = open::<M>(run, Behaviour::default());
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
    let mut bench = open::<M>(run, Behaviour::default());
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
    let mut bench = open::<M>(run, Behaviour::default());
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
    let mut bench = open::<M>(run, Behaviour::default());
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
    writes_that_cannot_be_done,
    reads_that_cannot_be_done,
    a_wrong_wlast_fails_its_burst_alone,
    strobes_of_other_lanes_fail_their_burst_alone
);
