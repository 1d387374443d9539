//! Builds Verilator models of SystemVerilog text into a Rust crate, from that crate's build script.
//!
//! ```text
//! SystemVerilog --verilator--> C++ --cc--> libspinneret_<model>.a --+
//! ports ---------------------> models.rs (one typed struct each) ---+--> the crate
//! ```
//!
//! A build script describes its [`Model`]s, calls [`build`] with its `OUT_DIR` and passes the result to
//! [`finish`]; the crate then includes `models.rs` from `OUT_DIR`. The text in `models.rs` refers to
//! `spinneret_sim::model`, which holds everything that is not particular to one design.
//!
//! Models that did not change are not built again, whichever build script of the target folder built them.
//!
//! ```no_run
//! # fn designs() -> Vec<spinneret_verilate::Model> { Vec::new() }
//! // build.rs
//! fn main() {
//!     let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
//!     spinneret_verilate::finish(spinneret_verilate::build(&designs(), out.as_ref()));
//! }
//! ```

mod cache;
mod check;
mod compile;
mod cpp;
mod inputs;
mod rust_text;
pub mod schedule;
mod shared;
mod tools;

pub use shared::{Progress, SharedModel, build_shared};

use crate::cache::Cache;
use crate::cpp::Headers;
use crate::tools::{Compiler, Verilator};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::{fs, io};
use thiserror::Error;

/// A design that becomes a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Name of the model in `snake_case`; its Rust struct has the same name in `CamelCase`.
    pub name: String,
    /// Name of the top module.
    pub top: String,
    /// File names and texts of all modules; a file `*.vlt` holds Verilator waivers.
    pub sources: Vec<(String, String)>,
    /// All ports of the top module.
    pub ports: Vec<Port>,
}

impl Model {
    /// How large its sources are.
    fn bytes(&self) -> usize {
        self.sources.iter().map(|(_, text)| text.len()).sum()
    }
}

/// A port of a model's top module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name as in the Verilog text.
    pub name: String,
    /// Whether the port is an input of the design.
    pub input: bool,
    /// Width in bits.
    pub width: usize,
}

/// Builds all models below `out_dir`, writes `out_dir/models.rs` and prints the lines that make Cargo
/// link them.
///
/// Builds as many models at once as Cargo allows jobs. Removes files of earlier models that are no longer requested.
///
/// # Errors
/// Any [`Error`]; when several models fail, the first in the order of `models`.
pub fn build(models: &[Model], out_dir: &Path) -> Result<(), Error> {
    check::check_all(models)?;
    let verilator = Verilator::find()?;
    let compiler = Compiler::find()?;
    let root = out_dir.join("verilated");
    fs::create_dir_all(&root).at("create", &root)?;
    remove_vanished(models, &root)?;

    let cache = Cache::of(out_dir);
    let runtime = cpp::RuntimeJob {
        verilator: &verilator,
        compiler: &compiler,
        root: &root,
        cache: &cache,
    };
    let headers = Headers::new(&verilator, &compiler, &root, models.len());
    let jobs = models.iter().map(|model| compile::Job {
        model,
        verilator: &verilator,
        compiler: &compiler,
        root: &root,
        cache: &cache,
        headers: &headers,
    });
    let jobs: Vec<_> = jobs.collect();
    // Longest first, so that no processor is idle at the end.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|index| Reverse(models[*index].bytes()));
    let mut results = schedule::run(schedule::allowed(), jobs.len() + 1, |turn| match turn {
        0 => (0, runtime.run()),
        _ => (order[turn - 1] + 1, jobs[order[turn - 1]].run()),
    });
    results.sort_by_key(|(index, _)| *index);
    headers.remove();
    results.into_iter().try_for_each(|(_, result)| result)?;

    let text = rust_text::models(models);
    let path = out_dir.join("models.rs");
    fs::write(&path, text).at("write", &path)?;
    print_link_lines(models, &root);
    print_tools(&verilator, &compiler);
    Ok(())
}

/// Ends a build script: an error becomes Cargo's error message, and Cargo stops.
pub fn finish(result: Result<(), Error>) {
    if let Err(error) = result {
        // Cargo shows these lines alone, where it would show everything that a script printed that fails.
        error
            .to_string()
            .lines()
            .for_each(|line| println!("cargo::error={line}"));
    }
}

/// Removes files of models that are no longer requested.
fn remove_vanished(models: &[Model], root: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(root).at("read", root)? {
        let entry = entry.at("read", root)?;
        let name = entry.file_name();
        let wanted = models.iter().any(|model| name == *model.name) || name == cpp::RUNTIME_FOLDER;
        if !wanted {
            fs::remove_dir_all(entry.path()).at("remove", entry.path())?;
        }
    }
    Ok(())
}

/// Tells Cargo what to link.
fn print_link_lines(models: &[Model], root: &Path) {
    // A static library is searched once, so the user of a symbol comes before its definition.
    for model in models {
        println!(
            "cargo::rustc-link-search=native={}",
            root.join(&model.name).display()
        );
        println!("cargo::rustc-link-lib=static={}", cpp::library(&model.name));
    }
    println!(
        "cargo::rustc-link-search=native={}",
        root.join(cpp::RUNTIME_FOLDER).display()
    );
    println!("cargo::rustc-link-lib=static={}", cpp::RUNTIME_LIBRARY);
    println!("cargo::rustc-link-lib=dylib=stdc++");
    println!("cargo::rustc-link-lib=dylib=z");
}

/// Tells Cargo which tools a model depends on, and the crate the name of the compiler, as `SPINNERET_MODEL_COMPILER`.
fn print_tools(verilator: &Verilator, compiler: &Compiler) {
    println!("cargo::rerun-if-changed={}", verilator.program().display());
    println!("cargo::rerun-if-env-changed=VERILATOR_ROOT");
    if let Some(program) = compiler.program() {
        println!("cargo::rerun-if-changed={}", program.display());
    }
    for name in tools::ENVIRONMENT {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rustc-env=SPINNERET_MODEL_COMPILER={}", compiler.version());
    if !compiler.is_clang() {
        println!(
            "cargo::warning=models are compiled by {}; clang++-16 takes a third of the time (`./dev setup` installs it)",
            compiler.version()
        );
    }
}

/// Why models cannot be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Verilator is not on the search path.
    #[error(
        "spinneret needs Verilator to run its tests: run `./dev setup` in the project's root, which installs it."
    )]
    VerilatorMissing,
    /// Verilator is there but does not do what it is asked.
    #[error("`verilator {arguments}` failed: {output}")]
    VerilatorBroken {
        /// The arguments it was called with.
        arguments: String,
        /// Its output.
        output: String,
    },
    /// No C++ compiler is on the search path.
    #[error("there is no C++ compiler for the models: run `./dev setup` in the project's root, or set CXX")]
    CompilerMissing,
    /// The C++ compiler cannot be started or does not tell its version.
    #[error("the C++ compiler `{program}` does not work: {output}; set CXX to another one")]
    CompilerBroken {
        /// The program, as it was called.
        program: String,
        /// Its output, or the error of the operating system.
        output: String,
    },
    /// Verilator refuses a design, be it for an error or for a warning.
    #[error("Verilator refuses model `{model}`:\n{output}")]
    Refused {
        /// Name of the model.
        model: String,
        /// Verilator's complaints.
        output: String,
    },
    /// The C++ compiler refuses what Verilator wrote.
    #[error("the C++ compiler refuses model `{model}`: {source}")]
    Compiler {
        /// Name of the model, or of the run-time library.
        model: String,
        /// The error of the `cc` crate.
        source: cc::Error,
    },
    /// The C++ compiler refuses what Verilator wrote, or the linker what the compiler did.
    #[error("the C++ compiler refuses model `{model}`: {output}")]
    Compiled {
        /// Name of the model.
        model: String,
        /// Its output.
        output: String,
    },
    /// A model is described in a way that cannot work.
    #[error("model `{model}` is not usable: {reason}")]
    Description {
        /// Name of the model.
        model: String,
        /// The error and its remedy.
        reason: String,
    },
    /// A file or folder of the build directory.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The attempted action: `write`, `create` and so on.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Adds the file's name to what the operating system says.
pub(crate) trait FileContext<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, Error>;
}

impl<T> FileContext<T> for io::Result<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, Error> {
        self.map_err(|source| Error::File {
            action,
            path: path.into(),
            source,
        })
    }
}
