//! A path at which somebody is listened to.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Listens at a path without ever waiting; the file is removed in the end.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
}

impl Listener {
    /// Listens at a path. A socket there that nobody listens to is replaced.
    ///
    /// # Errors
    /// If the path is taken by something else, or cannot be made.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && is_left_over(path) => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                let why = match is_socket(path) {
                    true => "somebody listens there already: end that, or name another path",
                    false => "there is something of that name that is no socket: name another path",
                };
                return Err(io::Error::new(ErrorKind::AddrInUse, why));
            }
            listener => listener.map_err(|error| explain(error, path))?,
        };
        listener.set_nonblocking(true)?;
        let path = path.to_owned();
        Ok(Self { listener, path })
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who has come, if somebody has.
    ///
    /// # Errors
    /// If the socket itself fails.
    pub fn accept(&self) -> io::Result<Option<UnixStream>> {
        match self.listener.accept() {
            Ok((stream, _)) => Ok(Some(stream)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Whoever removed it before us wanted the same.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What to do about a path at which no socket can be made.
fn explain(error: io::Error, path: &Path) -> io::Error {
    let folder = path.parent().unwrap_or(path).display();
    let why = match error.kind() {
        ErrorKind::NotFound => format!("there is no folder {folder}: make it, or name another path"),
        ErrorKind::NotADirectory => format!("{folder} is no folder: name another path"),
        ErrorKind::PermissionDenied => {
            format!("nothing may be made in {folder}: name a path in a folder of yours")
        }
        ErrorKind::InvalidInput => {
            "a socket's path has 107 bytes at most, none of them 0: name a shorter one".to_owned()
        }
        _ => return error,
    };
    io::Error::new(error.kind(), why)
}

/// Whether it is a socket that nobody listens to any more.
fn is_left_over(path: &Path) -> bool {
    is_socket(path)
        && UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

fn is_socket(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
}
