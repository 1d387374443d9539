//! The calls of LLVM's libc.
//!
//! ```text
//!  calls    the packets of each call, as they come and go
//!  format   printf's formats, arguments and text
//!  files    streams by handle, files inside of one folder
//!  stream   what C says of a stream: end, error, bytes that were pushed back
//! ```
//!
//! Everything that could harm the host is off unless [`Config`] allows it. The server answers a refused call with a
//! failure, so the handler continues, and counts it by one of the names in [`refused`].

use crate::layout::Version;
#[cfg(feature = "nic")]
use crate::nic::HPUS_OF_CLUSTER;
use crate::opcode;
use crate::server::{Answer, Call, CallMode, Service};
use files::{Files, Folder, Streams};
use format::Dialect;
#[cfg(feature = "nic")]
use spinneret_host::{Lines, Printed};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
#[cfg(feature = "nic")]
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::rc::Rc;

mod calls;
mod files;
mod format;
mod stream;

pub use calls::TestCalls;
pub use stream::Output;

/// The calls of LLVM's libc, as a service for [`opcode::LIBC`]; for [`opcode::SPINNERET`] that of our own `printf`.
pub struct Libc {
    files: RefCell<Files>,
    host: RefCell<Host>,
    permissions: Permissions,
    limits: Limits,
    dialect: Dialect,
}

impl Libc {
    /// The calls, as far as they are allowed. The version is that of the layout that clients use.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn new(version: Version, config: Config) -> io::Result<Self> {
        let (permissions, limits) = (config.permissions, config.limits);
        let (streams, host) = config.split()?;
        Ok(Self {
            files: RefCell::new(Files::new(streams, limits.files)),
            host: RefCell::new(host),
            permissions,
            limits,
            dialect: match version {
                Version::V22 => Dialect::Llvm,
                Version::V23 => Dialect::Gnu,
            },
        })
    }

    /// Hands on what is kept of standard output and standard error, as lines without an end are. Dropping this does the same.
    pub fn flush(&self) {
        self.files.borrow_mut().flush();
    }
}

impl Service for Libc {
    fn handles(&self, opcode: u32) -> Option<CallMode> {
        if opcode == opcode::PRINT {
            return Some(CallMode::Async);
        }
        match opcode.wrapping_sub(opcode::NOOP) {
            // The default answer is none, which is right.
            0 => Some(CallMode::Immediate),
            1..opcode::LIBC_CALLS => Some(CallMode::Async),
            _ => None,
        }
    }

    fn call(self: Rc<Self>, call: Call) -> Answer {
        match call.opcode() {
            opcode::PRINT => Box::pin(calls::print_short(self, call)),
            opcode::EXIT => Box::pin(calls::exit(self, call)),
            opcode::ABORT => Box::pin(calls::abort(self, call)),
            opcode::SYSTEM => Box::pin(calls::system(self, call)),
            opcode::HOST_CALL => Box::pin(calls::host_call(self, call)),
            opcode::MALLOC => Box::pin(calls::malloc(self, call)),
            opcode::FREE => Box::pin(calls::free(self, call)),
            opcode::WRITE_TO_STDOUT
            | opcode::WRITE_TO_STDERR
            | opcode::WRITE_TO_STREAM
            | opcode::WRITE_TO_STDOUT_NEWLINE => Box::pin(calls::write(self, call)),
            opcode::READ_FROM_STREAM => Box::pin(calls::read(self, call)),
            opcode::READ_FGETS => Box::pin(calls::line(self, call)),
            opcode::OPEN_FILE => Box::pin(calls::open(self, call)),
            opcode::CLOSE_FILE => Box::pin(calls::close(self, call)),
            opcode::REMOVE => Box::pin(calls::remove(self, call)),
            opcode::RENAME => Box::pin(calls::rename(self, call)),
            opcode::FEOF
            | opcode::FERROR
            | opcode::CLEARERR
            | opcode::FSEEK
            | opcode::FTELL
            | opcode::FFLUSH
            | opcode::UNGETC => Box::pin(calls::of_stream(self, call)),
            _ => Box::pin(calls::print(self, call)),
        }
    }
}

impl fmt::Debug for Libc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Libc")
            .field("permissions", &self.permissions)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

// Permissions and resources of an application.

/// A function of the host that handlers call by its number. It gets the bytes of the arguments, runs on the server's thread,
/// and its result goes back.
pub type HostFunction = Box<dyn FnMut(&[u8]) -> u64>;

/// Memory that handlers take from the host in large pieces. Addresses are the device's, and only numbers here.
pub trait Heap {
    /// Allocates `bytes` bytes, if there is such a piece.
    fn allocate(&mut self, bytes: u64) -> Option<u64>;
    /// Takes a piece back, and says whether it was one.
    fn free(&mut self, address: u64) -> bool;
}

/// Access to the files of the folder.
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

/// Limits of a call. The server refuses more than that before it allocates memory.
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

/// The configuration of [`Libc`]. By default nothing is allowed but standard output and standard error of the
/// process, and standard input is empty.
pub struct Config {
    /// Where files are opened, and nowhere else. None are without it.
    pub folder: Option<PathBuf>,
    /// The access to them.
    pub access: Access,
    /// Calls that are off otherwise.
    pub permissions: Permissions,
    /// Most of what a call may have.
    pub limits: Limits,
    /// Standard input. It is read on another thread, so a call that waits for it holds no other one.
    pub input: Option<Box<dyn Read + Send>>,
    /// Standard output: [`TerminalOutput`] for people, or any `Write` for the bytes as they are. Writing must not block
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
    /// The permissions of `spinneret run --services`: files of a folder, if there is one, also to be written, renamed
    /// and removed; `exit` and `abort`; and text at standard error, as [`TerminalOutput`] writes it.
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
            output: Box::new(TerminalOutput::new(io::stderr())),
            errors: Box::new(TerminalOutput::new(io::stderr())),
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

/// Host resources of calls besides streams.
struct Host {
    folder: Option<PathBuf>,
    functions: HashMap<u64, HostFunction>,
    heap: Option<Box<dyn Heap>>,
}

impl Config {
    /// Opens the folder.
    fn split(self) -> io::Result<(Streams, Host)> {
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

/// Refusals of the calls of libc, besides those of every service.
pub mod refused {
    use crate::server::Refusal;

    /// The application has not allowed the call.
    pub const NOT_ALLOWED: Refusal = Refusal::new("not allowed");
    /// No open stream has this handle.
    pub const HANDLE: Refusal = Refusal::new("no such stream");
    /// A path leads out of the folder.
    pub const OUTSIDE: Refusal = Refusal::new("outside of the folder");
    /// A path has no end.
    pub const PATH: Refusal = Refusal::new("no path");
    /// A mode of `fopen` that C does not have.
    pub const MODE: Refusal = Refusal::new("no such mode");
    /// The path names something that is no regular file.
    pub const NO_FILE: Refusal = Refusal::new("not a regular file");
    /// Too many files are open already.
    pub const FILES: Refusal = Refusal::new("too many files");
    /// A standard stream cannot be closed.
    pub const STANDARD: Refusal = Refusal::new("standard stream");
    /// Text of `printf` would be longer than it may be.
    pub const WIDE: Refusal = Refusal::new("text too long");
    /// No function of the host has this number.
    pub const FUNCTION: Refusal = Refusal::new("no such function");
    /// A call says that it has more than it sent.
    pub const SHORT: Refusal = Refusal::new("cut short");
}

// Text of handlers for people.

/// Output of handlers for a terminal, in lines with the HPU as prefix: `[1.3] text`. Control characters are escaped, so a
/// handler can neither control the terminal nor forge lines of other handlers or of the program. An unfinished line is
/// written when the handler flushes it, or at the end.
///
/// Each HPU has one port here, as [`Offer`](crate::Offer) has it by default.
#[cfg(feature = "nic")]
pub struct TerminalOutput<W: Write> {
    writer: W,
    lines: Lines,
}

#[cfg(feature = "nic")]
impl<W: Write> TerminalOutput<W> {
    /// Writes lines to a writer.
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            lines: Lines::default(),
        }
    }

    /// Whole lines are written at once, so that others' do not come between.
    fn show(&mut self, lines: &[Printed]) -> io::Result<()> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.writer.write_all(text.as_bytes())?;
        self.writer.flush()
    }
}

#[cfg(feature = "nic")]
impl<W: Write> Output for TerminalOutput<W> {
    fn write_of(&mut self, port: u32, text: &[u8]) -> io::Result<usize> {
        let hpu = (port / HPUS_OF_CLUSTER) << 16 | (port % HPUS_OF_CLUSTER) << 8;
        let words = text.iter().map(|character| hpu | u32::from(*character));
        let lines: Vec<Printed> = words.filter_map(|word| self.lines.word(word)).collect();
        if !lines.is_empty() {
            self.show(&lines)?;
        }
        Ok(text.len())
    }

    fn flush_of(&mut self, port: Option<u32>) -> io::Result<()> {
        let begun = match port {
            Some(port) => {
                let [cluster, hpu] = [port / HPUS_OF_CLUSTER, port % HPUS_OF_CLUSTER];
                self.lines.rest_of(cluster, hpu).into_iter().collect()
            }
            None => self.lines.rest(),
        };
        self.show(&begun)
    }
}

#[cfg(feature = "nic")]
impl<W: Write> fmt::Debug for TerminalOutput<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalOutput")
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}
