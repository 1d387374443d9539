//! Files that appear when they are complete, or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

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
        let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".spinneret-").suffix(".tmp");
        // The permissions that any new file gets, and not those of a secret.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(directory.unwrap_or(Path::new(".")))?;
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

/// The file that a path leads to: renaming onto a link would replace the link, onto a device the device.
fn target(path: &Path) -> io::Result<PathBuf> {
    let Ok(metadata) = path.metadata() else {
        return match path.is_symlink() {
            true => Err(io::Error::other("it is a link that leads nowhere")),
            false => Ok(path.to_owned()),
        };
    };
    if !metadata.is_file() {
        return Err(io::Error::other("it exists and is not a regular file"));
    }
    path.canonicalize()
}
