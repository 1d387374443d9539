//! Values of options.

use std::time::Duration;

/// Period of a clock of 1 MHz in picoseconds.
const MHZ_PS: f64 = 1e6;
/// Periods of clocks that can be simulated: 1 to 1000 MHz.
const PERIODS_PS: std::ops::RangeInclusive<f64> = 1000.0..=MHZ_PS;

/// A time in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(number(text)?).map_err(|error| error.to_string())
}

/// A clock in megahertz, as its period in picoseconds.
pub(crate) fn megahertz(text: &str) -> Result<u64, String> {
    match MHZ_PS / number(text)? {
        ps if PERIODS_PS.contains(&ps) => Ok(ps.round() as u64),
        _ => Err("clocks are 1 to 1000 MHz".to_owned()),
    }
}

/// A rate in megabits a second, as bits a second.
pub(crate) fn megabits(text: &str) -> Result<u64, String> {
    match (number(text)? * 1e6).round() {
        bits if bits >= 1.0 => Ok(bits as u64),
        _ => Err("nothing is sent at less than one bit a second".to_owned()),
    }
}

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("it is no number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{megabits, megahertz, seconds};
    use std::time::Duration;

    #[test]
    fn values_are_what_people_write() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        assert_eq!(megahertz("40"), Ok(25_000));
        assert_eq!(megahertz("1"), Ok(1_000_000));
        assert_eq!(megahertz("1e3"), Ok(1000));
        assert_eq!(megabits("0.5"), Ok(500_000));
    }

    #[test]
    fn what_is_no_number_or_cannot_be_is_refused() {
        for text in ["nan", "inf", "-inf", "", "1s", "-1", "1e400"] {
            assert!(seconds(text).is_err(), "{text}");
            assert!(megahertz(text).is_err(), "{text}");
            assert!(megabits(text).is_err(), "{text}");
        }
        for text in ["1e30", "-1e-9"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        for text in ["0", "0.9", "1001"] {
            assert!(megahertz(text).is_err(), "{text}");
        }
    }
}
