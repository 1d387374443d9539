//! Rules that slaves break, requests that are refused, resets, and the end of a test.

use super::{bench, burst, calm, random_pauses, refusal};
use crate::support::{assert_contains, limited, panic_message, panics_with};
use spinneret_fixtures::{FixtureAxiMaster, FixtureAxiSlave};
use spinneret_sim::prelude::*;

#[test]
fn broken_slaves_are_reported() {
    for (fault, expected) in [
        (4, "s_axi_r: beat 1 of 2 from 0x40 for id 2 comes with RLAST"),
        (5, "s_axi_r: beat 2 of 2 from 0x40 for id 2 comes without RLAST"),
        (6, "s_axi_r: a beat for id 3, which has no read under way"),
        (7, "s_axi_r: s_axi_rdata changed while valid was high"),
        (8, "s_axi_r: RRESP is EXOKAY"),
        (9, "s_axi_r: a beat for id 0, which has no read under way"),
        (12, "s_axi_b: a response for id 3, which has no write under way"),
        (13, "s_axi_b: a response for id 0, which has no write under way"),
        (14, "s_axi_b: s_axi_bresp changed while valid was high"),
        (15, "s_axi_b: BRESP is EXOKAY"),
    ] {
        let mut bench = calm();
        let late = Pause::Cycle([[true; 5].as_slice(), &[false]].concat());
        bench.master.set_pauses(&MasterPauses {
            response: late.clone(),
            read_data: late,
            ..MasterPauses::default()
        });
        bench.set_fault(fault);
        bench.master.write(WriteRequest::bytes(2, 0x40, &[1; 16], 8));
        bench.master.read(ReadRequest::bytes(2, 0x40, 16, 8));
        panics_with(expected, || bench.sim.run(100));
    }
}

#[test]
fn early_responses_are_reported() {
    let mut bench = calm();
    bench.reads.set_latency(Latency::exactly(60));
    bench.set_fault(16);
    bench.master.read(ReadRequest::bytes(0, 0, 8, 8));
    let message = panic_message(|| bench.sim.run(20));
    let expected = "s_axi_r: a beat for id 0, which has no read under way";
    assert_contains(&message, expected);
    let mut bench = calm();
    bench.set_fault(17);
    bench.master.write(WriteRequest::bytes(0, 0, &[1; 16], 8));
    let message = panic_message(|| bench.sim.run(20));
    let expected = "s_axi_b: a response for id 0 before its burst is complete";
    assert_contains(&message, expected);
}

#[test]
fn illegal_bursts_do_not_hide_broken_slaves() {
    let mut bench = calm();
    bench.tolerate();
    bench.set_fault(4);
    let read = ReadRequest::new(burst(2, 0xff8, 4, 8, BurstKind::Reserved));
    bench.master.read(read.illegal());
    panics_with("beat 1 of 4 from 0xff8 for id 2 comes with RLAST", || {
        bench.sim.run(100)
    });
}

#[test]
fn illegal_bursts_are_sent_only_on_purpose() {
    let mut bench = calm();
    bench.tolerate();
    let write = |burst: Burst, strobes| {
        let beats = (0..burst.beats).map(|_| (vec![1; 8], strobes));
        WriteRequest::new(burst, beats.collect::<Vec<_>>())
    };
    let mut late = write(burst(0, 0, 4, 8, BurstKind::Incrementing), 0xff);
    late.beats[3].last = false;
    let mut early = write(burst(0, 0, 4, 8, BurstKind::Incrementing), 0xff);
    early.beats[1].last = true;
    for (request, expected) in [
        (
            write(burst(0, 0xff8, 2, 8, BurstKind::Incrementing), 0xff),
            "4 KiB",
        ),
        (
            write(burst(0, 0, 2, 128, BurstKind::Incrementing), 0xff),
            "do not fit a bus",
        ),
        (
            write(burst(0, 0, 17, 8, BurstKind::Fixed), 0xff),
            "a FIXED burst has 17",
        ),
        (write(burst(0, 4, 4, 8, BurstKind::Wrapping), 0xff), "not aligned"),
        (
            write(burst(0, 0, 3, 8, BurstKind::Wrapping), 0xff),
            "a WRAP burst has 3",
        ),
        (write(burst(0, 0, 1, 8, BurstKind::Reserved), 0xff), "reserved"),
        (
            write(burst(0, 3, 1, 2, BurstKind::Incrementing), 0xff),
            "outside of the bytes",
        ),
        (late, "beat 4 of 4 at 0x0 comes without WLAST"),
        (early, "beat 2 of 4 at 0x0 comes with WLAST"),
    ] {
        let message = refusal(|| bench.master.write(request.clone()));
        assert!(
            message.starts_with("s_axi: ") && message.contains(expected),
            "{message}"
        );
        assert!(
            message.ends_with("mark it as illegal if that is intended"),
            "{message}"
        );
        bench.master.write(request.illegal());
    }
    let read = ReadRequest::new(burst(1, u64::MAX, 3, 128, BurstKind::Wrapping));
    let message = refusal(|| bench.master.read(read));
    assert_contains(&message, "do not fit a bus of 8");
    bench.master.read(read.illegal());
    bench.settle();
    assert_eq!(bench.master.take_writes().len(), 9);
    assert_eq!(bench.master.take_reads()[0].beats.len(), 3);
    bench.sim.finish();
}

#[test]
fn requests_that_do_not_fit_the_ports_are_rejected() {
    let message = |action: &dyn Fn(&AxiMaster) -> u64| {
        let bench = calm();
        refusal(|| action(&bench.master))
    };
    let read = |id, address| ReadRequest::bytes(id, address, 1, 8);
    let text = message(&|master| master.read(read(256, 0)));
    assert_eq!(text, "s_axi: id 0x100 does not fit 8 bits");
    let text = message(&|master| master.write(WriteRequest::bytes(0, 0, &[], 8).atomic(0x40)));
    assert_eq!(text, "s_axi: atop 0x40 does not fit 6 bits");
    let text = message(&|master| master.read(read(0, 0).with_user(0x10)));
    assert_eq!(text, "s_axi: user 0x10 does not fit 4 bits");
    let mut sim = limited::<FixtureAxiSlave>(100);
    let master = sim.axi_master("s_axi", MasterConfig::default());
    let text = refusal(|| master.read(read(0, 0)));
    assert_eq!(text, "s_axi has no read channels");
    let write = |address| WriteRequest::bytes(0, address, &[], 4);
    let text = refusal(|| master.write(write(1 << 32)));
    assert_eq!(text, "s_axi: address 0x100000000 does not fit 32 bits");
    let text = refusal(|| master.write(write(0).exclusive()));
    assert_eq!(text, "s_axi: the design has no exclusive accesses");
    let text = refusal(|| master.write(write(0).atomic(0x30)));
    assert_eq!(text, "s_axi: the design has no atomic operations");
    let text = refusal(|| master.write(write(0).with_user(0)));
    assert_eq!(text, "s_axi: the design has no user signals of addresses");
}

#[test]
fn designs_without_slave_ports_are_rejected() {
    let mut sim = limited::<FixtureAxiMaster>(1);
    let error = AxiMaster::attach(&mut sim, "m_axi", MasterConfig::default()).expect_err("a master");
    assert_eq!(
        error.to_string(),
        "port `m_axi_awid` of fixture_axi_master is an output of the design; an input is needed"
    );
    let error = AxiMaster::attach(&mut sim, "x_axi", MasterConfig::default()).expect_err("nothing");
    assert_contains(&error, "has no port `x_axi_awvalid`");
}

#[test]
fn unfinished_accesses_are_reported() {
    for (cycles, expected) in [
        (
            0,
            "s_axi: master: 1 writes are not sent, 0 wait for a response, 0 responses were not taken; \
             1 reads are not sent, 0 wait for a response, 0 responses were not taken",
        ),
        (
            6,
            "0 writes are not sent, 1 wait for a response, 0 responses were not taken; 0 reads are not \
             sent, 1 wait for a response, 0 responses were not taken",
        ),
        (
            60,
            "0 wait for a response, 1 responses were not taken; 0 reads are not sent, 0 wait for a \
             response, 1 responses were not taken",
        ),
    ] {
        let mut bench = calm();
        bench.writes.set_latency(Latency::exactly(30));
        bench.reads.set_latency(Latency::exactly(30));
        bench.master.write(WriteRequest::bytes(0, 0, &[1; 16], 8));
        bench.master.read(ReadRequest::bytes(0, 0, 16, 8));
        bench.sim.run(cycles);
        panics_with(expected, || bench.sim.finish());
    }
}

#[test]
fn a_reset_discards_started_bursts_and_sends_the_rest() {
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
fn a_reset_discards_data_whose_address_was_not_sent() {
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
fn a_burst_that_was_offered_before_a_reset_is_sent_again() {
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
fn bursts_that_have_not_started_can_be_discarded() {
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
