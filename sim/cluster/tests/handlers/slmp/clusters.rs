//! Segments of one message in several clusters: on PULP HPUs each has its own bits, on spinneret's own one has them all.

use super::receiver::{DONE, Receiver};
use super::{Ack, Checksum, SYN, Segment, Transfer};
use spinneret_cluster::Config;
use spinneret_skip::stride;
use spinneret_slmp::Confirm;
use spinneret_slmp::memory::{COMPLETED, Cause, DONE_END};

const UNIT: usize = 100;
const CAPACITY: u32 = 8000;

/// Receivers on HPUs of each kind, one after the other.
fn receivers(clusters: usize) -> impl Iterator<Item = Receiver> {
    [Config::default(), Config::spinneret()]
        .into_iter()
        .map(move |config| Receiver::on(Config { clusters, ..config }, 1, CAPACITY, Confirm::Memory))
}

/// Segments of a message arrive at all clusters in turn, and the host takes it.
fn receive_whole(receiver: &mut Receiver, clusters: usize, transfer: &Transfer, what: &str) {
    let segments = transfer.segments();
    let before: Vec<u32> = (0..clusters)
        .map(|cluster| receiver.accepted_by(cluster))
        .collect();
    for (number, segment) in segments.iter().enumerate() {
        receiver.push_to(number % clusters, &segment.frame());
    }
    receiver.bench.run();
    assert_eq!(receiver.acks().len(), segments.len(), "{what}");
    for (cluster, before) in before.into_iter().enumerate() {
        assert!(
            receiver.accepted_by(cluster) > before,
            "{what}: cluster {cluster} has taken some"
        );
    }
    let taken: Vec<u32> = (0..segments.len() as u32 - 1).collect();
    assert_eq!(
        receiver.all_taken(0),
        taken,
        "{what}: all but the end, which has no bit"
    );
    let arrived = receiver.take(0);
    assert_eq!(
        arrived,
        Some((transfer.message, transfer.bytes.clone())),
        "{what}"
    );
}

#[test]
fn initial_scratchpad_contents_are_ignored() {
    for (clusters, mut receiver) in [1, 2, 4]
        .into_iter()
        .flat_map(|clusters| receivers(clusters).map(move |receiver| (clusters, receiver)))
    {
        let fills: [&dyn Fn(usize) -> u8; 5] = [
            &|_| 0xff,
            &|_| 1,
            &|place| place as u8,
            &|place| (place as u32).wrapping_mul(0x9e37_79b1).to_be_bytes()[0],
            &|_| 0,
        ];
        for (number, fill) in fills.into_iter().enumerate() {
            receiver.prepare(CAPACITY, Confirm::Memory);
            receiver.fill_pads(fill);
            for message in 0..3 {
                let transfer = Transfer::new(message, 67 * UNIT + 3, UNIT);
                let what = format!("{clusters} clusters, fill {number}, message {message}");
                receive_whole(&mut receiver, clusters, &transfer, &what);
            }
        }
    }
}

/// The host restarts, and finds the scratchpads as messages before the restart have left them.
#[test]
fn state_of_an_earlier_start_is_ignored() {
    for mut receiver in receivers(2) {
        for start in 0..4 {
            receiver.prepare(CAPACITY, Confirm::Memory);
            // Short segments of a long message after long ones of a short message, and vice versa.
            for (message, length, unit) in [(1, 1000, 200), (2, 7000, 2), (3, 7000, 100), (4, 7000, 2)] {
                let transfer = Transfer::new(message, length, unit);
                receive_whole(
                    &mut receiver,
                    2,
                    &transfer,
                    &format!("start {start}, message {message}"),
                );
            }
        }
    }
}

/// The same segment arrives at several clusters, the given number of clocks apart: one HPU takes it, and all acknowledge it. Returns
/// the clusters that have taken it.
fn meet(receiver: &mut Receiver, order: &[usize], segments: &[Segment], clocks: u64) -> Vec<usize> {
    receiver.prepare(CAPACITY, Confirm::Memory);
    let clusters = 1 + *order.iter().max().expect("there are some");
    // All clusters work on the message already, or none does.
    let known = &segments[1..];
    for (number, segment) in known.iter().enumerate() {
        receiver.push_to(number % clusters, &segment.frame());
        receiver.bench.run();
    }
    let before: Vec<u32> = (0..clusters)
        .map(|cluster| receiver.accepted_by(cluster))
        .collect();
    for (number, cluster) in order.iter().enumerate() {
        if number != 0 {
            receiver.bench.run_for(clocks);
        }
        receiver.push_to(*cluster, &segments[0].frame());
    }
    receiver.bench.run();
    let what = format!("{order:?}, {} known, {clocks} clocks apart", known.len());
    let counts = [Cause::Accepted, Cause::Duplicate].map(|cause| receiver.count(cause) as usize);
    assert_eq!(counts, [segments.len(), order.len() - 1], "{what}");
    let acks = receiver.acks();
    let own = acks.iter().filter(|ack| **ack == Ack::of(&segments[0]));
    assert_eq!(own.count(), order.len(), "{what}");
    assert_eq!(receiver.get(0, DONE), segments.len() as u32, "{what}");
    assert_eq!(
        receiver.all_taken(0).len(),
        segments.len(),
        "{what}: no segment is taken twice"
    );
    (0..clusters)
        .filter(|cluster| receiver.accepted_by(*cluster) != before[*cluster])
        .collect()
}

#[test]
fn of_duplicates_in_several_clusters_one_is_accepted() {
    let segments = &Transfer::new(5, 40 * UNIT, UNIT).segments()[..5];
    for mut receiver in receivers(4) {
        let orders: [&[usize]; 8] = [
            &[0, 1],
            &[1, 0],
            &[0, 1, 0, 1],
            &[1, 1, 0, 0],
            &[0, 1, 2, 3],
            &[3, 2, 1, 0],
            &[2, 0, 3, 1, 2, 0, 3, 1],
            &[3, 1, 0, 2],
        ];
        let mut winners = [0; 4];
        for order in orders {
            for known in [1, 5] {
                let most = if order.len() == 2 && known == 5 { 700 } else { 160 };
                for clocks in (0..most).step_by(stride(3)) {
                    let won = meet(&mut receiver, order, &segments[..known], clocks);
                    let [winner] = won[..] else {
                        panic!("one cluster has the segment: {won:?}")
                    };
                    winners[winner] += 1;
                }
            }
        }
        assert!(
            winners.iter().all(|count| *count > 20 / stride(3)),
            "each cluster wins sometimes: {winners:?}"
        );
    }
}

/// The last two segments in two clusters, and the end among them: one handler completes the message.
#[test]
fn a_message_that_ends_in_several_clusters_is_completed_once() {
    let transfer = Transfer::new(6, 4 * UNIT, UNIT);
    let segments = transfer.segments();
    for mut receiver in receivers(2) {
        for clocks in (0..400).step_by(stride(3)) {
            for order in [[2, 3], [3, 2]] {
                receiver.prepare(CAPACITY, Confirm::Memory);
                receiver.bench.host_clocks = clocks % 5 * 30;
                for number in [0, 1] {
                    receiver.push_to(number, &segments[number].frame());
                    receiver.bench.run();
                }
                receiver.push_to(0, &segments[order[0]].frame());
                receiver.bench.run_for(clocks);
                receiver.push_to(1, &segments[order[1]].frame());
                receiver.bench.run();
                let what = format!("{order:?}, {clocks} clocks apart");
                assert_eq!(receiver.counters()[COMPLETED], 1, "{what}");
                assert_eq!(receiver.acks().last(), Some(&Ack::of(&segments[3])), "{what}");
                assert_eq!(receiver.get(0, DONE), DONE_END | 4, "{what}");
                assert_eq!(receiver.take(0), Some((6, transfer.bytes.clone())), "{what}");
            }
        }
    }
}

/// Payload of a full segment.
const FULL: usize = 1462;
/// The clock of the reference design's cluster.
const CLOCK_HZ: u64 = 40_000_000;

/// A full segment in the middle of a message: clocks from its arrival to its acknowledgement, and clocks of an HPU. The eight before it
/// have filled the instruction cache, wherever the code is that runs once.
fn clocks(checksum: Checksum) -> (u64, u64) {
    let mut receiver = Receiver::new(8, 100_000, Confirm::Memory);
    let mut transfer = Transfer::new(0x1234_5673, 10 * FULL, FULL);
    transfer.checksum = checksum;
    let segments: Vec<Segment> = transfer.segments();
    receiver.send(&segments[..8]);
    receiver.push(&segments[8].frame());
    let came = receiver.bench.cluster.now();
    receiver.run_until("the acknowledgement", |receiver| !receiver.bench.sent.is_empty());
    let acknowledged = receiver.bench.cluster.now() - came;
    receiver.bench.run();
    let last = receiver.bench.runs().last().expect("it has run");
    (acknowledged, last.ended - last.begun)
}

#[test]
fn a_full_segment_takes_few_clocks() {
    for (checksum, most) in [(Checksum::None, 655), (Checksum::Right, 2330)] {
        let (acknowledged, taken) = clocks(checksum);
        println!("UDP checksum {checksum:?}: {taken} clocks, acknowledged {acknowledged} after its arrival");
        assert!(taken <= most && acknowledged <= most);
    }
}

/// The network brings at most 6.68 Gb/s to a cluster of 16 HPUs at 40 MHz: 70 clocks for a segment. The first ones have opened the
/// message and filled the instruction cache.
#[test]
fn segments_one_after_another_keep_up_with_the_network() {
    const SEGMENTS: usize = 1000;
    const FIRST: usize = 32;
    for (checksum, most) in [(Checksum::None, 57), (Checksum::Right, 159)] {
        let mut receiver = Receiver::new(1, (SEGMENTS * FULL) as u32, Confirm::Memory);
        let mut transfer = Transfer::new(8, SEGMENTS * FULL, FULL);
        transfer.checksum = checksum;
        let segments = transfer.segments();
        assert!(segments.iter().all(|segment| segment.flags & SYN != 0));
        receiver.send_at_once(&segments[..FIRST]);
        let begun = receiver.bench.cluster.now();
        let acks = receiver.send_at_once(&segments[FIRST..]);
        let taken = receiver.bench.cluster.now() - begun;
        assert_eq!(acks.len(), SEGMENTS - FIRST);
        assert_eq!(receiver.take(0), Some((8, transfer.bytes)));
        let bits = 8 * ((SEGMENTS - FIRST) * FULL) as u64;
        println!(
            "UDP checksum {checksum:?}: {} clocks a segment, {:.2} Gb/s of payload at 40 MHz",
            taken as f64 / (SEGMENTS - FIRST) as f64,
            (bits * CLOCK_HZ) as f64 / taken as f64 / 1e9
        );
        assert!(taken <= (most * (SEGMENTS - FIRST)) as u64);
    }
}
