//! How fast it is. The bounds leave some air; the figures are printed.

use super::frame::{Checksum, SYN, Segment, Transfer};
use super::receiver::Receiver;
use spinneret_slmp::Confirm;

/// Payload of a full segment.
const FULL: usize = 1462;
/// The clock of the reference design's cluster.
const CLOCK_HZ: u64 = 40_000_000;

/// A full segment in the middle of a message: clocks from its arrival to its acknowledgement, and clocks of an HPU.
fn clocks(checksum: Checksum) -> (u64, u64) {
    let mut receiver = Receiver::new(8, 100_000, Confirm::Memory);
    let mut transfer = Transfer::new(0x1234_5673, 10 * FULL, FULL);
    transfer.checksum = checksum;
    let segments: Vec<Segment> = transfer.segments();
    receiver.send(&segments[..4]);
    receiver.push(&segments[4].frame());
    let came = receiver.bench.cluster.now();
    receiver.run_until("the acknowledgement", |receiver| !receiver.bench.sent.is_empty());
    let acknowledged = receiver.bench.cluster.now() - came;
    receiver.bench.run();
    let last = receiver.bench.runs().last().expect("it has run");
    (acknowledged, last.ended - last.begun)
}

#[test]
fn a_full_segment_takes_few_clocks() {
    for (checksum, most) in [(Checksum::None, 655), (Checksum::Right, 2345)] {
        let (acknowledged, taken) = clocks(checksum);
        println!("UDP checksum {checksum:?}: {taken} clocks, acknowledged {acknowledged} after its arrival");
        assert!(taken <= most && acknowledged <= most);
    }
}

/// The network brings at most 6.68 Gb/s to a cluster of 16 HPUs at 40 MHz: 70 clocks for a segment.
#[test]
fn segments_one_after_another_keep_up_with_the_network() {
    const SEGMENTS: usize = 1000;
    for (checksum, most) in [(Checksum::None, 62), (Checksum::Right, 164)] {
        let mut receiver = Receiver::new(1, (SEGMENTS * FULL) as u32, Confirm::Memory);
        let mut transfer = Transfer::new(8, SEGMENTS * FULL, FULL);
        transfer.checksum = checksum;
        let segments = transfer.segments();
        assert!(segments.iter().all(|segment| segment.flags & SYN != 0));
        let begun = receiver.bench.cluster.now();
        let acks = receiver.send_at_once(&segments);
        let taken = receiver.bench.cluster.now() - begun;
        assert_eq!(acks.len(), SEGMENTS);
        assert_eq!(receiver.take(0), Some((8, transfer.bytes)));
        let bits = 8 * (SEGMENTS * FULL) as u64;
        println!(
            "UDP checksum {checksum:?}: {} clocks a segment, {:.2} Gb/s of payload at 40 MHz",
            taken as f64 / SEGMENTS as f64,
            (bits * CLOCK_HZ) as f64 / taken as f64 / 1e9
        );
        assert!(taken <= (most * SEGMENTS) as u64);
    }
}
