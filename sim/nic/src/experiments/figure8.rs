//! Figure 8: files over SLMP between two NICs.

use super::ExperimentError;
use super::parallel::in_parallel;
use crate::transfer::{Transfer, Transferred, transfer};
use spinneret_cluster::Program;
use spinneret_fabric::Faults;
use spinneret_slmp::{Mode, SenderConfig};

/// Best median of the paper.
pub const PAPER_BEST_GBPS: f64 = 6.68;
/// Its throughput with a window of 1.
pub const PAPER_WINDOW_1_GBPS: f64 = 0.53;

/// Sizes of files in bytes.
const SIZES: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Windows in segments.
const WINDOWS: [u16; 5] = [1, 4, 16, 32, 64];
/// Share of frames that are lost.
const LOSSES: [f64; 3] = [0.0, 0.001, 0.05];
/// Share of frames that come twice, and that are overtaken, where frames are lost.
const OTHERS: f64 = 0.01;

/// One point.
#[derive(Clone, Debug)]
pub struct Throughput {
    /// Segments without acknowledgement at a time.
    pub window: u16,
    /// What came of it.
    pub done: Transferred,
}

/// A transfer on a bad cable.
#[derive(Clone, Debug)]
pub struct FaultRun {
    /// What happens on the cable.
    pub faults: Faults,
    /// What came of it.
    pub done: Transferred,
}

/// Files of all sizes with all windows.
///
/// # Errors
/// If one of them does not arrive as it was sent.
pub fn without_faults(
    largest: usize,
    done: impl Fn(&Throughput) + Sync,
) -> Result<Vec<Throughput>, ExperimentError> {
    let sizes = SIZES.into_iter().filter(|size| *size <= largest);
    let all: Vec<(usize, u16)> = sizes
        .flat_map(|size| WINDOWS.map(|window| (size, window)))
        .collect();
    let program = program()?;
    in_parallel(&all, |(size, window)| {
        let how = with_window(*window);
        let point = Throughput {
            window: *window,
            done: transfer(&program, &file(*size), &how)?,
        };
        done(&point);
        Ok(point)
    })
}

/// A file with a window of 16 on cables that lose nothing, a little, and a lot, and double and reorder frames as well.
///
/// # Errors
/// If it does not arrive as it was sent.
pub fn with_faults(bytes: usize, done: impl Fn(&FaultRun) + Sync) -> Result<Vec<FaultRun>, ExperimentError> {
    let program = program()?;
    in_parallel(&LOSSES, |loss| {
        let others = if *loss > 0.0 { OTHERS } else { 0.0 };
        let faults = Faults {
            loss: *loss,
            duplication: others,
            reordering: others,
            corruption: 0.0,
        };
        let how = Transfer {
            faults,
            ..with_window(16)
        };
        let run = FaultRun {
            faults,
            done: transfer(&program, &file(bytes), &how)?,
        };
        done(&run);
        Ok(run)
    })
}

fn with_window(window: u16) -> Transfer {
    let plain = Transfer::default();
    Transfer {
        sender: SenderConfig {
            mode: Mode::Window(window),
            ..plain.sender
        },
        ..plain
    }
}

/// Bytes that do not repeat with the segments.
fn file(bytes: usize) -> Vec<u8> {
    let mix = |place: usize| (place as u32).wrapping_mul(0x9e37_79b1).to_be_bytes()[0];
    (0..bytes).map(mix).collect()
}

fn program() -> Result<Program, ExperimentError> {
    let bench = |error: crate::laptop::BenchError| ExperimentError::Bench(error);
    let elf = crate::run::program(&crate::laptop::example("slmp"), 2).map_err(|error| bench(error.into()))?;
    Program::open(&elf).map_err(|error| bench(error.into()))
}
