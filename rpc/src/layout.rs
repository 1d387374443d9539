//! The layout of the buffer, in both generations of LLVM's protocol; packets and streams.
//!
//! | part | offset | bytes | who writes |
//! |---|---|---:|---|
//! | doorbell, from LLVM 23 on | 0 | 64 | no side: zeros, so no client rings |
//! | primary mailboxes, u32: the server's outbox, the client's inbox | D | 4 P | server |
//! | secondary mailboxes, u32: the client's outbox, the server's inbox | D + 4 P | 4 P | client |
//! | headers: u64 mask of lanes, u32 opcode, u32 generation | behind, at a multiple of 8 | 16 P | client |
//! | packets: 8 words of u64 for each lane | behind, at a multiple of 8 | 64 P L | the owner |
//!
//! D is the size of the doorbell, P the number of ports, L the number of lanes. All is little-endian, starts as zeros,
//! and its first byte is at a multiple of 64. LLVM leaves the last four bytes of a header alone. Our clients that may
//! be restarted in the middle of a call write a new number there whenever they open a port, so the server drops what it
//! had.

use core::fmt;

/// Bytes of one lane of a packet.
pub const PACKET_BYTES: u32 = 64;
/// Bytes of a header.
pub const HEADER_BYTES: u32 = 16;
/// The alignment of the buffer.
pub const ALIGNMENT: usize = 64;

/// Bytes of a mailbox.
pub const MAILBOX_BYTES: u32 = 4;
/// The alignment of headers and packets.
const WORD_BYTES: u32 = 8;

/// A generation of the layout. Nothing in the buffer tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// LLVM 22: the mailboxes are first.
    V22,
    /// LLVM 23 and its main: a doorbell is first.
    V23,
}

impl Version {
    /// Both, the older first.
    pub const ALL: [Self; 2] = [Self::V22, Self::V23];

    /// LLVM's number of it.
    pub const fn number(self) -> u32 {
        match self {
            Self::V22 => 22,
            Self::V23 => 23,
        }
    }

    /// Most ports of a buffer, LLVM's `MAX_PORT_COUNT`.
    pub const fn max_ports(self) -> u32 {
        match self {
            Self::V22 => 4096,
            Self::V23 => 16384,
        }
    }

    /// Bytes of the doorbell.
    pub const fn doorbell_bytes(self) -> u32 {
        match self {
            Self::V22 => 0,
            Self::V23 => 64,
        }
    }
}

/// Where the parts of a buffer lie, as offsets in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    version: Version,
    ports: u32,
    lanes: u32,
}

/// A number that no layout can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The number of ports.
    Ports {
        /// The number of ports that was asked for.
        ports: u32,
        /// Most that there can be.
        most: u32,
    },
    /// The number of lanes, which is none that LLVM has.
    Lanes(u32),
    /// The version word of an [`Announcement`].
    Version(u32),
    /// The offset of an [`Announcement`], which is no multiple of 64.
    Offset(u32),
    /// The layout is longer than the memory for it.
    Memory {
        /// Bytes of the memory.
        has: u32,
        /// Bytes of the layout.
        needs: u32,
    },
    /// Packets of many lanes, which LLVM's GPUs have and our sides do not.
    ManyLanes(u32),
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ports { ports, most } => write!(f, "{ports} ports: give 1 to {most}"),
            Self::Lanes(lanes) => write!(f, "{lanes} lanes: a packet has 1, 32 or 64"),
            Self::Version(word) => write!(
                f,
                "the version word is {word:#010x}: known are {:#010x} and {:#010x}",
                Announcement::word(Version::V22),
                Announcement::word(Version::V23)
            ),
            Self::Offset(offset) => write!(f, "the buffer is at {offset:#x}: give a multiple of {ALIGNMENT}"),
            Self::Memory { has, needs } => {
                write!(
                    f,
                    "the memory has {has} bytes and the layout needs {needs}: give more, or fewer ports"
                )
            }
            Self::ManyLanes(lanes) => write!(
                f,
                "packets of {lanes} lanes: a client and a server of ours have 1"
            ),
        }
    }
}

impl core::error::Error for LayoutError {}

impl Layout {
    /// The layout of a number of ports with one lane each, as in all our layouts.
    ///
    /// # Errors
    /// If there is no port, or there are more than the version can have.
    pub const fn new(version: Version, ports: u32) -> Result<Self, LayoutError> {
        Self::with_lanes(version, ports, 1)
    }

    /// The layout of a number of ports with 1, 32 or 64 lanes.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if there is another number of lanes.
    pub const fn with_lanes(version: Version, ports: u32, lanes: u32) -> Result<Self, LayoutError> {
        if ports == 0 || ports > version.max_ports() {
            let most = version.max_ports();
            return Err(LayoutError::Ports { ports, most });
        }
        if !matches!(lanes, 1 | 32 | 64) {
            return Err(LayoutError::Lanes(lanes));
        }
        Ok(Self {
            version,
            ports,
            lanes,
        })
    }

    /// Its generation.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The number of ports.
    pub const fn ports(&self) -> u32 {
        self.ports
    }

    /// Lanes of a packet.
    pub const fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The server's outbox, which is the client's inbox.
    pub const fn primary(&self, port: u32) -> u32 {
        self.version.doorbell_bytes() + MAILBOX_BYTES * port
    }

    /// The client's outbox, which is the server's inbox.
    pub const fn secondary(&self, port: u32) -> u32 {
        self.primary(self.ports) + MAILBOX_BYTES * port
    }

    /// The header of a port.
    pub const fn header(&self, port: u32) -> u32 {
        self.secondary(self.ports).next_multiple_of(WORD_BYTES) + HEADER_BYTES * port
    }

    /// The first lane of a port's packet.
    pub const fn packet(&self, port: u32) -> u32 {
        self.header(self.ports) + PACKET_BYTES * self.lanes * port
    }

    /// The size of the buffer.
    pub const fn bytes(&self) -> u32 {
        self.packet(self.ports)
    }

    /// Where data of calls that do not fit into packets lie, in memory of `bytes` bytes from the start of the buffer.
    pub const fn bulk(&self, memory_bytes: u32) -> Bulk {
        const LINE: u32 = ALIGNMENT as u32;
        let offset = self.bytes().next_multiple_of(LINE);
        let whole = memory_bytes.saturating_sub(offset);
        let whole = if whole < MOST_BULK_BYTES {
            whole
        } else {
            MOST_BULK_BYTES
        };
        Bulk {
            offset,
            port_bytes: whole / self.ports / LINE * LINE,
        }
    }
}

/// Most bytes for data of calls that are too long for packets, of all ports together.
pub const MOST_BULK_BYTES: u32 = 1 << 20;

/// Memory after the buffer, of which every port has an equal part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bulk {
    /// Where that of the first port begins.
    pub offset: u32,
    /// Bytes of each port's part, a multiple of 64.
    pub port_bytes: u32,
}

/// The words that a host writes next to a buffer, outside of it, before a client starts: four words of 32 bits that say
/// what LLVM's buffer does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// How the buffer is laid out.
    pub layout: Layout,
    /// Where it begins in the memory of host and client, in bytes.
    pub offset: u32,
}

impl Announcement {
    /// "RPC" in the upper bytes of the version word, so that memory that was never written is no announcement.
    const MAGIC: u32 = 0x5250_4300;

    pub(crate) const fn word(version: Version) -> u32 {
        Self::MAGIC | version.number()
    }

    /// The version word, the offset, the number of ports, the number of lanes.
    pub const fn to_words(&self) -> [u32; 4] {
        let version = Self::word(self.layout.version);
        [version, self.offset, self.layout.ports, self.layout.lanes]
    }

    /// Reads the four words.
    ///
    /// # Errors
    /// If one of them is none that [`to_words`](Self::to_words) gives.
    pub fn from_words([version, offset, ports, lanes]: [u32; 4]) -> Result<Self, LayoutError> {
        let known = Version::ALL
            .into_iter()
            .find(|known| Self::word(*known) == version);
        let layout = Layout::with_lanes(known.ok_or(LayoutError::Version(version))?, ports, lanes)?;
        match (offset as usize).is_multiple_of(ALIGNMENT) {
            true => Ok(Self { layout, offset }),
            false => Err(LayoutError::Offset(offset)),
        }
    }
}

// Packets, and streams of bytes cut into packets.

/// Words of a packet.
pub const WORDS: usize = 8;
/// Bytes of a stream in its first packet.
pub const FIRST_BYTES: usize = 56;
/// Bytes of a stream in each other packet.
pub const NEXT_BYTES: usize = 64;

/// The place that a typed call gives for data in its own packet.
pub const INLINE: u32 = u32::MAX;
/// Most bytes of such data.
pub const INLINE_BYTES: u32 = 48;

/// One lane of a packet: 64 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Packet(pub [u64; WORDS]);

impl Packet {
    /// A packet that begins with these words.
    ///
    /// # Panics
    /// If there are more than eight.
    pub fn of(words: &[u64]) -> Self {
        let mut packet = Self::default();
        packet.0[..words.len()].copy_from_slice(words);
        packet
    }

    /// Its bytes, as memory holds them.
    pub fn to_bytes(self) -> [u8; NEXT_BYTES] {
        let mut bytes = [0; NEXT_BYTES];
        for (word, place) in self.0.iter().zip(bytes.as_chunks_mut().0) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// A packet of bytes as memory holds them.
    pub fn from_bytes(bytes: &[u8; NEXT_BYTES]) -> Self {
        let mut packet = Self::default();
        for (word, place) in packet.0.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*place);
        }
        packet
    }
}

/// Number of packets of a stream of `bytes` bytes.
pub const fn packets(bytes: u64) -> u64 {
    1 + bytes
        .saturating_sub(FIRST_BYTES as u64)
        .div_ceil(NEXT_BYTES as u64)
}

/// The packets of a stream.
#[derive(Clone, Debug)]
pub struct Cut<'a> {
    rest: &'a [u8],
    is_first: bool,
}

impl<'a> Cut<'a> {
    /// Cuts bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            is_first: true,
        }
    }
}

impl Iterator for Cut<'_> {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        let mut bytes = [0; NEXT_BYTES];
        let room = match self.is_first {
            true => {
                bytes[..8].copy_from_slice(&(self.rest.len() as u64).to_le_bytes());
                &mut bytes[8..]
            }
            false if self.rest.is_empty() => return None,
            false => &mut bytes[..],
        };
        let (now, rest) = self.rest.split_at(self.rest.len().min(room.len()));
        room[..now.len()].copy_from_slice(now);
        (self.rest, self.is_first) = (rest, false);
        Some(Packet::from_bytes(&bytes))
    }
}

/// Takes the packets of a stream, and gives its bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Join {
    length: Option<u64>,
    left: u64,
}

impl Join {
    /// Takes the next packet and hands on its bytes of the stream. Says whether it was the last one.
    pub fn take(&mut self, packet: &Packet, hand_on: impl FnOnce(&[u8])) -> bool {
        let bytes = packet.to_bytes();
        let data = match self.length {
            None => {
                self.length = Some(packet.0[0]);
                self.left = packet.0[0];
                &bytes[8..]
            }
            Some(_) => &bytes[..],
        };
        let now = self.left.min(data.len() as u64);
        hand_on(&data[..now as usize]);
        self.left -= now;
        self.left == 0
    }

    /// The length in the first packet.
    pub fn length(&self) -> Option<u64> {
        self.length
    }
}
