//! The C++ compiler of all models.
//!
//! clang compiles models in a third of g++'s time, and on some processors they are up to 1.5 times as fast, so it is taken
//! where it is installed ([decision 26](../../../docs/decisions/0026-minutes.md)). `CXX` takes precedence.

use crate::Error;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Compilers to use if `CXX` is not set; the first installed one. 16 is the newest of Debian 12.
const PREFERRED: [&str; 6] = [
    "clang++-16",
    "clang++-17",
    "clang++-18",
    "clang++-19",
    "clang++",
    "c++",
];

/// The level of optimisation. With the third, loops over words of wide signals vanish: 8 % fewer instructions in
/// a large model, for the same time of compilation.
const OPTIMISATION: u32 = 3;

/// Macros of Verilator's headers. Its assertions are about itself, and one needs a library that clang does not link.
const DEFINES: [(&str, &str); 5] = [
    ("NDEBUG", "1"),
    ("VM_COVERAGE", "0"),
    ("VM_SC", "0"),
    ("VM_TRACE", "1"),
    ("VM_TRACE_FST", "1"),
];

/// Set to `1` for programs that run on other machines: models then use only instructions that every processor of the
/// architecture has.
const PORTABLE: &str = "SPINNERET_PORTABLE";

/// The environment that decides how models are compiled.
pub(crate) const ENVIRONMENT: [&str; 2] = ["CXX", PORTABLE];

/// An installed compiler, and how models are compiled with it.
#[derive(Debug)]
pub(crate) struct Compiler {
    /// The program and its first arguments: `CXX` may be `ccache g++`.
    words: Vec<String>,
    version: String,
    /// Instructions that models may use: those of this machine, or those of every machine.
    processor: Option<String>,
}

impl Compiler {
    /// Returns the compiler of `CXX`, or else the best installed one.
    ///
    /// # Errors
    /// If there is none, or it does not tell its version.
    pub(crate) fn find() -> Result<Self, Error> {
        let words = match env::var("CXX") {
            Ok(chosen) if !chosen.trim().is_empty() => chosen.split_whitespace().map(str::to_owned).collect(),
            _ => {
                let found = PREFERRED.into_iter().find(|name| on_search_path(name).is_some());
                vec![found.ok_or(Error::CompilerMissing)?.to_owned()]
            }
        };
        let mut command = command_of(&words);
        let version = output(command.arg("--version"))?;
        let version = version.lines().next().unwrap_or_default().to_owned();
        let is_portable = env::var_os(PORTABLE).is_some_and(|value| value == "1");
        let processor = match is_portable {
            true => None,
            // Some compilers do not know the option for every processor.
            false => this_processor(&words).ok(),
        };
        Ok(Self {
            words,
            version,
            processor,
        })
    }

    /// The program with its first arguments.
    pub(crate) fn command(&self) -> Command {
        command_of(&self.words)
    }

    /// Where the program is, if it is a file on the search path.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        on_search_path(&self.words[0])
    }

    /// The first line of what it says of its version.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Whether it understands clang's pragmas.
    pub(crate) fn is_clang(&self) -> bool {
        self.version.contains("clang")
    }

    /// Everything of the compiler that a library depends on.
    pub(crate) fn key(&self) -> String {
        let processor = self.processor.as_deref().unwrap_or("any processor");
        let moves = if self.keeps_moves() { CONDITIONAL_MOVES } else { "" };
        format!(
            "{}\nO{OPTIMISATION} {DEFINES:?} {moves}\n{processor}",
            self.version
        )
    }

    /// Whether it knows the option [`CONDITIONAL_MOVES`].
    fn keeps_moves(&self) -> bool {
        self.is_clang() && cfg!(target_arch = "x86_64")
    }

    /// The options that models and the run-time library have in common.
    ///
    /// Optimisation does not follow Cargo's profile: unoptimised models are ten times slower, and tests would take
    /// longer than the compiler.
    pub(crate) fn build(&self, verilator: &Verilator, folder: &Path) -> cc::Build {
        let mut build = cc::Build::new();
        // cc reads CXX itself.
        if self.words.len() == 1 {
            build.compiler(&self.words[0]);
        }
        build
            .cpp(true)
            .std("c++17")
            .opt_level(OPTIMISATION)
            .debug(false)
            .warnings(false)
            .pic(true)
            .cargo_metadata(false)
            .cpp_link_stdlib(None)
            .out_dir(folder)
            .include(folder)
            .include(folder.join("obj"))
            .include(verilator.include())
            .include(verilator.include().join("vltstd"))
            .flag("-pthread");
        if self.processor.is_some() {
            build.flag(NATIVE);
        }
        if self.keeps_moves() {
            build.flag("-mllvm").flag(CONDITIONAL_MOVES);
        }
        for (name, value) in DEFINES {
            build.define(name, value);
        }
        build
    }
}

/// clang turns conditional moves in loops into branches. Signals change so irregularly that processors predict these badly:
/// four pipelines of the HPU simulate 1.7 times as fast without it.
const CONDITIONAL_MOVES: &str = "-x86-cmov-converter=0";

/// Compile for the processor of this machine.
const NATIVE: &str = "-march=native";

fn command_of(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// Returns the macros that describe this processor; machines with equal macros can share libraries.
fn this_processor(words: &[String]) -> Result<String, Error> {
    let mut command = command_of(words);
    command.args([NATIVE, "-dM", "-E", "-x", "c++", "/dev/null"]);
    let macros = output(&mut command)?;
    let mut features: Vec<&str> = macros
        .lines()
        .filter_map(|line| line.strip_prefix("#define __")?.strip_suffix("__ 1"))
        .collect();
    features.sort_unstable();
    Ok(features.join(" "))
}

/// The standard output of a compiler that is asked about itself.
fn output(command: &mut Command) -> Result<String, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let broken = |output| Error::CompilerBroken {
        program: program.clone(),
        output,
    };
    let output = command.output().map_err(|error| broken(error.to_string()))?;
    if !output.status.success() {
        return Err(broken(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// An installed Verilator.
#[derive(Debug)]
pub(crate) struct Verilator {
    program: PathBuf,
    version: String,
    include: PathBuf,
}

impl Verilator {
    /// Looks for `verilator` on the search path and asks it for its version and folders.
    pub(crate) fn find() -> Result<Self, Error> {
        let program = on_search_path("verilator").ok_or(Error::VerilatorMissing)?;
        let version = answer(&program, &["--version"])?;
        let include = Path::new(&answer(&program, &["--getenv", "VERILATOR_ROOT"])?).join("include");
        if !include.join("verilated.cpp").is_file() {
            return Err(Error::VerilatorBroken {
                arguments: "--getenv VERILATOR_ROOT".to_owned(),
                output: format!("there is no verilated.cpp in {}", include.display()),
            });
        }
        Ok(Self {
            program,
            version,
            include,
        })
    }

    /// The program's file.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// The full version line.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Folder of the run-time library's sources and headers.
    pub(crate) fn include(&self) -> &Path {
        &self.include
    }

    /// Runs Verilator in a folder and returns everything it prints if it fails.
    pub(crate) fn run(&self, folder: &Path, arguments: &[String]) -> Result<(), String> {
        let output = Command::new(&self.program)
            .args(arguments)
            .current_dir(folder)
            .output();
        let output = output.map_err(|error| format!("cannot start {}: {error}", self.program.display()))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(text_of(&output))
        }
    }
}

/// Returns the output of the program with these arguments.
fn answer(program: &Path, arguments: &[&str]) -> Result<String, Error> {
    let broken = |output| Error::VerilatorBroken {
        arguments: arguments.join(" "),
        output,
    };
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| broken(error.to_string()))?;
    if !output.status.success() {
        return Err(broken(text_of(&output)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Both output streams of a program as one text.
fn text_of(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&text).trim().to_owned()
}

/// The first file of that name in the folders of `PATH`.
pub(crate) fn on_search_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
