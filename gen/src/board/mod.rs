//! Everything that a board needs, as files in memory.

pub mod alchitry_cu;
pub mod build;
pub mod corundum;
mod library;
mod output;
mod report;

pub use library::{Contents, RTL};
pub use output::BoardOutput;
pub use report::BoardReport;

use crate::Error;
use crate::error::Advice;
use spinneret_bsp::{self as bsp, Board, Family};
use std::path::Path;

/// The board of that name.
///
/// # Errors
/// There is none; the nearest name is suggested.
pub fn find(name: &str) -> Result<&'static Board, Error> {
    bsp::find(name).ok_or_else(|| Error::UnknownName {
        kind: "board",
        name: name.to_owned(),
        advice: Advice::new(name, bsp::boards().iter().map(|board| board.name)),
    })
}

/// All files of a board; `directory` is where they will be.
///
/// # Errors
/// Options that do not fit the board, checkouts that are not what they should be, or a design that cannot be generated.
pub fn render(
    board: &'static Board,
    options: &corundum::Options,
    directory: &Path,
) -> Result<BoardOutput, Error> {
    match board.family {
        Family::Ice40 if *options != corundum::Options::default() => Err(Error::UselessOption {
            option: "--corundum, --cluster, --cluster-mhz, --corundum-dir or --pspin-dir",
            because: "this board has no Corundum and no cluster",
        }),
        Family::Ice40 => alchitry_cu::render(board),
        Family::UltraScalePlus => corundum::render(board, options, directory, &corundum::build_app),
    }
}

/// A number of MHz with at most six decimals, in Hz.
///
/// # Errors
/// The text is no such number.
pub fn parse_megahertz(text: &str) -> Result<u64, Error> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits =
        |text: &str, most| !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole, 6) || !digits(fraction, 6) {
        return Err(Error::NoFrequency {
            text: text.to_owned(),
        });
    }
    // At most twelve digits, which a u64 holds.
    format!("{whole}{fraction:0<6}")
        .parse()
        .map_err(|_| Error::NoFrequency {
            text: text.to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::parse_megahertz;

    #[test]
    fn reads_whole_and_decimal_frequencies() {
        for (text, hz) in [
            ("40", 40_000_000),
            ("62.5", 62_500_000),
            ("0.000001", 1),
            ("333.333333", 333_333_333),
        ] {
            assert_eq!(parse_megahertz(text).unwrap(), hz);
        }
        for wrong in [
            "",
            ".",
            "40.",
            ".5",
            "-1",
            "4e1",
            "40 MHz",
            "1.0000001",
            "1234567",
            "٤",
        ] {
            assert!(parse_megahertz(wrong).is_err(), "{wrong}");
        }
    }
}
