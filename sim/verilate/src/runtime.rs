//! Verilator's run-time library, which all models share.

use crate::cache::Cache;
use crate::compiler::Compiler;
use crate::error::FileContext;
use crate::tool::Verilator;
use crate::{Error, shim};
use std::fs;
use std::path::Path;

/// Folder of the run-time library; no model can have this name, because it is not an identifier.
pub(crate) const FOLDER: &str = "run-time";

/// Name of the static library.
pub(crate) const LIBRARY: &str = "spinneret_verilated";

/// Builds the run-time library unless it is there already.
pub(crate) struct Job<'a> {
    pub(crate) verilator: &'a Verilator,
    pub(crate) compiler: &'a Compiler,
    pub(crate) root: &'a Path,
    pub(crate) cache: &'a Cache,
}

impl Job<'_> {
    pub(crate) fn run(&self) -> Result<(), Error> {
        let folder = self.root.join(FOLDER);
        let library = folder.join(format!("lib{LIBRARY}.a"));
        let stamp = folder.join("stamp");
        let ours = [
            ("spinneret_runtime.cpp", shim::RUNTIME),
            ("spinneret_fst.cpp", shim::WAVEFORMS),
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
        if !self.cache.fetch(FOLDER, &key, &library) {
            self.compile(&folder, &ours)?;
            self.cache.store(FOLDER, &key, &library)?;
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
        build.try_compile(LIBRARY).map_err(|source| Error::Compiler {
            model: "the run-time library".to_owned(),
            source,
        })
    }
}
