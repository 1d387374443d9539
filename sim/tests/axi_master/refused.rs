//! What a master does not send.

use crate::bench::{burst, calm, refusal};
use crate::support::limited;
use spinneret_fixtures::{FixtureAxiMaster, FixtureAxiSlave};
use spinneret_sim::axi::{AxiMaster, Burst, BurstKind, MasterConfig, ReadRequest, WriteRequest};

#[test]
fn illegal_bursts_are_sent_on_purpose_only() {
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
            message.ends_with("mark it as illegal if that is what is tested"),
            "{message}"
        );
        bench.master.write(request.illegal());
    }
    let read = ReadRequest::new(burst(1, u64::MAX, 3, 128, BurstKind::Wrapping));
    let message = refusal(|| bench.master.read(read));
    assert!(message.contains("do not fit a bus of 8"), "{message}");
    bench.master.read(read.illegal());
    bench.settle();
    assert_eq!(bench.master.take_writes().len(), 9);
    assert_eq!(bench.master.take_reads()[0].beats.len(), 3);
    bench.sim.finish();
}

#[test]
fn what_does_not_fit_the_ports_is_refused() {
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
fn what_is_no_slave_is_refused() {
    let mut sim = limited::<FixtureAxiMaster>(1);
    let error = AxiMaster::attach(&mut sim, "m_axi", MasterConfig::default()).expect_err("a master");
    assert_eq!(
        error.to_string(),
        "port `m_axi_awid` of fixture_axi_master is an output of the design; an input is needed"
    );
    let error = AxiMaster::attach(&mut sim, "x_axi", MasterConfig::default()).expect_err("nothing");
    assert!(
        error.to_string().contains("has no port `x_axi_awvalid`"),
        "{error}"
    );
}
