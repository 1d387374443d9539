//! Segments that are refused, and frames that are no segments or damaged, are counted under their cause, and neither
//! acknowledged nor written anywhere.

use super::receiver::{MAX_SEGMENTS, OPEN, RECIPROCAL, Receiver, STATE};
use super::{ACK, Checksum, EOM, SYN, Segment, Transfer};
use spinneret_packets::checksum;
use spinneret_slmp::Confirm;
use spinneret_slmp::memory::Cause;

/// Payload of the segments.
pub(super) const UNIT: usize = 100;
/// Neither a multiple of the unit nor of anything else.
const CAPACITY: u32 = 5050;

/// Sends a frame that has to be refused for that cause.
pub(super) fn refuse(receiver: &mut Receiver, frame: &[u8], wanted: Cause, what: &str) {
    let (places, written) = (receiver.all_places(), receiver.written());
    let (cause, acks) = receiver.receive(frame);
    assert_eq!((cause, &acks[..]), (wanted, &[][..]), "{what}");
    assert_eq!(receiver.written(), written, "{what}: host memory is as before");
    assert!(receiver.all_places() == places, "{what}: places are as before");
}

/// A receiver that has segments 0 and 2 of a message of five, and perhaps its end, of 30 bytes.
pub(super) fn receiver(has_end: bool) -> Receiver {
    let mut receiver = Receiver::new(2, CAPACITY, Confirm::Memory);
    let segments = Transfer::new(MESSAGE, 4 * UNIT + 30, UNIT).segments();
    receiver.send(&[segments[0].clone(), segments[2].clone()]);
    if has_end {
        receiver.send(&segments[4..]);
    }
    assert_eq!(receiver.get(1, STATE), OPEN);
    receiver
}

/// It begins its search at place 1 of 2.
const MESSAGE: u32 = 0x1234_5677;

pub(super) fn segment(flags: u16, offset: usize, bytes: usize) -> Segment {
    Segment::new(flags | SYN, MESSAGE, offset as u32, &vec![0xee; bytes])
}

/// The state of a receiver: nothing, or segments 0 and 2 of a message of five, without its end or with it.
#[derive(Clone, Copy, Debug)]
enum Known {
    Nothing,
    Begun,
    Ended,
}
use Known::{Begun, Ended, Nothing};

/// A cause, receivers, and flags, offset and bytes of segments that are refused for it by each of them.
type Refused = (Cause, &'static [Known], &'static [(u16, usize, usize)]);

const REFUSED: [Refused; 6] = [
    // Segments that do not fit the others
    (
        Cause::Misplaced,
        &[Begun, Ended],
        &[
            (0, UNIT, UNIT - 1),
            (0, UNIT, UNIT + 1),
            (0, UNIT + 1, UNIT),
            (0, UNIT, 0),
            (EOM, 3 * UNIT, 0),
            (EOM, 0, 0),
            (EOM, 3 * UNIT, UNIT + 1),
            (EOM, 3 * UNIT + 2, UNIT),
            (0, u32::MAX as usize, UNIT),
            (0, u32::MAX as usize - UNIT, UNIT),
        ],
    ),
    // First segments that fit no message
    (
        Cause::Misplaced,
        &[Nothing],
        &[
            (0, 0, 0),
            (0, UNIT, 0),
            (EOM, UNIT, 0),
            (0, UNIT + 1, UNIT),
            (0, 0, 1463),
            (EOM, 0, 1463),
            (0, MAX_SEGMENTS as usize * UNIT, UNIT),
        ],
    ),
    // Beyond the memory of the message
    (
        Cause::TooLong,
        &[Nothing, Begun],
        &[
            (0, 50 * UNIT, UNIT),
            (0, 51 * UNIT, UNIT),
            (EOM, 50 * UNIT, 51),
            (0, 32_000 * UNIT, UNIT),
        ],
    ),
    (
        Cause::TooLong,
        &[Nothing],
        &[(EOM, u32::MAX as usize, 1), (EOM, u32::MAX as usize - 30, 100)],
    ),
    // Beyond the end, or another one; and an end before segments that are there
    (
        Cause::BeyondEnd,
        &[Ended],
        &[
            (0, 4 * UNIT, UNIT),
            (0, 5 * UNIT, UNIT),
            (EOM, 4 * UNIT, 29),
            (EOM, 3 * UNIT, 30),
            (EOM, 5 * UNIT, 30),
        ],
    ),
    (
        Cause::BeyondEnd,
        &[Begun],
        &[
            (EOM, 0, 1),
            (EOM, 0, UNIT),
            (EOM, UNIT, UNIT),
            (EOM, 2 * UNIT, 10),
        ],
    ),
];

#[test]
fn segments_that_fit_no_message_or_not_the_others() {
    for (cause, all_known, segments) in REFUSED {
        for known in all_known {
            let mut receiver = match known {
                Nothing => Receiver::new(2, CAPACITY, Confirm::Memory),
                Begun => receiver(false),
                Ended => receiver(true),
            };
            for (flags, offset, bytes) in segments {
                let frame = segment(*flags, *offset, *bytes).frame();
                let what = format!("{known:?}: {flags:#x}, {bytes} bytes at {offset}");
                refuse(&mut receiver, &frame, cause, &what);
            }
        }
    }
    // The last byte of the memory can be used.
    let (cause, _) = receiver(false).receive(&segment(EOM, 50 * UNIT, 50).frame());
    assert_eq!(cause, Cause::Accepted);
}

/// Whichever segment says how long segments are: the one that opens the message, or one behind its end.
#[test]
fn every_multiple_has_its_bit_and_nothing_else_has_one() {
    const LAST: u32 = MAX_SEGMENTS - 1;
    for (unit, has_end) in [1, 2, 3, 7, 100, 731, 1024, 1461, 1462]
        .into_iter()
        .flat_map(|unit| [(unit, false), (unit, true)])
    {
        let mut receiver = Receiver::new(2, MAX_SEGMENTS * unit + unit, Confirm::Memory);
        let at = |offset: u32, flags| segment(flags, offset as usize, unit as usize).frame();
        if has_end {
            receiver.receive(&at(LAST * unit, EOM));
        }
        for index in [0, 1, 31, 32, 999, 20_011, LAST - 2, LAST - 1] {
            let what = format!("{unit} bytes, segment {index}");
            assert_eq!(
                receiver.receive(&at(index * unit, 0)).0,
                Cause::Accepted,
                "{what}"
            );
            assert!(receiver.all_taken(1).contains(&index), "{what}");
            for offset in [index * unit + 1, index * unit + unit - 1] {
                if offset % unit != 0 {
                    refuse(&mut receiver, &at(offset, 0), Cause::Misplaced, &what);
                }
            }
        }
        assert_eq!(
            receiver.get(1, RECIPROCAL),
            (1_u64 << 32).div_ceil(unit.into()) as u32
        );
        assert_eq!(receiver.all_taken(1).len(), 8, "{unit} bytes");
        for index in [MAX_SEGMENTS, MAX_SEGMENTS + 1, u32::MAX / unit] {
            let offset = index.wrapping_mul(unit);
            refuse(&mut receiver, &at(offset, 0), Cause::Misplaced, "no bit is left");
        }
    }
}

#[test]
fn segments_that_do_not_fit_an_end_that_came_first() {
    let mut receiver = Receiver::new(2, CAPACITY, Confirm::Memory);
    receiver.send(&[segment(EOM, 4 * UNIT, 30)]);
    for unit in [20, 29, 3 * UNIT] {
        let frame = segment(0, 0, unit).frame();
        refuse(
            &mut receiver,
            &frame,
            Cause::Misplaced,
            "a length that does not lead to the end",
        );
    }
    let others = [0, 2, 1, 3].map(|number| segment(0, number * UNIT, UNIT));
    let acks = receiver.send(&others);
    assert_eq!(acks.len(), 5, "the end is acknowledged as well");
    assert_eq!(receiver.completion(1), Some((MESSAGE, 430)));
}

#[test]
fn the_memory_of_a_message_ends_with_the_host_memory() {
    let mut receiver = Receiver::new(2, CAPACITY, Confirm::Memory);
    receiver.set(1, super::receiver::CAPACITY, u32::MAX);
    let frame = segment(0, 60 * UNIT, UNIT).frame();
    refuse(&mut receiver, &frame, Cause::TooLong, "behind the host memory");
    for region in [0, 64, 4095, 1 << 30, u32::MAX] {
        receiver.set(1, super::receiver::REGION, region);
        let frame = segment(0, 0, UNIT).frame();
        refuse(
            &mut receiver,
            &frame,
            Cause::TooLong,
            "a region where none can be",
        );
    }
}

#[test]
fn new_messages_without_room() {
    let mut receiver = receiver(false);
    receiver.send(&Transfer::new(2, 2 * UNIT, UNIT).segments());
    for message in [1, 2, 3] {
        let mut other = Segment::new(SYN, message, 0, &[1; UNIT]);
        other.port = 99;
        refuse(
            &mut receiver,
            &other.frame(),
            Cause::NoRoom,
            "one is open, one is complete",
        );
    }
    let known = segment(0, UNIT, UNIT).frame();
    assert_eq!(receiver.receive(&known).0, Cause::Accepted);
}

#[test]
fn nothing_is_taken_without_host_memory() {
    for bytes in [0, 64, 4095] {
        // The context is that of the first packet.
        let mut receiver = Receiver::new(2, CAPACITY, Confirm::Memory);
        receiver.bench.meta.host_memory.1 = bytes;
        for flags in [0, EOM] {
            let frame = segment(flags, 0, UNIT).frame();
            refuse(&mut receiver, &frame, Cause::NoRoom, "no host memory");
        }
    }
}

#[test]
fn nothing_is_done_before_the_host_has_prepared_the_memory() {
    let mut receiver = Receiver::new(2, CAPACITY, Confirm::Memory);
    let frame = segment(0, 0, UNIT).frame();
    // Last, a number of places that is not that of the memory.
    for (offset, value) in [(0, 0), (4, 2), (8, 0), (8, 1), (8, 3), (8, 9), (8, u32::MAX)] {
        receiver.prepare(CAPACITY, Confirm::Memory);
        receiver.write(offset, value);
        refuse(
            &mut receiver,
            &frame,
            Cause::NoRoom,
            "another magic number, version, or number of places",
        );
    }
    // With too little memory in L2, or in L1, there is nowhere to count, or nothing to count.
    let too_little = |receiver: &mut Receiver, what: &str| {
        let before = receiver.all_places();
        receiver.push(&frame);
        receiver.bench.run();
        assert_eq!(receiver.acks(), [], "{what}");
        assert_eq!(receiver.written(), [], "{what}");
        assert!(receiver.all_places() == before, "{what}");
    };
    for bytes in [0, 4, 0xff, 0x100, 0x10ff, 0x1100, 0x113f, 0x117f] {
        let mut receiver = Receiver::new(2, CAPACITY, Confirm::Memory);
        receiver.bench.meta.handler_memory[1] = bytes;
        too_little(&mut receiver, &format!("{bytes} bytes of handler memory"));
    }
    for bytes in [0, 4, 64, 4160, 2 * 4160 - 1] {
        let mut receiver = Receiver::new(2, CAPACITY, Confirm::Memory);
        receiver.bench.meta.scratchpads[..2].fill([0x4000, bytes]);
        too_little(&mut receiver, &format!("{bytes} bytes of scratchpads"));
        assert_eq!(receiver.counters(), [0; 16]);
    }
}

/// Puts the right checksum into the IP header.
fn fix_ip_checksum(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let checksum = checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
}

/// A change of a frame that makes it another one.
type Damage = (&'static str, fn(&mut Vec<u8>));

const MALFORMED: &[Damage] = &[
    ("another type", |frame| frame[13] = 6),
    ("IP options", |frame| frame[14] = 0x46),
    ("IPv6", |frame| frame[14] = 0x65),
    ("more fragments", |frame| frame[20] = 0x20),
    ("a later fragment", |frame| frame[21] = 1),
    ("TCP", |frame| frame[23] = 6),
    ("IP longer than the frame", |frame| frame[17] += 1),
    ("IP much longer", |frame| frame[16] = 0xff),
    ("IP shorter than its header", |frame| frame[17] = 19),
    ("UDP longer than IP", |frame| frame[39] += 1),
    ("UDP much longer", |frame| frame[38] = 0xff),
    ("no room for SLMP", |frame| frame[39] = 17),
    ("no room for UDP", |frame| frame[39] = 7),
    ("UDP without length", |frame| frame[39] = 0),
    ("a short frame", |frame| frame.truncate(51)),
    ("a very short frame", |frame| frame.truncate(13)),
];

#[test]
fn malformed_frames() {
    let mut receiver = receiver(false);
    for (what, damage) in MALFORMED {
        let mut frame = segment(0, UNIT, UNIT).frame();
        damage(&mut frame);
        if frame.len() > 34 {
            fix_ip_checksum(&mut frame);
        }
        refuse(&mut receiver, &frame, Cause::Malformed, what);
    }
}

#[test]
fn what_is_allowed_is_not_malformed() {
    let mut receiver = receiver(false);
    let allowed: [Damage; 2] = [
        ("do not fragment", |frame| frame[20] = 0x40),
        ("bytes behind UDP", |frame| {
            frame.extend([0x55; 9]);
            frame[17] += 3;
        }),
    ];
    for (number, (what, change)) in allowed.into_iter().enumerate() {
        let mut frame = segment(0, UNIT * (1 + 2 * number), UNIT).frame();
        change(&mut frame);
        fix_ip_checksum(&mut frame);
        assert_eq!(receiver.receive(&frame).0, Cause::Accepted, "{what}");
    }
}

#[test]
fn wrong_checksums() {
    let mut receiver = receiver(false);
    for byte in 14..34 {
        // Other bytes are checked before the checksum.
        if [16, 18, 19, 22, 24, 25, 26, 30, 33].contains(&byte) {
            let mut frame = segment(0, UNIT, UNIT).frame();
            frame[byte] ^= 1;
            let wanted = if byte == 16 {
                Cause::Malformed
            } else {
                Cause::IpChecksum
            };
            refuse(&mut receiver, &frame, wanted, "a bit of the IP header");
        }
    }
    for byte in [34, 38, 40, 41, 42, 44, 50, 52, 100, 150, 151] {
        let mut segment = segment(0, UNIT, UNIT);
        segment.checksum = Checksum::Right;
        let mut frame = segment.frame();
        frame[byte] ^= 0x10;
        let wanted = if byte == 38 {
            Cause::Malformed
        } else {
            Cause::UdpChecksum
        };
        refuse(&mut receiver, &frame, wanted, "a bit of the segment");
    }
}

#[test]
fn acknowledgements_are_no_segments() {
    let mut receiver = receiver(false);
    for flags in [ACK, ACK | EOM] {
        let frame = segment(flags, UNIT, UNIT).frame();
        refuse(&mut receiver, &frame, Cause::NotASegment, "the flag ACK");
    }
}
