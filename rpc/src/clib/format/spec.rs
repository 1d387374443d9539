//! Formats, cut into text and conversions.

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
    /// As it stands in the format.
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
