//! Frames that are no segments, or damaged, are counted under their cause, and neither acknowledged nor written
//! anywhere.

use super::causes::{UNIT, receiver, refuse, segment};
use super::frame::{ACK, Checksum, EOM};
use spinneret_packets::checksum;
use spinneret_slmp::memory::Cause;

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
        // Other bytes are looked at before the checksum is.
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
