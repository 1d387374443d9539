//! The common part of all benches: arguments, medians, bars, files of figures, and facts about this machine.

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use spinneret_nic::picture::{Area, Painted, svg};
use spinneret_packets::capture::whole_file::WholeFile;
use spinneret_table::{Row, result_row, say};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments of a bench.
#[derive(Debug, Args)]
pub(crate) struct Figures<A: Args> {
    #[command(flatten)]
    arguments: A,
    /// File for the figures as JSON [default: target/bench/NAME.json]
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl<A: Args> Figures<A> {
    /// Runs a bench, which prints its tables and returns its figures. Writes these, and counts missed bars.
    pub(crate) fn measure(
        self,
        name: &str,
        run: impl FnOnce(&A, &mut Bars) -> Result<Value>,
    ) -> Result<ExitCode> {
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

/// The command `spinneret`, for benches that start it.
#[derive(Debug, Args)]
pub(crate) struct Spinneret {
    /// Command to measure [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    spinneret: Option<PathBuf>,
}

impl Spinneret {
    /// Its path.
    ///
    /// # Errors
    /// If there is no such file.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        let path = match &self.spinneret {
            Some(path) => path.clone(),
            None => std::env::current_exe()?.with_file_name("spinneret"),
        };
        ensure!(
            path.exists(),
            "no such file: {}; `cargo build --workspace --bins` makes it",
            path.display()
        );
        Ok(path)
    }
}

/// Counts of bars, and of those that are missed.
#[derive(Debug, Default)]
pub(crate) struct Bars {
    all: usize,
    missed: usize,
}

impl Bars {
    /// The row of a figure that has a bar, with the result as its last cell.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N], is_kept: bool) -> Row {
        self.all += 1;
        self.missed += usize::from(!is_kept);
        let result = if is_kept { "kept" } else { "MISSED" };
        result_row(cells.into_iter().chain([result.to_owned()]), is_kept)
    }
}

/// The same quantity, measured several times.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Spread(Vec<f64>);

impl FromIterator<f64> for Spread {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut values = Vec::from_iter(values);
        values.sort_by(f64::total_cmp);
        Self(values)
    }
}

impl Spread {
    /// How many values there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The value that so many of a hundred are below; not a number if there are none.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let place = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(place).copied().unwrap_or(f64::NAN)
    }

    /// The value in the middle.
    pub(crate) fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// Median, least and most.
    pub(crate) fn range(&self) -> [f64; 3] {
        [50, 0, 100].map(|percent| self.percentile(percent))
    }
}

/// Figures as cells of a table.
pub(crate) fn cells<const N: usize>(figures: [f64; N], digits: usize) -> [String; N] {
    figures.map(|figure| format!("{figure:.digits$}"))
}

/// Writes a file that appears when it is complete, or not at all, and the folders that it is in.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let written = || {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        let mut file = WholeFile::create(path)?;
        file.write_all(text.as_bytes())?;
        file.finish()
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}

/// Draws a picture into a file.
pub(crate) fn draw(path: &Path, size: (u32, u32), paint: impl FnOnce(&Area<'_>) -> Painted) -> Result<()> {
    let picture = svg(size, paint).map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))?;
    write(path, &picture)
}

/// The processor and the number of its cores.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("an unknown processor", |model| {
        model.trim_start_matches([' ', '\t', ':'])
    });
    format!("{model} with {cores} cores")
}

/// Memory of a process in bytes: `VmRSS` now, `VmHWM` at most.
///
/// # Errors
/// If the process has ended, or the system has no such figure.
pub(crate) fn memory_bytes(process: u32, figure: &str) -> Result<u64> {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    let figures = status.lines().filter_map(|line| line.split_once(':'));
    let kibibytes = figures
        .filter(|(name, _)| *name == figure)
        .find_map(|(_, value)| value.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(kibibytes.with_context(|| format!("{path} has no {figure}"))? << 10)
}
