//! The argument buffer of a call.
//!
//! ```text
//!  0  u32 bytes of everything but the strings      8  N keys {type << 16 | bits}, filled up to a multiple of 8
//!  4  u32 N, arguments with the id                 then N values, each at a multiple of its size; the id first
//!                                                  then the strings, whose values are their lengths
//! ```

use thiserror::Error;

/// Arguments of a call at most, those of transfers with it.
pub const MOST_ARGUMENTS: usize = 32;

/// Where parts of the buffer begin.
mod field {
    pub(super) const DATA_BYTES: usize = 0;
    pub(super) const COUNT: usize = 4;
    pub(super) const KEYS: usize = 8;
}

/// What keys say of values.
mod key {
    pub(super) const DOUBLE: u32 = 0x0001_0040;
    pub(super) const INTEGER_32: u32 = 0x0002_0020;
    pub(super) const INTEGER_64: u32 = 0x0002_0040;
    pub(super) const POINTER: u32 = 0x0003_0000;
    pub(super) const STRING: u32 = 0x0003_0001;
}

/// What is called, and how many transfers there are: the first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    /// The API.
    pub api: u16,
    /// The function of it.
    pub function: u16,
    /// Transfers to the host.
    pub sends: u16,
    /// Transfers to the device.
    pub receives: u16,
}

impl Id {
    /// From the word of an argument.
    pub fn from_word(word: u64) -> Self {
        let part = |shift: u32| (word >> shift) as u16;
        Self {
            api: part(48),
            function: part(32),
            sends: part(16),
            receives: part(0),
        }
    }

    /// The word of an argument.
    pub fn word(self) -> u64 {
        let part = |value: u16, shift: u32| u64::from(value) << shift;
        part(self.api, 48) | part(self.function, 32) | part(self.sends, 16) | part(self.receives, 0)
    }

    /// Whether data move with the call.
    pub fn has_transfers(self) -> bool {
        self.sends != 0 || self.receives != 0
    }
}

/// What is wrong with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// It ends too early.
    #[error("the buffer has {bytes} B, and byte {end} is needed")]
    Short {
        /// Its bytes.
        bytes: usize,
        /// Behind the part that is missing.
        end: usize,
    },
    /// There is no id, or too much else.
    #[error("there are {0} arguments; 1 to {most} are possible", most = MOST_ARGUMENTS + 1)]
    Count(u32),
    /// The first argument is no integer of 64 bits.
    #[error("the key of the id is {0:#010x}, and should be {id:#010x}", id = key::INTEGER_64)]
    Id(u32),
    /// A type that no value can have.
    #[error(
        "argument {argument} has the key {key:#010x}, which is none of an integer, a double, a pointer or a string"
    )]
    Key {
        /// Which; the id is 0.
        argument: usize,
        /// Its key.
        key: u32,
    },
    /// The values end elsewhere than the buffer says.
    #[error("the values end at byte {end}, and the buffer says {said}")]
    DataBytes {
        /// Where they end.
        end: usize,
        /// What the buffer says.
        said: usize,
    },
    /// There is more behind the last string.
    #[error("{0} B are left behind the last string")]
    Rest(usize),
}

/// A value with its type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Argument {
    Integer32(i32),
    Integer64(i64),
    Double(f64),
    Pointer(u64),
    /// With its last byte; a null pointer has none.
    String(Option<Vec<u8>>),
}

/// A buffer whose id is known.
#[derive(Clone, Debug)]
pub struct Head<'b> {
    id: Id,
    keys: &'b [[u8; 4]],
    values: Reader<'b>,
    strings: &'b [u8],
}

impl<'b> Head<'b> {
    /// Reads as much as tells what is called.
    ///
    /// # Errors
    /// If the buffer ends before, or is no such buffer.
    pub fn read(bytes: &'b [u8]) -> Result<Self, Malformed> {
        let word = |at: usize| {
            let mut reader = Reader { bytes, at };
            reader.next().map(u32::from_le_bytes)
        };
        let (data, count) = (word(field::DATA_BYTES)?, word(field::COUNT)?);
        let (data_bytes, arguments) = (data as usize, count as usize);
        if !(1..=MOST_ARGUMENTS + 1).contains(&arguments) {
            return Err(Malformed::Count(count));
        }
        let short = |end| Malformed::Short {
            bytes: bytes.len(),
            end,
        };
        let (data, strings) = bytes.split_at_checked(data_bytes).ok_or(short(data_bytes))?;
        let end = field::KEYS + 4 * arguments;
        let (keys, _) = data
            .get(field::KEYS..end)
            .ok_or(Malformed::DataBytes {
                end,
                said: data_bytes,
            })?
            .as_chunks();
        if u32::from_le_bytes(keys[0]) != key::INTEGER_64 {
            return Err(Malformed::Id(u32::from_le_bytes(keys[0])));
        }
        let mut values = Reader { bytes: data, at: end };
        Ok(Self {
            id: Id::from_word(u64::from_le_bytes(values.next()?)),
            keys,
            values,
            strings,
        })
    }

    /// What is called.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Everything behind the id.
    ///
    /// # Errors
    /// If anything is not what the encoding says.
    pub(super) fn arguments(mut self) -> Result<Vec<Argument>, Malformed> {
        let mut arguments = Vec::with_capacity(self.keys.len() - 1);
        for (argument, key) in self.keys.iter().enumerate().skip(1) {
            arguments.push(match u32::from_le_bytes(*key) {
                key::INTEGER_32 => Argument::Integer32(i32::from_le_bytes(self.values.next()?)),
                key::INTEGER_64 => Argument::Integer64(i64::from_le_bytes(self.values.next()?)),
                key::DOUBLE => Argument::Double(f64::from_le_bytes(self.values.next()?)),
                key::POINTER => Argument::Pointer(u64::from_le_bytes(self.values.next()?)),
                key::STRING => Argument::String(self.string()?),
                key => return Err(Malformed::Key { argument, key }),
            });
        }
        let (end, said) = (self.values.at, self.values.bytes.len());
        match said == end || said == end.next_multiple_of(8) {
            true if self.strings.is_empty() => Ok(arguments),
            true => Err(Malformed::Rest(self.strings.len())),
            false => Err(Malformed::DataBytes { end, said }),
        }
    }

    /// The next of the strings.
    fn string(&mut self) -> Result<Option<Vec<u8>>, Malformed> {
        let length = u32::from_le_bytes(self.values.next()?) as usize;
        let cut = self.strings.split_at_checked(length);
        let (string, rest) = cut.ok_or(Malformed::Short {
            bytes: self.strings.len(),
            end: length,
        })?;
        self.strings = rest;
        Ok((length > 0).then(|| string.to_vec()))
    }
}

/// Takes values one after the other.
#[derive(Clone, Debug)]
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    /// The next value of this size, which begins at a multiple of it.
    fn next<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let start = self.at.next_multiple_of(N);
        let end = start + N;
        let value = self.bytes.get(start..end).and_then(|value| value.try_into().ok());
        self.at = end;
        value.ok_or(Malformed::Short {
            bytes: self.bytes.len(),
            end,
        })
    }
}
