//! Quantities as people write them: `100 Gbps`, `500 ns`, `64 KiB`, `1 %`.

use crate::Ps;

/// Why a text is no such quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {what}: write a number and a unit, such as {example}")]
pub struct UnitError {
    text: String,
    what: &'static str,
    example: &'static str,
}

/// Names of units, and how much each is.
type Units = &'static [(&'static str, f64)];

const RATES: Units = &[("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9)];
const TIMES: Units = &[("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12)];
const SIZES: Units = &[
    ("B", 1.0),
    ("KB", 1e3),
    ("KiB", 1024.0),
    ("MB", 1e6),
    ("MiB", 1_048_576.0),
];
const SHARES: Units = &[("%", 0.01), ("", 1.0)];

/// Bits a second.
///
/// # Errors
/// If the text is no rate.
pub fn rate(text: &str) -> Result<u64, UnitError> {
    quantity(text, RATES, "rate", "100 Gbps").map(|bits| bits.round() as u64)
}

/// Picoseconds.
///
/// # Errors
/// If the text is no time.
pub fn time(text: &str) -> Result<Ps, UnitError> {
    quantity(text, TIMES, "time", "500 ns").map(|ps| ps.round() as u64)
}

/// Bytes.
///
/// # Errors
/// If the text is no size.
pub fn size(text: &str) -> Result<u64, UnitError> {
    quantity(text, SIZES, "size", "64 KiB").map(|bytes| bytes.round() as u64)
}

/// A share between 0 and 1.
///
/// # Errors
/// If the text is no share.
pub fn share(text: &str) -> Result<f64, UnitError> {
    const EXAMPLE: &str = "1 % or 0.01, at most 100 %";
    let share = quantity(text, SHARES, "share", EXAMPLE)?;
    (share <= 1.0)
        .then_some(share)
        .ok_or_else(|| wrong(text, "share", EXAMPLE))
}

fn quantity(text: &str, units: Units, what: &'static str, example: &'static str) -> Result<f64, UnitError> {
    let trimmed = text.trim();
    let digits = trimmed
        .find(|one: char| !one.is_ascii_digit() && one != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let unit = units.iter().find(|(name, _)| *name == unit.trim());
    let number = number.parse::<f64>().ok().filter(|number| number.is_finite());
    match (number, unit) {
        (Some(number), Some((_, factor))) if number * factor < u64::MAX as f64 => Ok(number * factor),
        _ => Err(wrong(text, what, example)),
    }
}

fn wrong(text: &str, what: &'static str, example: &'static str) -> UnitError {
    UnitError {
        text: text.to_owned(),
        what,
        example,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities_are_read() {
        assert_eq!(rate("100 Gbps"), Ok(100_000_000_000));
        assert_eq!(rate("2.5Gbps"), Ok(2_500_000_000));
        assert_eq!(time("500 ns"), Ok(500_000));
        assert_eq!(time(" 1.5us "), Ok(1_500_000));
        assert_eq!(size("64 KiB"), Ok(65_536));
        assert_eq!(share("1 %"), Ok(0.01));
        assert_eq!(share("0.25"), Ok(0.25));
    }

    #[test]
    fn everything_else_is_rejected() {
        for text in [
            "",
            "100",
            "Gbps",
            "1 gbps",
            "-1 Gbps",
            "1e400 Gbps",
            "1 Gbps 2",
            "1.1.1 Gbps",
        ] {
            assert!(rate(text).is_err(), "{text}");
        }
        assert!(share("101 %").is_err());
        let error = time("5").map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err("`5` is no time: write a number and a unit, such as 500 ns".to_owned())
        );
    }

    proptest! {
        #[test]
        fn any_text_is_accepted_or_rejected(text in "\\PC{0,12}") {
            let _ = (rate(&text), time(&text), size(&text), share(&text));
        }
    }
}
