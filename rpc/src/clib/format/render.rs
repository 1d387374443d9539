//! Items as text.

use super::arguments::{Item, Shape};
use super::float::float;
use super::integer::{Parts, signed, unsigned};

/// Longest width or precision of a number.
const MOST_DIGITS: u32 = 1 << 15;
/// What a null string is printed as, if so many bytes may be.
const NULL: &[u8] = b"(null)";

/// Whose text a null pointer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// LLVM 22's formatter.
    Llvm,
    /// The GNU C library's, which LLVM 23's server uses.
    Gnu,
}

/// The text would be longer than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooWide;

/// Prints items, at most so many bytes. `strings` are those of the strings that are not null, in their order, each up to its
/// first NUL.
pub(crate) fn render(
    items: &[Item<'_>],
    strings: &[Vec<u8>],
    dialect: Dialect,
    most: usize,
) -> Result<Vec<u8>, TooWide> {
    let (mut text, mut strings) = (Vec::new(), strings.iter());
    for item in items {
        match item {
            Item::Text(bytes) => text.extend_from_slice(bytes),
            Item::Signed(shape, value) => number(&mut text, checked(shape)?, &signed(shape, *value)),
            Item::Unsigned(shape, base, value) => {
                number(&mut text, checked(shape)?, &unsigned(shape, *base, *value));
            }
            Item::Float(shape, letter, value) => {
                number(&mut text, checked(shape)?, &float(shape, *letter, *value))
            }
            Item::Character(shape, byte) => padded(&mut text, checked(&shape.of_text())?, &[*byte]),
            Item::Pointer(shape, 0) => {
                let null: &[u8] = match dialect {
                    Dialect::Llvm => b"(nullptr)",
                    Dialect::Gnu => b"(nil)",
                };
                padded(&mut text, checked(&shape.of_text())?, null);
            }
            Item::Pointer(shape, address) => {
                let mut shape = *checked(shape)?;
                shape.flags.alternate = true;
                number(&mut text, &shape, &unsigned(&shape, b'x', *address));
            }
            Item::String(shape, address) => {
                let most = shape.precision.map_or(usize::MAX, |most| most as usize);
                let bytes = match address {
                    0 if most < NULL.len() => &[],
                    0 => NULL,
                    _ => strings.next().map_or(&[][..], |string| until_nul(string)),
                };
                let bytes = &bytes[..bytes.len().min(most)];
                padded(&mut text, checked(&shape.of_text())?, bytes);
            }
            Item::Nothing => {}
        }
        if text.len() > most {
            return Err(TooWide);
        }
    }
    Ok(text)
}

/// The bytes before the first NUL.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

impl Shape {
    /// Without what only numbers have.
    fn of_text(self) -> Self {
        Self {
            precision: None,
            ..self
        }
    }
}

fn checked(shape: &Shape) -> Result<&Shape, TooWide> {
    match shape.width.max(shape.precision.unwrap_or(0)) > MOST_DIGITS {
        true => Err(TooWide),
        false => Ok(shape),
    }
}

fn number(text: &mut Vec<u8>, shape: &Shape, parts: &Parts) {
    let bytes = parts.front.len() + parts.digits.len();
    let missing = (shape.width as usize).saturating_sub(bytes);
    let (before, zeros, after) = match (shape.flags.left, parts.fills_with_zeros) {
        (true, _) => (0, 0, missing),
        (false, true) => (0, missing, 0),
        (false, false) => (missing, 0, 0),
    };
    let mut fill = |byte, count, part: &str| {
        text.extend(std::iter::repeat_n(byte, count));
        text.extend_from_slice(part.as_bytes());
    };
    fill(b' ', before, parts.front);
    fill(b'0', zeros, &parts.digits);
    fill(b' ', after, "");
}

fn padded(text: &mut Vec<u8>, shape: &Shape, bytes: &[u8]) {
    let missing = (shape.width as usize).saturating_sub(bytes.len());
    let spaces = std::iter::repeat_n(b' ', missing);
    match shape.flags.left {
        true => {
            text.extend_from_slice(bytes);
            text.extend(spaces);
        }
        false => {
            text.extend(spaces);
            text.extend_from_slice(bytes);
        }
    }
}
