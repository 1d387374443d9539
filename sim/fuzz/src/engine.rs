//! Fuzzes a target and detects panics, hangs and memory growth.

use crate::{Counts, Target};
use anyhow::{Context as _, Result, anyhow, ensure};
use serde::Serialize;
use spinneret_sim::seed::Seed;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time limit of a case; generous, because the machine may be busy.
const LONGEST_CASE: Duration = Duration::from_secs(60);
/// Largest allowed growth of memory after the first cases, in bytes.
const GROWTH: u64 = 32 << 20;
/// One of this many cases warms up memory.
const WARM: u64 = 8;
/// Interval at which the watchdog checks the running case.
const LOOK: Duration = Duration::from_millis(200);

/// How long a target is driven, and where inputs go that break it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All inputs follow from it.
    pub seed: Seed,
    /// Number of the first case.
    pub first: u64,
    /// Stop after this many pieces.
    pub pieces: u64,
    /// And with this time, if it is there before.
    pub time: Option<Duration>,
    /// Folder for inputs that break something.
    pub folder: PathBuf,
}

/// Results of fuzzing a target.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The target.
    pub target: String,
    /// Unit of its pieces.
    pub what: &'static str,
    /// Inputs.
    pub cases: u64,
    /// Pieces in them.
    pub pieces: u64,
    /// Pieces that were understood.
    pub understood: u64,
    /// Bytes of all inputs.
    pub bytes: u64,
    /// Time in seconds.
    pub seconds: f64,
    /// Time of the slowest case in milliseconds.
    pub slowest_ms: f64,
    /// Growth of the process's memory after the first cases, in bytes.
    pub growth_bytes: u64,
}

/// The running case, for the watchdog.
#[derive(Debug, Default)]
struct Current {
    case: Option<(u64, Instant, Vec<u8>)>,
    is_over: bool,
}

/// Drives a target; `progress` is called for each case.
///
/// # Errors
/// If an input breaks the target; the text says how, and how to reproduce it. A hang terminates the process.
pub fn drive(
    name: &str,
    target: &mut dyn Target,
    plan: &Plan,
    mut progress: impl FnMut(&Figures),
) -> Result<Figures> {
    let current = Arc::new(Mutex::new(Current::default()));
    let watch = watch(
        name.to_owned(),
        plan.seed,
        plan.folder.clone(),
        Arc::clone(&current),
    );
    let begun = Instant::now();
    let mut warm = None;
    std::fs::create_dir_all(&plan.folder)
        .with_context(|| format!("cannot create {}", plan.folder.display()))?;
    let running = plan.folder.join(format!("{name}.case"));
    let noted = File::create(&running).with_context(|| format!("cannot create {}", running.display()))?;
    let mut figures = Figures {
        target: name.to_owned(),
        what: target.unit(),
        cases: 0,
        pieces: 0,
        understood: 0,
        bytes: 0,
        seconds: 0.0,
        slowest_ms: 0.0,
        growth_bytes: 0,
    };
    let mut result = Ok(());
    while figures.pieces < plan.pieces && plan.time.is_none_or(|time| begun.elapsed() < time) {
        let case = plan.first + figures.cases;
        let input = target.generate(&mut plan.seed.rng(&format!("{name} {case}")));
        let case_begun = Instant::now();
        lock(&current).case = Some((case, case_begun, input.clone()));
        note(&noted, case);
        let counts = run_input(target, &input);
        lock(&current).case = None;
        let slowest = Duration::as_secs_f64(&case_begun.elapsed()) * 1e3;
        let counts = match counts {
            Ok(counts) => counts,
            Err(why) => {
                result = Err(broken(name, (plan.seed, case), &input, &plan.folder, &why));
                break;
            }
        };
        figures.cases += 1;
        // An input without pieces counts as one, or the loop would not end.
        figures.pieces += counts.pieces.max(1);
        figures.understood += counts.understood;
        figures.bytes += input.len() as u64;
        figures.seconds = begun.elapsed().as_secs_f64();
        figures.slowest_ms = figures.slowest_ms.max(slowest);
        let is_warm = figures.pieces * WARM >= plan.pieces
            || plan
                .time
                .is_some_and(|time| begun.elapsed() * WARM as u32 >= time);
        if warm.is_none() && is_warm {
            warm = Some(resident());
        }
        progress(&figures);
    }
    lock(&current).is_over = true;
    let _ = watch.join();
    // The file is only needed if the process is killed.
    let _ = std::fs::remove_file(&running);
    result?;
    figures.growth_bytes = resident().saturating_sub(warm.unwrap_or(u64::MAX));
    ensure!(
        figures.growth_bytes <= GROWTH,
        "{name}: memory grew by {} MiB after the first cases: the target leaks memory for each input",
        figures.growth_bytes >> 20
    );
    Ok(figures)
}

/// Records the running case, in case the system kills the process.
fn note(noted: &File, case: u64) {
    let _ = noted.write_all_at(format!("{case:<20}\n").as_bytes(), 0);
}

/// Runs one input; a panic counts as a failure.
///
/// # Errors
/// The failure.
pub fn run_input(target: &mut dyn Target, input: &[u8]) -> Result<Counts, String> {
    let taken = catch_unwind(AssertUnwindSafe(|| target.run(input)));
    taken.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// Saves a failing input and describes the failure.
fn broken(name: &str, (seed, case): (Seed, u64), input: &[u8], folder: &Path, why: &str) -> anyhow::Error {
    match keep(name, (seed, case), input, folder) {
        Ok(path) => anyhow!(
            "{name}, case {case} of seed {}: {why}\n  reproduce: ./dev fuzz {name} --input {}",
            seed.0,
            path.display()
        ),
        Err(error) => anyhow!("{name}, case {case}: {why}\n  the input could not be saved: {error:#}"),
    }
}

fn keep(name: &str, (seed, case): (Seed, u64), input: &[u8], folder: &Path) -> Result<PathBuf> {
    let path = folder.join(format!("{name}-{}-{case}.bin", seed.0));
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    std::fs::write(&path, input).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Terminates the process if a case hangs, because a hanging thread cannot be stopped.
fn watch(
    name: String,
    seed: Seed,
    folder: PathBuf,
    current: Arc<Mutex<Current>>,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        loop {
            {
                let current = lock(&current);
                if current.is_over {
                    return;
                }
                if let Some((case, begun, input)) = &current.case
                    && begun.elapsed() > LONGEST_CASE
                {
                    let why = format!("hang: no end after {} s", LONGEST_CASE.as_secs());
                    eprintln!("{:#}", broken(&name, (seed, *case), input, &folder, &why));
                    std::process::exit(1);
                }
            }
            std::thread::sleep(LOOK);
        }
    })
}

fn lock(current: &Mutex<Current>) -> std::sync::MutexGuard<'_, Current> {
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resident memory of the process in bytes; 0 where the system does not report it.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}
