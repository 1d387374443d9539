//! Built-in programs, each with its fields, and their setup.

use crate::Failure;
use anyhow::anyhow;
use molly::model::{Program, Sizes};
use molly::mpi::Mpi;
use molly::programs::{self, Complex, Links, Spinor, Su3, Vector};
use molly::{FastSum, Field, Geometry, Options, Rank, Result, Sum, Traffic};
use molly_nic::Placed;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A program, and how it is run.
#[derive(Debug, Clone)]
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Dimensions of its fields.
    pub(crate) dims: usize,
    /// A size at which its plan is interesting.
    pub(crate) size: i64,
    /// A size at which it is quickly compared.
    pub(crate) small: i64,
    pub(crate) program: fn() -> Program,
    pub(crate) sizes: fn(&Setup) -> Sizes,
    /// Runs a rank's part; gathers all fields on rank 0 if `gathers`.
    pub(crate) run: fn(&mut Rank, &Setup, gathers: bool) -> Result<Ran>,
    /// A serial run.
    pub(crate) serial: fn(&Setup) -> Serial,
}

/// The result of a serial run.
#[derive(Debug)]
pub(crate) struct Serial {
    /// All fields as bytes.
    pub(crate) fields: Vec<Vec<u8>>,
    pub(crate) sums: Vec<Total>,
}

/// A sum, and which part of it another one of the same numbers may differ by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Total {
    pub(crate) value: f64,
    pub(crate) part: f64,
}

/// The result of a rank.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ran {
    pub(crate) traffic: Traffic,
    pub(crate) planning_s: f64,
    pub(crate) seconds: f64,
    /// Counters of its NIC, if it has one.
    pub(crate) placed: Option<Placed>,
    /// All fields, on rank 0, as bytes.
    pub(crate) fields: Vec<Vec<u8>>,
    /// The program's sums, on every rank.
    pub(crate) sums: Vec<Total>,
}

impl Total {
    /// Whether another sum of the same numbers may be this.
    pub(crate) fn is_near(self, other: Self) -> bool {
        (self.value - other.value).abs() <= self.part * self.value.abs()
    }
}

macro_rules! builtin {
    ($name:literal, $function:ident, $about:literal, $size:literal, $small:literal, $dims:literal,
     ($($field:ident: $type:ty = $fill:expr),*), |$steps:ident $(, $extent:ident)?| [$($param:expr),*] ($($value:expr),*)
     $(, $sum:ident: $sum_type:ty = $part:literal)*) => {
        Builtin {
            name: $name,
            about: $about,
            dims: $dims,
            size: $size,
            small: $small,
            program: programs::$function::program,
            sizes: |setup| {
                let $steps = setup.steps;
                let _ = $steps;
                Sizes { params: vec![$($param),*], shapes: vec![$({ let _: Option<$type> = None; setup.shape.clone() }),*] }
            },
            run: |rank, setup, gathers| {
                let $steps = setup.steps;
                let shape: [i64; $dims] = std::array::from_fn(|dim| setup.shape[dim]);
                $(let $extent = shape;)?
                let sizes = Sizes {
                    params: vec![$($param),*],
                    shapes: vec![$({ let _: Option<$type> = None; setup.shape.clone() }),*],
                };
                rank.set_options(setup.options);
                let begun = Instant::now();
                rank.plan(&programs::$function::program(), &sizes)?;
                let planning_s = begun.elapsed().as_secs_f64();
                $(let mut $field: Field<$type, $dims> = rank.field(shape, $fill);)*
                let (mut traffic, mut times, mut sums) = (Traffic::default(), Vec::new(), Vec::new());
                for repeat in 0..setup.repeats {
                    if repeat > 0 {
                        $($field.fill($fill);)*
                    }
                    $(let mut $sum = <$sum_type>::new();)*
                    let begun = Instant::now();
                    traffic = programs::$function::run(rank $(, &mut $field)* $(, $param)* $(, $value)* $(, &mut $sum)*)?;
                    times.push(begun.elapsed().as_secs_f64());
                    sums = vec![$(Total { value: $sum.value(), part: $part }),*];
                }
                let seconds = median(times);
                let mut fields = Vec::new();
                if gathers {
                    $(if let Some(whole) = rank.gather(&$field)? {
                        fields.push(bytemuck::cast_slice(whole.elements()).to_vec());
                    })*
                }
                Ok(Ran { traffic, planning_s, seconds, placed: None, fields, sums })
            },
            serial: |setup| {
                let $steps = setup.steps;
                let shape: [i64; $dims] = std::array::from_fn(|dim| setup.shape[dim]);
                $(let $extent = shape;)?
                $(let mut $field: Field<$type, $dims> = Field::new(shape, $fill);)*
                $(let mut $sum = <$sum_type>::new();)*
                programs::$function($(&mut $field),* $(, $param)* $(, $value)* $(, &mut $sum)*);
                let _ = $steps;
                let fields = vec![$(bytemuck::cast_slice($field.elements()).to_vec()),*];
                Serial { fields, sums: vec![$(Total { value: $sum.value(), part: $part }),*] }
            },
        }
    };
}

/// The median, without the first one if there are several.
fn median(times: Vec<f64>) -> f64 {
    let mut times = times[usize::from(times.len() > 1)..].to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Some number that differs from element to element.
fn number<const D: usize>(at: [i64; D]) -> f64 {
    at.iter().fold(1, |sum, index| (sum * 31 + index * 17 + 3) % 101) as f64 / 7.0
}

fn alive(at: [i64; 2]) -> u8 {
    u8::from((at[0] * at[0] * 7 + at[1] * 5 + at[0] * at[1]) % 3 == 0)
}

/// A matrix with a strong diagonal, which needs no pivots.
fn strong(at: [i64; 2]) -> f64 {
    number(at) + if at[0] == at[1] { 1e4 } else { 0.0 }
}

/// A link of lattice QCD: some matrix.
fn gauge(at: [i64; 4], direction: usize) -> Su3 {
    let [x, y, z, t] = at;
    let part = |n: usize| number([x, y, z, t, (4 * n + direction) as i64]) - 7.0;
    let row = |first: usize| std::array::from_fn(|n| Complex::new(part(first + n), part(first + n + 3)));
    let (mut one, mut other): (Vector, Vector) = (row(0), row(6));
    // Rows that are surely not parallel.
    (one[0].re, other[1].re) = (20.0, 20.0);
    Su3::of_rows(one, other)
}

fn quark(at: [i64; 4]) -> Spinor {
    let [x, y, z, t] = at;
    let part = |n: usize| number([x, y, z, t, n as i64]);
    Spinor(std::array::from_fn(|spin| {
        std::array::from_fn(|colour| Complex::new(part(3 * spin + colour), part(12 + 3 * spin + colour)))
    }))
}

/// All of them.
pub(crate) fn all() -> Vec<Builtin> {
    vec![
        builtin!("life5", life5, "Game of Life, 5 points", 1024, 24, 2,
            (front: u8 = alive, back: u8 = |_| 0), |steps| [steps] ()),
        builtin!("life9", life9, "Game of Life, 9 points, on a torus", 1024, 24, 2,
            (front: u8 = alive, back: u8 = |_| 0), |steps| [steps] ()),
        builtin!("heat", heat, "heat, 7 points in three dimensions", 256, 12, 3,
            (now: f64 = number, next: f64 = |_| 0.0), |steps| [steps] (0.1)),
        builtin!("wave", wave, "the wave equation, from the two times before", 1024, 24, 2,
            (past: f64 = number, now: f64 = number, next: f64 = |_| 0.0), |steps| [steps] (0.1)),
        builtin!("gauss-seidel", gauss_seidel, "Gauss and Seidel's iteration, in place", 128, 24, 2,
            (u: f64 = number), |steps| [steps] ()),
        builtin!("red-black", red_black, "the same in two colours", 1024, 24, 2,
            (u: f64 = number), |steps| [steps] ()),
        builtin!("dslash", dslash, "the operator of lattice QCD, even and odd sites in 4-D", 16, 4, 4,
            (links: Links = |at| Links::of(extent, at, gauge), psi: Spinor = quark), |steps, extent| [0, 2 * steps] (0.125)),
        builtin!("lu", factors, "triangular factors of a matrix, in place", 64, 16, 2,
            (a: f64 = strong), |_steps| [] ()),
        builtin!("product", product, "a product of matrices", 256, 16, 2,
            (a: f64 = number, b: f64 = strong, c: f64 = |_| 0.0), |_steps| [] ()),
        builtin!("transposition", transposition, "rows and columns of a matrix exchanged", 1024, 24, 2,
            (a: f64 = number, b: f64 = |_| 0.0), |_steps| [] ()),
        builtin!("five", five, "mean of 5 points, in single precision", 1024, 24, 2,
            (now: f32 = |at| number(at) as f32, next: f32 = |_| 0.0), |steps| [steps] ()),
        builtin!("relax", relax, "means of 4 points, and sums of their changes", 1024, 24, 2,
            (now: f64 = number, next: f64 = |_| 0.0), |steps| [steps] (),
            exact: Sum<f64> = 0.0, fast: FastSum = 1e-12),
    ]
}

// A program with its numbers, and whether it can run here.

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
    pub(crate) program: spinneret_host::Program,
}

impl Setup {
    /// Checks, before planning, that this machine has memory for `copies` copies of the fields.
    pub(crate) fn check_room(
        &self,
        element_bytes: &[usize],
        copies: usize,
        mpi: Option<&Mpi>,
    ) -> std::result::Result<(), Failure> {
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

/// All memory of this machine, if the system reports it.
fn memory_bytes() -> Option<i128> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: i128 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}
