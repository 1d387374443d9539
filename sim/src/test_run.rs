//! The frame around a test: its seed, and a waveform when it fails.

use crate::model::Model;
use crate::seed::{self, Seed};
use crate::simulation::{Cause, ClockDomain, Failure, Progress, Simulation};
use rand_chacha::ChaCha8Rng;
use std::any::Any;
use std::panic::{self, AssertUnwindSafe, Location};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{env, fs, thread};

/// The environment variable that asks for the waveforms of all tests: `1` for those of all signals, as FST, and `ports` for those of
/// the ports alone, as VCD.
pub const WAVES_VARIABLE: &str = "SPINNERET_WAVES";

/// Number of cycles before the failure that the waveform shows.
const WAVE_CYCLES: u64 = 20_000;

/// One run of a test, which makes the test's simulations and random numbers.
#[derive(Debug)]
pub struct TestRun {
    name: String,
    seed: Seed,
    waves: Waves,
    simulations: Vec<Started>,
}

/// Runs a test under the name of its thread, which is that of the function with `#[test]`.
///
/// All random choices depend on the default seed or on `SPINNERET_SEED`. When the test fails, it runs once more and
/// writes the cycles before the failure to `target/waves/<name>.fst` (the second simulation of the test to
/// `<name>.2.fst`, and so on). `SPINNERET_WAVES=1` records everything in the first run, and `SPINNERET_WAVES=ports` the
/// [ports](Simulation::trace_ports) in `<name>.vcd`.
///
/// ```no_run
/// # use spinneret_sim::model::Model;
/// # fn example<Dut: Model>() {
/// use spinneret_sim::test_run::run_test;
///
/// run_test(1, |run| {
///     let mut sim = run.simulation::<Dut>();
///     sim.reset();
/// });
/// # }
/// ```
///
/// # Panics
/// If the test does, if one of its simulations is unfinished at the end (as in [`Simulation::finish`]), or if the
/// seed in the environment is not a number.
#[track_caller]
pub fn run_test(default_seed: u64, test: impl Fn(&mut TestRun)) {
    let place = Location::caller();
    let thread = thread::current();
    let name = match thread.name() {
        // Tests that run one after the other have the main thread.
        None | Some("main") => format!("{}.{}", place.file(), place.line()),
        Some(name) => name.to_owned(),
    };
    run_named(&name.replace("::", ".").replace('/', "."), default_seed, test);
}

/// The same under a name of its own, for one of several runs of a function.
///
/// # Panics
/// As [`run_test`].
pub fn run_named(name: &str, default_seed: u64, test: impl Fn(&mut TestRun)) {
    let seed = Seed::from_env_or(default_seed).unwrap_or_else(|error| panic!("{error}"));
    let waves = match env::var_os(WAVES_VARIABLE) {
        Some(value) if value == "1" => Waves::All,
        Some(value) if value == "ports" => Waves::Ports,
        _ => Waves::None,
    };
    let has_all = waves == Waves::All;
    let first = attempt(TestRun::new(name, seed, waves), &test);
    let Err(failure) = first.outcome else {
        first.run.print_waves();
        return;
    };
    eprintln!("{name} failed: reproduce with {}={seed}", seed::VARIABLE);
    first.run.print_waves();
    if !has_all {
        record(first.run, &test);
    }
    panic::resume_unwind(failure);
}

impl TestRun {
    fn new(name: &str, seed: Seed, waves: Waves) -> Self {
        Self {
            name: name.to_owned(),
            seed,
            waves,
            simulations: Vec::new(),
        }
    }

    /// A new design under a clock, with a seed, and a waveform if one is wanted; it is not reset yet.
    ///
    /// # Panics
    /// If the design has no clock.
    pub fn simulation<M: Model>(&mut self) -> Simulation<M> {
        let simulation = Simulation::new(M::with_seed(self.seed.0));
        self.add(simulation.unwrap_or_else(|error| panic!("{error}")))
    }

    /// The same for a design with several clocks; see [`Simulation::with_domains`].
    ///
    /// # Panics
    /// If the design lacks a clock or reset, or none is given.
    pub fn simulation_with<M: Model>(&mut self, domains: &[ClockDomain]) -> Simulation<M> {
        let simulation = Simulation::with_domains(M::with_seed(self.seed.0), domains);
        self.add(simulation.unwrap_or_else(|error| panic!("{error}")))
    }

    fn add<M: Model>(&mut self, mut simulation: Simulation<M>) -> Simulation<M> {
        simulation.set_seed(self.seed);
        let index = self.simulations.len();
        let wave = self.waves.extension().map(|extension| {
            let path = self.wave_path(index, extension);
            // Starting the waveform reports a missing directory.
            let _ = path.parent().map(fs::create_dir_all);
            path
        });
        match (&wave, self.waves.first_cycle(index)) {
            (Some(path), Some(cycle)) => simulation.trace_from(cycle, path.clone()),
            (Some(path), None) => simulation
                .trace_ports(path)
                .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display())),
            (None, _) => {}
        }
        self.simulations.push(Started {
            model: M::NAME,
            progress: simulation.progress(),
            wave,
        });
        simulation
    }

    /// The seed of all random choices of the test.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// A generator of random numbers; different names give independent generators.
    pub fn rng(&self, name: &str) -> ChaCha8Rng {
        self.seed.rng(name)
    }

    fn wave_path(&self, index: usize, extension: &str) -> PathBuf {
        match index {
            0 => waveform_path(&self.name, extension),
            _ => waveform_path(&format!("{}.{}", self.name, index + 1), extension),
        }
    }

    /// Panics if something is left in a simulation.
    fn check_finished(&self) {
        for Started { model, progress, .. } in &self.simulations {
            assert!(progress.finished.get(), "a simulation of {model} is not finished");
            let state = progress.left.take();
            if !state.is_empty() {
                let failure = Failure {
                    model,
                    cycle: progress.cycle.get(),
                    seed: self.seed,
                    cause: Cause::Unfinished { state },
                };
                panic!("{failure}");
            }
        }
    }

    fn print_waves(&self) {
        for path in self
            .simulations
            .iter()
            .filter_map(|started| started.wave.as_ref())
        {
            if path.is_file() {
                eprintln!("the waveform is in {}", path.display());
            }
        }
    }
}

/// A simulation that the test made.
#[derive(Debug)]
struct Started {
    model: &'static str,
    progress: Rc<Progress>,
    wave: Option<PathBuf>,
}

/// Which cycles are recorded.
#[derive(Debug, PartialEq, Eq)]
enum Waves {
    None,
    All,
    /// All, of the ports alone.
    Ports,
    /// For each simulation, from that cycle on.
    From(Vec<u64>),
}

impl Waves {
    /// The extension of the files, if there are any.
    fn extension(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Ports => Some("vcd"),
            Self::All | Self::From(_) => Some("fst"),
        }
    }

    /// The cycle from which on all signals are recorded, if they are.
    fn first_cycle(&self, simulation: usize) -> Option<u64> {
        match self {
            Self::None | Self::Ports => None,
            Self::All => Some(0),
            Self::From(cycles) => Some(cycles.get(simulation).copied().unwrap_or(0)),
        }
    }
}

/// How a run of the test ended.
struct Attempt {
    run: TestRun,
    outcome: Result<(), Box<dyn Any + Send>>,
}

fn attempt(mut run: TestRun, test: &impl Fn(&mut TestRun)) -> Attempt {
    // After a panic only the counters of the run are used, and these are valid at any time.
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        test(&mut run);
        run.check_finished();
    }));
    Attempt { run, outcome }
}

/// Runs a test that failed once more, with waveforms.
fn record(failed: TestRun, test: &impl Fn(&mut TestRun)) {
    let last = failed
        .simulations
        .iter()
        .map(|started| started.progress.cycle.get());
    let waves = Waves::From(last.map(|cycle| cycle.saturating_sub(WAVE_CYCLES)).collect());
    eprintln!("{} runs again, to record a waveform", failed.name);
    let second = attempt(TestRun::new(&failed.name, failed.seed, waves), test);
    second.run.print_waves();
    if second.outcome.is_ok() {
        eprintln!(
            "{} passes now: it depends on something other than its seed",
            failed.name
        );
    }
}

/// The file for a waveform of that name, in the folder `waves` of Cargo's target directory.
fn waveform_path(name: &str, extension: &str) -> PathBuf {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    let file: String = name.chars().map(plain).collect();
    target_dir().join("waves").join(format!("{file}.{extension}"))
}

/// Cargo's target directory, which contains the running test; `target` here if the test was moved elsewhere.
fn target_dir() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let is_target = |folder: &&Path| folder.join(".rustc_info.json").is_file();
    program
        .ancestors()
        .skip(1)
        .find(is_target)
        .map_or_else(|| PathBuf::from("target"), Path::to_owned)
}
