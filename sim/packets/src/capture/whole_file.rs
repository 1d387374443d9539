//! Files that appear when they are complete, or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// A file under a temporary name beside its own, until it is complete; dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct WholeFile {
    target: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl WholeFile {
    /// Starts a file. An existing one stays as it is until the new one is complete.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = target(path)?;
        let mut builder = temporary();
        // The permissions that any new file gets, and not those of a secret.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder(&target)).map_err(plain)?;
        Ok(Self {
            target,
            file: BufWriter::new(file),
        })
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> io::Result<()> {
        self.named(|_| Ok(()))
    }

    /// The same, when all of it is on the disk.
    pub fn finish_on_disk(self) -> io::Result<()> {
        self.named(File::sync_all)
    }

    fn named(self, before: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        before(file.as_file())?;
        file.persist(&self.target).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file that another library writes, in a folder of its own beside its place until it is complete; dropped before that,
/// it leaves nothing, and neither do files that the library makes beside it.
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

/// Names that nobody else uses.
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

/// The same without the temporary name, which nobody has asked for.
fn plain(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source());
    let code = inner
        .and_then(|inner| inner.downcast_ref())
        .and_then(io::Error::raw_os_error);
    code.map_or(error, io::Error::from_raw_os_error)
}

/// The file that a path leads to: renaming onto a link would replace the link, onto a device the device. What would keep
/// the file from its name in the end is found now.
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
    use super::{ForeignFile, WholeFile};
    use std::fs;
    use std::io::Write as _;

    #[test]
    fn what_is_not_complete_leaves_what_was_there() {
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

    #[test]
    fn a_name_that_no_file_can_have_is_refused_at_once() {
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
