//! A program with its numbers, and whether it can run here.

use crate::failure::Failure;
use anyhow::anyhow;
use molly::mpi::Mpi;
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

impl Setup {
    /// Whether so many copies of its fields have room here, before anything is planned.
    pub(crate) fn check_room(
        &self,
        element_bytes: &[usize],
        copies: usize,
        mpi: Option<&Mpi>,
    ) -> Result<(), Failure> {
        let elements: i128 = self.shape.iter().map(|&size| i128::from(size)).product();
        let bytes = elements * (element_bytes.iter().sum::<usize>() * copies) as i128;
        let processes = mpi.map_or(1, |mpi| mpi.world().size());
        let each = bytes / processes as i128;
        match memory_bytes() {
            Some(memory) if each > memory => Err(Failure::Usage(anyhow!(
                "fields of {} take {:.1} GiB in each process, and this machine has {:.1} GiB of memory; give a smaller --size",
                join(&self.shape),
                each as f64 / GIB,
                memory as f64 / GIB
            ))),
            _ => Ok(()),
        }
    }
}

/// `1024x1024`.
pub(crate) fn join(sizes: &[i64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
    sizes.join("x")
}

const GIB: f64 = (1u64 << 30) as f64;

/// All memory of this machine, if it says so.
fn memory_bytes() -> Option<i128> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: i128 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}
