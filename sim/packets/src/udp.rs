//! Packets that testbenches send.

use etherparse::PacketBuilder;

/// A UDP packet between two hosts to a port, with right lengths and checksums; its payload begins at byte 42.
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
    let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1])
        .ipv4([10, 0, 0, 2], [10, 0, 0, 1], 64)
        .udp(source, port);
    let mut packet = Vec::with_capacity(builder.size(payload.len()));
    let written = builder.write(&mut packet, payload);
    written.unwrap_or_else(|error| panic!("{} bytes fit into no packet: {error}", payload.len()));
    packet
}
