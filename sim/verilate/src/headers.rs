//! The headers that all models include, read by the compiler once and not once for each model, which takes longer than most
//! models themselves.

use crate::compiler::Compiler;
use crate::error::FileContext;
use crate::tool::Verilator;
use crate::{Error, shim};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Folder of the headers; no model can have this name, because it is not an identifier.
const FOLDER: &str = "shared-headers";

/// The header that brings all others.
pub(crate) const NAME: &str = "spinneret_model.h";

/// From this number of models on it pays to read the headers for all of them.
const MANY: usize = 8;

/// A folder with the headers, made when the first model is compiled.
pub(crate) struct Headers<'a> {
    verilator: &'a Verilator,
    compiler: &'a Compiler,
    folder: PathBuf,
    /// Whether there are enough models for the compiler's first reading to pay.
    pays: bool,
    is_there: Mutex<bool>,
}

impl<'a> Headers<'a> {
    pub(crate) fn new(verilator: &'a Verilator, compiler: &'a Compiler, root: &Path, models: usize) -> Self {
        Self {
            verilator,
            compiler,
            folder: root.join(FOLDER),
            pays: models >= MANY,
            is_there: Mutex::new(false),
        }
    }

    /// The folder to include from.
    ///
    /// # Errors
    /// If the headers cannot be written, or the compiler refuses them.
    fn folder(&self) -> Result<&Path, Error> {
        // Others wait meanwhile; who was stopped half-way left `false`.
        let mut is_there = self
            .is_there
            .lock()
            .unwrap_or_else(|stopped| stopped.into_inner());
        if !*is_there {
            self.make()?;
            *is_there = true;
        }
        Ok(&self.folder)
    }

    fn make(&self) -> Result<(), Error> {
        fs::create_dir_all(&self.folder).at("create", &self.folder)?;
        let header = self.folder.join(NAME);
        fs::write(&header, shim::HEADER).at("write", &header)?;
        if !self.pays {
            return Ok(());
        }
        let compiler = self
            .compiler
            .build(self.verilator, &self.folder)
            .try_get_compiler()
            .map_err(refused)?;
        let mut command = compiler.to_command();
        command.args(["-x", "c++-header", "-o"]).arg(self.precompiled());
        run(command.arg(header))
    }

    /// Makes a build read the headers as they were compiled, if they were. g++ looks for them beside the header itself,
    /// clang has to be told.
    ///
    /// # Errors
    /// As [`Headers::folder`].
    pub(crate) fn include(&self, build: &mut cc::Build) -> Result<(), Error> {
        build.include(self.folder()?);
        if self.pays && self.compiler.is_clang() {
            build.flag("-include-pch").flag(self.precompiled());
        }
        Ok(())
    }

    fn precompiled(&self) -> PathBuf {
        self.folder.join(format!("{NAME}.gch"))
    }

    /// Removes what only this build needed: it is larger than all models.
    pub(crate) fn remove(&self) {
        // A folder that stays takes room, and does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn run(command: &mut Command) -> Result<(), Error> {
    let failed = |output| Error::Compiled {
        model: SUBJECT.to_owned(),
        output,
    };
    let output = command.output().map_err(|error| {
        failed(format!(
            "cannot start {}: {error}",
            command.get_program().display()
        ))
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

/// What errors call the headers.
const SUBJECT: &str = "the headers of all models";

fn refused(source: cc::Error) -> Error {
    Error::Compiler {
        model: SUBJECT.to_owned(),
        source,
    }
}
