//! SLMP in Ethernet frames, as a NIC receives them. This is the only place that builds and parses such frames.
//!
//! IPv4 headers have 20 bytes, so the UDP header is at byte 34, SLMP's at 42, and the payload at 52.

use crate::memory::Cause;
use crate::wire::{HEADER_BYTES, Header};
use std::net::{Ipv4Addr, SocketAddrV4};
use thiserror::Error;

/// Bytes of all headers of a frame.
pub const HEADERS_BYTES: usize = PAYLOAD;
/// Minimum size of an Ethernet frame without its check sequence; shorter ones are padded with zeros.
pub const MIN_FRAME_BYTES: usize = 60;
/// Maximum payload that fits an IP packet.
pub const MAX_PAYLOAD_BYTES: usize = 0xffff - (PAYLOAD - IP);

const IP: usize = 14;
const UDP: usize = IP + IP_BYTES;
const SLMP: usize = UDP + UDP_BYTES;
const PAYLOAD: usize = SLMP + HEADER_BYTES;
const IP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;

const ETHER_TYPE_IPV4: u16 = 0x0800;
const PROTOCOL_UDP: u8 = 17;

/// One end of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Ethernet address.
    pub mac: [u8; 6],
    /// IPv4 address and UDP port.
    pub socket: SocketAddrV4,
}

/// The UDP checksum of frames that are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UdpChecksum {
    /// 0: no checksum.
    Absent,
    /// The correct checksum.
    Computed,
}

/// A well-formed frame with correct checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Source.
    pub from: Endpoint,
    /// Destination.
    pub to: Endpoint,
    /// The SLMP header.
    pub header: Header,
    /// The payload after the SLMP header.
    pub payload: &'a [u8],
}

/// The payload is longer than an IP packet can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a payload of {bytes} bytes fits no IP packet: send at most {MAX_PAYLOAD_BYTES} bytes in a frame")]
pub struct TooLong {
    /// Bytes of the payload.
    pub bytes: usize,
}

impl<'a> Frame<'a> {
    /// Parses a frame.
    ///
    /// # Errors
    /// [`Cause::Malformed`], [`Cause::IpChecksum`] or [`Cause::UdpChecksum`], the first that applies.
    pub fn parse(frame: &'a [u8]) -> Result<Self, Cause> {
        let udp = udp_of(frame).ok_or(Cause::Malformed)?;
        let (header, payload) = Header::parse(&udp[UDP_BYTES..]).ok_or(Cause::Malformed)?;
        if fold(add(0, &frame[IP..UDP])) != 0xffff {
            return Err(Cause::IpChecksum);
        }
        if word(udp, 6) != Some(0) && fold(udp_sum(frame, udp)) != 0xffff {
            return Err(Cause::UdpChecksum);
        }
        Ok(Self {
            from: endpoint(frame, 6, IP + 12, UDP),
            to: endpoint(frame, 0, IP + 16, UDP + 2),
            header,
            payload,
        })
    }

    /// Builds the frame.
    ///
    /// # Errors
    /// [`TooLong`] if the payload fits no IP packet.
    pub fn build(&self, identification: u16, checksum: UdpChecksum) -> Result<Vec<u8>, TooLong> {
        let bytes = self.payload.len();
        let ip_length = u16::try_from(PAYLOAD - IP + bytes).map_err(|_| TooLong { bytes })?;
        let mut frame = vec![0; (PAYLOAD + bytes).max(MIN_FRAME_BYTES)];
        frame[..6].copy_from_slice(&self.to.mac);
        frame[6..12].copy_from_slice(&self.from.mac);
        put(&mut frame, 12, ETHER_TYPE_IPV4);
        frame[IP] = 0x45;
        put(&mut frame, IP + 2, ip_length);
        put(&mut frame, IP + 4, identification);
        frame[IP + 8] = 64;
        frame[IP + 9] = PROTOCOL_UDP;
        frame[IP + 12..IP + 16].copy_from_slice(&self.from.socket.ip().octets());
        frame[IP + 16..UDP].copy_from_slice(&self.to.socket.ip().octets());
        put_ip_checksum(&mut frame);
        put(&mut frame, UDP, self.from.socket.port());
        put(&mut frame, UDP + 2, self.to.socket.port());
        put(&mut frame, UDP + 4, ip_length - IP_BYTES as u16);
        frame[SLMP..PAYLOAD].copy_from_slice(&self.header.emit());
        frame[PAYLOAD..PAYLOAD + bytes].copy_from_slice(self.payload);
        if checksum == UdpChecksum::Computed {
            let sum = !fold(udp_sum(&frame, &frame[UDP..PAYLOAD + bytes]));
            // 0 means "no checksum"; 0xffff is the same number in one's complement.
            put(&mut frame, UDP + 6, if sum == 0 { 0xffff } else { sum });
        }
        Ok(frame)
    }
}

/// Turns a frame into an acknowledgement: swaps source and destination, and has no payload and no UDP checksum.
///
/// `frame` has been parsed, so all headers are there.
pub(crate) fn acknowledgement(frame: &[u8], header: &Header) -> Vec<u8> {
    let mut answer = vec![0; MIN_FRAME_BYTES];
    answer[..SLMP].copy_from_slice(&frame[..SLMP]);
    answer[..6].copy_from_slice(&frame[6..12]);
    answer[6..12].copy_from_slice(&frame[..6]);
    answer[IP + 12..IP + 16].copy_from_slice(&frame[IP + 16..UDP]);
    answer[IP + 16..UDP].copy_from_slice(&frame[IP + 12..IP + 16]);
    answer[UDP..UDP + 2].copy_from_slice(&frame[UDP + 2..UDP + 4]);
    answer[UDP + 2..UDP + 4].copy_from_slice(&frame[UDP..UDP + 2]);
    put(&mut answer, IP + 2, (PAYLOAD - IP) as u16);
    put_ip_checksum(&mut answer);
    put(&mut answer, UDP + 4, (PAYLOAD - UDP) as u16);
    put(&mut answer, UDP + 6, 0);
    answer[SLMP..PAYLOAD].copy_from_slice(&header.emit());
    answer
}

/// The UDP datagram with its header, if the frame is IPv4 with a header of 20 bytes, no fragment, and all lengths agree.
fn udp_of(frame: &[u8]) -> Option<&[u8]> {
    let packet = frame.get(IP..)?;
    let ip_length = usize::from(word(packet, 2)?);
    let is_udp = word(frame, 12)? == ETHER_TYPE_IPV4 && packet[0] == 0x45 && *packet.get(9)? == PROTOCOL_UDP;
    // More fragments, and the offset of a fragment.
    let is_fragment = word(packet, 6)? & 0x3fff != 0;
    if !is_udp || is_fragment {
        return None;
    }
    let inside = packet.get(..ip_length)?.get(IP_BYTES..)?;
    let udp_length = usize::from(word(inside, 4)?);
    inside.get(..udp_length).filter(|udp| udp.len() >= UDP_BYTES)
}

fn endpoint(frame: &[u8], mac: usize, address: usize, port: usize) -> Endpoint {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&frame[address..address + 4]);
    let port = u16::from_be_bytes([frame[port], frame[port + 1]]);
    let mut endpoint = Endpoint {
        mac: [0; 6],
        socket: SocketAddrV4::new(Ipv4Addr::from(bytes), port),
    };
    endpoint.mac.copy_from_slice(&frame[mac..mac + 6]);
    endpoint
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn put_ip_checksum(frame: &mut [u8]) {
    put(frame, IP + 10, 0);
    let sum = !fold(add(0, &frame[IP..UDP]));
    put(frame, IP + 10, sum);
}

/// The sum of a datagram and of its pseudo-header: addresses, protocol, length.
fn udp_sum(frame: &[u8], udp: &[u8]) -> u64 {
    add(add(0, &frame[IP + 12..UDP]), udp) + u64::from(PROTOCOL_UDP) + udp.len() as u64
}

/// Adds bytes as 16-bit numbers, the last one padded with zero (RFC 1071).
fn add(sum: u64, bytes: &[u8]) -> u64 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let whole: u64 = pairs
        .iter()
        .map(|pair| u64::from(u16::from_be_bytes(*pair)))
        .sum();
    sum + whole + rest.first().map_or(0, |last| u64::from(*last) << 8)
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
