//! Which answer belongs to which burst, and when things move.

use crate::bench::{bench, calm};
use spinneret_sim::axi::{
    Faults, MasterConfig, ReadDone, ReadRequest, Response, Skew, SlaveConfig, WriteDone, WriteRequest,
};
use spinneret_sim::model::Model;

#[test]
fn responses_go_to_their_bursts() {
    use Response::{DecodeError, Okay, SlaveError};
    let bad = vec![(0x100..=0x1ff, SlaveError), (0x200..=0x2ff, DecodeError)];
    let mut bench = bench(
        MasterConfig::default(),
        SlaveConfig {
            faults: Faults::At(bad.clone()),
            ..SlaveConfig::default()
        },
        SlaveConfig {
            faults: Faults::At(bad),
            ..SlaveConfig::default()
        },
    );
    let addresses = [0, 0x100, 0x200, 0x3f8, 0x1f8];
    for address in addresses {
        bench.master.write(WriteRequest::bytes(2, address, &[1; 16], 8));
        bench.master.read(ReadRequest::bytes(2, address, 16, 8));
    }
    bench.settle();
    let writes = bench.master.take_writes();
    let responses: Vec<_> = writes.iter().map(|write| write.response).collect();
    assert_eq!(responses, [Okay, SlaveError, DecodeError, Okay, SlaveError]);
    let reads = bench.master.take_reads();
    let responses: Vec<_> = reads.iter().map(ReadDone::response).collect();
    assert_eq!(responses, [Okay, SlaveError, DecodeError, Okay, DecodeError]);
    let beats: Vec<_> = reads[4].beats.iter().map(|beat| beat.response).collect();
    assert_eq!(beats, [SlaveError, DecodeError]);
    bench.sim.finish();
}

#[test]
fn every_channel_moves_a_beat_a_clock() {
    let mut bench = calm();
    for number in 0..50 {
        bench
            .master
            .write(WriteRequest::bytes(number % 4, 8 * number, &[7; 8], 8));
        bench
            .master
            .read(ReadRequest::bytes(number % 4, 64 * number, 64, 8));
    }
    bench.settle();
    let writes = bench.master.take_writes();
    let first = writes[0];
    assert_eq!(first.address_cycle, first.data_cycle, "together");
    assert_eq!(first.response_cycle, first.data_cycle + 1);
    for (number, write) in (0..).zip(&writes) {
        let moved = WriteDone {
            number: write.number,
            burst: write.burst,
            response: Response::Okay,
            address_cycle: first.address_cycle + number,
            data_cycle: first.data_cycle + number,
            valid_cycle: first.valid_cycle + number,
            response_cycle: first.response_cycle + number,
        };
        assert_eq!(*write, moved);
    }
    let reads = bench.master.take_reads();
    assert_eq!(reads[0].first_cycle, reads[0].address_cycle + 1);
    assert_eq!(reads[49].last_cycle, reads[0].first_cycle + 50 * 8 - 1);
    bench.sim.finish();
}

#[test]
fn skews_go_both_ways_and_no_further_than_asked_for() {
    let config = MasterConfig {
        skew: Skew::Random { most: 3 },
        ..MasterConfig::default()
    };
    let mut bench = bench(config, SlaveConfig::default(), SlaveConfig::default());
    let mut seen = [0; 7];
    for _ in 0..140 {
        bench.master.write(WriteRequest::bytes(0, 0, &[1; 8], 8));
        bench.settle();
        let write = bench.master.take_writes()[0];
        let skew = write.data_cycle as i64 - write.address_cycle as i64;
        seen[(skew + 3) as usize] += 1;
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
    bench.sim.finish();
}

#[test]
fn exclusive_accesses_may_be_answered_as_such() {
    let mut bench = calm();
    bench.set_fault(15);
    bench
        .master
        .write(WriteRequest::bytes(0, 0, &[1; 8], 8).exclusive());
    bench.settle();
    assert_eq!(bench.master.take_writes()[0].response, Response::ExclusiveOkay);
    bench.set_fault(8);
    bench.master.read(ReadRequest::bytes(0, 0, 8, 8).exclusive());
    bench.settle();
    assert_eq!(bench.master.take_reads()[0].response(), Response::ExclusiveOkay);
    bench.sim.finish();
}

#[test]
fn user_signals_are_those_that_a_burst_says_or_any() {
    let mut bench = calm();
    let users = [Some(5), None, Some(0), Some(15), None, Some(5), None, None];
    for user in users {
        let (write, read) = (WriteRequest::bytes(0, 0, &[1], 8), ReadRequest::bytes(0, 0, 1, 8));
        bench.master.write(WriteRequest { user, ..write });
        bench.master.read(ReadRequest { user, ..read });
    }
    let mut seen = [Vec::new(), Vec::new()];
    while !bench.master.is_idle() {
        let before = bench.counts();
        bench.sim.cycle();
        let dut = bench.sim.dut.instance();
        for (number, channel) in ["aw", "ar"].into_iter().enumerate() {
            if bench.counts()[number] > before[number] {
                let port = dut
                    .find(&format!("m_axi_{channel}user"))
                    .expect("the fixture has user signals");
                seen[number].push(dut.value(port) as u64);
            }
        }
    }
    for seen in &seen {
        assert_eq!(seen.len(), users.len());
        for (seen, user) in seen.iter().zip(users) {
            assert_eq!(*seen, user.unwrap_or(*seen));
        }
    }
    let free = |seen: &[u64]| [seen[1], seen[4], seen[6], seen[7]];
    assert_ne!(free(&seen[0]), free(&seen[1]), "what is not said is random");
    assert_eq!(bench.master.take_writes().len(), users.len());
    assert_eq!(bench.master.take_reads().len(), users.len());
    bench.sim.finish();
}
