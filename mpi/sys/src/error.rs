//! Errors.

use crate::Family;
use std::fmt;
use std::path::PathBuf;

/// An error: what failed, where, and what to do.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No MPI compiler was found.
    #[error(
        "there is no MPI here, looked for {}: install one (Debian: openmpi-bin and libopenmpi-dev, or mpich and \
         libmpich-dev), or name its C compiler in SPINNERET_MPICC",
        tried.join(" and ")
    )]
    NoCompiler {
        /// The names that were looked for.
        tried: Vec<String>,
    },
    /// The compiler failed.
    #[error(
        "{} does not compile the layer over MPI: {output}; if it is not the C compiler of an MPI, name that in \
         SPINNERET_MPICC",
        compiler.display()
    )]
    Compiler {
        /// Its path.
        compiler: PathBuf,
        /// Its output.
        output: String,
    },
    /// Neither the cache nor a temporary folder could be written.
    #[error("cannot write the layer over MPI into {}: {source}; set TMPDIR to a folder that can be written", folder.display())]
    Folder {
        /// The last folder that was tried.
        folder: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The compiled layer does not load.
    #[error(
        "the layer over MPI that {} made does not load: {reason}; is the MPI library of this compiler installed \
         completely?",
        compiler.display()
    )]
    Load {
        /// The compiler it was made with.
        compiler: PathBuf,
        /// The message of the loader.
        reason: String,
    },
    /// The process has another MPI already.
    #[error(
        "this process already has another MPI than that of {}: name the C compiler of its own MPI in SPINNERET_MPICC",
        compiler.display()
    )]
    OtherLibrary {
        /// The compiler of the MPI that was to be used.
        compiler: PathBuf,
    },
    /// MPI was started before.
    #[error("MPI was started in this process already, and cannot be started twice: keep the first one")]
    Again,
    /// There is nothing to attach to.
    #[error("MPI does not run in this process: the program has to call MPI_Init first, or use Mpi::init")]
    NotRunning,
    /// The launcher and the library do not belong together.
    #[error(
        "the launcher of {launcher} started {launched} ranks, but each is alone in its MPI, which is {library}: name \
         the mpicc of the launcher's MPI in SPINNERET_MPICC, or use the mpirun of this one"
    )]
    Mismatch {
        /// The kind of launcher.
        launcher: Family,
        /// How many ranks it started.
        launched: usize,
        /// The name of the library.
        library: String,
    },
    /// MPI refused a call.
    #[error("{call} failed: {text} ({class})")]
    Call {
        /// MPI's function.
        call: &'static str,
        /// The kind of error.
        class: Class,
        /// MPI's own words.
        text: String,
    },
    /// A message does not fit.
    #[error(
        "a message{} does not fit into the {fits} B of its receive: make the buffer larger, or use recv_any",
        bytes.map_or(String::new(), |bytes| format!(" of {bytes} B"))
    )]
    Truncated {
        /// How many bytes there is room for.
        fits: usize,
        /// How long the message is, if this MPI says it.
        bytes: Option<u64>,
    },
    /// A number that MPI cannot be given.
    #[error("{what} is {value}, and MPI takes {limit} at most: use several smaller calls")]
    TooMany {
        /// The quantity that it counts.
        what: &'static str,
        /// The number.
        value: u64,
        /// The largest that can be given.
        limit: u64,
    },
    /// Arguments that do not belong together.
    #[error("{call}: {reason}")]
    Argument {
        /// Our function.
        call: &'static str,
        /// The fault, and the correct form.
        reason: String,
    },
}

/// Same as `Display`, because a program whose `main` returns the error prints this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// The kind of MPI's error, if it is one of MPI's.
    pub fn class(&self) -> Option<Class> {
        match self {
            Self::Call { class, .. } => Some(*class),
            Self::Truncated { .. } => Some(Class::Truncate),
            _ => None,
        }
    }
}

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The kinds of MPI's errors, which every MPI numbers in its own way.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Class {
            $($(#[$doc])* $name,)*
        }

        impl Class {
            /// In the order of the table in `shim/world.c`.
            const ALL: &[Self] = &[$(Self::$name,)*];

            /// MPI's name of it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

classes! {
    /// An error that is not one of the others.
    Unlisted = "an error class that this MPI adds",
    /// A buffer that is none.
    Buffer = "MPI_ERR_BUFFER",
    /// A count that is none.
    Count = "MPI_ERR_COUNT",
    /// A datatype that is none, or is not committed.
    Type = "MPI_ERR_TYPE",
    /// A tag that is none.
    Tag = "MPI_ERR_TAG",
    /// A communicator that is none.
    Comm = "MPI_ERR_COMM",
    /// A rank that is not there.
    Rank = "MPI_ERR_RANK",
    /// A request that is none.
    Request = "MPI_ERR_REQUEST",
    /// A root that is not there.
    Root = "MPI_ERR_ROOT",
    /// A group that is none.
    Group = "MPI_ERR_GROUP",
    /// An operation that is none.
    Op = "MPI_ERR_OP",
    /// Another wrong argument.
    Arg = "MPI_ERR_ARG",
    /// A message that is longer than its buffer.
    Truncate = "MPI_ERR_TRUNCATE",
    /// An error whose text says more.
    Other = "MPI_ERR_OTHER",
    /// A failure inside of MPI.
    Intern = "MPI_ERR_INTERN",
    /// The errors are in the statuses.
    InStatus = "MPI_ERR_IN_STATUS",
    /// Neither done nor failed.
    Pending = "MPI_ERR_PENDING",
    /// Memory is short.
    NoMem = "MPI_ERR_NO_MEM",
    /// MPI does not know either.
    Unknown = "MPI_ERR_UNKNOWN",
}

impl Class {
    pub(crate) fn from_number(number: i32) -> Self {
        let index = usize::try_from(number).unwrap_or(0);
        Self::ALL.get(index).copied().unwrap_or(Self::Unlisted)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A number as MPI's `int`.
pub(crate) fn int(what: &'static str, value: usize) -> Result<i32, Error> {
    i32::try_from(value).map_err(|_| Error::TooMany {
        what,
        value: value as u64,
        limit: i32::MAX as u64,
    })
}
