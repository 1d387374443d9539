//! Slaves that break rules.

use crate::bench::{burst, calm};
use crate::support::panic_message;
use spinneret_sim::axi::{BurstKind, Latency, MasterPauses, Pause, ReadRequest, WriteRequest};

#[test]
fn broken_slaves_are_found() {
    for (fault, expected) in [
        (4, "s_axi_r: beat 1 of 2 from 0x40 for id 2 comes with RLAST"),
        (5, "s_axi_r: beat 2 of 2 from 0x40 for id 2 comes without RLAST"),
        (6, "s_axi_r: there is a beat for id 3, which waits for none"),
        (7, "s_axi_r: s_axi_rdata changed while valid was high"),
        (8, "s_axi_r: RRESP is EXOKAY"),
        (9, "s_axi_r: there is a beat for id 0, which waits for none"),
        (12, "s_axi_b: there is a response for id 3, which waits for none"),
        (13, "s_axi_b: there is a response for id 0, which waits for none"),
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
        let message = panic_message(|| bench.sim.run(100));
        assert!(message.contains(expected), "fault {fault}: {message}");
    }
}

#[test]
fn answers_that_are_too_early_are_found() {
    let mut bench = calm();
    bench.reads.set_latency(Latency::exactly(60));
    bench.set_fault(16);
    bench.master.read(ReadRequest::bytes(0, 0, 8, 8));
    let message = panic_message(|| bench.sim.run(20));
    let expected = "s_axi_r: there is a beat for id 0, which waits for none";
    assert!(message.contains(expected), "{message}");
    let mut bench = calm();
    bench.set_fault(17);
    bench.master.write(WriteRequest::bytes(0, 0, &[1; 16], 8));
    let message = panic_message(|| bench.sim.run(20));
    let expected = "s_axi_b: there is a response for id 0 before its burst is complete";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn illegal_bursts_do_not_hide_broken_slaves() {
    let mut bench = calm();
    bench.tolerate();
    bench.set_fault(4);
    let read = ReadRequest::new(burst(2, 0xff8, 4, 8, BurstKind::Reserved));
    bench.master.read(read.illegal());
    let message = panic_message(|| bench.sim.run(100));
    assert!(
        message.contains("beat 1 of 4 from 0xff8 for id 2 comes with RLAST"),
        "{message}"
    );
}
