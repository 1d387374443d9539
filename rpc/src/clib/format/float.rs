//! Digits of floating-point numbers.

use super::arguments::Shape;
use super::integer::{Parts, sign};

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

/// The digits behind `0x`: the leading one, the fraction, and an exponent of two.
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

/// To so many digits of the fraction, halves to the even neighbour.
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
