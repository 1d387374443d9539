//! Packets, and streams of bytes cut into packets.
//!
//! A stream of n bytes begins with a packet {u64 n, up to 56 bytes}; the rest follows in packets of 64 bytes. There is at
//! least one packet, also for no bytes.

/// Words of a packet.
pub const WORDS: usize = 8;
/// Bytes of a stream in its first packet.
pub const FIRST_BYTES: usize = 56;
/// Bytes of a stream in each other packet.
pub const NEXT_BYTES: usize = 64;

/// Where data of a typed call are said to be if they stand in its packet.
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

    /// Its bytes, as they lie in memory.
    pub fn to_bytes(self) -> [u8; NEXT_BYTES] {
        let mut bytes = [0; NEXT_BYTES];
        for (word, place) in self.0.iter().zip(bytes.as_chunks_mut().0) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// A packet of bytes as they lie in memory.
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
