//! Handlers of the runtime on the pipeline.

use spinneret_models::{HpuPipeline4, HpuPipeline8};
use spinneret_packets::{checksum, echo_request, udp};
use spinneret_sim::prelude::*;
use spinneret_tb::handlers::{Handlers, example};
use std::path::Path;

/// Runs an example on some packets, more than there are threads, and returns what it sent.
fn sent<M: Model>(threads: usize, name: &str, csum: bool, frame: &[u8]) -> Vec<Vec<u8>> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hpu{threads}"));
    let program = example(name, csum, &out).expect("the example is built");
    let mut bench = Handlers::new(M::with_seed(1), [threads, 1], program).expect("the model is a pipeline");
    for packet in 0..2 * threads + 1 {
        bench.push(packet, frame).expect("the example has handlers");
    }
    bench.run().expect("all handlers end");
    assert!(bench.done.iter().all(|task| task.error == 0), "{:?}", bench.done);
    assert_eq!(bench.sent.len(), 2 * threads + 1);
    bench.sent
}

#[test]
fn udp_ping_sends_packets_back() {
    let frame = udp(9330, b"hello");
    for reply in sent::<HpuPipeline8>(8, "udp_ping", false, &frame) {
        assert_eq!((&reply[34..36], &reply[36..38]), (&frame[36..38], &frame[34..36]));
        assert_eq!(reply[42..], frame[42..]);
    }
}

/// By the instruction for checksums, and without it.
#[test]
fn icmp_ping_answers_with_a_right_checksum() {
    let frame = echo_request(1, &(0..=200).collect::<Vec<u8>>());
    let with = sent::<HpuPipeline4>(4, "icmp_ping", true, &frame);
    assert_eq!(with, sent::<HpuPipeline4>(4, "icmp_ping", false, &frame));
    for reply in with {
        assert_eq!(
            (&reply[..6], reply[34], checksum(&reply[34..])),
            (&frame[6..12], 0, 0)
        );
        assert_eq!(reply[38..], frame[38..]);
    }
}
