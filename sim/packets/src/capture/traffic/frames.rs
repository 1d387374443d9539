//! Ethernet frames with right lengths and checksums.

use super::shipped::TrafficError;
use etherparse::{
    ArpHardwareId, ArpOperation, ArpPacket, EtherType, IpHeaders, IpNumber, Ipv4Header, Ipv6FlowLabel,
    Ipv6Header, PacketBuilder, PacketBuilderStep, TcpHeader, VlanId,
};
use std::fmt::Display;

/// Smallest Ethernet frame without its check sequence, in bytes.
pub(super) const MIN_FRAME_BYTES: usize = 60;

/// A network card with its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host {
    mac: [u8; 6],
    ipv4: [u8; 4],
    ipv6: [u8; 16],
}

impl Host {
    /// Host `number` of the network: 10.7.0.number and fd00:7::number, with a locally administered address.
    pub(super) const fn new(number: u8) -> Self {
        let mut ipv6 = [0; 16];
        ipv6[0] = 0xfd;
        ipv6[3] = 0x07;
        ipv6[15] = number;
        Self {
            mac: [0x02, 0x5b, 0x1a, 0x07, 0x00, number],
            ipv4: [10, 7, 0, number],
            ipv6,
        }
    }
}

/// VLAN tags of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tags {
    None,
    Single(u16),
    Double { outer: u16, inner: u16 },
}

/// Version of the internet protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V4,
    V6,
}

/// Who sends to whom, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub(super) from: Host,
    pub(super) to: Host,
    pub(super) version: Version,
    pub(super) tags: Tags,
}

impl Route {
    /// Untagged IPv4.
    pub(super) fn v4(from: Host, to: Host) -> Self {
        Self {
            from,
            to,
            version: Version::V4,
            tags: Tags::None,
        }
    }

    /// Untagged IPv6.
    pub(super) fn v6(from: Host, to: Host) -> Self {
        Self {
            version: Version::V6,
            ..Self::v4(from, to)
        }
    }

    /// The same with VLAN tags.
    pub(super) fn tagged(self, tags: Tags) -> Self {
        Self { tags, ..self }
    }

    /// The way back.
    pub(super) fn back(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
            ..self
        }
    }

    /// Bytes of the Ethernet, VLAN and IP headers of a frame on this route.
    pub(super) fn header_bytes(self) -> usize {
        let tags = match self.tags {
            Tags::None => 0,
            Tags::Single(_) => 4,
            Tags::Double { .. } => 8,
        };
        let ip = match self.version {
            Version::V4 => Ipv4Header::MIN_LEN,
            Version::V6 => Ipv6Header::LEN,
        };
        14 + tags + ip
    }
}

/// An ARP request for the destination's address, or the sender's answer to one.
pub(super) fn arp(route: Route, answer: bool) -> Result<Vec<u8>, TrafficError> {
    let (operation, target) = if answer {
        (ArpOperation::REPLY, route.to.mac)
    } else {
        (ArpOperation::REQUEST, [0; 6])
    };
    let packet = ArpPacket::new(
        ArpHardwareId::ETHERNET,
        EtherType::IPV4,
        operation,
        &route.from.mac,
        &route.from.ipv4,
        &target,
        &route.to.ipv4,
    )
    .map_err(unbuildable)?;
    let destination = if answer { route.to.mac } else { [0xff; 6] };
    let link = PacketBuilder::ethernet2(route.from.mac, destination);
    let mut frame = Vec::new();
    match route.tags {
        Tags::None => link.arp(packet).write(&mut frame),
        Tags::Single(vlan) => link.single_vlan(id(vlan)?).arp(packet).write(&mut frame),
        Tags::Double { outer, inner } => link
            .double_vlan(id(outer)?, id(inner)?)
            .arp(packet)
            .write(&mut frame),
    }
    .map_err(unbuildable)?;
    Ok(padded(frame))
}

/// An ICMP or ICMPv6 echo request or reply.
pub(super) fn echo(
    route: Route,
    packet_id: u16,
    reply: bool,
    (id, sequence): (u16, u16),
    payload: &[u8],
) -> Result<Vec<u8>, TrafficError> {
    let ip = ip(route, packet_id)?;
    let mut frame = Vec::new();
    match (route.version, reply) {
        (Version::V4, false) => ip.icmpv4_echo_request(id, sequence).write(&mut frame, payload),
        (Version::V4, true) => ip.icmpv4_echo_reply(id, sequence).write(&mut frame, payload),
        (Version::V6, false) => ip.icmpv6_echo_request(id, sequence).write(&mut frame, payload),
        (Version::V6, true) => ip.icmpv6_echo_reply(id, sequence).write(&mut frame, payload),
    }
    .map_err(unbuildable)?;
    Ok(padded(frame))
}

/// An ICMPv6 neighbour solicitation for the destination, or the sender's advertisement.
pub(super) fn neighbour(route: Route, answer: bool) -> Result<Vec<u8>, TrafficError> {
    // Flags: an advertisement is solicited and overrides; the option carries the sender's link address.
    let (kind, flags, subject, option) = match answer {
        false => (135, [0; 4], route.to, 1),
        true => (136, [0x60, 0, 0, 0], route.from, 2),
    };
    let mut payload = subject.ipv6.to_vec();
    payload.extend([option, 1]);
    payload.extend(route.from.mac);
    let mut frame = Vec::new();
    ip(route, 0)?
        .icmpv6_raw(kind, 0, flags)
        .write(&mut frame, &payload)
        .map_err(unbuildable)?;
    Ok(padded(frame))
}

/// A UDP datagram between two ports.
pub(super) fn udp(
    route: Route,
    packet_id: u16,
    (from, to): (u16, u16),
    payload: &[u8],
) -> Result<Vec<u8>, TrafficError> {
    let mut frame = Vec::new();
    ip(route, packet_id)?
        .udp(from, to)
        .write(&mut frame, payload)
        .map_err(unbuildable)?;
    Ok(padded(frame))
}

/// A TCP segment; its checksum is filled in.
pub(super) fn tcp(
    route: Route,
    packet_id: u16,
    header: TcpHeader,
    payload: &[u8],
) -> Result<Vec<u8>, TrafficError> {
    let mut frame = Vec::new();
    ip(route, packet_id)?
        .tcp_header(header)
        .write(&mut frame, payload)
        .map_err(unbuildable)?;
    Ok(padded(frame))
}

/// Everything up to the IP header, whose lengths, protocol and checksum the library fills in.
fn ip(route: Route, packet_id: u16) -> Result<PacketBuilderStep<IpHeaders>, TrafficError> {
    let headers = match route.version {
        Version::V4 => {
            let mut header =
                Ipv4Header::new(0, 64, IpNumber::UDP, route.from.ipv4, route.to.ipv4).map_err(unbuildable)?;
            header.identification = packet_id;
            IpHeaders::Ipv4(header, Default::default())
        }
        Version::V6 => {
            let header = Ipv6Header {
                traffic_class: 0,
                flow_label: Ipv6FlowLabel::ZERO,
                payload_length: 0,
                next_header: IpNumber::UDP,
                // Neighbour discovery is only valid with the highest hop limit; nothing else minds it.
                hop_limit: 255,
                source: route.from.ipv6,
                destination: route.to.ipv6,
            };
            IpHeaders::Ipv6(header, Default::default())
        }
    };
    let link = PacketBuilder::ethernet2(route.from.mac, route.to.mac);
    Ok(match route.tags {
        Tags::None => link.ip(headers),
        Tags::Single(vlan) => link.single_vlan(id(vlan)?).ip(headers),
        Tags::Double { outer, inner } => link.double_vlan(id(outer)?, id(inner)?).ip(headers),
    })
}

fn id(vlan: u16) -> Result<VlanId, TrafficError> {
    VlanId::try_new(vlan).map_err(unbuildable)
}

fn padded(mut frame: Vec<u8>) -> Vec<u8> {
    frame.resize(frame.len().max(MIN_FRAME_BYTES), 0);
    frame
}

fn unbuildable(error: impl Display) -> TrafficError {
    TrafficError::Frame(error.to_string())
}
