//! Whole numbers and ranges of them.

use crate::error::Problem;
use std::ops::{Range, RangeInclusive};
use toml::de::{DeInteger, DeValue};

/// The number that a TOML value is, if it is not larger than `max`.
pub(super) fn whole(what: &str, span: Range<usize>, value: &DeValue<'_>, max: u32) -> Result<u32, Problem> {
    let wrong = || {
        let found = describe(value);
        Problem::new(
            span,
            format!(
                "{what} must be a whole number from 0 to {}, not {found}",
                limit(max)
            ),
        )
    };
    match value {
        DeValue::Integer(number) => integer(number).filter(|number| *number <= max).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

/// The range that a TOML value is: a number, or text such as "1000-2000" with both ends included.
pub(super) fn range(
    what: &str,
    span: Range<usize>,
    value: &DeValue<'_>,
    max: u32,
) -> Result<RangeInclusive<u32>, Problem> {
    let DeValue::String(text) = value else {
        return whole(what, span, value, max).map(|number| number..=number);
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let ends = [first, last].map(|end| plain(end.trim()).filter(|number| *number <= max));
    let [Some(first), Some(last)] = ends else {
        let example = format!("{what} = {max}, or a range, {what} = \"1-{max}\"");
        return Err(Problem::new(
            span,
            format!("{what} must be a number from 0 to {max}: {example}, not {text:?}"),
        ));
    };
    if first > last {
        let swapped = format!("{what} = \"{last}-{first}\"");
        return Err(Problem::new(
            span,
            format!("the range {text:?} ends before it starts: write {swapped}"),
        ));
    }
    Ok(first..=last)
}

/// What a value is, for messages.
pub(super) fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn integer(number: &DeInteger<'_>) -> Option<u32> {
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A number in text: decimal, or hexadecimal after 0x.
fn plain(text: &str) -> Option<u32> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let only_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    only_digits
        .then(|| u32::from_str_radix(digits, radix).ok())
        .flatten()
}

/// Large limits read better in hexadecimal.
fn limit(max: u32) -> String {
    if max > 0xffff {
        format!("{max:#x}")
    } else {
        max.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range_of(text: &str) -> Option<RangeInclusive<u32>> {
        range("udp-dport", 0..0, &DeValue::String(text.into()), 0xffff).ok()
    }

    #[test]
    fn ranges_are_read_in_decimal_and_hexadecimal() {
        assert_eq!(range_of("1000-2000"), Some(1000..=2000));
        assert_eq!(range_of(" 1000 - 0x7d0 "), Some(1000..=2000));
        assert_eq!(range_of("53"), Some(53..=53));
        assert_eq!(range_of("0-65535"), Some(0..=65535));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "-",
            "1-",
            "-1",
            "1-2-3",
            "2-1",
            "1-65536",
            "0x-1",
            "+1",
            "a-b",
            "99999999999",
        ] {
            assert_eq!(range_of(text), None, "{text:?}");
        }
    }
}
