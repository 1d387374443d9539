//! The common part of all benches: arguments, medians, bars, and files of figures.

use crate::{Row, result_row, say};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::Value;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tempfile::Builder;

/// The arguments of a bench.
#[derive(Debug, Args)]
pub struct Figures<A: Args> {
    #[command(flatten)]
    arguments: A,
    /// File for the figures as JSON [default: target/bench/NAME.json]
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl<A: Args> Figures<A> {
    /// Runs a bench, which prints its tables and returns its figures. Writes these, and counts missed bars.
    ///
    /// # Errors
    /// Those of the bench; if the file cannot be written; if a bar is missed.
    pub fn measure(self, name: &str, run: impl FnOnce(&A, &mut Bars) -> Result<Value>) -> Result<ExitCode> {
        let mut bars = Bars::default();
        let figures = run(&self.arguments, &mut bars)?;
        let default = || PathBuf::from(format!("target/bench/{name}.json"));
        let path = self.json.unwrap_or_else(default);
        write(&path, &format!("{figures:#}\n"))?;
        say(format_args!("on {}; figures: {}", machine(), path.display()));
        let Bars { all, missed } = bars;
        ensure!(missed == 0, "bench {name}: {missed} of {all} bars are missed");
        Ok(ExitCode::SUCCESS)
    }
}

/// Counts of bars, and of those that are missed.
#[derive(Debug, Default)]
pub struct Bars {
    all: usize,
    missed: usize,
}

impl Bars {
    /// The row of a figure that has a bar, with the result as its last cell.
    pub fn row<const N: usize>(&mut self, cells: [String; N], is_kept: bool) -> Row {
        self.all += 1;
        self.missed += usize::from(!is_kept);
        let result = if is_kept { "kept" } else { "MISSED" };
        result_row(cells.into_iter().chain([result.to_owned()]), is_kept)
    }
}

/// The same quantity, measured several times.
#[derive(Clone, Debug)]
pub struct Spread(Vec<f64>);

impl FromIterator<f64> for Spread {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut values = Vec::from_iter(values);
        values.sort_by(f64::total_cmp);
        Self(values)
    }
}

impl Spread {
    /// All values, the least one first.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Returns a percentile; NaN without values.
    pub fn percentile(&self, percent: usize) -> f64 {
        let place = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(place).copied().unwrap_or(f64::NAN)
    }

    /// The value in the middle.
    pub fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// The values between which the median of all runs is, with a confidence of 95 % at least; all of them if they are fewer
    /// than six. By the order of the values: how many of them are below it is a binomial distribution.
    pub fn interval(&self) -> [f64; 2] {
        let count = self.0.len();
        // The logarithm, because the chance that none is below is too small for a number if there are many.
        let (mut chance, mut below, mut left_out) = (count as f64 * 0.5_f64.ln(), 0.0, 0);
        while below + chance.exp() <= 0.025 && left_out + 1 < count {
            below += chance.exp();
            chance += ((count - left_out) as f64 / (left_out + 1) as f64).ln();
            left_out += 1;
        }
        let place = left_out.saturating_sub(1);
        [place, count.saturating_sub(place + 1)].map(|place| self.0.get(place).copied().unwrap_or(f64::NAN))
    }

    /// Median, least and most.
    pub fn range(&self) -> [f64; 3] {
        [50, 0, 100].map(|percent| self.percentile(percent))
    }
}

/// Figures as cells of a table.
pub fn cells<const N: usize>(figures: [f64; N], digits: usize) -> [String; N] {
    figures.map(|figure| format!("{figure:.digits$}"))
}

/// Writes a file that appears when it is complete, or not at all, and the folders that it is in.
///
/// # Errors
/// If that is not possible, with the path.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let written = || {
        let folder = path.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(folder)?;
        // Of a file without a folder, the parent is empty, and there is no such folder.
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let mut file = Builder::new()
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok::<_, io::Error>(())
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}

/// The processor and the number of its cores.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("an unknown processor", |model| {
        model.trim_start_matches([' ', '\t', ':'])
    });
    format!("{model} with {cores} cores")
}

#[cfg(test)]
mod tests {
    use super::{Bars, Spread, write};

    #[test]
    fn a_spread_has_values_of_what_was_measured() {
        let spread: Spread = [4.0, 1.0, 3.0, 2.0].into_iter().collect();
        assert_eq!(spread.range(), [3.0, 1.0, 4.0]);
        assert_eq!((spread.median(), spread.percentile(99)), (3.0, 4.0));
        let one: Spread = [7.0].into_iter().collect();
        assert_eq!(one.range(), [7.0; 3]);
        assert!(Spread::from_iter([]).median().is_nan());
        let interval = |count: u32| Spread::from_iter((1..=count).map(f64::from)).interval();
        // Of tables of the binomial distribution.
        let ends = [1, 5, 6, 20, 100, 2000].map(interval);
        let expected = [
            [1.0, 1.0],
            [1.0, 5.0],
            [1.0, 6.0],
            [6.0, 15.0],
            [40.0, 61.0],
            [956.0, 1045.0],
        ];
        assert_eq!(ends, expected);
    }

    #[test]
    fn missed_bars_are_counted() {
        let mut bars = Bars::default();
        for is_kept in [true, false, false] {
            let row = bars.row(["a".to_owned()], is_kept);
            let cells: Vec<String> = row.cell_iter().map(super::super::Cell::content).collect();
            assert_eq!(cells, ["a", if is_kept { "kept" } else { "MISSED" }]);
        }
        assert_eq!((bars.all, bars.missed), (3, 2));
    }

    #[test]
    fn files_are_written_into_new_folders_and_replaced() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("new/figures.json");
        for text in ["one", "two"] {
            write(&path, text).expect("there is room");
            assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
        }
        let error = write(&path.join("file"), "three").expect_err("a file is no folder");
        assert!(error.to_string().starts_with("cannot write "), "{error:#}");
        let left = std::fs::read_dir(folder.path().join("new")).expect("it is there");
        assert_eq!(left.count(), 1);
    }
}
