//! What the tests with real interfaces share.

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use spinneret_nic::net::{InterfaceAddress, TapConfig};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A cable with a name and a network that no other test has, in this process or another one.
pub(crate) fn config(test: u32) -> TapConfig {
    let process = std::process::id();
    // Networks of four addresses.
    let [third, fourth] = ((process * 16 + test) as u16 & 0x3fff)
        .wrapping_mul(4)
        .to_be_bytes();
    let address =
        |last: u8| -> InterfaceAddress { format!("198.18.{third}.{}/30", fourth + last).parse().unwrap() };
    TapConfig {
        name: format!("t{test:x}{process:x}"),
        host: address(1),
        wire: address(2),
    }
}

/// A command in words; the first one is the program.
pub(crate) fn command(words: &str) -> Command {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

/// Runs a command that has to succeed.
pub(crate) fn run(words: &str) -> Output {
    let output = command(words)
        .output()
        .unwrap_or_else(|error| panic!("{words}: {error}"));
    assert!(
        output.status.success(),
        "{words}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Does something until it says that it is enough.
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what} takes too long");
    }
}

/// The transport protocol of a frame over IPv4, if it has one; its checksums have to be right.
pub(crate) fn protocol_with_right_checksums(frame: &[u8]) -> Option<&'static str> {
    let packet = SlicedPacket::from_ethernet(frame).unwrap();
    let Some(NetSlice::Ipv4(ip)) = packet.net else {
        return None;
    };
    let ip = ip.header().to_header();
    assert_eq!(ip.header_checksum, ip.calc_header_checksum(), "{frame:02x?}");
    match packet.transport? {
        TransportSlice::Udp(udp) => {
            let computed = udp.to_header().calc_checksum_ipv4(&ip, udp.payload()).unwrap();
            assert!(is_same(udp.checksum(), computed), "{frame:02x?}");
            Some("udp")
        }
        TransportSlice::Tcp(tcp) => {
            let computed = tcp.to_header().calc_checksum_ipv4(&ip, tcp.payload()).unwrap();
            assert!(is_same(tcp.checksum(), computed), "{frame:02x?}");
            Some("tcp")
        }
        TransportSlice::Icmpv4(icmp) => {
            assert_eq!(
                icmp.checksum(),
                icmp.icmp_type().calc_checksum(icmp.payload()),
                "{frame:02x?}"
            );
            Some("icmp")
        }
        _ => None,
    }
}

/// Whether two checksums are the same number in ones' complement, which has two zeros. Linux writes the one that UDP
/// needs also for TCP.
fn is_same(found: u16, computed: u16) -> bool {
    found == computed || (found == 0xffff && computed == 0)
}
