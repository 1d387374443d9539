//! Files that appear when they are complete, or not at all.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat};
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::{TempDir, TempPath};

/// The open files of this process, by their descriptors.
const OPEN_FILES: &str = "/proc/self/fd";
/// Permissions of a new file, restricted by the process's umask.
const PERMISSIONS: u32 = 0o666;

/// A file without a name until it is complete; dropped before that, or killed, it leaves nothing.
///
/// Where unnamed files are not supported, a temporary file next to the target is used; a killed process leaves it.
#[derive(Debug)]
pub struct WholeFile {
    target: PathBuf,
    file: BufWriter<File>,
    /// The temporary name, if the file needs one.
    name: Option<TempPath>,
}

impl WholeFile {
    /// Starts a file. An existing one stays as it is until the new one is complete.
    ///
    /// # Errors
    /// If `path` cannot be the name of the file, or nothing can be created in its folder.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = target(path)?;
        let (file, name) = match unnamed(folder(&target)) {
            Some(file) => (file, None),
            None => named(folder(&target))?,
        };
        Ok(Self {
            target,
            file: BufWriter::new(file),
            name,
        })
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the rest cannot be written, or something else than a file has the name now.
    pub fn finish(self) -> io::Result<()> {
        self.complete(|_| Ok(()))
    }

    /// The same, after all data is on the disk.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_on_disk(self) -> io::Result<()> {
        self.complete(File::sync_all)
    }

    fn complete(self, before: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        before(&file)?;
        let name = match self.name {
            Some(name) => name,
            None => match link(&file, &self.target) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    // A link replaces nothing, a renamed file does.
                    let linked = temporary().make_in(folder(&self.target), |name| link(&file, name));
                    linked.map_err(plain)?.into_temp_path()
                }
                linked => return linked,
            },
        };
        name.persist(&self.target).map_err(|error| error.error)
    }
}

/// Creates an unnamed file in the folder, if supported.
fn unnamed(folder: &Path) -> Option<File> {
    // It gets its name through this folder.
    if !Path::new(OPEN_FILES).is_dir() {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder, flags, Mode::from_raw_mode(PERMISSIONS)).ok()?;
    Some(file.into())
}

/// A file of the folder under a temporary name.
fn named(folder: &Path) -> io::Result<(File, Option<TempPath>)> {
    let mut builder = temporary();
    builder.permissions(Permissions::from_mode(PERMISSIONS));
    let (file, name) = builder.tempfile_in(folder).map_err(plain)?.into_parts();
    Ok((file, Some(name)))
}

/// Gives an unnamed file a unique name.
fn link(file: &File, name: &Path) -> io::Result<()> {
    let open = format!("{OPEN_FILES}/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file that another library writes, in a temporary folder next to its place. Dropping it before completion leaves
/// nothing.
#[derive(Debug)]
pub struct ForeignFile {
    target: PathBuf,
    folder: TempDir,
}

impl ForeignFile {
    /// A place for a file. An existing one stays as it is until the new one is complete.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = target(path)?;
        let folder = temporary().tempdir_in(folder(&target)).map_err(plain)?;
        Ok(Self { target, folder })
    }

    /// Where it is written.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("file")
    }

    /// Gives the file its name.
    pub fn finish(self) -> io::Result<()> {
        std::fs::rename(self.path(), &self.target)?;
        self.folder.close()
    }
}

/// Unique names.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".spinneret-").suffix(".tmp");
    builder
}

/// The folder of a file.
fn folder(target: &Path) -> &Path {
    let folder = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The same without the temporary name, which users do not know.
fn plain(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source());
    let code = inner
        .and_then(|inner| inner.downcast_ref())
        .and_then(io::Error::raw_os_error);
    code.map_or(error, io::Error::from_raw_os_error)
}

/// Checks that a file of this name can be written: it is none, or a regular file, in a folder that exists.
///
/// # Errors
/// If it cannot.
pub fn check(path: &Path) -> io::Result<()> {
    target(path).map(drop)
}

/// Returns the file that a path leads to: renaming onto a link would replace the link. Problems that would prevent
/// the rename are reported now.
fn target(path: &Path) -> io::Result<PathBuf> {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => path.canonicalize(),
        Ok(_) => Err(io::Error::other("it exists and is not a regular file")),
        Err(_) if path.is_symlink() => Err(io::Error::other("it is a link that leads nowhere")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) if path.as_os_str().as_encoded_bytes().ends_with(b"/") => {
            Err(io::Error::other("it is the name of a folder"))
        }
        Err(_) if !folder(path).is_dir() => Err(io::Error::other("there is no such folder")),
        Err(_) => Ok(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ForeignFile, WholeFile, folder, named, unnamed};
    use std::fs;
    use std::io::{BufWriter, Write as _};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    /// Files of a folder, those without a name not among them.
    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).expect("it is ours").count()
    }

    #[test]
    fn an_incomplete_file_leaves_the_old_one() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("file");
        fs::write(&path, "old").expect("there is room");
        let mut whole = WholeFile::create(&path).expect("there is room");
        whole.write_all(b"new").expect("there is room");
        drop(whole);
        let foreign = ForeignFile::create(&path).expect("there is room");
        fs::write(foreign.path(), "new").expect("there is room");
        fs::write(foreign.path().with_extension("hier"), "names").expect("there is room");
        drop(foreign);
        assert_eq!(fs::read(&path).expect("it is there"), b"old");
        let foreign = ForeignFile::create(&path).expect("there is room");
        fs::write(foreign.path(), "new").expect("there is room");
        fs::write(foreign.path().with_extension("hier"), "names").expect("there is room");
        foreign.finish().expect("there is room");
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert_eq!(fs::read_dir(folder.path()).expect("it is ours").count(), 1);
    }

    /// The same file under a temporary name, as on a file system where each file has one.
    fn with_name(path: &Path) -> WholeFile {
        let (file, name) = named(folder(path)).expect("there is room");
        WholeFile {
            target: path.to_owned(),
            file: BufWriter::new(file),
            name,
        }
    }

    #[test]
    fn a_file_appears_only_when_it_is_complete() {
        type Create = fn(&Path) -> WholeFile;
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("file");
        let has_unnamed = unnamed(folder.path()).is_some();
        let creates: [Create; 2] = [|path| WholeFile::create(path).expect("there is room"), with_name];
        for (create, begun) in creates.into_iter().zip([usize::from(!has_unnamed), 1]) {
            // The second one replaces the first.
            for (text, before) in [("first", 0), ("second", 1)] {
                let mut whole = create(&path);
                whole.write_all(text.as_bytes()).expect("there is room");
                assert_eq!(entries(folder.path()), before + begun);
                whole.finish_on_disk().expect("there is room");
                assert_eq!(entries(folder.path()), 1);
                assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
            }
            let other = folder.path().join("other");
            fs::write(&other, "").expect("there is room");
            let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode();
            assert_eq!(mode(&path), mode(&other), "as any new file");
            // A folder that takes the name meanwhile stays, and nothing else does.
            fs::remove_file(&path).expect("it is ours");
            fs::remove_file(&other).expect("it is ours");
            let whole = create(&path);
            fs::create_dir(&path).expect("there is room");
            whole.finish().expect_err("a folder has its name");
            assert_eq!(entries(folder.path()), 1);
            fs::remove_dir(&path).expect("it is ours");
        }
    }

    #[test]
    fn invalid_file_names_are_rejected_at_once() {
        let folder = tempfile::tempdir().expect("there is room");
        fs::write(folder.path().join("file"), "").expect("there is room");
        std::os::unix::fs::symlink("nothing", folder.path().join("link")).expect("there is room");
        let long = "x".repeat(256);
        for (name, said) in [
            ("", "it exists and is not a regular file"),
            ("link", "it is a link that leads nowhere"),
            ("file/", "Not a directory"),
            ("file/more", "Not a directory"),
            ("folder/", "it is the name of a folder"),
            ("folder/file", "there is no such folder"),
            (long.as_str(), "File name too long"),
        ] {
            let path = folder.path().join(name);
            let whole = WholeFile::create(&path).expect_err(name).to_string();
            let foreign = ForeignFile::create(&path).expect_err(name).to_string();
            assert!(whole.starts_with(said), "{name}: {whole}");
            assert_eq!(whole, foreign, "{name}");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("it is ours").count(), 2);
    }
}
