//! Arguments of a format, as a host of 64 bits sees them.

use super::spec::{Flags, Length, Number, Piece, Spec};

/// How arguments lie one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Each at a multiple of its size.
    Aligned,
    /// Without gaps.
    Packed,
}

/// What is printed: text, or a conversion with its argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Item<'f> {
    /// As it is.
    Text(&'f [u8]),
    Signed(Shape, i64),
    /// With the letter of its base.
    Unsigned(Shape, u8, u64),
    /// With its letter.
    Float(Shape, u8, f64),
    Character(Shape, u8),
    Pointer(Shape, u64),
    /// The address of the string in the client's memory.
    String(Shape, u64),
    /// `%n`, which stores nothing.
    Nothing,
}

/// How a value is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) flags: Flags,
    pub(crate) width: u32,
    pub(crate) precision: Option<u32>,
}

/// Reads arguments one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Arguments<'a> {
    bytes: &'a [u8],
    at: usize,
    packing: Packing,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(bytes: &'a [u8], packing: Packing) -> Self {
        Self {
            bytes,
            at: 0,
            packing,
        }
    }

    /// Bytes up to the end of the last argument.
    pub(crate) fn bytes(&self) -> usize {
        self.at
    }

    /// The next argument of this size, if it is there.
    fn next<const N: usize>(&mut self) -> Option<[u8; N]> {
        if self.packing == Packing::Aligned {
            self.at = self.at.next_multiple_of(N);
        }
        let start = self.at;
        self.at += N;
        self.bytes.get(start..self.at)?.try_into().ok()
    }

    /// A missing integer is -1, as in LLVM's server.
    fn int(&mut self) -> i32 {
        self.next().map_or(-1, i32::from_le_bytes)
    }

    fn long(&mut self) -> i64 {
        self.next().map_or(-1, i64::from_le_bytes)
    }

    fn number(&mut self, number: Number) -> Option<i32> {
        match number {
            Number::Absent => None,
            Number::Given(value) => Some(value),
            Number::Argument => Some(self.int()),
        }
    }

    /// A piece of a format with the arguments that it reads.
    pub(crate) fn item<'f>(&mut self, piece: Piece<'f>) -> Item<'f> {
        match piece {
            Piece::Text(text) => Item::Text(text),
            Piece::Spec(spec) => self.value(spec),
        }
    }

    fn value<'f>(&mut self, spec: Spec<'f>) -> Item<'f> {
        let mut flags = spec.flags;
        let width = self.number(spec.width).unwrap_or(0);
        flags.left |= width < 0;
        let shape = Shape {
            flags,
            width: width.unsigned_abs(),
            precision: self
                .number(spec.precision)
                .and_then(|value| value.try_into().ok()),
        };
        match spec.conversion {
            b'd' | b'i' => Item::Signed(shape, self.signed(spec.length)),
            base @ (b'u' | b'o' | b'x' | b'X' | b'b' | b'B') => {
                Item::Unsigned(shape, base, self.unsigned(spec.length))
            }
            letter @ (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A') => {
                Item::Float(shape, letter, self.next().map_or(-1.0, f64::from_le_bytes))
            }
            b'c' => Item::Character(shape, self.int() as u8),
            b's' => Item::String(shape, self.long() as u64),
            b'p' => Item::Pointer(shape, self.long() as u64),
            b'n' => {
                self.long();
                Item::Nothing
            }
            b'%' => Item::Text(b"%"),
            _ => Item::Text(spec.text),
        }
    }

    fn signed(&mut self, length: Length) -> i64 {
        match length {
            Length::Char => (self.int() as i8).into(),
            Length::Short => (self.int() as i16).into(),
            Length::Int => self.int().into(),
            Length::Long => self.long(),
        }
    }

    fn unsigned(&mut self, length: Length) -> u64 {
        match length {
            Length::Char => (self.int() as u8).into(),
            Length::Short => (self.int() as u16).into(),
            Length::Int => (self.int() as u32).into(),
            Length::Long => self.long() as u64,
        }
    }
}
