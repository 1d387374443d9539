//! What all commands share: how they fail, which files they may touch, what they print, and values of their options.

mod files;
mod store;

use anyhow::{Result, anyhow};
use spinneret_host::harmless;
use std::fmt::{self, Display};
use std::io::{ErrorKind, Write as _, stdout};
use std::process::ExitCode;
use std::time::Duration;

pub(crate) use files::Files;
pub(crate) use store::Store;

/// Why a command did not succeed, by exit code.
#[derive(Debug)]
pub enum Failure {
    /// The work could not begin as asked; nothing was written.
    Usage(anyhow::Error),
    /// The work began and failed.
    Work(anyhow::Error),
    /// Ctrl-C, or a request to terminate, came before the work began; nothing was written.
    Interrupted,
}

impl Failure {
    /// The work could not begin as asked.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::Usage(error.into())
    }

    /// The work began and failed.
    pub fn work(error: impl Into<anyhow::Error>) -> Self {
        Self::Work(error.into())
    }

    /// Exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Work(_) => ExitCode::from(1),
            Self::Interrupted => ExitCode::from(130),
        }
    }
}

/// Shows the error; every error of the project names its cause in its own message.
impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(error) | Self::Work(error) => write!(f, "{error}"),
            Self::Interrupted => f.write_str("interrupted before the first packet; nothing was written"),
        }
    }
}

/// Prints a result for people: its lines are no wider than the terminal, if there is one.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_folded(text: impl Display) -> Result<()> {
    print(spinneret_table::for_people(&text.to_string(), &stdout()))
}

/// Prints a result as it is, for programs. Whoever reads the output and goes has seen enough of it, so that is no failure.
///
/// # Errors
/// If it cannot be written, as on a full disk.
pub(crate) fn print(text: impl Display) -> Result<()> {
    let mut out = stdout().lock();
    match out
        .write_all(harmless(&text.to_string()).as_bytes())
        .and_then(|()| out.flush())
    {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| anyhow!("cannot print the result: {error}")),
    }
}

/// Tells people something beside the result; where nobody can read it, nothing is lost.
pub(crate) fn tell(text: impl Display) {
    spinneret_table::tell(harmless(&text.to_string()));
}

/// Tells why a command did not succeed: in red on a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
pub(crate) fn tell_failure(failure: impl Display) {
    spinneret_table::tell(spinneret_table::error_line(&harmless(&failure.to_string())));
}

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
