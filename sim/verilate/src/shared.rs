//! Builds a shared library from SystemVerilog at run time, for designs whose sources only the user has.
//!
//! Such designs can be large, so their C++ is compiled file by file on all processors, and an interrupted build
//! resumes.

use crate::tools::{Compiler, Verilator};
use crate::{Error, FileContext, Model, cpp, inputs, schedule};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A design that is compiled on the user's machine.
#[derive(Clone, Debug)]
pub struct SharedModel {
    /// Its name, its top module, its sources in the order in which they are read, its ports.
    pub model: Model,
    /// Folders of include files.
    pub includes: Vec<PathBuf>,
    /// Macros that are defined.
    pub defines: Vec<String>,
    /// Optimisation of code that runs in every clock, as the compiler names it: `-O1` takes the least time to compile.
    pub level: &'static str,
    /// Whether it can write waveforms, which takes longer to compile and to simulate.
    pub waves: bool,
}

/// Progress of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Verilator reads the sources.
    Verilating,
    /// Compiled C++ files, and their total.
    Compiling(usize, usize),
    /// The library is put together.
    Linking,
}

/// Builds the library `lib<name>.so` in a folder of its own, unless it exists already for the same sources.
///
/// # Errors
/// Any [`Error`].
pub fn build_shared(
    shared: &SharedModel,
    folder: &Path,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<PathBuf, Error> {
    crate::check::check_all(std::slice::from_ref(&shared.model))?;
    let verilator = Verilator::find()?;
    let compiler = Compiler::find()?;
    let build = Build {
        shared,
        verilator: &verilator,
        compiler: &compiler,
        folder,
        progress,
    };
    build.run()
}

struct Build<'a> {
    shared: &'a SharedModel,
    verilator: &'a Verilator,
    compiler: &'a Compiler,
    folder: &'a Path,
    progress: &'a (dyn Fn(Progress) + Sync),
}

/// The variable that patched loops ask: one for all files, where a static library is compiled as one.
const FOLLOW: [&str; 2] = ["static thread_local bool", "inline thread_local bool"];
/// Optimisation of code that runs once, and of code that only writes waveforms, by a part of the names of files.
const RARE: [(&str, &str); 2] = [("__Slow", "-O0"), ("__Trace", "-O1")];
/// Files of the run-time library that are not Verilator's own.
const RUNTIME: &str = "spinneret_runtime.cpp";
const WAVEFORMS: &str = "spinneret_fst.cpp";

impl Build<'_> {
    fn run(&self) -> Result<PathBuf, Error> {
        let library = self.folder.join(format!("lib{}.so", self.shared.model.name));
        let (verilated, built) = (self.folder.join("verilated"), self.folder.join("built"));
        let key = self.key()?;
        let is_for_these = |stamp: &Path| fs::read_to_string(stamp).is_ok_and(|old| old == key);
        if library.is_file() && is_for_these(&built) {
            return Ok(library);
        }
        if !is_for_these(&verilated) {
            if self.folder.exists() {
                fs::remove_dir_all(self.folder).at("remove", self.folder)?;
            }
            fs::create_dir_all(self.folder).at("create", self.folder)?;
            self.verilate()?;
            // The stamp is written last, so an interrupted step runs again.
            fs::write(&verilated, &key).at("write", &verilated)?;
        }
        let objects = self.compile()?;
        self.link(&objects, &library)?;
        fs::write(&built, &key).at("write", &built)?;
        Ok(library)
    }

    /// Everything that the library depends on.
    fn key(&self) -> Result<String, Error> {
        let mut key = format!(
            "{}\n{}\n{}\n{:?}\n{}\n{}\n",
            self.verilator.version(),
            self.compiler.version(),
            self.options().join(" ") + self.shared.level,
            inputs::PATCH,
            cpp::HEADER,
            cpp::text(&self.shared.model)
        );
        let waveforms = ("waveforms".to_owned(), cpp::WAVEFORMS.to_owned());
        let own = self.shared.waves.then_some(&waveforms);
        for (file, text) in self.shared.model.sources.iter().chain(own) {
            key.push_str(&format!("---- {file}\n{text}\n"));
        }
        for folder in &self.shared.includes {
            add_folder(&mut key, folder)?;
        }
        Ok(key)
    }

    /// Options of Verilator, without the paths of files.
    fn options(&self) -> Vec<String> {
        let name = cpp::class(&self.shared.model.name);
        // Assertions are the designers' own, about their own test benches, and newer releases check them unasked.
        let fixed = [
            "--cc",
            "--no-assert",
            "-Wno-lint",
            "-Wno-fatal",
            "-Wno-MULTIDRIVEN",
            "-Wno-UNOPTFLAT",
        ];
        let mut options: Vec<String> = fixed.map(str::to_owned).into();
        options.extend(["--timescale-override", "1ps/1ps", "--Mdir", "obj", "--prefix"].map(str::to_owned));
        options.extend([name, "--top-module".to_owned(), self.shared.model.top.clone()]);
        if self.shared.waves {
            options.extend(["--trace-fst", "--trace-structs"].map(str::to_owned));
        }
        options.extend(self.shared.defines.iter().map(|macro_| format!("-D{macro_}")));
        options
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = self.options();
        arguments.extend(
            self.shared
                .includes
                .iter()
                .map(|folder| format!("-I{}", folder.display())),
        );
        arguments.extend(self.shared.model.sources.iter().map(|(file, _)| file.clone()));
        arguments
    }

    fn verilate(&self) -> Result<(), Error> {
        (self.progress)(Progress::Verilating);
        for (file, text) in &self.shared.model.sources {
            let path = self.folder.join(file);
            fs::write(&path, text).at("write", &path)?;
        }
        let refused = |output| Error::Refused {
            model: self.shared.model.name.clone(),
            output,
        };
        self.verilator
            .run(self.folder, &self.arguments())
            .map_err(refused)?;
        let followed = inputs::patch(&self.shared.model.ports, &self.folder.join("obj"))?;
        for (file, text) in [
            (cpp::NAME, cpp::HEADER.replace(FOLLOW[0], FOLLOW[1])),
            (RUNTIME, cpp::RUNTIME.to_owned()),
            (WAVEFORMS, cpp::WAVEFORMS.to_owned()),
            (
                "model.cpp",
                format!(
                    "#include \"obj/{}.h\"\n{}{}",
                    cpp::class(&self.shared.model.name),
                    cpp::followed(&followed),
                    cpp::text(&self.shared.model)
                ),
            ),
        ] {
            let path = self.folder.join(file);
            fs::write(&path, text).at("write", &path)?;
        }
        Ok(())
    }

    /// Compiles every file that has no object yet, the largest first.
    fn compile(&self) -> Result<Vec<PathBuf>, Error> {
        let generated = self.folder.join("obj");
        let mut files = Vec::new();
        for entry in fs::read_dir(&generated).at("read", &generated)? {
            let path = entry.at("read", &generated)?.path();
            if path.extension().is_some_and(|extension| extension == "cpp") {
                let bytes = fs::metadata(&path).at("read", &path)?.len();
                files.push((bytes, path));
            }
        }
        files.sort_by(|left, right| right.cmp(left));
        let mut files: Vec<PathBuf> = files.into_iter().map(|(_, path)| path).collect();
        let ours = ["model.cpp", RUNTIME].into_iter();
        let ours = ours.chain(self.shared.waves.then_some(WAVEFORMS));
        files.extend(ours.map(|file| self.folder.join(file)));
        let runtime = ["verilated.cpp", "verilated_threads.cpp"];
        files.extend(runtime.map(|file| self.verilator.include().join(file)));
        let done = AtomicUsize::new(0);
        let results = schedule::run(schedule::allowed(), files.len(), |index| {
            let object = self.compile_file(&files[index]);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(Progress::Compiling(done, files.len()));
            object
        });
        results.into_iter().collect()
    }

    fn compile_file(&self, file: &Path) -> Result<PathBuf, Error> {
        let stem = file.file_stem().unwrap_or_default();
        let object = self.folder.join("obj").join(stem).with_extension("o");
        if object.is_file() {
            return Ok(object);
        }
        let rare = RARE
            .iter()
            .find(|(part, _)| stem.to_string_lossy().contains(part));
        let level = rare.map_or(self.shared.level, |(_, level)| level);
        let waves = u8::from(self.shared.waves);
        let include = self.verilator.include();
        let part = object.with_extension("part");
        let mut command = self.compiler.command();
        command
            .args(["-std=c++17", "-fPIC", "-w", "-pthread", level, "-c", "-o"])
            .args([&part, file])
            // Patched loops name its variable.
            .args(["-include", cpp::NAME])
            .args(["-DVM_COVERAGE=0", "-DVM_SC=0"])
            .args(["VM_TRACE", "VM_TRACE_FST"].map(|name| format!("-D{name}={waves}")))
            .args([
                // Its runtime asserts that atomics need no lock, for which Clang wants one more library.
                "-DNDEBUG",
                "-DVL_USER_FATAL",
                "-DVL_USER_STOP",
                "-DVL_USER_FINISH",
                "-DVL_PRINTF(...)=((void)0)",
            ])
            .arg("-I")
            .arg(self.folder)
            .arg("-I")
            .arg(self.folder.join("obj"))
            .arg("-I")
            .arg(include)
            .arg("-I")
            .arg(include.join("vltstd"));
        self.call(command)?;
        // The name appears with the whole object.
        fs::rename(&part, &object).at("rename", &part)?;
        Ok(object)
    }

    fn link(&self, objects: &[PathBuf], library: &Path) -> Result<(), Error> {
        (self.progress)(Progress::Linking);
        let part = library.with_extension("part");
        let mut command = self.compiler.command();
        command
            .args(["-shared", "-pthread", "-o"])
            .arg(&part)
            .args(objects)
            .args(self.shared.waves.then_some("-lz"));
        self.call(command)?;
        fs::rename(&part, library).at("rename", &part)
    }

    fn call(&self, mut command: Command) -> Result<(), Error> {
        let failed = |output: String| Error::Compiled {
            model: self.shared.model.name.clone(),
            output,
        };
        let output = command.output().map_err(|error| {
            failed(format!(
                "cannot start {}: {error}",
                command.get_program().to_string_lossy()
            ))
        })?;
        if output.status.success() {
            return Ok(());
        }
        Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}

/// Adds the texts of all files below a folder, in the order of their names.
fn add_folder(key: &mut String, folder: &Path) -> Result<(), Error> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).at("read", folder)? {
        paths.push(entry.at("read", folder)?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add_folder(key, &path)?;
        } else {
            let text = fs::read(&path).at("read", &path)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            key.push_str(&format!("---- {name}\n{}\n", String::from_utf8_lossy(&text)));
        }
    }
    Ok(())
}
