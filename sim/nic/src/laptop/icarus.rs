//! The same hardware in Icarus Verilog, to compare speeds.

use super::{BenchError, Speed};
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
pub fn icarus(folder: &Path, clocks: u64) -> Result<Speed, BenchError> {
    let wrong = |what: String| BenchError::Wrong(what);
    let work = tempfile::tempdir().map_err(|error| wrong(format!("there is no scratch folder: {error}")))?;
    let (bench, program) = (work.path().join("bench.v"), work.path().join("bench.vvp"));
    fs::write(&bench, BENCH).map_err(|error| wrong(format!("{}: {error}", bench.display())))?;
    let sources = fs::read_dir(folder).map_err(|error| wrong(format!("{}: {error}", folder.display())))?;
    let copy = |file: PathBuf| -> Result<PathBuf, BenchError> {
        // Icarus 11 can hang on always_comb; to it, this is the same.
        let failed = |error| wrong(format!("{}: {error}", file.display()));
        let text = fs::read_to_string(&file)
            .map_err(failed)?
            .replace("always_comb", "always @*");
        let copy = work.path().join(file.file_name().unwrap_or_default());
        fs::write(&copy, text).map_err(failed)?;
        Ok(copy)
    };
    let sources = sources
        .flatten()
        .map(|file| file.path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "sv"))
        .map(copy)
        .collect::<Result<Vec<_>, _>>()?;
    run(Command::new("iverilog")
        .args(["-g2012", "-o"])
        .arg(&program)
        .arg(&bench)
        .args(sources))?;
    let time = |clocks: u64| {
        let begun = Instant::now();
        run(Command::new("vvp")
            .arg("-n")
            .arg(&program)
            .arg(format!("+clocks={clocks}")))?;
        Ok::<f64, BenchError>(begun.elapsed().as_secs_f64())
    };
    let (short, long) = (time(SHORT)?, time(SHORT + clocks)?);
    let rate = clocks as f64 / (long - short).max(1e-9);
    Ok(Speed {
        clocks: rate,
        passed: rate,
        instructions: 0.0,
        share: 0.0,
    })
}

fn run(command: &mut Command) -> Result<(), BenchError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| {
        BenchError::Wrong(format!(
            "{name} cannot be started: {error}; `./dev setup` installs it"
        ))
    })?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(BenchError::Wrong(format!("{name} failed: {said}")))
        }
    }
}
