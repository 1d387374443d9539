//! Packets for tests and benches, and a check of checksums.

use etherparse::checksum::Sum16BitWords;
use etherparse::{NetSlice, PacketBuilder, PacketBuilderStep, SlicedPacket, ip_number};

/// Returns a UDP packet to a port with correct lengths and checksums; its payload starts at byte 42.
///
/// # Panics
/// If the payload is too long for a packet.
pub fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    udp_from(0x4000, port, payload)
}

/// The same from a port.
///
/// # Panics
/// As [`udp`].
pub fn udp_from(source: u16, port: u16, payload: &[u8]) -> Vec<u8> {
    let builder = hosts().udp(source, port);
    let mut packet = Vec::with_capacity(builder.size(payload.len()));
    fits(builder.write(&mut packet, payload));
    packet
}

/// Returns an ICMP echo request between the hosts of [`udp`]; its payload starts at byte 42.
///
/// # Panics
/// If the payload is too long for a packet.
pub fn echo_request(sequence: u16, payload: &[u8]) -> Vec<u8> {
    let builder = hosts().icmpv4_echo_request(0x1122, sequence);
    let mut packet = Vec::with_capacity(builder.size(payload.len()));
    fits(builder.write(&mut packet, payload));
    packet
}

fn hosts() -> PacketBuilderStep<etherparse::IpHeaders> {
    PacketBuilder::ethernet2([2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]).ipv4([10, 0, 0, 2], [10, 0, 0, 1], 64)
}

fn fits<E: std::fmt::Display>(written: Result<(), E>) {
    written.unwrap_or_else(|error| panic!("the payload fits into no packet: {error}"));
}

/// Returns the Internet checksum (RFC 1071); 0 for bytes that include their own correct checksum.
pub fn checksum(bytes: &[u8]) -> u16 {
    Sum16BitWords::new().add_slice(bytes).ones_complement().to_be()
}

/// Returns the protocol of a frame whose checksums are correct; `None` if it contains no whole ARP, ICMP, TCP or UDP
/// packet.
///
/// # Errors
/// If the frame is damaged or a checksum is wrong.
pub fn checked_protocol(frame: &[u8]) -> Result<Option<&'static str>, String> {
    let packet = SlicedPacket::from_ethernet(frame).map_err(|error| error.to_string())?;
    let wrong = |of: &str| Err(format!("wrong checksum of {of}: {frame:02x?}"));
    let (addresses, payload, is_v6) = match &packet.net {
        Some(NetSlice::Ipv4(ip)) if checksum(ip.header().slice()) != 0 => return wrong("the IP header"),
        Some(NetSlice::Ipv4(ip)) => (&ip.header().slice()[12..20], ip.payload(), false),
        Some(NetSlice::Ipv6(ip)) => (&ip.header().slice()[8..40], ip.payload(), true),
        Some(NetSlice::Arp(_)) => return Ok(Some("arp")),
        None => return Ok(None),
    };
    let name = match (payload.ip_number, is_v6) {
        _ if payload.fragmented => return Ok(None),
        (ip_number::ICMP, false) => "icmp",
        (ip_number::IPV6_ICMP, true) => "icmp6",
        (ip_number::TCP, false) => "tcp",
        (ip_number::TCP, true) => "tcp6",
        (ip_number::UDP, false) => "udp",
        (ip_number::UDP, true) => "udp6",
        _ => return Ok(None),
    };
    let length = (payload.payload.len() as u32).to_be_bytes();
    let pseudo_header = [addresses, &length, &[0, payload.ip_number.0]].concat();
    // ICMP alone has no pseudo-header.
    let covered = if name == "icmp" { &[] } else { &pseudo_header[..] };
    match checksum(&[covered, payload.payload].concat()) {
        0 => Ok(Some(name)),
        _ => wrong(name),
    }
}
