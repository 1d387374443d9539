//! A directory of generated files: what differs from it, and how it is brought up to date.
//!
//! Only files that begin with gen-verilog's own header are ever replaced or removed, and only in the
//! directory itself, the folders of wanted files and those that boards have. Writing is
//! all or nothing: every new text is on disk under a temporary name before the first file is
//! replaced, and a failure after that puts back what was there.

use crate::Error;
use crate::render::{FILE_LIST, File, HASH_HEADER, HEADER};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Folders that the output for a board may have.
const BOARD_FOLDERS: [&str; 5] = ["rtl", "lint", "sim", "constraints", "fpga"];
/// Lines at the start of a file among which its header may be: a shell script begins with its interpreter.
const HEADER_LINES: usize = 3;

/// How one file of a directory differs from what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Difference {
    /// It is not there.
    Missing,
    /// It is there with another text.
    Differs,
    /// It was generated once and is generated no longer.
    Stale,
}

impl Difference {
    /// One word for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Differs => "differs",
            Self::Stale => "stale",
        }
    }
}

/// A directory that gen-verilog writes to.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    shown: String,
}

impl Store {
    /// A directory, which need not exist, and how it is shown to people.
    pub fn new(directory: PathBuf, shown: String) -> Self {
        Self { directory, shown }
    }

    /// The directory as shown to people.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The files that differ from what is wanted, by name.
    ///
    /// # Errors
    /// The directory cannot be read, or a file with a wanted name is not gen-verilog's.
    pub fn compare(&self, wanted: &[File]) -> Result<BTreeMap<String, Difference>, Error> {
        let present = self.read_own(wanted)?;
        let mut differences = BTreeMap::new();
        for file in wanted {
            match present.get(&file.name) {
                None => differences.insert(file.name.clone(), Difference::Missing),
                Some(text) if *text != file.text.as_bytes() => {
                    differences.insert(file.name.clone(), Difference::Differs)
                }
                Some(_) => None,
            };
        }
        for name in present
            .keys()
            .filter(|name| wanted.iter().all(|file| file.name != **name))
        {
            differences.insert(name.clone(), Difference::Stale);
        }
        Ok(differences)
    }

    /// Makes the directory hold the wanted files and no stale ones; answers what had to change.
    ///
    /// # Errors
    /// As [`Store::compare`], or the file system refuses; then nothing has changed.
    pub fn write(&self, wanted: &[File]) -> Result<BTreeMap<String, Difference>, Error> {
        let differences = self.compare(wanted)?;
        let created = self.create_directories(wanted)?;
        let result = self.replace(wanted, &differences);
        if result.is_err() {
            remove_empty(&created);
        }
        result.map(|()| differences)
    }

    /// The files with gen-verilog's header, by name.
    fn read_own(&self, wanted: &[File]) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let mut own = BTreeMap::new();
        for folder in folders(wanted) {
            self.read_folder(folder, wanted, &mut own)?;
        }
        Ok(own)
    }

    fn read_folder(
        &self,
        folder: &str,
        wanted: &[File],
        own: &mut BTreeMap<String, Vec<u8>>,
    ) -> Result<(), Error> {
        let shown = (!folder.is_empty()).then_some(folder);
        let entries = match fs::read_dir(self.directory.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // Something else of that name matters only if a folder is needed there.
            Err(error)
                if error.kind() == io::ErrorKind::NotADirectory
                    && shown.is_some()
                    && wanted.iter().all(|file| folder_of(&file.name) != folder) =>
            {
                return Ok(());
            }
            Err(error) => return Err(self.failed("read", shown, error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| self.failed("read", shown, error))?;
            // A name that is not UTF-8 is none of ours.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let name = shown.map_or_else(|| name.clone(), |folder| format!("{folder}/{name}"));
            let is_wanted = wanted.iter().any(|file| file.name == name);
            if !is_wanted && !is_candidate(&name) {
                continue;
            }
            // Only plain files are opened: reading a pipe would wait for ever.
            let is_file = fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_file());
            let text = if is_file {
                fs::read(entry.path())
            } else {
                Ok(Vec::new())
            };
            match text {
                Ok(text) if is_own(&text) => drop(own.insert(name, text)),
                Ok(_) if is_wanted => {
                    return Err(Error::Foreign {
                        path: self.show(&name),
                    });
                }
                Err(error) if is_wanted => return Err(self.failed("read", Some(&name), error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Creates the directory and the folders of the files; answers those that were missing, innermost first.
    fn create_directories(&self, wanted: &[File]) -> Result<Vec<PathBuf>, Error> {
        let needed = folders(wanted)
            .into_iter()
            .filter(|folder| folder.is_empty() || wanted.iter().any(|file| folder_of(&file.name) == *folder));
        let mut missing = Vec::new();
        for folder in needed {
            let directory = self.directory.join(folder);
            let above = directory.ancestors();
            let new = above.take_while(|d| !d.as_os_str().is_empty() && !d.exists());
            missing.splice(0..0, new.map(Path::to_owned));
            if let Err(error) = fs::create_dir_all(&directory) {
                remove_empty(&missing);
                return Err(self.failed("create", (!folder.is_empty()).then_some(folder), error));
            }
        }
        Ok(missing)
    }

    fn replace(&self, wanted: &[File], differences: &BTreeMap<String, Difference>) -> Result<(), Error> {
        let staged = wanted
            .iter()
            .filter(|file| differences.contains_key(&file.name))
            .map(|file| Ok((file.name.as_str(), self.stage(file)?)))
            .collect::<Result<Vec<_>, Error>>()?;
        let mut undo = Undo::default();
        let result = self.swap(staged, differences, &mut undo);
        if result.is_err() {
            undo.run();
        }
        result
    }

    /// Puts staged files in their places and removes stale ones.
    fn swap(
        &self,
        staged: Vec<(&str, NamedTempFile)>,
        differences: &BTreeMap<String, Difference>,
        undo: &mut Undo,
    ) -> Result<(), Error> {
        for (name, file) in staged {
            let path = self.directory.join(name);
            undo.remember(&path);
            file.persist(&path)
                .map_err(|error| self.failed("write", Some(name), error.error))?;
        }
        for (name, _) in differences
            .iter()
            .filter(|(_, difference)| **difference == Difference::Stale)
        {
            let path = self.directory.join(name);
            undo.remember(&path);
            fs::remove_file(&path).map_err(|error| self.failed("remove", Some(name), error))?;
        }
        Ok(())
    }

    /// Puts a text on disk under a temporary name, which vanishes if it is not renamed.
    fn stage(&self, file: &File) -> Result<NamedTempFile, Error> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".gen-verilog-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // What an ordinary new file gets; the process's mask still applies.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let folder = self.directory.join(folder_of(&file.name));
        let staged = builder.tempfile_in(folder).and_then(|mut staged| {
            staged.write_all(file.text.as_bytes())?;
            Ok(staged)
        });
        // The error's own text names the temporary file, which nobody has heard of.
        staged.map_err(|error| self.failed("write", Some(&file.name), error.kind().into()))
    }

    fn show(&self, name: &str) -> String {
        Path::new(&self.shown).join(name).display().to_string()
    }

    fn failed(&self, action: &'static str, name: Option<&str>, source: io::Error) -> Error {
        let path = name.map_or_else(|| self.shown.clone(), |name| self.show(name));
        Error::Io { action, path, source }
    }
}

/// Removes directories again; one that is not empty, or was never created, stays as it is.
fn remove_empty(directories: &[PathBuf]) {
    for directory in directories {
        let _ = fs::remove_dir(directory);
    }
}

/// Whether a file could be one that gen-verilog wrote, going by its name alone.
fn is_candidate(name: &str) -> bool {
    let path = Path::new(name);
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_ours = |extension| ["sv", "core", "pcf", "xdc", "tcl", "mk"].contains(&extension);
    let name = path.file_name().and_then(|name| name.to_str());
    extension.is_some_and(is_ours) || name.is_some_and(|name| [FILE_LIST, "Makefile"].contains(&name))
}

/// Whether a text has gen-verilog's header.
fn is_own(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').take(HEADER_LINES);
    text.starts_with(HEADER.as_bytes()) || lines.any(|line| line == HASH_HEADER.as_bytes())
}

/// The folder of a file, empty if it is in the directory itself.
fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folders in which there may be files of ours, the directory itself first.
fn folders(wanted: &[File]) -> BTreeSet<&str> {
    let of_wanted = wanted.iter().map(|file| folder_of(&file.name));
    [""].into_iter().chain(BOARD_FOLDERS).chain(of_wanted).collect()
}

/// What files held before they were touched.
#[derive(Default)]
struct Undo {
    before: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl Undo {
    fn remember(&mut self, path: &Path) {
        self.before.push((path.to_owned(), fs::read(path).ok()));
    }

    /// Puts everything back as far as the file system lets it; the first error is already on its way.
    fn run(self) {
        for (path, text) in self.before {
            let _ = match text {
                Some(text) => fs::write(&path, text),
                None => fs::remove_file(&path),
            };
        }
    }
}
