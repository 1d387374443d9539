//! The calls of LLVM's libc.
//!
//! ```text
//!  calls/   the packets of each call, as they come and go
//!  format/  printf's formats, arguments and text
//!  files    streams by handle, files inside of one folder
//!  stream   what C says of a stream: end, error, bytes that were pushed back
//! ```
//!
//! What could harm the host is off unless [`Config`] allows it; what is refused is answered as a failure, so the handler goes
//! on, and counted by one of the names in [`refused`].

mod blocking;
mod calls;
mod config;
mod files;
mod format;
pub mod refused;
#[cfg(feature = "nic")]
mod shown;
mod stream;

pub use config::{Access, Config, Heap, HostFunction, Limits, Permissions};
#[cfg(feature = "nic")]
pub use shown::Shown;
pub use stream::Output;

use crate::layout::Version;
use crate::opcode;
use crate::server::{Answer, Call, Service, Way};
use calls::{files as file, print, process, streams};
use config::Host;
use files::Files;
use format::Dialect;
use std::cell::RefCell;
use std::fmt;
use std::io;
use std::rc::Rc;

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
    fn handles(&self, opcode: u32) -> Option<Way> {
        if opcode == opcode::PRINT {
            return Some(Way::Stepwise);
        }
        match opcode.wrapping_sub(opcode::NOOP) {
            // The default answer is none, which is right.
            0 => Some(Way::AtOnce),
            1..opcode::LIBC_CALLS => Some(Way::Stepwise),
            _ => None,
        }
    }

    fn call(self: Rc<Self>, call: Call) -> Answer {
        match call.opcode() {
            opcode::PRINT => Box::pin(print::print_short(self, call)),
            opcode::EXIT => Box::pin(process::exit(self, call)),
            opcode::ABORT => Box::pin(process::abort(self, call)),
            opcode::SYSTEM => Box::pin(process::system(self, call)),
            opcode::HOST_CALL => Box::pin(process::host_call(self, call)),
            opcode::MALLOC => Box::pin(process::malloc(self, call)),
            opcode::FREE => Box::pin(process::free(self, call)),
            opcode::WRITE_TO_STDOUT
            | opcode::WRITE_TO_STDERR
            | opcode::WRITE_TO_STREAM
            | opcode::WRITE_TO_STDOUT_NEWLINE => Box::pin(streams::write(self, call)),
            opcode::READ_FROM_STREAM => Box::pin(streams::read(self, call)),
            opcode::READ_FGETS => Box::pin(streams::line(self, call)),
            opcode::OPEN_FILE => Box::pin(file::open(self, call)),
            opcode::CLOSE_FILE => Box::pin(file::close(self, call)),
            opcode::REMOVE => Box::pin(file::remove(self, call)),
            opcode::RENAME => Box::pin(file::rename(self, call)),
            opcode::FEOF
            | opcode::FERROR
            | opcode::CLEARERR
            | opcode::FSEEK
            | opcode::FTELL
            | opcode::FFLUSH
            | opcode::UNGETC => Box::pin(streams::of_stream(self, call)),
            _ => Box::pin(print::print(self, call)),
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
