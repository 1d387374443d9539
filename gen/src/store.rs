//! A directory of generated files: comparing and updating it.
//!
//! Only files that begin with gen-verilog's header are replaced or removed. A stale file is removed only if the list in the
//! directory names it; a copy of a generated file belongs to the user. Writing is all or nothing: every new text is on disk
//! under a temporary name before the first file is replaced, and a later failure restores the old files. A lock on the
//! directory keeps two runs from interfering.

use crate::error;
use crate::render::{File, HASH_HEADER, HEADER};
use anyhow::bail;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use tempfile::NamedTempFile;

/// The header is within the first lines of a file: a shell script begins with its interpreter.
const HEADER_LINES: usize = 3;
/// The header is within this number of bytes.
const HEADER_BYTES: u64 = 1024;
/// The list of written files, one name a line.
const LIST: &str = ".gen-verilog";
/// Maximum size of the list.
const LIST_BYTES: u64 = 1 << 20;
/// Prefix of temporary names.
const STAGED: &str = ".gen-verilog-";

/// How a file differs from the generated one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Difference {
    /// It does not exist.
    Missing,
    /// Its text differs.
    Differs,
    /// It is not generated any more.
    Stale,
}

impl Difference {
    /// Returns a word for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Differs => "differs",
            Self::Stale => "stale",
        }
    }
}

/// An output directory of gen-verilog.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    shown: String,
}

impl Store {
    /// Returns the store of a directory, which need not exist; `shown` is its path in messages.
    pub fn new(directory: PathBuf, shown: String) -> Self {
        Self { directory, shown }
    }

    /// Returns the path of the directory in messages.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the files that differ from the wanted ones, by name, including the list.
    ///
    /// # Errors
    /// The directory cannot be read, or a file with a wanted name is not gen-verilog's.
    pub fn compare(&self, wanted: &[File]) -> anyhow::Result<BTreeMap<String, Difference>> {
        let mut differences = BTreeMap::new();
        for file in wanted.iter().chain([&list_of(wanted)]) {
            if let Some(difference) = self.difference(file)? {
                differences.insert(file.name.clone(), difference);
            }
        }
        let names: BTreeSet<_> = wanted.iter().map(|file| file.name.as_str()).collect();
        for name in self.listed() {
            if !names.contains(name.as_str()) && is_own(&self.directory.join(&name)).unwrap_or(false) {
                differences.insert(name, Difference::Stale);
            }
        }
        Ok(differences)
    }

    fn difference(&self, file: &File) -> anyhow::Result<Option<Difference>> {
        let path = self.directory.join(&file.name);
        let failed = |error| self.failed("read", Some(&file.name), error);
        match is_own(&path) {
            Ok(true) => {
                let is_same = fs::metadata(&path).map_err(failed)?.len() == file.text.len() as u64
                    && fs::read(&path).map_err(failed)? == file.text.as_bytes();
                Ok((!is_same).then_some(Difference::Differs))
            }
            Ok(false) => bail!(
                "{} is in the way and was not written by gen-verilog: move it away or choose another `--out`",
                self.show(&file.name)
            ),
            Err(error) if is_absence(&error) => Ok(Some(Difference::Missing)),
            Err(error) => Err(failed(error)),
        }
    }

    /// The files that the list names.
    fn listed(&self) -> Vec<String> {
        let path = self.directory.join(LIST);
        let mut text = String::new();
        let read = match is_own(&path) {
            Ok(true) => fs::File::open(&path)
                .and_then(|list| list.take(LIST_BYTES).read_to_string(&mut text))
                .is_ok(),
            // Without a list, no file is known to be ours.
            _ => false,
        };
        let names = text.lines().filter(|name| read && is_plain(name));
        names.map(str::to_owned).collect()
    }

    /// Writes the wanted files, and removes stale ones. Returns the changes, without the list.
    ///
    /// # Errors
    /// As [`Store::compare`], or the file system refuses; then nothing has changed.
    pub fn write(&self, wanted: &[File]) -> anyhow::Result<BTreeMap<String, Difference>> {
        let created = self.create_directories(wanted)?;
        let result = self.write_alone(wanted);
        if result.is_err() {
            remove_empty(&created);
        }
        result
    }

    /// Writes while holding the lock.
    fn write_alone(&self, wanted: &[File]) -> anyhow::Result<BTreeMap<String, Difference>> {
        let failed = |error| self.failed("lock", None, error);
        let lock = fs::File::open(&self.directory).map_err(failed)?;
        match lock.lock() {
            // Some file systems have no locks; there the user has to avoid concurrent runs.
            Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(failed(error)),
            _ => {}
        }
        let mut differences = self.compare(wanted)?;
        self.sweep(wanted);
        self.replace(wanted, &differences)?;
        differences.remove(LIST);
        Ok(differences)
    }

    /// Removes temporary files of killed runs.
    fn sweep(&self, wanted: &[File]) {
        let listed = self.listed();
        let names = wanted.iter().map(|file| file.name.as_str());
        let names = names.chain(listed.iter().map(String::as_str));
        let folders: BTreeSet<_> = names.map(folder_of).chain([""]).collect();
        for folder in folders {
            let entries = fs::read_dir(self.directory.join(folder)).into_iter().flatten();
            let left = entries.flatten().filter(|entry| {
                entry
                    .file_name()
                    .as_encoded_bytes()
                    .starts_with(STAGED.as_bytes())
            });
            for entry in left {
                // Ignore errors: if it cannot be removed, writing new files fails with a message.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Creates the directory and its folders. Returns those that were missing, innermost first.
    fn create_directories(&self, wanted: &[File]) -> anyhow::Result<Vec<PathBuf>> {
        let folders: BTreeSet<_> = wanted.iter().map(|file| folder_of(&file.name)).collect();
        let mut missing = Vec::new();
        for folder in [""].into_iter().chain(folders) {
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

    fn replace(&self, wanted: &[File], differences: &BTreeMap<String, Difference>) -> anyhow::Result<()> {
        let list = list_of(wanted);
        let all = wanted.iter().chain([&list]);
        let staged = all
            .filter(|file| differences.contains_key(&file.name))
            .map(|file| Ok((file.name.as_str(), self.stage(file)?)))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let mut undo = Undo::default();
        let result = self.swap(staged, differences, &mut undo);
        if result.is_err() {
            undo.run();
        }
        result
    }

    /// Renames staged files to their final names, and removes stale ones.
    fn swap(
        &self,
        staged: Vec<(&str, NamedTempFile)>,
        differences: &BTreeMap<String, Difference>,
        undo: &mut Undo,
    ) -> anyhow::Result<()> {
        for (name, file) in staged {
            let path = self.directory.join(name);
            let failed = |error| self.failed("write", Some(name), error);
            undo.remember(&path).map_err(failed)?;
            file.persist(&path).map_err(|error| failed(error.error))?;
        }
        for (name, _) in differences
            .iter()
            .filter(|(_, difference)| **difference == Difference::Stale)
        {
            let path = self.directory.join(name);
            let failed = |error| self.failed("remove", Some(name), error);
            undo.remember(&path).map_err(failed)?;
            fs::remove_file(&path).map_err(failed)?;
        }
        Ok(())
    }

    /// Writes a text under a temporary name; the file is removed unless it is renamed.
    fn stage(&self, file: &File) -> anyhow::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(STAGED);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // The permissions of an ordinary new file; the umask still applies.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let folder = self.directory.join(folder_of(&file.name));
        let staged = builder.tempfile_in(folder).and_then(|mut staged| {
            staged.write_all(file.text.as_bytes())?;
            Ok(staged)
        });
        // Replace the text of the error, because it names the temporary file.
        staged.map_err(|error| self.failed("write", Some(&file.name), error.kind().into()))
    }

    fn show(&self, name: &str) -> String {
        Path::new(&self.shown).join(name).display().to_string()
    }

    fn failed(&self, action: &'static str, name: Option<&str>, source: io::Error) -> anyhow::Error {
        let path = name.map_or_else(|| self.shown.clone(), |name| self.show(name));
        error::failed(action, path)(source)
    }
}

/// The list of the files that are written.
fn list_of(wanted: &[File]) -> File {
    let names = wanted.iter().map(|file| format!("{}\n", file.name));
    File {
        name: LIST.to_owned(),
        text: format!("{HASH_HEADER}\n{}", names.collect::<String>()),
    }
}

/// Removes directories, except those that are not empty.
fn remove_empty(directories: &[PathBuf]) {
    for directory in directories {
        let _ = fs::remove_dir(directory);
    }
}

/// Whether a file has gen-verilog's header. Opens only plain files, because reading a pipe would block.
fn is_own(path: &Path) -> io::Result<bool> {
    if !fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut text = Vec::new();
    fs::File::open(path)?.take(HEADER_BYTES).read_to_end(&mut text)?;
    let mut lines = text.split(|byte| *byte == b'\n').take(HEADER_LINES);
    Ok(text.starts_with(HEADER.as_bytes()) || lines.any(|line| line == HASH_HEADER.as_bytes()))
}

/// Whether the file does not exist; an obstacle in its path is reported when it is written.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether a name is a normalised path to a file within the directory.
fn is_plain(name: &str) -> bool {
    let path = Path::new(name);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_list = path
        .file_name()
        .is_some_and(|file| file.as_encoded_bytes().starts_with(LIST.as_bytes()));
    let shortest: PathBuf = path.components().collect();
    is_inside && !is_list && !name.is_empty() && shortest.as_os_str() == path.as_os_str()
}

/// The folder of a file, empty if it is in the directory itself.
fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Backups of changed files; dropping it removes them.
#[derive(Default)]
struct Undo {
    before: Vec<(PathBuf, Option<NamedTempFile<()>>)>,
}

impl Undo {
    /// Backs up a file as a hard link, or as a copy where there are no hard links.
    fn remember(&mut self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let keep = |second: &Path| fs::hard_link(path, second).or_else(|_| fs::copy(path, second).map(drop));
        let kept = match path.symlink_metadata() {
            Ok(_) => Some(tempfile::Builder::new().prefix(STAGED).make_in(folder, keep)?),
            Err(_) => None,
        };
        self.before.push((path.to_owned(), kept));
        Ok(())
    }

    /// Puts everything back as far as the file system lets it; the first error is already on its way.
    fn run(self) {
        for (path, kept) in self.before {
            let _ = match kept {
                Some(kept) => kept.persist(&path).map(drop).map_err(|error| error.error),
                None => fs::remove_file(&path),
            };
        }
    }
}
