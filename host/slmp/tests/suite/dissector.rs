//! The dissector sees what the parser of frames sees, in every packet of the shipped capture.
//!
//! Where tshark is missing, these tests are skipped, and only the syntax of the script is checked, by luac.

use pcap_file::pcap::PcapReader;
use spinneret_skip::skip;
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::{Flags, Header, PORT};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::Command;

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
