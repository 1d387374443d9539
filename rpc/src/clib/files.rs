//! Streams by handle, and files inside of one folder.

use super::refused;
use super::stream::{Kind, Output, Source, Stream};
use crate::handle::Handles;
use crate::server::Refusal;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The kind of file handles.
const KIND: u32 = 1;

/// The low two bits of a stream's handle.
const TAG: u64 = 3;

/// Why a file is not opened, removed or renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// An error of the system, which is no refusal of the service.
    System,
    Refused(Refusal),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // A path that leads outside is found by the library, not by the system.
        match error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
            true => Self::Refused(refused::OUTSIDE),
            false => Self::System,
        }
    }
}

/// A folder that no path leads out of: neither an absolute one, nor one with `..`, nor one over a link.
#[derive(Debug)]
pub(super) struct Folder {
    dir: Dir,
    is_writable: bool,
}

/// A mode of `fopen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mode {
    first: u8,
    is_update: bool,
    is_exclusive: bool,
}

impl Mode {
    /// A mode, up to its NUL: a first letter, then `+`, `b`, `e`, `x` in any order.
    fn parse(text: &[u8]) -> Option<Self> {
        let end = text.iter().position(|byte| *byte == 0)?;
        let (&first, rest) = text[..end].split_first()?;
        let is_known = matches!(first, b'r' | b'w' | b'a')
            && rest.iter().all(|byte| matches!(byte, b'+' | b'b' | b'e' | b'x'));
        is_known.then(|| Self {
            first,
            is_update: rest.contains(&b'+'),
            is_exclusive: rest.contains(&b'x'),
        })
    }

    fn writes(self) -> bool {
        self.first != b'r' || self.is_update
    }
}

impl Folder {
    pub(super) fn open(path: &Path, is_writable: bool) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self { dir, is_writable })
    }

    fn open_file(&self, path: &Path, mode: Mode) -> Result<Stream, Failure> {
        if mode.writes() && !self.is_writable {
            return Err(Failure::Refused(refused::NOT_ALLOWED));
        }
        let mut options = OpenOptions::new();
        options
            .read(mode.first == b'r' || mode.is_update)
            .write(mode.writes() && mode.first != b'a')
            .append(mode.first == b'a')
            .truncate(mode.first == b'w' && !mode.is_exclusive)
            .create(mode.first != b'r')
            .create_new(mode.first != b'r' && mode.is_exclusive)
            // A pipe without a peer must not block the server.
            .custom_flags(OFlags::NONBLOCK.bits() as i32);
        let file = self.dir.open_with(path, &options)?;
        match file.metadata()?.is_file() {
            true => Ok(Stream::new(Kind::File(file))),
            false => Err(Failure::Refused(refused::NO_FILE)),
        }
    }

    /// A file, or a folder that is empty.
    fn remove(&self, path: &Path) -> io::Result<()> {
        match self.dir.symlink_metadata(path)?.is_dir() {
            true => self.dir.remove_dir(path),
            false => self.dir.remove_file(path),
        }
    }
}

/// The parts of the standard streams and of the folder.
pub(super) struct Streams {
    pub(super) folder: Option<Folder>,
    pub(super) input: Option<Box<dyn Read + Send>>,
    pub(super) output: Box<dyn Output>,
    pub(super) errors: Box<dyn Output>,
}

/// All streams of a server.
pub(super) struct Files {
    folder: Option<Folder>,
    standard: [Stream; 3],
    open: Handles<Stream>,
}

/// Standard output and standard error, as a client names them by the low bits.
pub(super) const STDOUT: u64 = 2;
pub(super) const STDERR: u64 = 3;

impl Files {
    pub(super) fn new(streams: Streams, most: usize) -> Self {
        let standard = [
            Kind::Input(Source::new(streams.input)),
            Kind::Output(streams.output),
            Kind::Output(streams.errors),
        ];
        Self {
            folder: streams.folder,
            standard: standard.map(Stream::new),
            open: Handles::new(KIND, most.min(crate::handle::MOST)),
        }
    }

    /// The stream that a client names. The bits above a tag are the client's and mean nothing here.
    pub(super) fn stream(&mut self, name: u64) -> Option<&mut Stream> {
        match (name & TAG) as usize {
            0 => self.open.get_mut(name),
            tag => self.standard.get_mut(tag - 1),
        }
    }

    /// Opens a file and gives its handle.
    pub(super) fn open(&mut self, path: &[u8], mode: &[u8]) -> Result<u32, Failure> {
        let folder = self
            .folder
            .as_ref()
            .ok_or(Failure::Refused(refused::NOT_ALLOWED))?;
        let mode = Mode::parse(mode).ok_or(Failure::Refused(refused::MODE))?;
        if !self.open.has_room() {
            return Err(Failure::Refused(refused::FILES));
        }
        let stream = folder.open_file(as_path(path)?, mode)?;
        self.open.insert(stream).ok_or(Failure::Refused(refused::FILES))
    }

    /// Closes a file.
    pub(super) fn close(&mut self, name: u64) -> Result<(), Failure> {
        if name & TAG != 0 {
            return Err(Failure::Refused(refused::STANDARD));
        }
        let mut stream = self.open.remove(name).ok_or(Failure::Refused(refused::HANDLE))?;
        match stream.flush(None) {
            true => Ok(()),
            false => Err(Failure::System),
        }
    }

    /// Removes a file or an empty folder.
    pub(super) fn remove(&self, path: &[u8]) -> Result<(), Failure> {
        self.writable()?.remove(as_path(path)?)?;
        Ok(())
    }

    /// Renames a file or a folder.
    pub(super) fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Failure> {
        let folder = &self.writable()?.dir;
        folder.rename(as_path(from)?, folder, as_path(to)?)?;
        Ok(())
    }

    /// Flushes the standard streams, of all ports.
    pub(super) fn flush(&mut self) {
        for stream in &mut self.standard {
            stream.flush(None);
        }
    }

    fn writable(&self) -> Result<&Folder, Failure> {
        let folder = self.folder.as_ref().filter(|folder| folder.is_writable);
        folder.ok_or(Failure::Refused(refused::NOT_ALLOWED))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.flush();
    }
}

/// A path, up to its NUL.
fn as_path(bytes: &[u8]) -> Result<&Path, Failure> {
    let end = bytes.iter().position(|byte| *byte == 0);
    let end = end.ok_or(Failure::Refused(refused::PATH))?;
    Ok(Path::new(OsStr::from_bytes(&bytes[..end])))
}
