//! The waveform of a run.

use super::ResultArguments;
use crate::nic::{Backend, NicConfig, WaveRequest, find_scope};
use crate::terminal::{Failure, tell};
use anyhow::{Result, anyhow, bail, ensure};
use spinneret_fabric::Ps;
use spinneret_packets::capture::whole_file::ForeignFile;
use spinneret_sim::waveform;
use std::ops::Range;
use std::path::PathBuf;

/// Bytes of a waveform of all signals for each millisecond: packets at 1 Gb/s, and at the maximum rate of handlers.
const BYTES_PER_MS: [u64; 2] = [6_000_000, 60_000_000];
/// The same with the clusters as hardware.
const RTL_BYTES_PER_MS: [u64; 2] = [28_000_000, 300_000_000];
/// Picoseconds of a millisecond.
const MS_PS: u64 = 1_000_000_000;

/// A waveform under a temporary name until the run has ended.
#[derive(Debug)]
pub(super) struct Wave {
    named: PathBuf,
    file: ForeignFile,
    scope: Option<String>,
    window_ps: Range<Ps>,
    bytes_per_ms: [u64; 2],
}

impl Wave {
    /// Prepares the file of the waveform.
    ///
    /// # Errors
    /// If the file cannot be written, or the instance or range of time does not exist.
    pub(super) fn create(results: &ResultArguments, config: &NicConfig) -> Result<Option<Self>, Failure> {
        let Some(named) = &results.wave else {
            return Ok(None);
        };
        let window_ps = window(results.wave_from, results.wave_until).map_err(Failure::usage)?;
        let file = ForeignFile::create(named)
            .map_err(|error| Failure::usage(anyhow!("--wave {}: {error}", named.display())))?;
        let scope = results.wave_scope.as_ref();
        let scope = scope.map(|name| found(config, name, &file)).transpose();
        let wave = Self {
            named: named.clone(),
            file,
            scope: scope.map_err(Failure::usage)?,
            window_ps,
            bytes_per_ms: match config.backend {
                Backend::Model | Backend::Own => BYTES_PER_MS,
                Backend::Rtl => RTL_BYTES_PER_MS,
            },
        };
        if let Some(size) = wave.expected() {
            tell(format_args!("--wave {}: {size}", named.display()));
        }
        Ok(Some(wave))
    }

    /// The settings for the hardware.
    pub(super) fn request(&self) -> WaveRequest {
        WaveRequest {
            path: self.file.path(),
            scope: self.scope.clone(),
            window_ps: self.window_ps.clone(),
        }
    }

    /// Estimate of its size, if all signals are written.
    fn expected(&self) -> Option<String> {
        if self.scope.is_some() {
            return None;
        }
        let [least, most] = self.bytes_per_ms.map(megabytes);
        let each = format!("{least} to {most} MB for each simulated millisecond with packets");
        Some(match self.window_ps.end {
            Ps::MAX => format!("{each}; --wave-scope, --wave-from and --wave-until make it less"),
            end => {
                let time_ps = u128::from(end - self.window_ps.start);
                let bytes = u128::from(self.bytes_per_ms[1]) * time_ps / u128::from(MS_PS);
                format!("{each}, so at most about {} MB", megabytes(bytes as u64))
            }
        })
    }

    /// Renames the complete file, and prints its size. The hardware must have been dropped.
    ///
    /// # Errors
    /// If it is incomplete, or the run ended before its start.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let named = self.named.display().to_string();
        let (size, from) = self
            .close()
            .map_err(|error| Failure::work(anyhow!("{named} was not written: {error}")))?;
        tell(format_args!("{named}: {size}, {from}"));
        Ok(())
    }

    /// The size, and the range of time.
    fn close(self) -> Result<(String, String)> {
        let path = self.file.path();
        let (first, last) = waveform::times(&path)?;
        let start = microseconds(self.window_ps.start);
        ensure!(
            last > 0,
            "the run was over before {start} (--wave-from), or nothing happened in the hardware from then to --wave-until"
        );
        waveform::check(&path)?;
        let bytes = std::fs::metadata(&path)?.len();
        self.file.finish()?;
        let size = format!("{} MB", megabytes(bytes));
        Ok((size, format!("{} to {}", microseconds(first), microseconds(last))))
    }
}

/// The given range of time.
fn window(from: Option<Ps>, until: Option<Ps>) -> Result<Range<Ps>> {
    let window = from.unwrap_or(0)..until.unwrap_or(Ps::MAX);
    ensure!(
        !window.is_empty(),
        "--wave-from ({}) must be before --wave-until ({})",
        microseconds(window.start),
        microseconds(window.end)
    );
    Ok(window)
}

/// The instance or signal of this name.
fn found(config: &NicConfig, name: &str, file: &ForeignFile) -> Result<String> {
    match find_scope(|| config.hardware(), name, &file.path()) {
        Ok(Some(scope)) => Ok(scope),
        Ok(None) => bail!(
            "--wave-scope {name}: no such instance or signal in the hardware; use names of the generated Verilog inside \
             spinneret_app, such as u_ingress or u_ingress.u_matcher"
        ),
        Err(error) => bail!("--wave-scope {name}: {error}"),
    }
}

/// A size in megabytes, small ones with a decimal.
fn megabytes(bytes: u64) -> String {
    match bytes as f64 / 1e6 {
        large if large >= 10.0 => format!("{large:.0}"),
        small => format!("{small:.1}"),
    }
}

fn microseconds(ps: Ps) -> String {
    format!("{} us", (ps as f64 / 1e6 * 1000.0).round() / 1000.0)
}
