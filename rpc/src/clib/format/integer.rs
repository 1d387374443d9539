//! Digits of integers.

use super::arguments::Shape;

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
