//! Frames and their bytes.

use spinneret_regmap::ether::{
    ADDRESS_AT, COUNT_AT, DESIGN_AT, ETHER_TYPE, FROM_BOARD, HEADER_BYTES, INFO_BYTES, KEY_AT, KIND_AT,
    LIMIT_AT, MEMORY_AT, NAME_BYTES, NUMBER_AT, PROGRAM_AT, SHAPE_AT, SHORTEST_BYTES, STATUS_AT, VERSION,
    VERSION_AT,
};
use std::fmt;
use std::str::FromStr;

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The address of all.
    pub const BROADCAST: Self = Self([0xff; 6]);
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes: Option<Vec<u8>> = text
            .split(':')
            .map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2))
            .collect();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no Ethernet address: write one as 02:00:00:00:00:01"))
    }
}

/// A frame of the protocol, without FCS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Receiver.
    pub target: Mac,
    /// Sender.
    pub source: Mac,
    /// Kind; [`FROM_BOARD`] is set in frames of the board.
    pub kind: u8,
    /// Key; the session in the upper half in frames of the board.
    pub key: u64,
    /// Number of the request or message.
    pub number: u32,
    /// Address; number of the next message in answers.
    pub address: u32,
    /// Words that are accessed, or bytes of a message.
    pub count: u16,
    /// Status.
    pub status: u8,
    /// Largest number of words in a frame.
    pub limit: u32,
    /// Data, and maybe padding.
    pub data: Vec<u8>,
}

impl Frame {
    /// Returns the bytes of the frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &self.target.0);
        put(6, &self.source.0);
        put(12, &ETHER_TYPE.to_be_bytes());
        put(VERSION_AT, &[VERSION]);
        put(KIND_AT, &[self.kind]);
        put(KEY_AT, &self.key.to_be_bytes());
        put(NUMBER_AT, &self.number.to_be_bytes());
        put(ADDRESS_AT, &self.address.to_be_bytes());
        put(COUNT_AT, &self.count.to_be_bytes());
        put(STATUS_AT, &[self.status]);
        put(LIMIT_AT, &self.limit.to_be_bytes());
        bytes.extend(&self.data);
        // A board sends whole beats of 8 bytes; a host's interface pads.
        if self.kind & FROM_BOARD != 0 {
            bytes.resize(bytes.len().next_multiple_of(8).max(SHORTEST_BYTES), 0);
        }
        bytes
    }

    /// Parses a frame; `None` if it is none of this protocol and version.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let frame = Self::of_any_version(bytes)?;
        (bytes[VERSION_AT] == VERSION).then_some(frame)
    }

    /// Parses a frame of any version, as far as all have the same fields.
    pub(crate) fn of_any_version(bytes: &[u8]) -> Option<Self> {
        let (header, data) = bytes.split_at_checked(HEADER_BYTES)?;
        let mac = |at: usize| Some(Mac(header[at..at + 6].try_into().ok()?));
        let word = |at: usize| Some(u32::from_be_bytes(header[at..at + 4].try_into().ok()?));
        let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        (half(12) == ETHER_TYPE).then_some(())?;
        Some(Self {
            target: mac(0)?,
            source: mac(6)?,
            kind: header[KIND_AT],
            key: u64::from(word(KEY_AT)?) << 32 | u64::from(word(KEY_AT + 4)?),
            number: word(NUMBER_AT)?,
            address: word(ADDRESS_AT)?,
            count: half(COUNT_AT),
            status: header[STATUS_AT],
            limit: word(LIMIT_AT)?,
            data: data.to_vec(),
        })
    }

    /// Returns the words of the data.
    pub fn words(&self) -> impl Iterator<Item = u32> {
        let words = self.data.as_chunks().0;
        words.iter().map(|word| u32::from_be_bytes(*word))
    }
}

/// What a board tells about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its address.
    pub mac: Mac,
    /// Name of the design.
    pub name: String,
    /// Version of the design.
    pub design: u32,
    /// Clusters, and HPUs in each.
    pub shape: [u16; 2],
    /// Bytes of memory for handlers and their data.
    pub memory_bytes: u32,
    /// Bytes of program memory.
    pub program_bytes: u32,
    /// Largest number of words in a frame.
    pub most_words: u32,
}

impl Info {
    /// Returns the data of the answer to a discovery.
    pub fn encode(&self) -> [u8; INFO_BYTES] {
        let mut bytes = [0; INFO_BYTES];
        let name = self.name.as_bytes();
        let length = name.len().min(NAME_BYTES);
        bytes[..length].copy_from_slice(&name[..length]);
        bytes[DESIGN_AT..][..4].copy_from_slice(&self.design.to_be_bytes());
        bytes[SHAPE_AT..][..2].copy_from_slice(&self.shape[0].to_be_bytes());
        bytes[SHAPE_AT + 2..][..2].copy_from_slice(&self.shape[1].to_be_bytes());
        bytes[MEMORY_AT..][..4].copy_from_slice(&self.memory_bytes.to_be_bytes());
        bytes[PROGRAM_AT..][..4].copy_from_slice(&self.program_bytes.to_be_bytes());
        bytes
    }

    /// Parses the answer to a discovery.
    pub(crate) fn of(answer: &Frame) -> Option<Self> {
        let data = answer.data.get(..INFO_BYTES)?;
        let word = |at: usize| Some(u32::from_be_bytes(data[at..at + 4].try_into().ok()?));
        let half = |at: usize| u16::from_be_bytes([data[at], data[at + 1]]);
        let name = data[..NAME_BYTES].split(|byte| *byte == 0).next()?;
        Some(Self {
            mac: answer.source,
            name: String::from_utf8_lossy(name).into_owned(),
            design: word(DESIGN_AT)?,
            shape: [half(SHAPE_AT), half(SHAPE_AT + 2)],
            memory_bytes: word(MEMORY_AT)?,
            program_bytes: word(PROGRAM_AT)?,
            most_words: answer.limit,
        })
    }
}
