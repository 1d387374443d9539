//! Reading captures: every format, and every way in which a file can be wrong.

use proptest::prelude::*;
use spinneret_packets::capture::{CaptureError, CaptureReader, MAX_PACKET_BYTES, Packet, Resolution};
use std::path::Path;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
enum Order {
    Big,
    Little,
}

impl Order {
    fn word(self, value: u32) -> [u8; 4] {
        match self {
            Self::Big => value.to_be_bytes(),
            Self::Little => value.to_le_bytes(),
        }
    }

    fn half(self, value: u16) -> [u8; 2] {
        match self {
            Self::Big => value.to_be_bytes(),
            Self::Little => value.to_le_bytes(),
        }
    }

    fn words(self, values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|value| self.word(*value)).collect()
    }
}

const MICRO: u32 = 0xa1b2_c3d4;
const NANO: u32 = 0xa1b2_3c4d;

/// A pcap file header and records of {seconds, fraction, captured, original, data}.
fn pcap(order: Order, magic: u32, link: u32, records: &[(u32, u32, u32, &[u8])]) -> Vec<u8> {
    let mut file = order.word(magic).to_vec();
    file.extend([order.half(2), order.half(4)].concat());
    file.extend(order.words(&[0, 0, 65535, link]));
    for (seconds, fraction, original, data) in records {
        file.extend(order.words(&[*seconds, *fraction, data.len() as u32, *original]));
        file.extend(*data);
    }
    file
}

fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
    let length = (body.len() + padding.len() + 12) as u32;
    [
        &order.words(&[kind, length]),
        body,
        &padding,
        &order.word(length)[..],
    ]
    .concat()
}

fn section(order: Order) -> Vec<u8> {
    let body = [
        &order.word(0x1a2b_3c4d)[..],
        &order.half(1),
        &order.half(0),
        &[0xff; 8],
    ]
    .concat();
    block(order, 0x0a0d_0d0a, &body)
}

/// Code and value.
type InterfaceOption<'v> = (u16, &'v [u8]);

/// An interface with options.
fn interface(order: Order, link: u16, snaplen: u32, options: &[InterfaceOption]) -> Vec<u8> {
    let mut body = [&order.half(link)[..], &order.half(0), &order.word(snaplen)].concat();
    for (code, value) in options {
        body.extend([order.half(*code), order.half(value.len() as u16)].concat());
        body.extend(*value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    if !options.is_empty() {
        body.extend([0; 4]);
    }
    block(order, 1, &body)
}

fn enhanced(order: Order, interface: u32, ticks: u64, original: u32, data: &[u8]) -> Vec<u8> {
    let words = [
        interface,
        (ticks >> 32) as u32,
        ticks as u32,
        data.len() as u32,
        original,
    ];
    block(order, 6, &[&order.words(&words), data].concat())
}

fn open(bytes: &[u8]) -> Result<CaptureReader<&[u8]>, CaptureError> {
    CaptureReader::new(Path::new("test.pcap"), bytes)
}

/// All packets, and the error at the end if there is one.
fn read(bytes: &[u8]) -> (Vec<Packet>, Option<String>) {
    let mut packets = Vec::new();
    let reader = match open(bytes) {
        Ok(reader) => reader,
        Err(error) => return (packets, Some(error.to_string())),
    };
    for packet in reader {
        match packet {
            Ok(packet) => packets.push(packet),
            Err(error) => return (packets, Some(error.to_string())),
        }
    }
    (packets, None)
}

fn whole(bytes: &[u8]) -> Vec<Packet> {
    let (packets, error) = read(bytes);
    assert_eq!(error, None);
    packets
}

fn packet(timestamp: Duration, original_len: u32, data: &[u8]) -> Packet {
    Packet {
        timestamp,
        data: data.to_vec(),
        original_len,
    }
}

#[test]
fn pcap_is_read_in_both_byte_orders_and_resolutions() {
    for order in [Order::Big, Order::Little] {
        for (magic, nanoseconds, resolution) in
            [(MICRO, 7000, Resolution::Micro), (NANO, 7, Resolution::Nano)]
        {
            let file = pcap(order, magic, 1, &[(5, 7, 4, b"abcd"), (6, 0, 9, b"xyz")]);
            assert_eq!(
                open(&file).map(|reader| reader.resolution()).ok(),
                Some(resolution)
            );
            let packets = whole(&file);
            let first = packet(Duration::new(5, nanoseconds), 4, b"abcd");
            assert_eq!(packets, [first, packet(Duration::from_secs(6), 9, b"xyz")]);
            assert_eq!(
                (packets[0].is_cut_short(), packets[1].is_cut_short()),
                (false, true)
            );
        }
    }
}

#[test]
fn a_capture_without_packets_is_empty() {
    assert_eq!(whole(&pcap(Order::Little, MICRO, 1, &[])), []);
    assert_eq!(whole(&section(Order::Big)), []);
}

#[test]
fn pcapng_is_read_in_both_byte_orders_with_several_sections() {
    for (first, second) in [(Order::Big, Order::Little), (Order::Little, Order::Big)] {
        let mut file = section(first);
        file.extend(interface(first, 1, 0, &[]));
        file.extend(enhanced(first, 0, 1_000_007, 4, b"abcd"));
        file.extend(block(first, 0x0bad, b"an unknown block is skipped"));
        file.extend(section(second));
        file.extend(interface(second, 1, 0, &[]));
        file.extend(enhanced(second, 0, 2_000_000, 5, b"efg"));
        let packets = whole(&file);
        let wanted = packet(Duration::new(1, 7000), 4, b"abcd");
        assert_eq!(packets, [wanted, packet(Duration::from_secs(2), 5, b"efg")]);
    }
}

#[test]
fn pcapng_time_stamps_follow_the_resolution_and_offset_of_their_interface() {
    let offset = |seconds: i64| seconds.to_le_bytes();
    let cases: &[(&[InterfaceOption], u64, Duration)] = &[
        (&[], 1_500_000, Duration::from_millis(1500)),
        (&[(9, &[9])], 1_500_000_001, Duration::new(1, 500_000_001)),
        (&[(9, &[3])], 1500, Duration::from_millis(1500)),
        (&[(9, &[12])], 1_500_000_000_999, Duration::from_millis(1500)),
        (&[(9, &[0x80 | 10])], 1536, Duration::from_millis(1500)),
        (&[(9, &[0])], 7, Duration::from_secs(7)),
        (&[(14, &offset(100))], 1_500_000, Duration::from_millis(101_500)),
        (
            &[(14, &offset(-1)), (9, &[6])],
            1_500_000,
            Duration::from_millis(500),
        ),
    ];
    for (options, ticks, wanted) in cases {
        let mut file = section(Order::Little);
        file.extend(interface(Order::Little, 1, 0, options));
        file.extend(enhanced(Order::Little, 0, *ticks, 1, b"x"));
        assert_eq!(whole(&file)[0].timestamp, *wanted, "{options:?}");
    }
}

#[test]
fn simple_and_obsolete_packets_are_read() {
    for order in [Order::Big, Order::Little] {
        let mut file = section(order);
        file.extend(interface(order, 1, 6, &[]));
        file.extend(block(order, 3, &[&order.word(5)[..], b"abcde"].concat()));
        file.extend(block(order, 3, &[&order.word(50)[..], b"abcdef"].concat()));
        // Interface and drop count, ticks (high word first), captured and original length, data.
        let fields = [&order.half(0)[..], &order.half(0), &order.words(&[1, 5, 3, 4])].concat();
        file.extend(block(order, 2, &[&fields[..], b"xyz"].concat()));
        let packets = whole(&file);
        assert_eq!(packets[0], packet(Duration::ZERO, 5, b"abcde"));
        assert_eq!(
            packets[1],
            packet(Duration::ZERO, 50, b"abcdef"),
            "the interface keeps 6 bytes"
        );
        assert_eq!(
            packets[2],
            packet(Duration::from_micros((1 << 32) + 5), 4, b"xyz")
        );
    }
}

/// The error, the file, and the number of packets before the error.
type Wrong = (&'static str, Vec<u8>, usize);

fn wrong_captures() -> Vec<Wrong> {
    let little = Order::Little;
    let good = (1, 0, 4, &b"abcd"[..]);
    let pcap = |second| pcap(little, MICRO, 1, &[good, second]);
    let mut large = self::pcap(little, MICRO, 1, &[good]);
    large.extend(little.words(&[0, 0, MAX_PACKET_BYTES as u32 + 1, u32::MAX]));
    let whole = pcap((2, 0, 6, b"efghij"));
    let begin = [section(little), interface(little, 1, 0, &[])].concat();
    let block_of = |block: &[u8]| [&begin[..], block].concat();
    let mut ends_differ = enhanced(little, 0, 0, 1, b"x");
    let last = ends_differ.len() - 4;
    ends_differ[last] ^= 4;
    let other_interface = [
        interface(little, 101, 0, &[]),
        enhanced(little, 0, 0, 1, b"x"),
        enhanced(little, 1, 0, 1, b"x"),
    ];
    let clock = |option| {
        let interface = interface(little, 1, 0, &[option]);
        [
            section(little),
            interface,
            enhanced(little, 0, 1_500_000, 1, b"x"),
        ]
        .concat()
    };
    vec![
        ("empty", vec![], 0),
        ("short", b"abc".to_vec(), 0),
        ("a program", b"\x7fELF and so on".to_vec(), 0),
        ("compressed", vec![0x1f, 0x8b, 8, 0, 0], 0),
        ("a link of Wi-Fi", self::pcap(little, MICRO, 105, &[]), 0),
        ("an unknown link", self::pcap(little, MICRO, 9999, &[]), 0),
        ("a packet of another link", block_of(&other_interface.concat()), 1),
        ("cut in the header of the file", whole[..10].to_vec(), 0),
        ("cut in the header of a packet", whole[..50].to_vec(), 1),
        ("cut in a packet", whole[..62].to_vec(), 1),
        (
            "cut in a block",
            block_of(&enhanced(little, 0, 1, 3, b"fgh")[..20]),
            0,
        ),
        ("a second of too many parts", pcap((1, 1_000_000, 4, b"abcd")), 1),
        ("more captured than there was", pcap((1, 0, 3, b"abcd")), 1),
        ("larger than any packet", large, 1),
        (
            "a block shorter than its header",
            block_of(&little.words(&[6, 8, 8])),
            0,
        ),
        ("a huge block", block_of(&little.words(&[6, 0xffff_fff0, 0])), 0),
        (
            "an unknown interface",
            block_of(&enhanced(little, 3, 0, 1, b"x")),
            0,
        ),
        (
            "a block with more than there was",
            block_of(&enhanced(little, 0, 0, 1, b"xy")),
            0,
        ),
        ("two lengths of a block", block_of(&ends_differ), 0),
        (
            "a block without a packet",
            block_of(&block(little, 6, &[0; 8])),
            0,
        ),
        ("a clock too fine", clock((9, &[100])), 0),
        ("a clock before time", clock((14, &(-2_i64).to_le_bytes())), 0),
    ]
}

/// Packets before the damage are read, and the message names the packet, its place and what is wrong.
#[test]
fn messages_name_the_problem_of_a_capture() {
    let said = wrong_captures().into_iter().map(|(what, file, before)| {
        let (packets, error) = read(&file);
        assert_eq!(packets.len(), before, "{what}");
        let error = error.unwrap_or_else(|| panic!("{what}: it is damaged"));
        assert!(error.starts_with("test.pcap: "), "{error}");
        format!("{what}\n{error}\n")
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_truncated_pcap_yields_its_packets_and_then_one_error() {
    let file = pcap(
        Order::Little,
        MICRO,
        1,
        &[(1, 0, 4, b"abcd"), (2, 0, 6, b"efghij")],
    );
    let ends = [24, 24 + 20, 24 + 20 + 22];
    for length in 4..file.len() {
        let (packets, error) = read(&file[..length]);
        let complete = ends[1..].iter().filter(|end| **end <= length).count();
        assert_eq!(packets.len(), complete, "{length} bytes");
        assert_eq!(
            error.is_none(),
            ends.contains(&length),
            "{length} bytes: {error:?}"
        );
    }
}

#[test]
fn a_truncated_pcapng_yields_its_packets_and_then_one_error() {
    let mut file = section(Order::Big);
    let mut ends = vec![file.len()];
    for part in [
        interface(Order::Big, 1, 0, &[(9, &[9])]),
        enhanced(Order::Big, 0, 1, 5, b"abcde"),
        enhanced(Order::Big, 0, 1, 3, b"fgh"),
    ] {
        file.extend(part);
        ends.push(file.len());
    }
    for length in 4..file.len() {
        let (packets, error) = read(&file[..length]);
        assert_eq!(
            packets.len(),
            ends[2..].iter().filter(|end| **end <= length).count(),
            "{length} bytes"
        );
        assert_eq!(
            error.is_none(),
            ends.contains(&length),
            "{length} bytes: {error:?}"
        );
    }
}

#[test]
fn nothing_follows_an_error() {
    let file = pcap(
        Order::Little,
        MICRO,
        1,
        &[(1, 2_000_000, 4, b"abcd"), (1, 0, 4, b"abcd")],
    );
    let mut reader = open(&file).expect("the header is right");
    assert!(reader.next().is_some_and(|packet| packet.is_err()));
    assert!(reader.next().is_none() && reader.next().is_none());
}

#[test]
fn missing_files_and_directories_are_named() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    for path in [directory.path().join("missing.pcap"), directory.path().to_owned()] {
        let error = CaptureReader::open(&path).expect_err("no capture").to_string();
        assert!(
            error.starts_with(&format!("{}: cannot read the capture: ", path.display())),
            "{error}"
        );
    }
}

#[test]
fn bytes_read_grow_to_the_size_of_the_file() {
    let file = pcap(Order::Big, NANO, 1, &[(1, 0, 4, b"abcd"), (2, 0, 6, b"efghij")]);
    let mut reader = open(&file).expect("the capture is right");
    assert_eq!(reader.bytes_read(), 24);
    assert!(reader.next().is_some_and(|packet| packet.is_ok()));
    assert_eq!(reader.bytes_read(), 44);
    assert_eq!(reader.by_ref().count(), 1);
    assert_eq!(reader.bytes_read(), file.len() as u64);
}

/// A small capture of either format that is right.
fn any_capture() -> impl Strategy<Value = Vec<u8>> {
    let pcapng = |order| {
        let mut file = section(order);
        file.extend(interface(order, 1, 0, &[(2, b"eth0"), (9, &[9])]));
        file.extend(enhanced(order, 0, 1, 40, &[7; 40]));
        file.extend(block(order, 3, &[&order.word(5)[..], b"abcde"].concat()));
        file.extend(block(order, 4, &[0; 8]));
        file.extend(enhanced(order, 0, 2, 70, &[9; 33]));
        file
    };
    let records: &[(u32, u32, u32, &[u8])] = &[(1, 5, 40, &[7; 40]), (2, 6, 70, &[9; 33])];
    proptest::sample::select(vec![
        pcap(Order::Big, MICRO, 1, records),
        pcap(Order::Little, NANO, 1, records),
        pcapng(Order::Big),
        pcapng(Order::Little),
    ])
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&bytes);
    }

    #[test]
    fn corrupt_captures_never_panic_and_yield_packets_before_the_error(
        mut file in any_capture(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        length in any::<proptest::sample::Index>(),
    ) {
        for (position, value) in changes {
            let position = position.index(file.len());
            file[position] = value;
        }
        file.truncate(length.index(file.len()) + 1);
        let (packets, error) = read(&file);
        prop_assert!(packets.len() <= 3);
        if let Some(error) = error {
            prop_assert!(error.starts_with("test.pcap: "), "{}", error);
        }
    }
}
