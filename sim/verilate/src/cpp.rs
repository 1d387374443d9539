//! C++ text: what every model exports to Rust, the headers that all models include (precompiled, because reading them takes
//! longer than compiling most models), and Verilator's run-time library, which all models share.

use crate::cache::Cache;
use crate::tools::{Compiler, Verilator};
use crate::{Error, FileContext, Model, Port};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The header that all models include.
pub(crate) const HEADER: &str = include_str!("../cpp/spinneret_model.h");

/// Part of the run-time library.
pub(crate) const RUNTIME: &str = include_str!("../cpp/spinneret_runtime.cpp");

/// Part of the run-time library of models that write waveforms.
pub(crate) const WAVEFORMS: &str = include_str!("../cpp/spinneret_fst.cpp");

/// Name of a model's static library.
pub(crate) fn library(model: &str) -> String {
    format!("spinneret_{model}")
}

/// Name of a model's C++ class.
pub(crate) fn class(model: &str) -> String {
    format!("V{model}")
}

/// The function that a model exports.
pub(crate) fn function(model: &str) -> String {
    format!("spinneret_model_{model}")
}

/// How many bytes Verilator uses to store a port.
pub(crate) fn storage_bytes(port: &Port) -> usize {
    match port.width {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        wide => wide.div_ceil(32) * 4,
    }
}

/// Name of the array that says for each port whether its changes are tracked.
const FOLLOWED: &str = "spinneret_followed";

/// C++ text of that array, which precedes the table.
pub(crate) fn followed(ports: &[bool]) -> String {
    let values: String = ports.iter().map(|followed| format!("{followed}, ")).collect();
    // C++ has no empty arrays.
    format!("[[maybe_unused]] static const bool {FOLLOWED}[] = {{{values}true}};\n")
}

/// C++ text of the table of one model.
pub(crate) fn text(model: &Model) -> String {
    let class = class(&model.name);
    let function = function(&model.name);
    let count = model.ports.len();
    let checks: String = model.ports.iter().map(|port| check(&class, port)).collect();
    let ports: String = model
        .ports
        .iter()
        .enumerate()
        .map(|(index, Port { name, .. })| {
            format!("    out[{index}] = {{&model.{name}, sizeof(model.{name}), {FOLLOWED}[{index}]}};\n")
        })
        .collect();
    format!(
        r#"#include "spinneret_model.h"
using {function}_instance = spinneret::Instance<{class}>;
{checks}static void {function}_ports(void* instance, SpinneretPort* out) {{
    [[maybe_unused]] {class}& model = *{function}_instance::of(instance)->model;
    (void)out;
{ports}}}
extern "C" const SpinneretTable* {function}() {{
    using I = {function}_instance;
    static const SpinneretTable table{{SPINNERET_ABI, {count}, I::create, I::destroy, {function}_ports, I::eval, I::trace, I::advance, I::run}};
    return &table;
}}
"#
    )
}

/// Stops the compiler when a port is not as wide as it is described.
fn check(class: &str, port: &Port) -> String {
    let bytes = storage_bytes(port);
    let Port { name, width, .. } = port;
    format!(
        "static_assert(sizeof(std::declval<{class}>().{name}) == {bytes}, \"port {name} is not {width} bits wide\");\n"
    )
}

/// Folder of the headers; no model can have this name, because it is not an identifier.
const HEADERS_FOLDER: &str = "shared-headers";

/// The header that brings all others.
pub(crate) const NAME: &str = "spinneret_model.h";

/// From this number of models on it pays to read the headers for all of them.
const MANY: usize = 8;

/// A folder with the headers, made when the first model is compiled.
pub(crate) struct Headers<'a> {
    verilator: &'a Verilator,
    compiler: &'a Compiler,
    folder: PathBuf,
    /// Whether there are enough models for precompiled headers to pay off.
    pays: bool,
    is_there: Mutex<bool>,
}

impl<'a> Headers<'a> {
    pub(crate) fn new(verilator: &'a Verilator, compiler: &'a Compiler, root: &Path, models: usize) -> Self {
        Self {
            verilator,
            compiler,
            folder: root.join(HEADERS_FOLDER),
            pays: models >= MANY,
            is_there: Mutex::new(false),
        }
    }

    /// The folder to include from.
    ///
    /// # Errors
    /// If the headers cannot be written, or the compiler refuses them.
    fn folder(&self) -> Result<&Path, Error> {
        // Others wait meanwhile; an interrupted one left `false`.
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
        fs::write(&header, HEADER).at("write", &header)?;
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

    /// Makes a build use the precompiled headers. g++ finds them next to the header, clang needs an option.
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

    /// Removes files that only this build needs; they are larger than all models.
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

/// Name of the headers in errors.
const SUBJECT: &str = "the headers of all models";

fn refused(source: cc::Error) -> Error {
    Error::Compiler {
        model: SUBJECT.to_owned(),
        source,
    }
}

/// Folder of the run-time library; no model can have this name, because it is not an identifier.
pub(crate) const RUNTIME_FOLDER: &str = "run-time";

/// Name of the static library.
pub(crate) const RUNTIME_LIBRARY: &str = "spinneret_verilated";

/// Builds the run-time library unless it is there already.
pub(crate) struct RuntimeJob<'a> {
    pub(crate) verilator: &'a Verilator,
    pub(crate) compiler: &'a Compiler,
    pub(crate) root: &'a Path,
    pub(crate) cache: &'a Cache,
}

impl RuntimeJob<'_> {
    pub(crate) fn run(&self) -> Result<(), Error> {
        let folder = self.root.join(RUNTIME_FOLDER);
        let library = folder.join(format!("lib{RUNTIME_LIBRARY}.a"));
        let stamp = folder.join("stamp");
        let ours = [
            ("spinneret_runtime.cpp", RUNTIME),
            ("spinneret_fst.cpp", WAVEFORMS),
        ];
        let key = format!(
            "{}\n{}\n{}\n{}",
            self.verilator.version(),
            self.compiler.key(),
            ours[0].1,
            ours[1].1
        );
        if library.is_file() && fs::read_to_string(&stamp).is_ok_and(|old| old == key) {
            return Ok(());
        }
        fs::create_dir_all(&folder).at("create", &folder)?;
        if !self.cache.fetch(RUNTIME_FOLDER, &key, &library) {
            self.compile(&folder, &ours)?;
            self.cache.store(RUNTIME_FOLDER, &key, &library)?;
        }
        fs::write(&stamp, key).at("write", &stamp)
    }

    fn compile(&self, folder: &Path, ours: &[(&str, &str)]) -> Result<(), Error> {
        let include = self.verilator.include();
        let mut build = self.compiler.build(self.verilator, folder);
        // Ours replace these functions, see spinneret_runtime.cpp.
        build
            .define("VL_USER_FATAL", None)
            .define("VL_USER_STOP", None)
            .define("VL_USER_FINISH", None);
        for file in ["verilated.cpp", "verilated_threads.cpp"] {
            build.file(include.join(file));
        }
        for (file, text) in ours {
            let path = folder.join(file);
            fs::write(&path, text).at("write", &path)?;
            build.file(path);
        }
        build
            .try_compile(RUNTIME_LIBRARY)
            .map_err(|source| Error::Compiler {
                model: "the run-time library".to_owned(),
                source,
            })
    }
}
