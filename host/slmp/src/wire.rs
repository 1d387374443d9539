//! The wire format of SLMP: port, flags and header.

use std::ops::{BitOr, BitOrAssign};

/// UDP port of receivers.
pub const PORT: u16 = 9330;
/// Bytes of the header, at the start of the UDP payload.
pub const HEADER_BYTES: usize = 10;
/// Maximum payload of a segment: what fits an Ethernet frame with IPv4, UDP and SLMP headers.
pub const MAX_PAYLOAD: usize = 1462;

/// Flags of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// End of message: the last segment.
    pub const EOM: Self = Self(0x8000);
    /// The receiver must acknowledge this segment.
    pub const SYN: Self = Self(0x4000);
    /// An acknowledgement: the receiver's answer to a segment with SYN.
    pub const ACK: Self = Self(0x2000);

    /// All flags with a meaning: the table for generated files.
    pub const TABLE: [NamedFlag; 3] = [
        NamedFlag {
            flag: Self::EOM,
            name: "EOM",
            about: "end of message",
        },
        NamedFlag {
            flag: Self::SYN,
            name: "SYN",
            about: "the receiver must acknowledge",
        },
        NamedFlag {
            flag: Self::ACK,
            name: "ACK",
            about: "an acknowledgement",
        },
    ];

    /// Returns the flags of a number, including undefined ones.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The flags as a number.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// A flag with the names that generated files give it.
#[derive(Clone, Copy, Debug)]
pub struct NamedFlag {
    /// The flag.
    pub flag: Flags,
    /// Its name in capitals.
    pub name: &'static str,
    /// Its meaning.
    pub about: &'static str,
}

/// A field of the header.
#[derive(Clone, Copy, Debug)]
pub struct HeaderField {
    /// Its name in generated files.
    pub name: &'static str,
    /// First byte of it.
    pub offset: usize,
    /// Number of its bytes, which are in network order.
    pub bytes: usize,
    /// Its contents.
    pub about: &'static str,
}

/// The fields of the header in their order.
pub const HEADER_FIELDS: [HeaderField; 3] = [
    HeaderField {
        name: "flags",
        offset: 0,
        bytes: 2,
        about: "flags",
    },
    HeaderField {
        name: "id",
        offset: 2,
        bytes: 4,
        about: "message id",
    },
    HeaderField {
        name: "offset",
        offset: 6,
        bytes: 4,
        about: "offset of the payload in the message",
    },
];

/// The header of a segment or of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// Flags.
    pub flags: Flags,
    /// Which message of its sender this is.
    pub message_id: u32,
    /// First byte of the payload in the message.
    pub offset: u32,
}

impl Header {
    /// Parses the header of a UDP payload. Returns it with the payload after it, or `None` if the header is incomplete.
    pub fn parse(datagram: &[u8]) -> Option<(Self, &[u8])> {
        let (header, payload) = datagram.split_first_chunk::<HEADER_BYTES>()?;
        let [f0, f1, m0, m1, m2, m3, o0, o1, o2, o3] = *header;
        let header = Self {
            flags: Flags(u16::from_be_bytes([f0, f1])),
            message_id: u32::from_be_bytes([m0, m1, m2, m3]),
            offset: u32::from_be_bytes([o0, o1, o2, o3]),
        };
        Some((header, payload))
    }

    /// The bytes of the header.
    pub fn emit(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..2].copy_from_slice(&self.flags.0.to_be_bytes());
        bytes[2..6].copy_from_slice(&self.message_id.to_be_bytes());
        bytes[6..].copy_from_slice(&self.offset.to_be_bytes());
        bytes
    }

    /// Whether all of some flags are set.
    pub const fn has(&self, flags: Flags) -> bool {
        self.flags.contains(flags)
    }

    /// The acknowledgement of this segment.
    pub fn acknowledgement(&self) -> Self {
        Self {
            flags: self.flags | Flags::ACK,
            ..*self
        }
    }
}
