//! A directory of generated files: what differs from it, and how it is brought up to date.
//!
//! Only files that begin with gen-verilog's own header are ever replaced or removed, and only those are removed that the
//! directory's own list says were written: a copy of one is somebody's. Writing is all or nothing: every new text is on
//! disk under a temporary name before the first file is replaced, and a failure after that puts back what was there. Who
//! writes holds a lock on the directory, so that two runs do not mix.

use crate::error;
use crate::render::{File, HASH_HEADER, HEADER};
use anyhow::bail;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use tempfile::NamedTempFile;

/// Lines at the start of a file among which its header may be: a shell script begins with its interpreter.
const HEADER_LINES: usize = 3;
/// The header is within so many bytes.
const HEADER_BYTES: u64 = 1024;
/// The list of what was written, one name a line.
const LIST: &str = ".gen-verilog";
/// Most that is read of it.
const LIST_BYTES: u64 = 1 << 20;
/// How temporary names begin.
const STAGED: &str = ".gen-verilog-";

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

    /// The files that differ from what is wanted, by name; the directory's own list is one of them.
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

    /// Names of files within the directory that were written to it.
    fn listed(&self) -> Vec<String> {
        let path = self.directory.join(LIST);
        let mut text = String::new();
        let read = match is_own(&path) {
            Ok(true) => fs::File::open(&path)
                .and_then(|list| list.take(LIST_BYTES).read_to_string(&mut text))
                .is_ok(),
            // Without a list, nothing is known to be ours.
            _ => false,
        };
        let names = text.lines().filter(|name| read && is_plain(name));
        names.map(str::to_owned).collect()
    }

    /// Makes the directory hold the wanted files and no stale ones; answers what had to change, apart from its own list.
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

    /// The same once nobody else writes.
    fn write_alone(&self, wanted: &[File]) -> anyhow::Result<BTreeMap<String, Difference>> {
        let failed = |error| self.failed("lock", None, error);
        let lock = fs::File::open(&self.directory).map_err(failed)?;
        match lock.lock() {
            // Not every file system has locks; then runs are not to be at the same time.
            Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(failed(error)),
            _ => {}
        }
        let mut differences = self.compare(wanted)?;
        self.sweep(wanted);
        self.replace(wanted, &differences)?;
        differences.remove(LIST);
        Ok(differences)
    }

    /// Removes what a run left that was killed.
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
                // Who cannot remove it is told so when the new files are written.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Creates the directory and the folders of the files; answers those that were missing, innermost first.
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

    /// Puts staged files in their places and removes stale ones.
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

    /// Puts a text on disk under a temporary name, which vanishes if it is not renamed.
    fn stage(&self, file: &File) -> anyhow::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(STAGED);
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

/// Removes directories again; one that is not empty, or was never created, stays as it is.
fn remove_empty(directories: &[PathBuf]) {
    for directory in directories {
        let _ = fs::remove_dir(directory);
    }
}

/// Whether a file has gen-verilog's header, however large it is. Only plain files are opened: reading a pipe would wait for
/// ever.
fn is_own(path: &Path) -> io::Result<bool> {
    if !fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut text = Vec::new();
    fs::File::open(path)?.take(HEADER_BYTES).read_to_end(&mut text)?;
    let mut lines = text.split(|byte| *byte == b'\n').take(HEADER_LINES);
    Ok(text.starts_with(HEADER.as_bytes()) || lines.any(|line| line == HASH_HEADER.as_bytes()))
}

/// Whether there is no such file; what stands in its way is told when it is written.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether a name leads to one file within the directory, in one way.
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

/// What was there before it was touched; what is not needed any more goes with it.
#[derive(Default)]
struct Undo {
    before: Vec<(PathBuf, Option<NamedTempFile<()>>)>,
}

impl Undo {
    /// Keeps a file under a second name, or as a copy where there are no second names.
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
