//! `printf` without the host's varargs: formats are parsed, arguments are read by the widths that formats say, and what is
//! missing or wrong never reads memory.
//!
//! Text is that of the GNU C library, with which LLVM 23's server formats; LLVM 22's own formatter differs in the null
//! pointer only.

mod render;

pub(crate) use render::{Dialect, render};

/// Bytes of arguments that a format reads.
pub(crate) fn argument_bytes(format: &[u8], packing: Packing) -> usize {
    let mut arguments = Arguments::new(&[], packing);
    Pieces::new(format).for_each(|piece| {
        arguments.item(piece);
    });
    arguments.bytes()
}

/// A format with its arguments.
pub(crate) fn bind<'f>(format: &'f [u8], arguments: &[u8], packing: Packing) -> Vec<Item<'f>> {
    let mut arguments = Arguments::new(arguments, packing);
    Pieces::new(format).map(|piece| arguments.item(piece)).collect()
}

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'f> {
    /// Printed as it is.
    Text(&'f [u8]),
    /// From its `%` on.
    Spec(Spec<'f>),
}

/// A conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spec<'f> {
    /// Its text in the format.
    pub(crate) text: &'f [u8],
    pub(crate) flags: Flags,
    pub(crate) width: Number,
    pub(crate) precision: Number,
    pub(crate) length: Length,
    /// The last letter, which may be none that is known.
    pub(crate) conversion: u8,
}

/// Flags of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    pub(crate) left: bool,
    pub(crate) plus: bool,
    pub(crate) space: bool,
    pub(crate) alternate: bool,
    pub(crate) zeros: bool,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Number {
    #[default]
    Absent,
    Given(i32),
    /// `*`: an argument.
    Argument,
}

/// The length of an argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Length {
    /// `hh`.
    Char,
    /// `h`.
    Short,
    #[default]
    Int,
    /// `l`, `ll`, `j`, `z`, `t`, `q`, `L`.
    Long,
}

/// The pieces of a format, up to its NUL or its end.
#[derive(Clone, Debug)]
pub(crate) struct Pieces<'f> {
    rest: &'f [u8],
}

impl<'f> Pieces<'f> {
    pub(crate) fn new(format: &'f [u8]) -> Self {
        let end = format.iter().position(|byte| *byte == 0);
        Self {
            rest: &format[..end.unwrap_or(format.len())],
        }
    }
}

impl<'f> Iterator for Pieces<'f> {
    type Item = Piece<'f>;

    fn next(&mut self) -> Option<Piece<'f>> {
        if self.rest.is_empty() {
            return None;
        }
        let text = self.rest.iter().position(|byte| *byte == b'%');
        let text = text.unwrap_or(self.rest.len());
        if text > 0 {
            let (text, rest) = self.rest.split_at(text);
            self.rest = rest;
            return Some(Piece::Text(text));
        }
        // A conversion that the end cuts off is text.
        let Some(spec) = spec(self.rest) else {
            return Some(Piece::Text(std::mem::take(&mut self.rest)));
        };
        self.rest = &self.rest[spec.text.len()..];
        Some(Piece::Spec(spec))
    }
}

/// The conversion that text begins with, if it does not end before.
fn spec(text: &[u8]) -> Option<Spec<'_>> {
    let mut rest = &text[1..];
    let flags = flags(&mut rest);
    let width = number(&mut rest, Number::Absent);
    let precision = match eat(&mut rest, b'.') {
        true => number(&mut rest, Number::Given(0)),
        false => Number::Absent,
    };
    let length = length(&mut rest);
    let (&conversion, rest) = rest.split_first()?;
    Some(Spec {
        text: &text[..text.len() - rest.len()],
        flags,
        width,
        precision,
        length,
        conversion,
    })
}

fn eat(rest: &mut &[u8], byte: u8) -> bool {
    let after = rest.strip_prefix(&[byte]);
    *rest = after.unwrap_or(rest);
    after.is_some()
}

fn flags(rest: &mut &[u8]) -> Flags {
    let mut flags = Flags::default();
    while let Some((flag, after)) = rest.split_first() {
        match flag {
            b'-' => flags.left = true,
            b'+' => flags.plus = true,
            b' ' => flags.space = true,
            b'#' => flags.alternate = true,
            b'0' => flags.zeros = true,
            _ => break,
        }
        *rest = after;
    }
    flags
}

fn number(rest: &mut &[u8], absent: Number) -> Number {
    if eat(rest, b'*') {
        return Number::Argument;
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = rest.split_at(digits);
    *rest = after;
    let value = |sum: i32, digit: &u8| sum.saturating_mul(10).saturating_add(i32::from(digit - b'0'));
    match digits {
        [] => absent,
        digits => Number::Given(digits.iter().fold(0, value)),
    }
}

fn length(rest: &mut &[u8]) -> Length {
    let twice = |rest: &mut &[u8], byte, once, twice| match eat(rest, byte) {
        true => twice,
        false => once,
    };
    match rest.first() {
        Some(b'h') => {
            eat(rest, b'h');
            twice(rest, b'h', Length::Short, Length::Char)
        }
        Some(b'l') => {
            eat(rest, b'l');
            twice(rest, b'l', Length::Long, Length::Long)
        }
        Some(&byte @ (b'j' | b'z' | b't' | b'q' | b'L')) => {
            eat(rest, byte);
            Length::Long
        }
        _ => Length::Int,
    }
}

// Arguments of a format, as a host of 64 bits sees them.

/// How arguments follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Each at a multiple of its size.
    Aligned,
    /// Without gaps.
    Packed,
}

/// An item of output: text, or a conversion with its argument.
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
