//! Literals of the syntax tree as numbers.

use num_bigint::{BigInt, BigUint, Sign};
use rust_hdl::core::ast::VerilogLiteral;

/// The value of a literal and the width it was built with, in bits.
///
/// The fields of the literal are private, so its text is read back; `None` stands for a text of another form.
pub(crate) fn read(literal: &VerilogLiteral) -> Option<(BigInt, usize)> {
    let text = format!("{literal:x}");
    let (bits, digits) = text.split_once("'h")?;
    let value = BigInt::parse_bytes(digits.as_bytes(), 16)?;
    Some((value, bits.parse().ok()?))
}

/// The bits of `value` in two's complement, or `None` if it does not fit.
///
/// A signed context takes from `-2^(width-1)` to `2^(width-1) - 1`, an unsigned one from 0 to `2^width - 1`.
pub(crate) fn encode(value: &BigInt, width: usize, signed: bool) -> Option<BigUint> {
    let magnitude_bits = if signed { width.checked_sub(1)? } else { width };
    let limit = BigInt::from(1) << magnitude_bits;
    match value.sign() {
        Sign::Minus if signed && -value <= limit => (value + (BigInt::from(1) << width)).to_biguint(),
        Sign::Minus => None,
        Sign::NoSign | Sign::Plus if *value < limit => value.to_biguint(),
        Sign::NoSign | Sign::Plus => None,
    }
}

/// All ones.
pub(crate) fn ones(width: usize) -> BigUint {
    (BigUint::from(1_u32) << width) - 1_u32
}

/// Parses the text of a Rust integer literal: prefixes, underscores and type suffixes.
pub(crate) fn parse_rust_integer(text: &str) -> Option<BigInt> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let (radix, digits) = match text.get(..2) {
        Some("0x" | "0X") => (16, text.get(2..)?),
        Some("0b") => (2, text.get(2..)?),
        Some("0o") => (8, text.get(2..)?),
        _ => (10, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let digits = without_suffix(digits).replace('_', "");
    let value = BigInt::parse_bytes(digits.as_bytes(), radix)?;
    Some(if negative { -value } else { value })
}

fn without_suffix(digits: &str) -> &str {
    const SUFFIXES: [&str; 12] = [
        "usize", "isize", "u128", "i128", "u64", "i64", "u32", "i32", "u16", "i16", "u8", "i8",
    ];
    SUFFIXES
        .iter()
        .find_map(|suffix| digits.strip_suffix(suffix))
        .unwrap_or(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_literals_of_any_size() {
        assert_eq!(
            read(&VerilogLiteral::from(0xdead_beef_u64)),
            Some((0xdead_beef_u64.into(), 64))
        );
        assert_eq!(read(&VerilogLiteral::from(-5_i32)), Some(((-5).into(), 32)));
        assert_eq!(read(&VerilogLiteral::from(true)), Some((1.into(), 1)));
    }

    #[test]
    fn encodes_only_what_fits() {
        assert_eq!(encode(&255.into(), 8, false), Some(255_u32.into()));
        assert_eq!(encode(&256.into(), 8, false), None);
        assert_eq!(encode(&(-1).into(), 8, false), None);
        assert_eq!(encode(&(-128).into(), 8, true), Some(128_u32.into()));
        assert_eq!(encode(&(-129).into(), 8, true), None);
        assert_eq!(encode(&128.into(), 8, true), None);
    }

    #[test]
    fn parses_rust_integers() {
        assert_eq!(parse_rust_integer("0xFF_u8"), Some(255.into()));
        assert_eq!(parse_rust_integer("1_000usize"), Some(1000.into()));
        assert_eq!(parse_rust_integer("0b101"), Some(5.into()));
        assert_eq!(parse_rust_integer("-3"), Some((-3).into()));
        assert_eq!(parse_rust_integer("--3"), None);
        assert_eq!(parse_rust_integer("x"), None);
        assert_eq!(parse_rust_integer(""), None);
    }
}
