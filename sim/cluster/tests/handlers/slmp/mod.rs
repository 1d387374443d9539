//! The receiver of SLMP messages.
//!
//! The host memory of [`Bench`](crate::bench::Bench) holds only bytes that were written. So checking that these are
//! regions and completions is stronger than checking that everything around them is unchanged.

mod causes;
mod clusters;
mod known;
mod order;
mod races;
mod receiver;

use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::{Flags, Header, PORT};
use std::net::SocketAddrV4;

/// Flags, which tests combine in every way.
pub(crate) const EOM: u16 = Flags::EOM.bits();
pub(crate) const SYN: u16 = Flags::SYN.bits();
pub(crate) const ACK: u16 = Flags::ACK.bits();

/// The UDP checksum of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// 0: none.
    None,
    /// The right one.
    Right,
    /// The right one, plus 1.
    Wrong,
}

/// An end of the cable.
fn end(number: u8, ip: [u8; 4], port: u16) -> Endpoint {
    Endpoint {
        mac: [2, 0, 0, 0, 0, number],
        socket: SocketAddrV4::new(ip.into(), port),
    }
}

/// A segment and who sends it.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) source: [u8; 4],
    pub(crate) port: u16,
    pub(crate) flags: u16,
    pub(crate) message: u32,
    pub(crate) offset: u32,
    pub(crate) payload: Vec<u8>,
    pub(crate) checksum: Checksum,
}

impl Segment {
    /// A segment of the sender that most tests have.
    pub(crate) fn new(flags: u16, message: u32, offset: u32, payload: &[u8]) -> Self {
        Self {
            source: [10, 0, 0, 1],
            port: 0x1234,
            flags,
            message,
            offset,
            payload: payload.to_vec(),
            checksum: Checksum::None,
        }
    }

    /// The frame.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let frame = Frame {
            from: end(2, self.source, self.port),
            to: end(1, [10, 0, 0, 2], PORT),
            header: Header {
                flags: Flags::from_bits(self.flags),
                message_id: self.message,
                offset: self.offset,
            },
            payload: &self.payload,
        };
        let checksum = match self.checksum {
            Checksum::None => UdpChecksum::Absent,
            Checksum::Right | Checksum::Wrong => UdpChecksum::Computed,
        };
        let mut frame = frame.build(0, checksum).expect("it fits into a packet");
        frame[41] = frame[41].wrapping_add(u8::from(self.checksum == Checksum::Wrong));
        frame
    }
}

/// The content of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ack {
    pub(crate) to: [u8; 4],
    pub(crate) port: u16,
    pub(crate) flags: u16,
    pub(crate) message: u32,
    pub(crate) offset: u32,
}

impl Ack {
    /// The one that a segment is answered with.
    pub(crate) fn of(segment: &Segment) -> Self {
        Self {
            to: segment.source,
            port: segment.port,
            flags: segment.flags | ACK,
            message: segment.message,
            offset: segment.offset,
        }
    }

    /// Reads a frame that the handler has sent.
    ///
    /// # Panics
    /// If anything of it is not as it has to be.
    pub(crate) fn read(frame: &[u8]) -> Self {
        let ack = Frame::parse(frame).expect("it is a segment with right checksums");
        assert_eq!((frame.len(), ack.payload), (52, &[][..]), "headers alone");
        assert_eq!(
            (ack.from, ack.to.mac),
            (end(1, [10, 0, 0, 2], PORT), [2, 0, 0, 0, 0, 2])
        );
        assert_eq!(frame[40..42], [0, 0], "no UDP checksum");
        Self {
            to: ack.to.socket.ip().octets(),
            port: ack.to.socket.port(),
            flags: ack.header.flags.bits(),
            message: ack.header.message_id,
            offset: ack.header.offset,
        }
    }
}

/// A message, cut into segments.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) source: [u8; 4],
    pub(crate) port: u16,
    pub(crate) message: u32,
    pub(crate) bytes: Vec<u8>,
    /// Payload of all segments but the last.
    pub(crate) unit: usize,
    pub(crate) checksum: Checksum,
}

impl Transfer {
    /// Returns a message of the default sender.
    pub(crate) fn new(message: u32, length: usize, unit: usize) -> Self {
        let bytes = (0..length as u32)
            .map(|byte| (byte.wrapping_mul(0x9e37_79b1).wrapping_add(message) >> 13) as u8)
            .collect();
        Self {
            source: [10, 0, 0, 1],
            port: 0x1234,
            message,
            bytes,
            unit,
            checksum: Checksum::None,
        }
    }

    /// The segments, all of them to be acknowledged.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let empty: &[u8] = &[];
        let chunks = self.bytes.chunks(self.unit);
        let chunks: Vec<&[u8]> = match self.bytes.is_empty() {
            true => vec![empty],
            false => chunks.collect(),
        };
        let last = chunks.len() - 1;
        let segment = |(number, chunk): (usize, &&[u8])| Segment {
            source: self.source,
            port: self.port,
            checksum: self.checksum,
            ..Segment::new(
                SYN | if number == last { EOM } else { 0 },
                self.message,
                (number * self.unit) as u32,
                chunk,
            )
        };
        chunks.iter().enumerate().map(segment).collect()
    }
}
