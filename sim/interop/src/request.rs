//! What `./dev interop` is asked for.

use clap::ValueEnum;
use std::path::PathBuf;

/// A part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Step {
    /// Overlay and file lists of every card
    Cards,
    /// The real fpga_core, elaborated with our block and the cluster
    Core,
    /// What instructions and accesses cost
    Costs,
    /// What answers where
    Accesses,
    /// Locks and atomic operations with all HPUs at once
    Locks,
    /// Four contexts at once, with host memory and standard output
    Contexts,
    /// The example handlers: times, and 1000 packets each
    Examples,
    /// The public example handlers, built from their own Makefiles
    Public,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Request {
    /// Checkout of FPsPIN.
    pub fpspin: PathBuf,
    /// Checkout of Corundum.
    pub corundum: Option<PathBuf>,
    /// Steps; all if empty.
    pub steps: Vec<Step>,
    /// Names of examples; all if empty.
    pub examples: Vec<String>,
    /// Packets of all sizes for each example.
    pub packets: usize,
    /// Whether results are kept.
    pub record: bool,
}
