//! Rendering of items to text.

use super::{Item, Shape};

/// Longest width or precision of a number.
const MOST_DIGITS: u32 = 1 << 15;
/// The text of a null string, if it is not longer than the limit.
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

/// Prints items, at most `most` bytes. `strings` are those of the strings that are not null, in their order, each up to
/// its first NUL.
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

// Digits of floating-point numbers.

const DEFAULT_PRECISION: usize = 6;
/// Bits of a fraction, and hexadecimal digits of it.
const FRACTION_BITS: u32 = 52;
const FRACTION_DIGITS: usize = 13;
const EXPONENT_BIAS: i64 = 1023;

/// `%f`, `%e`, `%g`, `%a`, and the same in capitals.
pub(crate) fn float(shape: &Shape, letter: u8, value: f64) -> Parts {
    let front = sign(shape, value.is_sign_negative());
    let magnitude = value.abs();
    let precision = shape.precision.map(|precision| precision as usize);
    let point = shape.flags.alternate;
    let (prefix, digits) = match letter.to_ascii_lowercase() {
        _ if magnitude.is_nan() => ("", "nan".to_owned()),
        _ if magnitude.is_infinite() => ("", "inf".to_owned()),
        b'f' => (
            "",
            fixed(magnitude, precision.unwrap_or(DEFAULT_PRECISION), point),
        ),
        b'e' => (
            "",
            exponential(magnitude, precision.unwrap_or(DEFAULT_PRECISION), point),
        ),
        b'g' => (
            "",
            shortest(magnitude, precision.unwrap_or(DEFAULT_PRECISION), point),
        ),
        _ => ("0x", hexadecimal(magnitude, precision, point)),
    };
    let front = match (front, prefix) {
        (sign, "") => sign,
        ("-", _) => "-0x",
        ("+", _) => "+0x",
        (" ", _) => " 0x",
        _ => "0x",
    };
    let mut parts = Parts {
        front,
        digits,
        fills_with_zeros: shape.flags.zeros && magnitude.is_finite(),
    };
    if letter.is_ascii_uppercase() {
        parts.digits.make_ascii_uppercase();
        parts.front = match parts.front {
            "-0x" => "-0X",
            "+0x" => "+0X",
            " 0x" => " 0X",
            "0x" => "0X",
            front => front,
        };
    }
    parts
}

fn fixed(magnitude: f64, precision: usize, point: bool) -> String {
    let mut text = format!("{magnitude:.precision$}");
    if point && precision == 0 {
        text.push('.');
    }
    text
}

/// One digit, the fraction, and an exponent of at least two digits.
fn exponential(magnitude: f64, precision: usize, point: bool) -> String {
    let (mut digits, exponent) = scientific(magnitude, precision);
    if point && precision == 0 {
        digits.push('.');
    }
    format!(
        "{digits}e{}{:02}",
        exponent_sign(exponent),
        exponent.unsigned_abs()
    )
}

fn exponent_sign(exponent: i64) -> char {
    match exponent < 0 {
        true => '-',
        false => '+',
    }
}

/// Digits and exponent of ten.
fn scientific(magnitude: f64, precision: usize) -> (String, i64) {
    let text = format!("{magnitude:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn shortest(magnitude: f64, precision: usize, point: bool) -> String {
    let significant = precision.max(1);
    let (_, exponent) = scientific(magnitude, significant - 1);
    let is_fixed = -4 <= exponent && exponent < significant as i64;
    let text = match is_fixed {
        true => fixed(magnitude, (significant as i64 - 1 - exponent) as usize, point),
        false => exponential(magnitude, significant - 1, point),
    };
    if point {
        return text;
    }
    let (digits, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    };
    format!("{digits}{exponent}")
}

/// The digits after `0x`: the leading one, the fraction, and an exponent of two.
fn hexadecimal(magnitude: f64, precision: Option<usize>, point: bool) -> String {
    let bits = magnitude.to_bits();
    let (exponent, fraction) = ((bits >> FRACTION_BITS) as i64, bits & ((1 << FRACTION_BITS) - 1));
    let (leading, exponent) = match (exponent, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, 1 - EXPONENT_BIAS),
        _ => (1, exponent - EXPONENT_BIAS),
    };
    let mantissa = leading << FRACTION_BITS | fraction;
    let (mantissa, digits) = match precision {
        None => {
            let digits = FRACTION_DIGITS - (fraction.trailing_zeros() as usize / 4).min(FRACTION_DIGITS);
            (mantissa, digits)
        }
        Some(digits) => (round(mantissa, digits), digits),
    };
    let leading = mantissa >> FRACTION_BITS;
    let fraction = format!("{:013x}", mantissa & ((1 << FRACTION_BITS) - 1));
    let fraction = match digits.checked_sub(FRACTION_DIGITS) {
        None => fraction[..digits].to_owned(),
        Some(more) => fraction + &"0".repeat(more),
    };
    let dot = match point || digits > 0 {
        true => ".",
        false => "",
    };
    let sign = exponent_sign(exponent);
    format!("{leading:x}{dot}{fraction}p{sign}{}", exponent.unsigned_abs())
}

/// Rounds to `digits` digits of the fraction, halves to the even neighbour.
fn round(mantissa: u64, digits: usize) -> u64 {
    let dropped = 4 * FRACTION_DIGITS.saturating_sub(digits) as u32;
    if dropped == 0 {
        return mantissa;
    }
    let (kept, rest, half) = (
        mantissa >> dropped,
        mantissa & ((1 << dropped) - 1),
        1 << (dropped - 1),
    );
    let is_up = rest > half || rest == half && kept & 1 == 1;
    (kept + u64::from(is_up)) << dropped
}

// Digits of integers.

/// A number in parts, which padding goes between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Sign or prefix.
    pub(crate) front: &'static str,
    pub(crate) digits: String,
    /// Whether zeros may fill the width, between both.
    pub(crate) fills_with_zeros: bool,
}

/// The sign of a number that has one.
pub(crate) fn sign(shape: &Shape, is_negative: bool) -> &'static str {
    match (is_negative, shape.flags.plus, shape.flags.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// `%d`.
pub(crate) fn signed(shape: &Shape, value: i64) -> Parts {
    parts(
        shape,
        sign(shape, value < 0),
        value.unsigned_abs().to_string(),
        value == 0,
    )
}

/// `%u`, `%o`, `%x`, `%X`, `%b`, `%B`.
pub(crate) fn unsigned(shape: &Shape, base: u8, value: u64) -> Parts {
    let (front, digits) = match base {
        b'o' => ("", format!("{value:o}")),
        b'x' => ("0x", format!("{value:x}")),
        b'X' => ("0X", format!("{value:X}")),
        b'b' => ("0b", format!("{value:b}")),
        b'B' => ("0B", format!("{value:b}")),
        _ => ("", value.to_string()),
    };
    let front = match shape.flags.alternate && value != 0 {
        true => front,
        false => "",
    };
    let mut parts = parts(shape, front, digits, value == 0);
    // In octal the alternative form is a first digit that is 0.
    if base == b'o' && shape.flags.alternate && !parts.digits.starts_with('0') {
        parts.digits.insert(0, '0');
    }
    parts
}

fn parts(shape: &Shape, front: &'static str, digits: String, is_zero: bool) -> Parts {
    let least = shape.precision.map_or(1, |precision| precision as usize);
    let digits = match is_zero {
        true => "0".repeat(least),
        false => "0".repeat(least.saturating_sub(digits.len())) + &digits,
    };
    Parts {
        front,
        digits,
        fills_with_zeros: shape.flags.zeros && shape.precision.is_none(),
    }
}

/// Compares the text with that of the C library's own snprintf.
#[cfg(test)]
mod tests {
    use crate::clib::format::{Dialect, Packing, argument_bytes, bind, render};
    use proptest::prelude::*;
    use std::ffi::CString;

    fn ours(format: &str, arguments: &[u8], strings: &[Vec<u8>]) -> String {
        let items = bind(format.as_bytes(), arguments, Packing::Aligned);
        let text = render(&items, strings, Dialect::Gnu, 1 << 16).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// The text of the C library for one value.
    macro_rules! theirs {
        ($format:expr, $($value:expr),*) => {{
            let format = CString::new($format.as_str()).unwrap();
            let mut text = vec![0_u8; 1 << 12];
            // SAFETY: the buffer has `text.len()` bytes, the format ends with a NUL and reads just these arguments.
            let bytes = unsafe { ::libc::snprintf(text.as_mut_ptr().cast(), text.len(), format.as_ptr(), $($value),*) };
            text.truncate(bytes as usize);
            String::from_utf8(text).unwrap()
        }};
    }

    /// Flags, a width and a precision.
    fn shape() -> impl Strategy<Value = String> {
        "[-+ #0]{0,3}([1-9][0-9]?)?(\\.([0-9]|[1-3][0-9])?)?"
    }

    fn value() -> impl Strategy<Value = i64> {
        prop_oneof![-10_i64..10, any::<i64>(), any::<i32>().prop_map(i64::from)]
    }

    fn number() -> impl Strategy<Value = f64> {
        let special = [
            0.0,
            -0.0,
            0.5,
            1.5,
            2.5,
            9.5,
            99.5,
            1e15,
            1e16,
            123_456.0,
            999_999.5,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        let special = [
            &special[..],
            &[
                f64::MIN_POSITIVE,
                5e-324,
                f64::MAX,
                f64::NAN,
                0.0001,
                0.000_099_999_99,
            ],
        ]
        .concat();
        prop_oneof![
            any::<f64>(),
            -1000.0..1000.0,
            prop::sample::select(special),
            (-99_i32..99).prop_map(|n| f64::from(n) / 8.0)
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn integers_are_those_of_the_c_library(
            shape in shape(), length in "(hh|h|l|ll|j|z|t)?", letter in "[diuoxXbB]", value in value()
        ) {
            let format = format!("<%{shape}{length}{letter}>");
            prop_assert_eq!(ours(&format, &value.to_le_bytes(), &[]), theirs!(format, value));
        }

        #[test]
        fn floats_are_those_of_the_c_library(shape in shape(), letter in "[fFeEgGaA]", value in number()) {
            // Here some versions of the C library lose digits when rounding makes the exponent larger.
            prop_assume!(!(shape.contains('#') && "gG".contains(&letter)));
            let format = format!("<%{shape}{letter}>");
            prop_assert_eq!(ours(&format, &value.to_le_bytes(), &[]), theirs!(format, value));
        }

        #[test]
        fn strings_are_those_of_the_c_library(left in "-?", width in 0_u8..20, precision in "(\\.[0-9]?)?", text in "[a-z]{0,12}") {
            let width = match width { 0 => String::new(), width => width.to_string() };
            let format = format!("<%{left}{width}{precision}s>");
            let string = CString::new(text.clone()).unwrap();
            prop_assert_eq!(ours(&format, &[1; 8], &[text.into_bytes()]), theirs!(format, string.as_ptr()));
            let null = std::ptr::null::<::libc::c_char>();
            prop_assert_eq!(ours(&format, &[0; 8], &[]), theirs!(format, null));
        }

        #[test]
        fn characters_and_pointers_are_those_of_the_c_library(left in "-?", width in 0_u8..20, value in any::<u64>()) {
            let width = match width { 0 => String::new(), width => width.to_string() };
            let format = format!("<%{left}{width}p>");
            prop_assert_eq!(ours(&format, &value.to_le_bytes(), &[]), theirs!(format, value));
            prop_assert_eq!(ours(&format, &[0; 8], &[]), theirs!(format, 0_u64));
            let format = format!("<%{left}{width}c>");
            let letter = i32::from(b'a' + (value % 26) as u8);
            prop_assert_eq!(ours(&format, &letter.to_le_bytes(), &[]), theirs!(format, letter));
        }

        #[test]
        fn stars_are_those_of_the_c_library(width in -30_i32..30, precision in -3_i32..20, value in any::<i32>()) {
            let format = "<%*.*d>".to_owned();
            let arguments = [width.to_le_bytes(), precision.to_le_bytes(), value.to_le_bytes()].concat();
            prop_assert_eq!(ours(&format, &arguments, &[]), theirs!(format, width, precision, value));
        }

        #[test]
        fn any_format_with_any_arguments_is_text_or_too_wide(
            format in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..60),
                "(%[-+ #0]{0,2}([0-9]{1,9}|\\*)?(\\.([0-9]{1,9}|\\*)?)?[hlLjztq]{0,2}.|[a-z%]){0,8}".prop_map(String::into_bytes),
            ],
            arguments in proptest::collection::vec(any::<u8>(), 0..80),
            is_packed in any::<bool>(),
        ) {
            let packing = if is_packed { Packing::Packed } else { Packing::Aligned };
            let items = bind(&format, &arguments, packing);
            prop_assert!(argument_bytes(&format, packing) <= 8 * format.len() + 8);
            if let Ok(text) = render(&items, &[], Dialect::Llvm, 1 << 12) {
                prop_assert!(text.len() <= 1 << 12);
            }
        }
    }

    #[test]
    fn text_without_conversions_is_itself() {
        assert_eq!(
            ours("plain \u{e4} %%|%5%|%k|%", &[], &[]),
            "plain \u{e4} %|%|%k|%"
        );
    }

    #[test]
    fn zeros_stay_in_the_alternative_form() {
        for (value, expected) in [
            (999_999.5, "1.00000e+06"),
            (1.0, "1.00000"),
            (0.0, "0.00000"),
            (1e-5, "1.00000e-05"),
        ] {
            assert_eq!(ours("%#g", &f64::to_le_bytes(value), &[]), expected);
        }
    }
}
