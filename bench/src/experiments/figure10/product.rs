//! How fast this machine multiplies matrices, alone and while a device writes to its memory.
//!
//! The device is a thread that writes at its rate to a buffer larger than the caches. It takes memory bandwidth and room in the shared
//! cache as a NIC does, and a processor of its own, which a NIC does not.

use super::super::show;
use anyhow::Result;
use ndarray::Array2;
use ndarray::linalg::general_mat_mul;
use spinneret_nic::mpi::Multiplication;
use spinneret_table::bench::{Spread, cells};
use std::hint::{black_box, spin_loop};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Dimensions at which it is measured.
const DIMENSIONS: [u32; 10] = [32, 64, 128, 192, 256, 384, 512, 768, 1024, 1500];
/// Rates of the device in Gb/s.
const RATES: [f64; 5] = [0.0, 5.0, 10.0, 20.0, 40.0];
/// Dimension at which it is measured with a device: three matrices are some 4 MB.
const BESIDE: u32 = 400;
/// Multiplications of a case.
const RUNS: usize = 20;
/// Shortest time of a run; small matrices are multiplied several times.
const SHORTEST: Duration = Duration::from_millis(1);
/// Bytes that the device writes at once, and of the buffer that it writes to.
const CHUNK: usize = 4096;
const BUFFER: usize = 64 << 20;

/// Measures, prints, and writes the table.
///
/// # Errors
/// If the table cannot be written.
pub(super) fn measure(path: &Path) -> Result<Multiplication> {
    eprintln!("measuring the product of matrices on this machine");
    let mut rows = Vec::new();
    let mut row = |dimension: u32, gbps: f64, times: &Spread| {
        let median = times.median();
        let [low, high] = times.interval();
        let operations = 2.0 * f64::from(dimension).powi(3);
        let figures = cells(
            [
                gbps,
                median * 1e6,
                low * 1e6,
                high * 1e6,
                operations / median / 1e9,
            ],
            2,
        );
        rows.push([&[dimension.to_string()][..], &figures].concat());
        median
    };
    let gflops = DIMENSIONS.map(|dimension| {
        let median = row(dimension, 0.0, &Product::new(dimension).times());
        let operations = 2.0 * f64::from(dimension).powi(3);
        (f64::from(dimension), operations / median / 1e9)
    });
    let beside = RATES.map(|rate| {
        let (gbps, times) = beside(rate);
        (gbps, row(BESIDE, gbps, &times))
    });
    // A device slows nothing down that it makes faster by chance.
    let slowed = beside.map(|(gbps, median)| (gbps, (median / beside[0].1).max(1.0)));
    let columns = [
        "dimension",
        "device_gbps",
        "median_us",
        "low_us",
        "high_us",
        "gflops",
    ];
    show(path, &columns, &rows)?;
    Ok(Multiplication {
        gflops: gflops.into(),
        slowed: slowed.into(),
    })
}

/// Square matrices.
struct Product {
    a: Array2<f64>,
    b: Array2<f64>,
    c: Array2<f64>,
}

impl Product {
    fn new(dimension: u32) -> Self {
        let shape = [dimension as usize; 2];
        let matrix = |seed: usize| {
            Array2::from_shape_fn(shape, |(row, column)| {
                ((row * seed + column) % 17) as f64 / 17.0 - 0.5
            })
        };
        Self {
            a: matrix(3),
            b: matrix(5),
            c: matrix(7),
        }
    }

    /// C = A B + 2 C.
    fn multiply(&mut self) {
        general_mat_mul(1.0, &self.a, &self.b, 2.0, &mut self.c);
        black_box(&self.c);
    }

    /// Seconds of a multiplication, after one that warms up.
    fn times(&mut self) -> Spread {
        let begun = Instant::now();
        self.multiply();
        let repeats = SHORTEST.as_nanos().div_ceil(begun.elapsed().as_nanos().max(1)) as u32;
        let run = |_| {
            // C would grow without end.
            self.c.fill(1.0);
            let begun = Instant::now();
            (0..repeats).for_each(|_| self.multiply());
            begun.elapsed().as_secs_f64() / f64::from(repeats)
        };
        (0..RUNS).map(run).collect()
    }
}

/// The rate that a device has, and seconds of a multiplication meanwhile.
fn beside(gbps: f64) -> (f64, Spread) {
    let (ends, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut product = Product::new(BESIDE);
    thread::scope(|scope| {
        if gbps > 0.0 {
            scope.spawn(|| device(gbps, &ends, &written));
            while written.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
        }
        let (begun, before) = (Instant::now(), written.load(Ordering::Relaxed));
        let times = product.times();
        let bytes = written.load(Ordering::Relaxed) - before;
        let rate = bytes as f64 * 8.0 / begun.elapsed().as_secs_f64() / 1e9;
        ends.store(true, Ordering::Relaxed);
        (rate, times)
    })
}

/// Writes at that rate until it ends, and counts the bytes.
fn device(gbps: f64, ends: &AtomicBool, written: &AtomicU64) {
    // All pages are there before the first write counts.
    let mut buffer = vec![1_u8; BUFFER];
    let begun = Instant::now();
    let mut count = 0_u64;
    while !ends.load(Ordering::Relaxed) {
        let due = begun.elapsed().as_secs_f64() * gbps * 1e9 / 8.0;
        if count as f64 >= due {
            spin_loop();
            continue;
        }
        let start = count as usize % BUFFER;
        buffer[start..start + CHUNK].fill(count as u8);
        black_box(&buffer[start]);
        count += CHUNK as u64;
        written.store(count, Ordering::Relaxed);
    }
}
