//! From SystemVerilog to a static library, for one model.

use crate::cache::Cache;
use crate::cpp::Headers;
use crate::tools::{Compiler, Verilator};
use crate::{Error, FileContext, Model, cpp, inputs};
use std::fs;
use std::path::{Path, PathBuf};

/// Builds one model unless it is there already.
pub(crate) struct Job<'a> {
    pub(crate) model: &'a Model,
    pub(crate) verilator: &'a Verilator,
    pub(crate) compiler: &'a Compiler,
    pub(crate) root: &'a Path,
    pub(crate) cache: &'a Cache,
    pub(crate) headers: &'a Headers<'a>,
}

impl Job<'_> {
    pub(crate) fn run(&self) -> Result<(), Error> {
        let folder = self.root.join(&self.model.name);
        let library = folder.join(format!("lib{}.a", cpp::library(&self.model.name)));
        let stamp = folder.join("stamp");
        let key = self.key();
        if library.is_file() && fs::read_to_string(&stamp).is_ok_and(|old| old == key) {
            return Ok(());
        }
        if folder.exists() {
            fs::remove_dir_all(&folder).at("remove", &folder)?;
        }
        fs::create_dir_all(&folder).at("create", &folder)?;
        let name = &self.model.name;
        if !self.cache.fetch(name, &key, &library) {
            self.compile(&folder)?;
            self.cache.store(name, &key, &library)?;
        }
        // The stamp is written last: a build that was interrupted starts over.
        fs::write(&stamp, key).at("write", &stamp)
    }

    fn compile(&self, folder: &Path) -> Result<(), Error> {
        self.verilate(folder)?;
        let file = self.write_unity(folder)?;
        let mut build = self.compiler.build(self.verilator, folder);
        self.headers.include(&mut build)?;
        build
            .file(file)
            .try_compile(&cpp::library(&self.model.name))
            .map_err(|source| Error::Compiler {
                model: self.model.name.clone(),
                source,
            })
    }

    /// Everything that the library depends on.
    fn key(&self) -> String {
        let sources: String = self
            .model
            .sources
            .iter()
            .map(|(file, text)| format!("---- {file}\n{text}\n"))
            .collect();
        let shim = cpp::text(self.model);
        let arguments = self.arguments().join(" ");
        format!(
            "{}\n{arguments}\n{}\n{} {SECTIONS:?}\n{:?}\n{shim}\n{sources}",
            self.verilator.version(),
            cpp::HEADER,
            self.compiler.key(),
            inputs::PATCH
        )
    }

    /// Runs Verilator on the sources.
    fn verilate(&self, folder: &Path) -> Result<(), Error> {
        for (file, text) in &self.model.sources {
            let path = folder.join(file);
            fs::write(&path, text).at("write", &path)?;
        }
        self.verilator
            .run(folder, &self.arguments())
            .map_err(|output| Error::Refused {
                model: self.model.name.clone(),
                output,
            })
    }

    fn arguments(&self) -> Vec<String> {
        let options = [
            "--cc",
            "-Wall",
            "--trace-fst",
            "--trace-structs",
            "--x-assign",
            "unique",
        ];
        let mut arguments: Vec<String> = options.map(str::to_owned).to_vec();
        arguments.extend(["--timescale-override", "1ps/1ps", "--Mdir", "obj"].map(str::to_owned));
        arguments.extend(["--prefix".to_owned(), cpp::class(&self.model.name)]);
        arguments.extend(["--top-module".to_owned(), self.model.top.clone()]);
        // Verilator applies waivers to the files that follow them.
        let is_waiver = |file: &&String| file.ends_with(".vlt");
        let files = || self.model.sources.iter().map(|(file, _)| file);
        arguments.extend(files().filter(is_waiver).cloned());
        arguments.extend(files().filter(|file| !is_waiver(file)).cloned());
        arguments
    }

    /// Writes one C++ file that includes all others: reading the headers takes most of the time. Code
    /// that runs in every cycle comes first.
    fn write_unity(&self, folder: &Path) -> Result<PathBuf, Error> {
        let generated = folder.join("obj");
        let mut names = Vec::new();
        for entry in fs::read_dir(&generated).at("read", &generated)? {
            let name = entry
                .at("read", &generated)?
                .file_name()
                .to_string_lossy()
                .into_owned();
            if name.ends_with(".cpp") {
                names.push(name);
            }
        }
        names.sort();
        let mut text = format!("#include \"{}\"\n", cpp::NAME);
        let mut rare = String::new();
        for section in SECTIONS {
            rare += &section.pragma(self.compiler.is_clang());
            for name in names.extract_if(.., |name| name.contains(section.part)) {
                rare += &include(&name);
            }
        }
        // Templates are instantiated at the end, with the options that are then active.
        rare += match self.compiler.is_clang() {
            true => "#pragma clang optimize on\n",
            false => "#pragma GCC reset_options\n",
        };
        text.extend(names.iter().map(|name| include(name)));
        let followed = inputs::patch(&self.model.ports, &generated)?;
        text += &cpp::followed(&followed);
        let unity = folder.join("model.cpp");
        fs::write(&unity, text + &cpp::text(self.model) + &rare).at("write", &unity)?;
        Ok(unity)
    }
}

impl Section {
    /// The line that sets the level for what follows it. clang knows all or nothing.
    fn pragma(&self, is_clang: bool) -> String {
        match is_clang {
            true => "#pragma clang optimize off\n".to_owned(),
            false => format!("#pragma GCC optimize(\"{}\")\n", self.level),
        }
    }
}

fn include(name: &str) -> String {
    format!("#include \"obj/{name}\"\n")
}

/// Files whose code runs rarely: half the compiler's time would go into making it fast.
#[derive(Debug)]
struct Section {
    /// Part of their names.
    part: &'static str,
    level: &'static str,
}

/// Where several fit, the first counts.
const SECTIONS: [Section; 2] = [
    // Runs once for a model.
    Section {
        part: "__Slow",
        level: "O0",
    },
    // Runs while a waveform is written.
    Section {
        part: "__Trace",
        level: "O1",
    },
];
