//! What can go wrong with a model.

use super::Direction;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong with a model.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No port has that name.
    #[error("{model} has no port `{port}`; its ports are {known}")]
    UnknownPort {
        /// Name of the model.
        model: &'static str,
        /// The name that was looked for.
        port: String,
        /// All names, separated by commas.
        known: String,
    },
    /// A port exists, but cannot be used for what it was meant for.
    #[error("port `{port}` of {model} {reason}")]
    UnfitPort {
        /// Name of the model.
        model: &'static str,
        /// Name of the port.
        port: String,
        /// In which way it does not fit, and what would.
        reason: String,
    },
    /// A value has ones beyond the port's width.
    #[error("port `{port}` of {model} is {width} bits wide: {value} does not fit")]
    TooWide {
        /// Name of the model.
        model: &'static str,
        /// Name of the port.
        port: &'static str,
        /// Width of the port in bits.
        width: usize,
        /// The value in hexadecimal, or a description of it.
        value: String,
    },
    /// The design cannot be simulated any further: it does not settle, or it called `$stop`.
    #[error("{model} cannot be simulated any further: {reason}")]
    Failed {
        /// Name of the model.
        model: &'static str,
        /// What the simulator says.
        reason: String,
    },
    /// A library is not what it should be.
    #[error("cannot load the model {}: {reason}", path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// What the loader says.
        reason: String,
    },
    /// The waveform cannot be written.
    #[error("cannot write the waveform {}: {source}", path.display())]
    Wave {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// There is no such part of the design.
    #[error("{model} has no instance or signal `{scope}`")]
    NoScope {
        /// Name of the model.
        model: &'static str,
        /// What was asked for.
        scope: String,
    },
}

impl ModelError {
    /// A port that goes the wrong way.
    pub(crate) fn wrong_direction(model: &'static str, port: &str, needed: Direction) -> Self {
        let reason = match needed {
            Direction::Input => "is an output of the design; an input is needed",
            Direction::Output => "is an input of the design; an output is needed",
        };
        Self::UnfitPort {
            model,
            port: port.to_owned(),
            reason: reason.to_owned(),
        }
    }
}
