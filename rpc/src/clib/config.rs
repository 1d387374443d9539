//! What an application allows, and gives.

use super::files::{Folder, Streams};
#[cfg(feature = "nic")]
use super::shown::Shown;
use super::stream::Output;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;

/// A function of the host that handlers call by its number. It gets the bytes of the arguments, runs on the server's thread,
/// and its result goes back.
pub type HostFunction = Box<dyn FnMut(&[u8]) -> u64>;

/// Memory that handlers take from the host in large pieces. Addresses are the device's, and only numbers here.
pub trait Heap {
    /// A piece of so many bytes, if there is one.
    fn allocate(&mut self, bytes: u64) -> Option<u64>;
    /// Takes a piece back, and says whether it was one.
    fn free(&mut self, address: u64) -> bool;
}

/// What may be done with files of the folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// They are read.
    #[default]
    Read,
    /// They are read, written and created.
    Write,
}

/// Calls that are off unless they are allowed one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// `remove`, inside of the folder.
    pub remove: bool,
    /// `rename`, inside of the folder.
    pub rename: bool,
    /// `system`: any command of the host's shell, with the rights of this process.
    pub system: bool,
    /// `exit`: [`Server::ended`](crate::Server::ended) tells it; the process goes on.
    pub exit: bool,
    /// `abort`, as `exit`.
    pub abort: bool,
}

/// Most of what a call may have. What is above is refused before memory is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a path or a command, with its NUL.
    pub path: usize,
    /// Bytes of a format, with its NUL.
    pub format: usize,
    /// Bytes that are written, read or printed by one call.
    pub stream: usize,
    /// Open files, at most 256.
    pub files: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            path: 1024,
            format: 4096,
            stream: 64 << 10,
            files: 64,
        }
    }
}

/// What an application allows, and gives. By default nothing is allowed but standard output and standard error of the
/// process, and standard input is empty.
pub struct Config {
    /// Where files are opened, and nowhere else. None are without it.
    pub folder: Option<PathBuf>,
    /// What may be done with them.
    pub access: Access,
    /// Calls that are off otherwise.
    pub permissions: Permissions,
    /// Most of what a call may have.
    pub limits: Limits,
    /// Standard input. It is read on another thread, so a call that waits for it holds no other one.
    pub input: Option<Box<dyn Read + Send>>,
    /// Standard output: [`Shown`](super::Shown) for people, or any `Write` for the bytes as they are. Writing must not block
    /// for long: all calls wait meanwhile.
    pub output: Box<dyn Output>,
    /// Standard error, likewise.
    pub errors: Box<dyn Output>,
    /// Functions of the host, by number.
    pub functions: HashMap<u64, HostFunction>,
    /// Where the device's heap comes from.
    pub heap: Option<Box<dyn Heap>>,
}

impl Config {
    /// What `spinneret run --services` allows: files of a folder, if there is one, also to be written, renamed and removed; `exit` and
    /// `abort`; and text at standard error, as it is [`Shown`].
    #[cfg(feature = "nic")]
    pub fn of_folder(folder: Option<PathBuf>) -> Self {
        let is_there = folder.is_some();
        Self {
            folder,
            access: Access::Write,
            permissions: Permissions {
                remove: is_there,
                rename: is_there,
                exit: true,
                abort: true,
                ..Permissions::default()
            },
            output: Box::new(Shown::new(io::stderr())),
            errors: Box::new(Shown::new(io::stderr())),
            ..Self::default()
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            folder: None,
            access: Access::default(),
            permissions: Permissions::default(),
            limits: Limits::default(),
            input: None,
            output: Box::new(io::stdout()),
            errors: Box::new(io::stderr()),
            functions: HashMap::new(),
            heap: None,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("folder", &self.folder)
            .field("access", &self.access)
            .field("permissions", &self.permissions)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// What calls use of the host, besides streams.
pub(super) struct Host {
    pub(super) folder: Option<PathBuf>,
    pub(super) functions: HashMap<u64, HostFunction>,
    pub(super) heap: Option<Box<dyn Heap>>,
}

impl Config {
    /// Opens the folder.
    pub(super) fn split(self) -> io::Result<(Streams, Host)> {
        let folder = match &self.folder {
            Some(path) => Some(Folder::open(path, self.access == Access::Write)?),
            None => None,
        };
        let streams = Streams {
            folder,
            input: self.input,
            output: self.output,
            errors: self.errors,
        };
        let host = Host {
            folder: self.folder,
            functions: self.functions,
            heap: self.heap,
        };
        Ok((streams, host))
    }
}
