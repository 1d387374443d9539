//! Atomic operations are refused, and those that want data get it.

use crate::support::{BASE, open, slow, strobed};
use spinneret_models::PspinHostmemDmaBoard;
use spinneret_sim::axi::{ReadRequest, Response, WriteRequest};
use spinneret_sim::test_run::run_test;

#[test]
fn every_atomic_operation_is_refused_with_the_beats_it_wants() {
    let name = "every_atomic_operation_is_refused_with_the_beats_it_wants";
    run_test(name, 1, |run| {
        let mut bench = open::<PspinHostmemDmaBoard>(run, slow());
        let bus = bench.setup.beat_bytes;
        for atop in 1..64 {
            for beats in [1, 2, 3, 4, 16] {
                let request = strobed(bus, BASE, &vec![u128::MAX >> (128 - bus); beats], atop);
                // A comparison of three beats is none that AXI has, and is answered all the same.
                bench.write(request.atomic(atop as u8).illegal());
                // Others around it are not disturbed.
                bench.write(WriteRequest::bytes(
                    40,
                    BASE + 4096,
                    &[atop as u8; 8],
                    bus as usize,
                ));
                bench.read(ReadRequest::bytes(41, BASE + 8192, 100, bus as usize));
            }
            bench.wait_for_at_most([30, 30]);
        }
        bench.settle();
        let counters = bench.counters();
        assert_eq!(counters.writes.refused, 63 * 5);
        assert_eq!(bench.descriptors[0], 63 * 5);
        bench.finish();
    });
}

#[test]
fn an_atomic_operation_alone_is_answered() {
    run_test("an_atomic_operation_alone_is_answered", 1, |run| {
        let mut bench = open::<PspinHostmemDmaBoard>(run, slow());
        let bus = bench.setup.beat_bytes as usize;
        for atop in [0b01_0000, 0b10_0000, 0b11_0000, 0b11_0001] {
            bench.write(WriteRequest::bytes(7, BASE, &[1; 8], bus).atomic(atop));
            bench.settle();
            assert_eq!(
                bench.last_write.map(|done| done.response),
                Some(Response::SlaveError)
            );
        }
        assert_eq!(bench.counters().reads.refused, 3);
        bench.finish();
    });
}
