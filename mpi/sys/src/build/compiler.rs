//! The C compiler of an MPI.

use crate::{Error, Family, Launcher, VARIABLE};
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};
use tempfile::TempDir;

/// Lines of a compiler's complaint that are worth showing.
const LINES: usize = 6;

/// A compiler that knows where an MPI is.
#[derive(Debug)]
pub(super) struct Compiler {
    path: PathBuf,
}

impl Compiler {
    /// The one that is meant.
    pub(super) fn find(launcher: Option<Launcher>) -> Result<Self, Error> {
        let named = env::var_os(VARIABLE).filter(|name| !name.is_empty());
        Self::choose(named.as_deref(), launcher, env::var_os("PATH").as_deref())
    }

    /// That of a path, or of a name.
    pub(super) fn named(name: &Path) -> Result<Self, Error> {
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

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A name for what comes of these sources with this compiler: another MPI, or another version, has another name.
    pub(super) fn key(&self, sources: &[(&str, &str)]) -> String {
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
        // What it would call, with the places of the library, and who it is. One that knows neither option says so here.
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
    pub(super) fn compile(&self, sources: &[(&str, &str)], folder: &Path, file: &Path) -> Result<(), Error> {
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
// A layer is `<cache>/spinneret/mpi/<key>/libspinneret_mpi.so`. It is made in a folder of its own beside that name, and
// renamed: ranks that start together may all make it, and whoever is last replaces a file by an equal one.

/// The name of the library in the folder of its key.
const FILE: &str = "libspinneret_mpi.so";

/// The folder for what can be made again: `XDG_CACHE_HOME`, or `.cache` in the user's own.
pub(super) fn of_user() -> Option<PathBuf> {
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
pub(super) struct Place {
    file: PathBuf,
    /// A folder that is removed with this, because nothing could be kept. What is loaded from it stays loaded.
    _temporary: Option<TempDir>,
}

impl Place {
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// What was made before.
    pub(super) fn kept(cache: &Path, key: &str) -> Option<Self> {
        let file = folder(cache, key).join(FILE);
        file.is_file().then_some(Self {
            file,
            _temporary: None,
        })
    }

    /// Makes a layer with a function that is given a folder for its sources and the file to write, and keeps it in the
    /// cache, or else in a temporary folder.
    pub(super) fn build(
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

/// A folder to work in, beside what will be there.
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
    fn takes_what_the_user_names_then_what_the_launcher_means() {
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
