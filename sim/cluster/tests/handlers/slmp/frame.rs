//! Segments as they come from the wire, and acknowledgements as they go there.

use crate::packets::{EOM, SYN, slmp, sum};

/// Flag of an acknowledgement.
pub(crate) const ACK: u16 = 0x2000;
/// The port of receivers.
const PORT: u16 = 9330;

/// What the sender puts into the UDP checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// 0: none.
    None,
    /// The right one.
    Right,
    /// The right one, plus 1.
    Wrong,
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
        let mut frame = slmp(self.flags, self.message, self.offset, &self.payload);
        frame[26..30].copy_from_slice(&self.source);
        frame[34..36].copy_from_slice(&self.port.to_be_bytes());
        fix_ip_checksum(&mut frame);
        if self.checksum != Checksum::None {
            fix_udp_checksum(&mut frame);
            frame[41] = frame[41].wrapping_add(u8::from(self.checksum == Checksum::Wrong));
        }
        frame
    }
}

/// Puts the right checksum into the IP header.
pub(crate) fn fix_ip_checksum(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let checksum = !sum(&frame[14..34]);
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
}

/// Puts the right checksum into the UDP header.
fn fix_udp_checksum(frame: &mut [u8]) {
    let mut covered = frame[26..34].to_vec();
    covered.extend([0, 17]);
    covered.extend_from_slice(&frame[38..40]);
    covered.extend_from_slice(&frame[34..]);
    let checksum = match !sum(&covered) {
        0 => 0xffff,
        checksum => checksum,
    };
    frame[40..42].copy_from_slice(&checksum.to_be_bytes());
}

/// What an acknowledgement says.
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
        let half = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        assert_eq!(frame.len(), 52, "headers alone");
        assert_eq!(
            frame[..12],
            *b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01",
            "back to the sender"
        );
        assert_eq!(
            (half(12), half(14), half(16), frame[23]),
            (0x0800, 0x4500, 38, 17)
        );
        assert_eq!(sum(&frame[14..34]), 0xffff, "the IP checksum is right");
        assert_eq!(frame[26..30], [10, 0, 0, 2], "from the receiver");
        assert_eq!((half(34), half(38), half(40)), (PORT, 18, 0));
        Self {
            to: [frame[30], frame[31], frame[32], frame[33]],
            port: half(36),
            flags: half(42),
            message: word(44),
            offset: word(48),
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
    /// A message of so many bytes, of the sender that most tests have.
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
