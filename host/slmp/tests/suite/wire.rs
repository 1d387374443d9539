//! Headers and frames: literal bytes, round trips, every wrong byte, and a receiver that is given whole frames.

use crate::support::{ALICE, EOM, SYN, ack, header, pattern, receiver};
use pcap_file::pcap::PcapReader;
use proptest::prelude::*;
use spinneret_skip::skip;
use spinneret_slmp::Confirm;
use spinneret_slmp::frame::{Endpoint, Frame, MAX_PAYLOAD_BYTES, MIN_FRAME_BYTES, TooLong, UdpChecksum};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::wire::{Flags, Header, PORT};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn endpoint(number: u8, socket: SocketAddrV4) -> Endpoint {
    Endpoint {
        mac: [2, 0, 0, 0, 0, number],
        socket,
    }
}

fn segment(payload: &[u8]) -> Frame<'_> {
    let nic = SocketAddrV4::new(Ipv4Addr::new(10, 7, 0, 9), PORT);
    Frame {
        from: endpoint(1, ALICE),
        to: endpoint(9, nic),
        header: header(EOM | SYN, 2924),
        payload,
    }
}

fn built(payload: &[u8], checksum: UdpChecksum) -> Vec<u8> {
    segment(payload).build(0x55aa, checksum).expect("short enough")
}

/// RFC 1071 in another form than that of the code under test: every carry at once.
fn sum(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0, |sum: u16, pair| {
        let word = u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

#[test]
fn a_header_has_ten_bytes_in_network_order() {
    let bytes = [0xc0, 0, 1, 2, 3, 4, 0, 0, 0x0b, 0x6c, 0xee];
    let (parsed, payload) = Header::parse(&bytes).expect("long enough");
    assert_eq!((parsed, payload), (header(EOM | SYN, 2924), &[0xee][..]));
    assert_eq!(parsed.emit(), bytes[..10]);
    assert_eq!(Header::parse(&bytes[..9]), None);
    assert_eq!(parsed.acknowledgement().emit()[..2], [0xe0, 0]);
}

#[test]
fn fields_are_where_the_definition_says() {
    let frame = built(b"payload", UdpChecksum::Absent);
    assert_eq!(frame.len(), MIN_FRAME_BYTES);
    assert_eq!(frame[..14], [2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 8, 0]);
    assert_eq!(frame[14..24], [0x45, 0, 0, 45, 0x55, 0xaa, 0, 0, 64, 17]);
    assert_eq!(sum(&frame[14..34]), 0xffff);
    assert_eq!(frame[26..34], [10, 7, 0, 1, 10, 7, 0, 9]);
    assert_eq!(frame[34..42], [0x9c, 0x41, 0x24, 0x72, 0, 25, 0, 0]);
    assert_eq!(frame[42..52], header(EOM | SYN, 2924).emit());
    assert_eq!(&frame[52..], b"payload\0");
}

#[test]
fn every_frame_that_is_wrong_is_refused_for_its_cause() {
    let good = built(&pattern(99), UdpChecksum::Computed);
    let wrong: [(usize, u8, Cause); 16] = [
        (12, 0x86, Cause::Malformed),   // not IPv4
        (14, 0x46, Cause::Malformed),   // IP options
        (14, 0x65, Cause::Malformed),   // another version
        (20, 0x20, Cause::Malformed),   // more fragments
        (21, 0x01, Cause::Malformed),   // a later fragment
        (23, 6, Cause::Malformed),      // TCP
        (16, 0x40, Cause::Malformed),   // IP length beyond the frame
        (17, 19, Cause::Malformed),     // IP length below its header
        (17, 27, Cause::Malformed),     // IP length below the UDP header
        (38, 0x40, Cause::Malformed),   // UDP length beyond IP's
        (39, 7, Cause::Malformed),      // UDP length below its header
        (39, 17, Cause::Malformed),     // UDP length below SLMP's header
        (22, 63, Cause::IpChecksum),    // another time to live
        (24, 0, Cause::IpChecksum),     // another checksum
        (60, 0xff, Cause::UdpChecksum), // another payload
        (43, 0xff, Cause::UdpChecksum), // other flags
    ];
    for (at, value, cause) in wrong {
        let mut frame = good.clone();
        assert_ne!(frame[at], value, "byte {at} would not change");
        frame[at] = value;
        assert_eq!(Frame::parse(&frame), Err(cause), "byte {at}");
    }
    let mut both = good.clone();
    both[22] ^= 1;
    both[60] ^= 1;
    assert_eq!(
        Frame::parse(&both),
        Err(Cause::IpChecksum),
        "the first cause counts"
    );
    both[12] = 0;
    assert_eq!(
        Frame::parse(&both),
        Err(Cause::Malformed),
        "the first cause counts"
    );
    for length in 0..good.len() {
        assert_eq!(
            Frame::parse(&good[..length]),
            Err(Cause::Malformed),
            "{length} bytes"
        );
    }
    assert!(Frame::parse(&good).is_ok());
}

#[test]
fn accepts_valid_ip_variants() {
    let mut frame = built(&pattern(99), UdpChecksum::Computed);
    frame.extend([0xee; 9]);
    frame[20] = 0x40; // "do not fragment"
    frame[24..26].copy_from_slice(&[0, 0]);
    let checksum = !sum(&frame[14..34]);
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(Frame::parse(&frame).map(|parsed| parsed.payload.len()), Ok(99));
}

#[test]
fn a_checksum_of_zero_is_sent_as_its_other_form() {
    // Two bytes of payload are chosen so that the sum is 0xffff, whose inverse is 0.
    let without = built(&[0, 0], UdpChecksum::Computed);
    let filling = without[40..42].to_vec();
    let frame = built(&filling, UdpChecksum::Computed);
    assert_eq!(frame[40..42], [0xff, 0xff]);
    assert_eq!(
        Frame::parse(&frame).map(|parsed| parsed.payload),
        Ok(&filling[..])
    );
}

#[test]
fn a_payload_that_fits_no_packet_is_refused() {
    let payload = vec![0; MAX_PAYLOAD_BYTES + 1];
    let refused = segment(&payload).build(0, UdpChecksum::Absent);
    assert_eq!(refused, Err(TooLong { bytes: 65_498 }));
    let frame = built(&payload[1..], UdpChecksum::Computed);
    assert_eq!(Frame::parse(&frame), Ok(segment(&payload[1..])));
}

proptest! {
    #[test]
    fn headers_survive_the_wire(flags: u16, message_id: u32, offset: u32, payload: Vec<u8>) {
        let header = Header { flags: Flags::from_bits(flags), message_id, offset };
        let datagram = crate::support::datagram(header, &payload);
        prop_assert_eq!(Header::parse(&datagram), Some((header, &payload[..])));
    }

    #[test]
    fn frames_survive_the_wire(payload in prop::collection::vec(any::<u8>(), 0..1600), computed: bool) {
        let checksum = if computed { UdpChecksum::Computed } else { UdpChecksum::Absent };
        let frame = built(&payload, checksum);
        prop_assert_eq!(Frame::parse(&frame), Ok(segment(&payload)));
        prop_assert_eq!(frame[40..42] == [0, 0], !computed);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Frame::parse(&bytes);
        let _ = Header::parse(&bytes);
    }

    /// Headers that are nearly right reach further into the parser than random bytes do.
    #[test]
    fn wrong_bytes_in_a_frame_never_panic(
        length in 0_usize..64, changes in prop::collection::vec((0_usize..116, any::<u8>()), 1..6), cut in 0_usize..116,
    ) {
        let mut frame = built(&pattern(length), UdpChecksum::Computed);
        for (at, value) in changes {
            let at = at % frame.len();
            frame[at] = value;
        }
        frame.truncate(frame.len() - cut.min(frame.len()) / 2);
        let _ = Frame::parse(&frame);
    }

    #[test]
    fn detects_any_bit_error_after_the_ip_header(length in 1_usize..200, bit in 0_usize..2000) {
        let mut frame = built(&pattern(length), UdpChecksum::Computed);
        let bits = 8 * (18 + length);
        let at = 34 + bit % bits / 8;
        frame[at] ^= 1 << (bit % 8);
        // A checksum of 0 is none.
        prop_assume!(frame[40..42] != [0, 0]);
        // Lengths that agree are taken for what they say; all other bits have to be found.
        prop_assume!(!(38..40).contains(&at));
        prop_assert_eq!(Frame::parse(&frame), Err(Cause::UdpChecksum));
    }
}

fn frame(flags: Flags, payload: &[u8]) -> Vec<u8> {
    let frame = Frame {
        header: header(flags, 0),
        ..segment(payload)
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
fn acknowledgement_swaps_the_headers_of_its_frame() {
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

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/wireshark/slmp.lua");

/// Lines of tshark for a capture, with these fields; `None` if there is no tshark.
fn tshark(test: &str, capture: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command
        .args(["-n", "-X"])
        .arg(format!("lua_script:{SCRIPT}"))
        .arg("-r")
        .arg(capture);
    command.args(["-Y", "slmp", "-T", "fields", "-E", "separator=|"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let ran = match command.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            check_syntax();
            skip(test, &"there is no tshark (run `./dev setup`)");
            return None;
        }
        ran => ran.expect("tshark is there, so it runs"),
    };
    let (out, errors) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    assert!(
        ran.status.success() && !errors.contains("Lua"),
        "tshark says: {errors}"
    );
    Some(
        out.lines()
            .map(|line| line.split('|').map(str::to_owned).collect())
            .collect(),
    )
}

fn check_syntax() {
    if let Ok(ran) = Command::new("luac").args(["-p", SCRIPT]).output() {
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// What tshark has to say of a frame: number, fields, and the text of its line.
fn expected(number: usize, frame: &Frame<'_>) -> Vec<String> {
    let Header {
        flags,
        message_id,
        offset,
    } = frame.header;
    let bit = |flag| u8::from(flags.contains(flag)).to_string();
    let mut names = String::new();
    for named in Flags::TABLE.iter().filter(|named| flags.contains(named.flag)) {
        names = names + " " + named.name;
    }
    let payload = frame.payload.len();
    vec![
        number.to_string(),
        format!("{:#06x}", flags.bits()),
        bit(Flags::EOM),
        bit(Flags::SYN),
        bit(Flags::ACK),
        format!("{message_id:#010x}"),
        offset.to_string(),
        payload.to_string(),
        frame.payload.iter().map(|byte| format!("{byte:02x}")).collect(),
        format!("SLMP{names} id {message_id:#010x} offset {offset} len {payload}"),
    ]
}

#[test]
fn the_shipped_capture_is_dissected() {
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sim/captures/slmp.pcap");
    let bytes = std::fs::read(&capture).expect("the capture is in the repository");
    let mut reader = PcapReader::new(&bytes[..]).expect("it is a capture");
    let mut wanted = Vec::new();
    let mut number = 0;
    while let Some(packet) = reader.next_packet() {
        let packet = packet.expect("it is a good capture");
        number += 1;
        if let Ok(frame) = Frame::parse(&packet.data)
            && [frame.from.socket.port(), frame.to.socket.port()].contains(&PORT)
        {
            wanted.push(expected(number, &frame));
        }
    }
    assert!(
        wanted.len() > 40,
        "the capture has more segments than {}",
        wanted.len()
    );
    let flags = ["slmp.flags", "slmp.flags.eom", "slmp.flags.syn", "slmp.flags.ack"];
    let rest = [
        "slmp.id",
        "slmp.offset",
        "slmp.len",
        "slmp.payload",
        "_ws.col.Info",
    ];
    let fields = [&["frame.number"], &flags[..], &rest[..]].concat();
    if let Some(found) = tshark("the_shipped_capture_is_dissected", &capture, &fields) {
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found, wanted);
        }
    }
}

#[test]
fn odd_packets_are_marked() {
    let from = Endpoint {
        mac: [2; 6],
        socket: SocketAddrV4::new(Ipv4Addr::new(10, 7, 0, 1), PORT),
    };
    let to = Endpoint {
        mac: [4; 6],
        socket: SocketAddrV4::new(Ipv4Addr::new(10, 7, 0, 2), 40_000),
    };
    let frame = |flags| {
        let header = Header {
            flags,
            message_id: 7,
            offset: 0,
        };
        let frame = Frame {
            from,
            to,
            header,
            payload: &[],
        };
        frame.build(0, UdpChecksum::Absent).expect("short enough")
    };
    let mut short = frame(Flags::SYN);
    short[39] = 8 + 9;
    let frames = [
        frame(Flags::ACK | Flags::SYN),
        frame(Flags::ACK),
        frame(Flags::SYN),
        short,
    ];
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("odd.pcap");
    std::fs::write(&path, capture(&frames)).expect("cargo gives tests a directory");
    let Some(found) = tshark(
        "odd_packets_are_marked",
        &path,
        &["slmp.ack_without_syn", "slmp.too_short", "_ws.col.Info"],
    ) else {
        return;
    };
    let marks: Vec<[bool; 2]> = found
        .iter()
        .map(|line| [!line[0].is_empty(), !line[1].is_empty()])
        .collect();
    assert_eq!(
        marks,
        [[false, false], [true, false], [false, false], [false, true]]
    );
    assert_eq!(found[3][2], "SLMP too short: 9 bytes");
}

/// A capture of frames, all at time 0.
fn capture(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes: Vec<u8> = [0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65_535, 1]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    for frame in frames {
        let length = frame.len() as u32;
        bytes.extend([0, 0, length, length].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(frame);
    }
    bytes
}
