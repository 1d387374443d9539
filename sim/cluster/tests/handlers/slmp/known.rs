//! Segments that an HPU of spinneret's own receives the short way, since it remembers their message, and others among them. HPUs of
//! the PULP cluster remember nothing, and do the same.

use super::races::{reference, spoil};
use super::receiver::{CLOSED, Receiver, STATE};
use super::{ACK, Checksum, EOM, SYN, Segment, Transfer};
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_skip::stride;
use spinneret_slmp::memory::Cause;
use spinneret_slmp::{Confirm, ReceiverConfig};
use std::time::Duration;

const PLACES: usize = 3;
const UNIT: usize = 24;
const CAPACITY: u32 = 1000;
/// Segments after which an HPU remembers their message.
const ENOUGH: usize = 3;
/// Bytes of the headers, and where that of IP begins and ends, with its checksum.
const HEADERS: usize = 52;
const IP: std::ops::Range<usize> = 14..34;
const IP_CHECKSUM: std::ops::Range<usize> = 24..26;
const FLAGS: usize = 42;

fn model() -> spinneret_slmp::Receiver {
    let config = ReceiverConfig {
        places: PLACES,
        capacity_bytes: CAPACITY as usize,
        confirm: Confirm::Memory,
    };
    spinneret_slmp::Receiver::new(config).expect("there are few places")
}

/// Makes the IP checksum right again.
fn seal(frame: &mut [u8]) {
    frame[IP_CHECKSUM].fill(0);
    let words = frame[IP].chunks(2);
    let sum: u32 = words
        .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
        .sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[IP_CHECKSUM].copy_from_slice(&sum.to_be_bytes());
}

/// The fields of a segment's acknowledgement, from addresses to the offset.
fn answer_to(frame: &[u8]) -> [&[u8]; 6] {
    [
        &frame[6..12],
        &frame[..6],
        &frame[30..34],
        &frame[26..30],
        &frame[36..38],
        &frame[34..36],
    ]
}

/// Each bit of the headers counts, as the reference has it, and the answer goes back to where the segment comes from.
#[test]
fn segment_with_another_header_does_not_go_the_short_way() {
    let segments = Transfer::new(9, 8 * UNIT, UNIT).segments();
    for mut receiver in Receiver::each(PLACES, CAPACITY, Confirm::Memory) {
        for bit in (0..8 * HEADERS).step_by(stride(3)) {
            for is_sealed in [false, true] {
                receiver.prepare(CAPACITY, Confirm::Memory);
                let mut model = model();
                for segment in &segments[..ENOUGH] {
                    let wanted = reference(&mut model, segment);
                    assert_eq!(receiver.receive(&segment.frame()), wanted);
                }
                let mut frame = segments[ENOUGH].frame();
                frame[bit / 8] ^= 1 << (bit % 8);
                if is_sealed {
                    seal(&mut frame);
                }
                let before = (model.counters().clone(), receiver.counters());
                let answers = model.receive_frame(Duration::ZERO, &frame);
                receiver.push(&frame);
                receiver.bench.run();
                let after = receiver.counters();
                let what = format!("bit {bit}, sealed: {is_sealed}");
                for cause in Cause::ALL.iter().copied() {
                    let counted = u64::from(after[cause as usize] - before.1[cause as usize]);
                    let wanted = model.counters()[cause] - before.0[cause];
                    assert_eq!(counted, wanted, "{what}: {cause:?}");
                }
                let sent: Vec<Vec<u8>> = receiver.bench.sent.drain(..).map(|(_, frame)| frame).collect();
                assert_eq!(sent.len(), answers.len(), "{what}");
                for sent in sent {
                    let fields = [
                        &sent[..6],
                        &sent[6..12],
                        &sent[26..30],
                        &sent[30..34],
                        &sent[34..36],
                        &sent[36..38],
                    ];
                    assert_eq!(fields, answer_to(&frame), "{what}");
                    assert_eq!(sent[FLAGS], frame[FLAGS] | (ACK >> 8) as u8, "{what}");
                    assert_eq!(sent[FLAGS + 1..HEADERS], frame[FLAGS + 1..HEADERS], "{what}");
                    let mut sealed = sent.clone();
                    seal(&mut sealed);
                    assert_eq!(sealed, sent, "{what}: its IP checksum is right");
                }
                receiver.acks();
            }
        }
    }
}

/// Segments of few messages, some spoilt, one after the other: all is as in the reference.
#[test]
fn runs_of_a_message_do_what_the_reference_does() {
    for mut receiver in Receiver::each(PLACES, CAPACITY, Confirm::Memory) {
        for seed in (0..60).step_by(stride(4)) {
            let random = &mut ChaCha8Rng::seed_from_u64(seed);
            receiver.prepare(CAPACITY, Confirm::Memory);
            let mut model = model();
            let transfers: Vec<Transfer> = (0..2)
                .map(|number| {
                    let unit = random.random_range(1..=UNIT);
                    let mut transfer = Transfer::new(number, unit * random.random_range(10..40), unit);
                    transfer.checksum = *[Checksum::None, Checksum::Right].choose(random).expect("two");
                    transfer
                })
                .collect();
            for step in 0..200 {
                let transfer = &transfers[usize::from(random.random_ratio(1, 8))];
                let segments = transfer.segments();
                // The end comes late, and a segment often for the second time.
                let most = segments.len().min(1 + step / 4);
                let mut segment = segments[random.random_range(0..most)].clone();
                if random.random_ratio(1, 8) {
                    segment.flags &= !SYN;
                }
                if random.random_ratio(1, 10) {
                    spoil(&mut segment, random);
                }
                let found = receiver.receive(&segment.frame());
                let wanted = reference(&mut model, &segment);
                assert_eq!(found, wanted, "seed {seed}, step {step}: {segment:?}");
            }
        }
    }
}

/// A message that is remembered gives way to one of the same name: in the place after it, and after a start of the host.
#[test]
fn remembered_message_is_not_taken_for_its_successor() {
    let segments = Transfer::new(4, 8 * UNIT, UNIT).segments();
    for mut receiver in Receiver::each(1, CAPACITY, Confirm::Memory) {
        for is_new_start in [false, true] {
            receiver.prepare(CAPACITY, Confirm::Memory);
            receiver.send(&segments[..ENOUGH + 1]);
            if is_new_start {
                receiver.prepare(CAPACITY, Confirm::Memory);
            } else {
                receiver.set(0, STATE, CLOSED);
                let given_up = receiver.receive(&segments[ENOUGH].frame());
                assert_eq!(given_up, (Cause::GivenUp, Vec::new()));
                receiver.clear(0);
            }
            // It was accepted before, and has no bit any more.
            let accepted = receiver.receive(&segments[ENOUGH].frame());
            assert_eq!(accepted.0, Cause::Accepted, "new start: {is_new_start}");
            assert_eq!(receiver.all_taken(0), [ENOUGH as u32]);
        }
    }
}

/// Segments after the end are refused, whether the end comes before the message is remembered or after.
#[test]
fn end_of_a_remembered_message_is_known() {
    for mut receiver in Receiver::each(1, CAPACITY, Confirm::Memory) {
        for known in [0, 1, ENOUGH, ENOUGH + 1] {
            receiver.prepare(CAPACITY, Confirm::Memory);
            let segments = Transfer::new(4, 8 * UNIT, UNIT).segments();
            receiver.send(&segments[..known]);
            let end = Segment::new(SYN | EOM, 4, 6 * UNIT as u32, &[1; 5]);
            assert_eq!(receiver.receive(&end.frame()).0, Cause::Accepted, "{known} known");
            let causes = [5, 6, 7].map(|number| receiver.receive(&segments[number].frame()).0);
            let wanted = [Cause::Accepted, Cause::BeyondEnd, Cause::BeyondEnd];
            assert_eq!(causes, wanted, "{known} known");
        }
    }
}

/// Another context's handler memory, with the same addresses in its packets.
#[test]
fn message_is_remembered_for_its_context_alone() {
    let segments = Transfer::new(4, 8 * UNIT, UNIT).segments();
    for mut receiver in Receiver::each(1, CAPACITY, Confirm::Memory) {
        receiver.send(&segments[..ENOUGH]);
        let accepted = receiver.count(Cause::Accepted);
        let memory = receiver.bench.meta.handler_memory;
        receiver.bench.meta.handler_memory[0] += 2 * memory[1].next_multiple_of(0x1000);
        // The scheduler has the context of a queue from its first packet, and this queue is handled in the same cluster.
        for segment in &segments[ENOUGH..] {
            receiver.push_to(3, &segment.frame());
            receiver.bench.run();
        }
        let acks = receiver.acks();
        assert!(acks.is_empty(), "nothing is prepared there: {acks:?}");
        receiver.bench.meta.handler_memory = memory;
        assert_eq!(receiver.count(Cause::Accepted), accepted);
        assert_eq!(receiver.receive(&segments[ENOUGH].frame()).0, Cause::Accepted);
    }
}
