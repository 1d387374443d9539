//! The captures that are shipped are what they claim to be.

use etherparse::{LinkSlice, SlicedPacket, TransportSlice};
use spinneret_packets::capture::{CaptureReader, Packet};
use spinneret_packets::{checked_protocol, echo_request, udp};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures")
}

fn packets(name: &str) -> Vec<Packet> {
    let capture = CaptureReader::open(&directory().join(name)).expect("the capture is shipped");
    capture
        .map(|packet| packet.expect("the capture is whole"))
        .collect()
}

/// The names of all captures, which the directory's README describes.
fn names() -> Vec<String> {
    let files = std::fs::read_dir(directory()).expect("the directory is shipped");
    let names = files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(".pcap")).collect()
}

#[test]
fn the_directory_describes_every_capture_and_has_the_example_rules() {
    let readme = include_str!("../../../captures/README.md");
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| `"));
    let described: BTreeSet<_> = rows.filter_map(|row| row.split('`').next()).collect();
    let found = names();
    assert_eq!(
        found.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        described
    );
    let page = include_str!("../../../../docs/rules.md");
    for example in [
        include_str!("../../../captures/rules.toml"),
        include_str!("../../../captures/ip-payload.toml"),
    ] {
        assert!(page.contains(&format!("```toml\n{example}```")), "{example}");
    }
}

#[test]
fn packets_are_whole_frames_in_the_order_of_time() {
    let names = names();
    assert_eq!(names.len(), 5);
    for name in names {
        let packets = packets(&name);
        assert!(packets.len() > 50, "{name}");
        assert!(packets.is_sorted_by_key(|packet| packet.timestamp), "{name}");
        for packet in &packets {
            assert!(
                (60..=9000).contains(&packet.data.len()) && !packet.is_cut_short(),
                "{name}"
            );
        }
    }
}

#[test]
fn headers_and_checksums_are_right_and_every_protocol_occurs() {
    let mut kinds = BTreeSet::new();
    let mut tags = BTreeSet::new();
    for name in names() {
        for packet in packets(&name) {
            let sliced = SlicedPacket::from_ethernet(&packet.data);
            let sliced = sliced.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(matches!(sliced.link, Some(LinkSlice::Ethernet2(_))), "{name}");
            tags.insert(sliced.vlan_ids().len());
            let kind = checked_protocol(&packet.data).unwrap_or_else(|error| panic!("{name}: {error}"));
            kinds.insert(kind.unwrap_or_else(|| panic!("{name}: no known protocol")));
        }
    }
    assert_eq!(
        kinds,
        BTreeSet::from(["arp", "icmp", "icmp6", "tcp", "tcp6", "udp", "udp6"])
    );
    assert_eq!(tags, BTreeSet::from([0, 1, 2]));
}

#[test]
fn slmp_packets_have_every_flag_and_complete_messages() {
    let mut seen = BTreeSet::new();
    for packet in packets("slmp.pcap") {
        let sliced = SlicedPacket::from_ethernet(&packet.data).expect("the frame is right");
        let Some(TransportSlice::Udp(udp)) = sliced.transport else {
            continue;
        };
        if ![udp.source_port(), udp.destination_port()].contains(&9330) {
            continue;
        }
        let payload = udp.payload();
        let flags = u16::from_be_bytes([payload[0], payload[1]]);
        seen.insert(flags);
        let is_acknowledgement = flags & 0x2000 != 0;
        assert_eq!(is_acknowledgement, udp.source_port() == 9330);
        assert_eq!(
            payload.len() == 10,
            is_acknowledgement,
            "acknowledgements carry nothing"
        );
        assert!(payload.len() <= 1472);
    }
    assert_eq!(seen, BTreeSet::from([0, 0x4000, 0x6000, 0x8000, 0xc000, 0xe000]));
}

#[test]
fn frame_sizes_cover_the_edges_of_beats() {
    let sizes: BTreeSet<usize> = packets("sizes.pcapng")
        .iter()
        .map(|packet| packet.data.len())
        .collect();
    for size in (60..=132)
        .chain((192..=1472).step_by(64).flat_map(|m| [m - 1, m, m + 1]))
        .chain([1514, 9000])
    {
        assert!(sizes.contains(&size), "{size}");
    }
}

#[test]
fn flows_interleave() {
    let packets = packets("lan.pcap");
    let pair = |packet: &Packet| -> BTreeSet<[u8; 6]> {
        packet
            .data
            .chunks(6)
            .take(2)
            .map(|mac| mac.try_into().expect("six bytes"))
            .collect()
    };
    let changes = packets
        .windows(2)
        .filter(|two| pair(&two[0]) != pair(&two[1]))
        .count();
    assert!(
        changes * 3 > packets.len(),
        "only {changes} changes in {} packets",
        packets.len()
    );
}

#[test]
fn checksums_are_right_and_each_wrong_byte_is_found() {
    for (mut frame, name) in [(udp(53, b"odd"), "udp"), (echo_request(7, b"even"), "icmp")] {
        assert_eq!(checked_protocol(&frame), Ok(Some(name)));
        for at in 24..frame.len() {
            frame[at] ^= 4;
            assert!(checked_protocol(&frame).is_err(), "byte {at} of {name}");
            frame[at] ^= 4;
        }
        frame[12] = 0x86;
        assert_eq!(checked_protocol(&frame), Ok(None), "no protocol that is known");
    }
}
