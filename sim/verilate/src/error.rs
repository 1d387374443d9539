//! Why models cannot be built.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why models cannot be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Verilator is not on the search path.
    #[error(
        "spinneret needs Verilator to run its tests: run `./dev setup` in the project's root, which installs it."
    )]
    VerilatorMissing,
    /// Verilator is there but does not do what it is asked.
    #[error("`verilator {arguments}` failed: {output}")]
    VerilatorBroken {
        /// The arguments it was called with.
        arguments: String,
        /// What it printed.
        output: String,
    },
    /// No C++ compiler is on the search path.
    #[error("there is no C++ compiler for the models: run `./dev setup` in the project's root, or set CXX")]
    CompilerMissing,
    /// The C++ compiler cannot be started or does not tell its version.
    #[error("the C++ compiler `{program}` does not work: {output}; set CXX to another one")]
    CompilerBroken {
        /// The program, as it was called.
        program: String,
        /// What it or the operating system says.
        output: String,
    },
    /// Verilator refuses a design, be it for an error or for a warning.
    #[error("Verilator refuses model `{model}`:\n{output}")]
    Refused {
        /// Name of the model.
        model: String,
        /// Verilator's complaints.
        output: String,
    },
    /// The C++ compiler refuses what Verilator wrote.
    #[error("the C++ compiler refuses model `{model}`: {source}")]
    Compiler {
        /// Name of the model, or of the run-time library.
        model: String,
        /// What the `cc` crate says.
        source: cc::Error,
    },
    /// The C++ compiler refuses what Verilator wrote, or the linker what the compiler did.
    #[error("the C++ compiler refuses model `{model}`: {output}")]
    Compiled {
        /// Name of the model.
        model: String,
        /// What it prints.
        output: String,
    },
    /// A model is described in a way that cannot work.
    #[error("model `{model}` is not usable: {reason}")]
    Description {
        /// Name of the model.
        model: String,
        /// What is wrong and what to do about it.
        reason: String,
    },
    /// A file or folder of the build directory.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried: `write`, `create` and so on.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

/// Adds the file's name to what the operating system says.
pub(crate) trait FileContext<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, Error>;
}

impl<T> FileContext<T> for io::Result<T> {
    fn at(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, Error> {
        self.map_err(|source| Error::File {
            action,
            path: path.into(),
            source,
        })
    }
}
