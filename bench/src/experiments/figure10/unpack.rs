//! What the host's own MPI takes to unpack, measured on this machine.

use super::{MESSAGES, Spec};
use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};
use spinneret_mpi::Layout;
use spinneret_mpi_sys::{Library, Mpi};
use spinneret_nic::mpi::PaperType;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Passes of which the best counts: the machine has other things to do, and the figure is to be the host's best.
const PASSES: usize = 100;
/// Compilers of the MPIs that are asked.
const COMPILERS: [&str; 2] = ["mpicc.openmpi", "mpicc.mpich"];

/// What one MPI takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Unpacking {
    /// What it calls itself.
    pub(super) library: String,
    /// For each type and length: the time of one message, if 16 are unpacked one after the other.
    times: Vec<(PaperType, u64, Duration)>,
}

impl Unpacking {
    /// All messages of a point, one after the other on one core.
    pub(super) fn of(&self, spec: &Spec) -> Option<Duration> {
        let is_it = |(kind, elements, _): &&(PaperType, u64, Duration)| {
            *kind == spec.kind && *elements == spec.elements
        };
        let (.., time) = self.times.iter().find(is_it)?;
        Some(*time * spec.messages as u32)
    }

    /// Bytes that it unpacks a second, in GB/s, for messages of a length.
    pub(super) fn rate(&self, kind: PaperType, elements: u64) -> Option<f64> {
        let spec = Spec {
            kind,
            window: 1,
            messages: 1,
            elements,
        };
        Some(spec.bytes() as f64 / self.of(&spec)?.as_secs_f64() / 1e9)
    }
}

/// Measures in this process, which can start one MPI only.
///
/// # Errors
/// If there is no such MPI, or it refuses.
pub(super) fn with(compiler: &Path) -> Result<Unpacking> {
    let mpi = Mpi::init_with(&Library::with(compiler, None)?)?;
    let mut times = Vec::new();
    for kind in PaperType::ALL {
        let tree = kind.datatype(&mpi)?.contents()?;
        ensure!(
            Layout::of(&tree, 1)? == kind.layout(1)?,
            "the {} type of this MPI is another one than ours",
            kind.name()
        );
        for elements in (2..=20).step_by(2) {
            times.push((kind, elements, unpack(&mpi, kind, elements)?));
        }
    }
    Ok(Unpacking {
        library: mpi.version()?.library,
        times,
    })
}

/// Messages lie in memory of their own, as the NIC would have left them.
fn unpack(mpi: &Mpi, kind: PaperType, elements: u64) -> Result<Duration> {
    let datatype = kind.datatype(mpi)?;
    let bounds = datatype.bounds()?;
    let count = elements as usize;
    let packed = vec![vec![7; bounds.size as usize * count]; MESSAGES];
    let mut memory = vec![vec![0; bounds.extent as usize * count]; MESSAGES];
    let mut best = Duration::MAX;
    for _ in 0..PASSES {
        let begun = Instant::now();
        for (packed, memory) in packed.iter().zip(&mut memory) {
            datatype.unpack(packed, &mut 0, memory, 0, count)?;
        }
        best = best.min(begun.elapsed());
    }
    Ok(best / MESSAGES as u32)
}

/// Measures with all MPIs of this machine, each in a process of its own. Those that are missing are left out, with a word of
/// why.
pub(super) fn everywhere(missing: impl Fn(&str, String)) -> Result<Vec<Unpacking>> {
    let program = std::env::current_exe()?;
    let measure = |compiler: &str| -> Result<Unpacking> {
        let output = Command::new(&program)
            .args(["experiments", "unpack", "--mpicc", compiler])
            .output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{}",
            errors.lines().next().unwrap_or_default()
        );
        serde_json::from_slice(&output.stdout).context("its figures cannot be read")
    };
    let mut found = Vec::new();
    for compiler in COMPILERS {
        match measure(compiler) {
            Ok(unpacking) => found.push(unpacking),
            Err(error) => missing(compiler, format!("{error:#}")),
        }
    }
    Ok(found)
}
