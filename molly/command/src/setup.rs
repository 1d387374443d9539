//! A program with its numbers.

use molly::{Geometry, Options};
use spinneret_host::Program;
use std::path::PathBuf;
use std::time::Duration;

/// A program with sizes and a grid.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) shape: Vec<i64>,
    pub(crate) steps: i64,
    pub(crate) geometry: Geometry,
    pub(crate) options: Options,
    /// NICs of ranks under MPI.
    pub(crate) nics: Option<NicSetup>,
    /// How long messages between threads take at least.
    pub(crate) latency: Duration,
    /// Runs; the time is their median, without the first one if there are several.
    pub(crate) repeats: u32,
}

/// The NICs of a fabric.
#[derive(Debug, Clone)]
pub(crate) struct NicSetup {
    /// Where their sockets are.
    pub(crate) folder: PathBuf,
    /// The handlers for them.
    pub(crate) program: Program,
}
