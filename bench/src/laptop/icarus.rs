//! The same hardware in Icarus Verilog, to compare speeds.

use crate::nic::Speed;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Both clocks, a reset, and packets that match nothing, one after the other.
const BENCH: &str = include_str!("icarus.v");
/// Clocks of the shorter of two runs, whose time is that of everything but clocks.
const SHORT: u64 = 100;

/// Clocks a second of Icarus with the text of `spinneret_app` in a folder.
///
/// # Errors
/// If it is not installed, or does not understand the text.
pub(super) fn icarus(folder: &Path, clocks: u64) -> Result<Speed> {
    let work = tempfile::tempdir()?;
    let (bench, program) = (work.path().join("bench.v"), work.path().join("bench.vvp"));
    fs::write(&bench, BENCH)?;
    let copy = |file: PathBuf| -> Result<PathBuf> {
        // Icarus 11 can hang on always_comb; to it, this is the same.
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let copy = work.path().join(file.file_name().unwrap_or_default());
        fs::write(&copy, text.replace("always_comb", "always @*"))?;
        Ok(copy)
    };
    let sources = fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .flatten()
        .map(|file| file.path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "sv"))
        .map(copy)
        .collect::<Result<Vec<_>>>()?;
    run(Command::new("iverilog")
        .args(["-g2012", "-o"])
        .arg(&program)
        .arg(&bench)
        .args(sources))?;
    let time = |clocks: u64| -> Result<f64> {
        let begun = Instant::now();
        run(Command::new("vvp")
            .arg("-n")
            .arg(&program)
            .arg(format!("+clocks={clocks}")))?;
        Ok(begun.elapsed().as_secs_f64())
    };
    let (short, long) = (time(SHORT)?, time(SHORT + clocks)?);
    let rate = clocks as f64 / (long - short).max(1e-9);
    Ok(Speed {
        clocks: rate,
        passed: rate,
        ..Speed::default()
    })
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot start {name}; `./dev setup` installs it"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed: {errors}");
    Ok(())
}
