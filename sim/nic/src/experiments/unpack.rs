//! What the host's own MPI takes to unpack, measured on this machine.

use super::ExperimentError;
use super::figure10::{MESSAGES, Spec};
use crate::mpi::PaperType;
use serde::{Deserialize, Serialize};
use spinneret_mpi::Layout;
use spinneret_mpi_sys::{Library, Mpi};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Passes of which the best counts: the machine has other things to do, and the figure is to be the host's best.
const PASSES: usize = 100;
/// Compilers of the MPIs that are asked.
const COMPILERS: [&str; 2] = ["mpicc.openmpi", "mpicc.mpich"];

/// What one MPI takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Unpacking {
    /// What it calls itself.
    pub library: String,
    /// For each type and length: the time of one message, if 16 are unpacked one after the other.
    pub times: Vec<(PaperType, u64, Duration)>,
}

impl Unpacking {
    /// All messages of a point, one after the other on one core.
    pub fn of(&self, spec: &Spec) -> Option<Duration> {
        let is_it = |(kind, elements, _): &&(PaperType, u64, Duration)| {
            *kind == spec.kind && *elements == spec.elements
        };
        let (.., time) = self.times.iter().find(is_it)?;
        Some(*time * spec.messages as u32)
    }

    /// Bytes that it unpacks a second, in GB/s, for messages of a length.
    pub fn rate(&self, kind: PaperType, elements: u64) -> Option<f64> {
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
pub fn unpack_with(compiler: &Path) -> Result<Unpacking, ExperimentError> {
    let wrong = |error: spinneret_mpi_sys::Error| ExperimentError::Wrong(error.to_string());
    let mpi = Mpi::init_with(&Library::with(compiler, None).map_err(wrong)?).map_err(wrong)?;
    let mut times = Vec::new();
    for kind in PaperType::ALL {
        let tree = kind
            .datatype(&mpi)
            .and_then(|datatype| datatype.contents())
            .map_err(wrong)?;
        if Layout::of(&tree, 1)? != kind.layout(1)? {
            let name = kind.name();
            return Err(ExperimentError::Wrong(format!(
                "the {name} type of this MPI is another one than ours"
            )));
        }
        for elements in (2..=20).step_by(2) {
            times.push((kind, elements, unpack(&mpi, kind, elements).map_err(wrong)?));
        }
    }
    Ok(Unpacking {
        library: mpi.version().map_err(wrong)?.library,
        times,
    })
}

/// Messages lie in memory of their own, as the NIC would have left them.
fn unpack(mpi: &Mpi, kind: PaperType, elements: u64) -> Result<Duration, spinneret_mpi_sys::Error> {
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

/// Measures with all MPIs of this machine, each in a process of its own: that of a program which prints what
/// [`unpack_with`] gives, as JSON, for `unpack --mpicc COMPILER`. Those that are missing are left out, with a word of
/// why.
pub fn unpack_everywhere(program: &Path, mut missing: impl FnMut(&str, String)) -> Vec<Unpacking> {
    let mut found = Vec::new();
    for compiler in COMPILERS {
        let output = Command::new(program)
            .args(["unpack", "--mpicc", compiler])
            .output();
        match output {
            Ok(output) if output.status.success() => match serde_json::from_slice(&output.stdout) {
                Ok(unpacking) => found.push(unpacking),
                Err(error) => missing(compiler, error.to_string()),
            },
            Ok(output) => {
                let words = String::from_utf8_lossy(&output.stderr);
                missing(compiler, words.lines().next().unwrap_or_default().to_owned());
            }
            Err(error) => missing(compiler, error.to_string()),
        }
    }
    found
}
