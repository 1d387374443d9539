//! Layouts: where the bytes of a message belong, in one form for all equivalent types.
//!
//! A message is a stream of bytes; in memory it is made of runs. [`Shape::Strided`] is runs of one length, nested in up to
//! four levels of strides, in which a type, its parts and the count of elements are merged as far as they can be.
//! Everything else is a [`Shape::Table`]: the runs of one element, and how far elements are apart. The order of runs is that
//! of the stream, always. Lower bounds and extents are those that MPI gives for each part of a type: MPIs round
//! differently, so they cannot be computed.

mod build;
mod place;

pub use place::{Overlap, Piece, Pieces};

use build::Form;
use spinneret_mpi_sys::Tree;
use std::fmt;
use std::sync::Arc;

/// Levels of strides.
pub const LEVELS: usize = 4;

/// Runs of one element, at most, if it is no nest of strides: 384 MiB here. A message that SLMP carries has fewer, unless
/// its runs have less than 3 bytes on average.
pub const MOST_RUNS: usize = 1 << 24;

/// Why a type has no layout here. MPI can still receive it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// It has too many runs that do not follow a pattern.
    #[error(
        "an element has more than {MOST_RUNS} runs of bytes without a pattern of up to {LEVELS} strides; receive it by MPI, or make it of longer blocks"
    )]
    TooManyRuns,
    /// Some number does not fit.
    #[error("the elements reach further than 2^63 bytes; use a smaller count, or smaller displacements")]
    TooFar,
    /// The numbers of a constructor are not what it has.
    #[error(
        "the contents of a part made by {0:?} are not what MPI's standard says; read the tree anew by Datatype::contents"
    )]
    Contents(spinneret_mpi_sys::Combiner),
}

/// Repetition with a stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// How often; 2 or more.
    pub count: u64,
    /// Bytes from one to the next, also 0 or fewer.
    pub stride: i64,
}

/// A run of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// Where its first byte is, from the address of the first element.
    pub start: i64,
    /// Its bytes; 1 or more.
    pub bytes: u64,
}

/// Runs of one length, at strides in strides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Strided {
    /// The first run.
    pub run: Run,
    /// Levels from the inside, the innermost first; [`LEVELS`] at most.
    pub levels: Vec<Level>,
}

/// The runs of an element, and the elements.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Table {
    /// Runs of the first element, in the order of the stream; requests of one layout share them.
    runs: Arc<Vec<Run>>,
    /// For each, the bytes of the element before it; and all of them.
    before: Arc<Vec<u64>>,
    /// Elements; 1 or more.
    count: u64,
    /// Bytes from one to the next.
    extent: i64,
}

impl fmt::Debug for Table {
    /// With the first runs only: there may be a million.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Table")
            .field("runs", &self.runs.len())
            .field("first", &&self.runs[..self.runs.len().min(8)])
            .field("count", &self.count)
            .field("extent", &self.extent)
            .finish()
    }
}

impl Table {
    /// Runs of the first element, in the order of the stream.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Bytes of an element.
    pub fn element_bytes(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// Elements.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes from one element to the next.
    pub fn extent(&self) -> i64 {
        self.extent
    }
}

/// The form of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// No bytes.
    Empty,
    /// One run, or several at strides.
    Strided(Strided),
    /// Any others.
    Table(Table),
}

/// Where the bytes of a message belong, relative to the address of its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    bytes: u64,
    first: i64,
    end: i64,
}

impl Layout {
    /// The layout of `count` elements of a type.
    ///
    /// # Errors
    /// If it has too many runs, or reaches too far.
    pub fn of(tree: &Tree, count: u64) -> Result<Self, LayoutError> {
        let shape = match build::build(tree, 0)?.canonical() {
            Form::Table(runs) if count > 0 => Shape::Table(table(runs, count, tree.bounds.extent)?),
            element => match element.repeat(count, tree.bounds.extent)? {
                Form::Empty => Shape::Empty,
                Form::Nest(nest) => match Strided::try_from(nest) {
                    Ok(strided) => Shape::Strided(strided),
                    Err(_) => Shape::Table(table(element.into_runs()?, count, tree.bounds.extent)?),
                },
                Form::Table(runs) => Shape::Table(table(runs, 1, tree.bounds.extent)?),
            },
        };
        Self::new(shape)
    }

    /// Runs of bytes in the order of the stream, which need no type of MPI: (start, bytes) of each.
    ///
    /// # Errors
    /// As [`Layout::of`].
    pub fn of_runs(runs: impl IntoIterator<Item = (i64, u64)>) -> Result<Self, LayoutError> {
        let mut list = build::List::default();
        for (start, bytes) in runs.into_iter().filter(|(_, bytes)| *bytes > 0) {
            list.push(Run { start, bytes })?;
        }
        Self::new(match list.into_form() {
            Form::Empty => Shape::Empty,
            Form::Nest(nest) => match Strided::try_from(nest) {
                Ok(strided) => Shape::Strided(strided),
                Err(nest) => Shape::Table(table(nest.runs()?, 1, 0)?),
            },
            Form::Table(runs) => Shape::Table(table(runs, 1, 0)?),
        })
    }

    /// Contiguous bytes from the address on.
    pub fn contiguous(bytes: u32) -> Self {
        let run = Run {
            start: 0,
            bytes: bytes.into(),
        };
        let strided = Strided {
            run,
            levels: Vec::new(),
        };
        Self {
            shape: if bytes == 0 {
                Shape::Empty
            } else {
                Shape::Strided(strided)
            },
            bytes: bytes.into(),
            first: 0,
            end: bytes.into(),
        }
    }

    fn new(shape: Shape) -> Result<Self, LayoutError> {
        let (bytes, first, end) = match &shape {
            Shape::Empty => (0, 0, 0),
            Shape::Strided(strided) => {
                let mut bytes = strided.run.bytes;
                let mut ends = i128::from(strided.run.start);
                let (mut low, mut high) = (ends, ends + i128::from(bytes));
                for level in &strided.levels {
                    bytes = bytes.checked_mul(level.count).ok_or(LayoutError::TooFar)?;
                    ends = i128::from(level.count - 1) * i128::from(level.stride);
                    (low, high) = (low + ends.min(0), high + ends.max(0));
                }
                (bytes, low, high)
            }
            Shape::Table(table) => {
                let bytes = table.element_bytes().checked_mul(table.count);
                let low = table.runs.iter().map(|run| i128::from(run.start)).min();
                let ends = table
                    .runs
                    .iter()
                    .map(|run| i128::from(run.start) + i128::from(run.bytes));
                let far = i128::from(table.count - 1) * i128::from(table.extent);
                let (low, high) = (low.unwrap_or(0), ends.max().unwrap_or(0));
                (
                    bytes.ok_or(LayoutError::TooFar)?,
                    low + far.min(0),
                    high + far.max(0),
                )
            }
        };
        let number = |value: i128| i64::try_from(value).map_err(|_| LayoutError::TooFar);
        Ok(Self {
            shape,
            bytes,
            first: number(first)?,
            end: number(end)?,
        })
    }

    /// Its form.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Bytes of the whole message.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Runs of the whole message; the most that can be counted, if there are more.
    pub fn runs(&self) -> u64 {
        match &self.shape {
            Shape::Empty => 0,
            Shape::Strided(strided) => {
                let counts = strided.levels.iter().map(|level| level.count);
                counts.fold(1, u64::saturating_mul)
            }
            Shape::Table(table) => (table.runs.len() as u64).saturating_mul(table.count),
        }
    }

    /// The lowest byte that is touched, from the address of the buffer.
    pub fn first(&self) -> i64 {
        self.first
    }

    /// The byte after the highest one that is touched.
    pub fn end(&self) -> i64 {
        self.end
    }

    /// Whether two bytes of the message belong to the same place, which MPI forbids in receives.
    pub fn overlap(&self) -> Overlap {
        place::overlap(self)
    }

    /// The pieces of memory of a part of the message, in the order of the stream. Bytes after the message have none.
    pub fn place(&self, offset: u64, bytes: u64) -> Pieces<'_> {
        Pieces::new(self, offset, bytes)
    }
}

fn table(runs: Vec<Run>, count: u64, extent: i64) -> Result<Table, LayoutError> {
    let mut before = Vec::with_capacity(runs.len() + 1);
    let mut sum = 0_u64;
    for run in &runs {
        before.push(sum);
        sum = sum.checked_add(run.bytes).ok_or(LayoutError::TooFar)?;
    }
    before.push(sum);
    Ok(Table {
        runs: Arc::new(runs),
        before: Arc::new(before),
        count: count.max(1),
        extent,
    })
}
