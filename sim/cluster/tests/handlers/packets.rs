//! Packets that the examples understand.

/// An Ethernet, IPv4 and UDP header before a payload.
pub(crate) fn udp(payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; 42];
    packet[..12].copy_from_slice(b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02");
    packet[12..14].copy_from_slice(&[8, 0]);
    packet[14] = 0x45;
    packet[16..18].copy_from_slice(&(28 + payload.len() as u16).to_be_bytes());
    packet[22..24].copy_from_slice(&[64, 17]);
    packet[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    packet[34..38].copy_from_slice(&[0x12, 0x34, 0x24, 0x72]);
    packet[38..40].copy_from_slice(&(8 + payload.len() as u16).to_be_bytes());
    packet.extend_from_slice(payload);
    packet
}

/// The ones' complement sum of bytes in network order.
pub(crate) fn sum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|word| u32::from(word[0]) << 8 | word.get(1).copied().map_or(0, u32::from));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// An echo request.
pub(crate) fn echo_request(payload: &[u8]) -> Vec<u8> {
    let mut packet = udp(&[]);
    packet.truncate(34);
    packet[23] = 1;
    packet.extend([8, 0, 0, 0, 0x11, 0x22, 0, 1]);
    packet.extend_from_slice(payload);
    let length = (packet.len() - 14) as u16;
    packet[16..18].copy_from_slice(&length.to_be_bytes());
    let checksum = !sum(&packet[34..]);
    packet[36..38].copy_from_slice(&checksum.to_be_bytes());
    packet
}

/// Flags of an SLMP segment: end of message, and please acknowledge.
pub(crate) const EOM: u16 = 0x8000;
pub(crate) const SYN: u16 = 0x4000;

/// An SLMP segment.
pub(crate) fn slmp(flags: u16, message: u32, offset: u32, payload: &[u8]) -> Vec<u8> {
    let mut segment = flags.to_be_bytes().to_vec();
    segment.extend(message.to_be_bytes());
    segment.extend(offset.to_be_bytes());
    segment.extend_from_slice(payload);
    udp(&segment)
}
