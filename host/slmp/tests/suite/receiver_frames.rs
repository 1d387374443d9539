//! A receiver that is given whole Ethernet frames.

use crate::support::receiving::receiver;
use crate::support::{ALICE, EOM, SYN, ack, header, pattern};
use spinneret_slmp::Confirm;
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::wire::{Flags, PORT};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

fn frame(flags: Flags, payload: &[u8]) -> Vec<u8> {
    let nic = SocketAddrV4::new(Ipv4Addr::new(10, 7, 0, 9), PORT);
    let (from, to) = (
        Endpoint {
            mac: [2; 6],
            socket: ALICE,
        },
        Endpoint {
            mac: [4; 6],
            socket: nic,
        },
    );
    let frame = Frame {
        from,
        to,
        header: header(flags, 0),
        payload,
    };
    frame.build(77, UdpChecksum::Computed).expect("short enough")
}

#[test]
fn frames_are_refused_for_their_own_causes() {
    for (at, cause) in [
        (12, Cause::Malformed),
        (26, Cause::IpChecksum),
        (58, Cause::UdpChecksum),
    ] {
        let mut receiver = receiver(Confirm::Memory);
        let mut frame = frame(EOM | SYN, &pattern(20));
        frame[at] ^= 1;
        assert!(receiver.receive_frame(Duration::ZERO, &frame).is_empty());
        assert_eq!(receiver.counters()[cause], 1);
        assert_eq!(receiver.counters().words().iter().sum::<u64>(), 1);
    }
}

#[test]
fn a_frame_is_answered_with_its_own_headers_turned_around() {
    let mut receiver = receiver(Confirm::Memory);
    let segment = frame(EOM | SYN, &pattern(20));
    let answers = receiver.receive_frame(Duration::ZERO, &segment);
    let [answer] = &answers[..] else {
        panic!("one answer, not {}", answers.len());
    };
    let (asked, answered) = (
        Frame::parse(&segment).expect("good"),
        Frame::parse(answer).expect("good"),
    );
    assert_eq!((answered.from, answered.to), (asked.to, asked.from));
    assert_eq!((answered.header, answered.payload), (ack(EOM | SYN, 0), &[][..]));
    assert_eq!(
        (answer.len(), &answer[40..42], &answer[52..]),
        (60, &[0, 0][..], &[0; 8][..])
    );
    assert_eq!(
        answer[18..20],
        segment[18..20],
        "the identification is that of the segment"
    );
    assert_eq!(
        receiver.take_complete().map(|received| received.data),
        Some(pattern(20))
    );
}
