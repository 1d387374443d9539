//! Verilator on this machine.

use crate::Error;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

/// What the program prints when called with these arguments.
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
