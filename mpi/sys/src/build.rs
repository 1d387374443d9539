//! The layer in C over the MPI of this machine: compiled once, kept, and loaded.

use crate::functions::Functions;
use crate::{Error, Family, Launcher, launched};
use libloading::os::unix::{self, RTLD_GLOBAL, RTLD_NOW};
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};
use tempfile::TempDir;

/// The variable that names the C compiler of the MPI that is to be used: a path, or a name to be looked up in `PATH`.
pub const VARIABLE: &str = "SPINNERET_MPICC";

/// The files of the layer: their names and texts.
const SOURCES: &[(&str, &str)] = &[
    ("spinneret_mpi.h", include_str!("../shim/spinneret_mpi.h")),
    ("world.c", include_str!("../shim/world.c")),
    ("messages.c", include_str!("../shim/messages.c")),
    ("types.c", include_str!("../shim/types.c")),
];

/// The MPI of this machine, loaded, and not started yet.
#[derive(Clone, Debug)]
pub struct Library {
    functions: &'static Functions,
    compiler: PathBuf,
}

impl Library {
    /// The MPI that is meant: that of the compiler in [`VARIABLE`]; if it is not set, that of the launcher of this process;
    /// without one, that of `mpicc`.
    ///
    /// It is compiled into `spinneret/mpi/` in the user's cache (`XDG_CACHE_HOME`, or `~/.cache`) unless it is there, which
    /// takes a part of a second. If that folder cannot be written, every process compiles its own.
    ///
    /// # Errors
    /// If there is no MPI, or it is not complete.
    pub fn find() -> Result<Self, Error> {
        let compiler = Compiler::find(launched())?;
        Self::load(&compiler, user_cache().as_deref())
    }

    /// The MPI of a compiler, whatever the environment says, and the folder to keep the layer in.
    ///
    /// # Errors
    /// If it is no MPI's C compiler, or the library of that MPI does not load.
    pub fn with(compiler: &Path, cache: Option<&Path>) -> Result<Self, Error> {
        let compiler = Compiler::named(compiler)?;
        Self::load(&compiler, cache)
    }

    fn load(compiler: &Compiler, cache: Option<&Path>) -> Result<Self, Error> {
        let key = compiler.key(SOURCES);
        let built = cache.and_then(|cache| Place::kept(cache, &key));
        // The cached layer may belong to a library that was removed.
        let functions = match built.map(|place| load(place.file())) {
            Some(Ok(functions)) => functions,
            _ => {
                let place = Place::build(cache, &key, |folder, file| {
                    compiler.compile(SOURCES, folder, file)
                })?;
                load(place.file()).map_err(|error| Error::Load {
                    compiler: compiler.path().to_owned(),
                    reason: error.to_string(),
                })?
            }
        };
        // SAFETY: the function has no arguments, and may be called before MPI is started.
        if unsafe { (functions.is_same_library)() } == 0 {
            return Err(Error::OtherLibrary {
                compiler: compiler.path().to_owned(),
            });
        }
        Ok(Self {
            functions,
            compiler: compiler.path().to_owned(),
        })
    }

    /// The compiler it was made with.
    pub fn compiler(&self) -> &Path {
        &self.compiler
    }

    pub(crate) fn functions(&self) -> &'static Functions {
        self.functions
    }
}

/// Loads the layer for the rest of the process: MPI can neither be unloaded nor started twice.
fn load(file: &Path) -> Result<&'static Functions, libloading::Error> {
    // Open MPI's plugins do not name the library whose functions they call, so these have to be visible to all.
    let flags = RTLD_NOW | RTLD_GLOBAL;
    // SAFETY: what runs on loading is what the MPI library does before main, as in any program that is linked with it.
    let library = unsafe { unix::Library::open(Some(file), flags) }?;
    let library = Box::leak(Box::new(library));
    // SAFETY: the file was compiled from `shim/`, by its key, and `library` is leaked.
    let functions = unsafe { Functions::load(library) }?;
    Ok(Box::leak(Box::new(functions)))
}

// The C compiler of an MPI.

/// Lines of a compiler's complaint that are worth showing.
const LINES: usize = 6;

/// A compiler that knows where an MPI is.
#[derive(Debug)]
struct Compiler {
    path: PathBuf,
}

impl Compiler {
    /// The one that is meant.
    fn find(launcher: Option<Launcher>) -> Result<Self, Error> {
        let named = env::var_os(VARIABLE).filter(|name| !name.is_empty());
        Self::choose(named.as_deref(), launcher, env::var_os("PATH").as_deref())
    }

    /// The compiler at a path, or with a name.
    fn named(name: &Path) -> Result<Self, Error> {
        Self::choose(Some(name.as_os_str()), None, env::var_os("PATH").as_deref())
    }

    fn choose(
        named: Option<&OsStr>,
        launcher: Option<Launcher>,
        path: Option<&OsStr>,
    ) -> Result<Self, Error> {
        let names: Vec<OsString> = match (named, launcher.map(|launcher| launcher.family)) {
            (Some(name), _) => vec![name.to_owned()],
            // Debian's names, where several MPIs can be installed.
            (None, Some(Family::OpenMpi)) => ["mpicc.openmpi", "mpicc"].map(OsString::from).into(),
            (None, Some(Family::Pmi)) => ["mpicc.mpich", "mpicc"].map(OsString::from).into(),
            (None, None) => vec!["mpicc".into()],
        };
        let found = names.iter().find_map(|name| look_up(name, path));
        let tried = || names.iter().map(|name| name.to_string_lossy().into_owned());
        found.map(|path| Self { path }).ok_or_else(|| Error::NoCompiler {
            tried: tried().collect(),
        })
    }

    fn path(&self) -> &Path {
        &self.path
    }

    /// A name for what comes of these sources with this compiler: another MPI, or another version, has another name.
    fn key(&self, sources: &[(&str, &str)]) -> String {
        let mut digest = Sha256::new();
        // Lengths between the parts, so that no part can look like the end of another.
        let mut add = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        for (name, text) in sources {
            add(name.as_bytes());
            add(text.as_bytes());
        }
        add(self.path.as_os_str().as_bytes());
        // The command that it would run, with the paths of the library, and its version. An `mpicc` that knows neither
        // option reports that here.
        let shown = self.say("-show");
        add(&shown);
        add(&self.say("--version"));
        // An update in place changes neither, but the header, which has its version.
        let shown = String::from_utf8_lossy(&shown);
        for folder in shown
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("-I"))
        {
            add(&fs::read(Path::new(folder).join("mpi.h")).unwrap_or_default());
        }
        let hexadecimal = |byte: &u8| format!("{byte:02x}");
        digest.finalize().iter().take(16).map(hexadecimal).collect()
    }

    fn say(&self, option: &str) -> Vec<u8> {
        let output = Command::new(&self.path).arg(option).output();
        output.map(|output| output.stdout).unwrap_or_default()
    }

    /// Makes a library of the sources, which are written into the folder.
    fn compile(&self, sources: &[(&str, &str)], folder: &Path, file: &Path) -> Result<(), Error> {
        let mut command = Command::new(&self.path);
        command.args(["-shared", "-fPIC", "-O2", "-o"]).arg(file);
        for (name, text) in sources {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|source| Error::Folder {
                folder: folder.to_owned(),
                source,
            })?;
            if name.ends_with(".c") {
                command.arg(path);
            }
        }
        let failed = |output: String| Error::Compiler {
            compiler: self.path.clone(),
            output,
        };
        let output = command
            .output()
            .map_err(|error| failed(format!("it does not start: {error}")))?;
        if output.status.success() && file.is_file() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said
            .lines()
            .filter(|line| !line.trim().is_empty())
            .take(LINES)
            .collect();
        Err(failed(match (said.is_empty(), output.status.success()) {
            (false, _) => said.join("\n"),
            (true, true) => "it wrote nothing".to_owned(),
            (true, false) => format!("it said nothing, and ended with {}", output.status),
        }))
    }
}

/// The file of a program: as it is if it is a path, else the first in `PATH`.
fn look_up(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    let is_program = |file: &Path| {
        let about = fs::metadata(file);
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let file = Path::new(name);
    if file.components().count() > 1 {
        return is_program(file).then(|| file.to_owned());
    }
    let folders = env::split_paths(path?);
    let files = folders.map(|folder| folder.join(name));
    files.into_iter().find(|file| is_program(file))
}

// Where compiled layers are kept.
//
// A layer is `<cache>/spinneret/mpi/<key>/libspinneret_mpi.so`. It is made in a folder of its own next to that name,
// and renamed: ranks that start together may all build it, and the last one replaces a file by an equal one.

/// The name of the library in the folder of its key.
const FILE: &str = "libspinneret_mpi.so";

/// The folder for what can be made again: `XDG_CACHE_HOME`, or `.cache` in the user's own.
fn user_cache() -> Option<PathBuf> {
    // The standard of these folders says that relative ones do not count.
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// A compiled layer.
#[derive(Debug)]
struct Place {
    file: PathBuf,
    /// A folder that is removed with this, because no layer could be kept. A library loaded from it stays loaded.
    _temporary: Option<TempDir>,
}

impl Place {
    fn file(&self) -> &Path {
        &self.file
    }

    /// The layer that was built before.
    fn kept(cache: &Path, key: &str) -> Option<Self> {
        let file = folder(cache, key).join(FILE);
        file.is_file().then_some(Self {
            file,
            _temporary: None,
        })
    }

    /// Makes a layer with a function that is given a folder for its sources and the file to write, and keeps it in the
    /// cache, or else in a temporary folder.
    fn build(
        cache: Option<&Path>,
        key: &str,
        compile: impl Fn(&Path, &Path) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        if let Some(folder) = cache.map(|cache| folder(cache, key))
            && let Ok(work) = work_in(&folder)
        {
            let part = work.path().join(FILE);
            compile(work.path(), &part)?;
            let file = folder.join(FILE);
            if fs::rename(&part, &file).is_ok() {
                return Ok(Self {
                    file,
                    _temporary: None,
                });
            }
        }
        let temporary = tempfile::tempdir().map_err(|source| Error::Folder {
            folder: env::temp_dir(),
            source,
        })?;
        let file = temporary.path().join(FILE);
        compile(temporary.path(), &file)?;
        Ok(Self {
            file,
            _temporary: Some(temporary),
        })
    }
}

fn folder(cache: &Path, key: &str) -> PathBuf {
    cache.join("spinneret").join("mpi").join(key)
}

/// A folder to work in, next to the future library.
fn work_in(folder: &Path) -> io::Result<TempDir> {
    fs::create_dir_all(folder)?;
    tempfile::Builder::new().prefix("building-").tempdir_in(folder)
}

#[cfg(test)]
mod tests {
    use super::{Compiler, Place};
    use crate::{Family, Launcher};
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    #[test]
    fn prefers_the_named_compiler_then_the_one_of_the_launcher() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["mpicc", "mpicc.mpich", "own"] {
            let file = folder.path().join(name);
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        // A file of the right name that is no program.
        fs::write(folder.path().join("mpicc.openmpi"), "").unwrap();
        let path = folder.path().as_os_str();
        let by = |family| Launcher {
            family,
            rank: 0,
            size: 1,
        };
        let chosen = |named: Option<&str>, launcher| {
            let compiler = Compiler::choose(named.map(OsStr::new), launcher, Some(path)).unwrap();
            compiler.path().file_name().unwrap().to_owned()
        };
        assert_eq!(chosen(None, None), "mpicc");
        assert_eq!(chosen(None, Some(by(Family::Pmi))), "mpicc.mpich");
        assert_eq!(chosen(None, Some(by(Family::OpenMpi))), "mpicc");
        assert_eq!(chosen(Some("own"), Some(by(Family::Pmi))), "own");
        let absolute = folder.path().join("own");
        assert_eq!(chosen(absolute.to_str(), None), "own");
    }

    #[test]
    fn says_what_to_install_if_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let launcher = Launcher {
            family: Family::OpenMpi,
            rank: 0,
            size: 2,
        };
        let error = Compiler::choose(None, Some(launcher), Some(folder.path().as_os_str())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no MPI here, looked for mpicc.openmpi and mpicc: install one (Debian: openmpi-bin and \
             libopenmpi-dev, or mpich and libmpich-dev), or name its C compiler in SPINNERET_MPICC"
        );
    }

    fn write(_: &Path, file: &Path) -> Result<(), crate::Error> {
        fs::write(file, "library").unwrap();
        Ok(())
    }

    #[test]
    fn keeps_what_it_made_and_nothing_else() {
        let cache = tempfile::tempdir().unwrap();
        assert!(Place::kept(cache.path(), "key").is_none());
        let place = Place::build(Some(cache.path()), "key", write).unwrap();
        assert_eq!(Place::kept(cache.path(), "key").unwrap().file(), place.file());
        assert!(Place::kept(cache.path(), "other").is_none());
        let folder = place.file().parent().unwrap();
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
    }

    #[test]
    fn works_without_a_cache() {
        let cache = tempfile::tempdir().unwrap();
        // A file where a folder should be cannot be written into by anybody, not even by root.
        let blocked = cache.path().join("file");
        fs::write(&blocked, "").unwrap();
        for cache in [None, Some(blocked.as_path())] {
            let place = Place::build(cache, "key", write).unwrap();
            let file = place.file().to_owned();
            assert_eq!(fs::read_to_string(&file).unwrap(), "library");
            drop(place);
            assert!(!file.exists());
        }
    }
}
