//! What types are while they are read: nothing, a nest of strides of any depth, or a list of runs.

use super::{LEVELS, LayoutError, Level, MOST_RUNS, Run, Strided};
use spinneret_mpi_sys::Tree;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Empty,
    Nest(Nest),
    /// Two runs or more, none of which follows right behind the one before it.
    Table(Vec<Run>),
}

impl TryFrom<Nest> for Strided {
    type Error = Nest;

    fn try_from(nest: Nest) -> Result<Self, Nest> {
        match nest.levels.len() <= LEVELS {
            true => Ok(Self {
                run: nest.run,
                levels: nest.levels,
            }),
            false => Err(nest),
        }
    }
}

impl Nest {
    /// Its runs, if they are not too many.
    pub(super) fn runs(&self) -> Result<Vec<Run>, LayoutError> {
        let total = self
            .levels
            .iter()
            .try_fold(1_u64, |total, level| total.checked_mul(level.count));
        if total.is_none_or(|total| total > MOST_RUNS as u64) {
            return Err(LayoutError::TooManyRuns);
        }
        let mut runs = vec![self.run];
        for level in &self.levels {
            let inner = std::mem::take(&mut runs);
            for index in 0..level.count {
                for run in &inner {
                    runs.push(shifted(*run, index, level.stride)?);
                }
            }
        }
        Ok(runs)
    }

    /// Repeats all of it. Levels that go on where the one before ends are merged.
    fn push(&mut self, count: u64, stride: i64) -> Result<(), LayoutError> {
        match self.levels.last_mut() {
            None if stride > 0 && stride as u64 == self.run.bytes => {
                self.run.bytes = self.run.bytes.checked_mul(count).ok_or(LayoutError::TooFar)?;
            }
            Some(last) if product(last.count, last.stride).is_ok_and(|end| end == stride) => {
                last.count = last.count.checked_mul(count).ok_or(LayoutError::TooFar)?;
            }
            _ => self.levels.push(Level { count, stride }),
        }
        Ok(())
    }
}

impl Form {
    /// A run; nothing if it has no bytes.
    pub(super) fn run(start: i64, bytes: u64) -> Self {
        match bytes {
            0 => Self::Empty,
            _ => Self::Nest(Nest {
                run: Run { start, bytes },
                levels: Vec::new(),
            }),
        }
    }

    /// The same, so many bytes further.
    pub(super) fn shift(mut self, bytes: i64) -> Result<Self, LayoutError> {
        let runs = match &mut self {
            Self::Empty => &mut [],
            Self::Nest(nest) => std::slice::from_mut(&mut nest.run),
            Self::Table(runs) => runs.as_mut_slice(),
        };
        for run in runs {
            run.start = run.start.checked_add(bytes).ok_or(LayoutError::TooFar)?;
        }
        Ok(self)
    }

    /// So many of it, at a stride.
    pub(super) fn repeat(&self, count: u64, stride: i64) -> Result<Self, LayoutError> {
        match (self, count) {
            (Self::Empty, _) | (_, 0) => Ok(Self::Empty),
            (_, 1) => Ok(self.clone()),
            (Self::Nest(nest), _) => {
                // The end of the last one is a number.
                product(count - 1, stride)?;
                let mut nest = nest.clone();
                nest.push(count, stride)?;
                Ok(Self::Nest(nest))
            }
            (Self::Table(runs), _) => {
                if runs.len() as u64 > MOST_RUNS as u64 / count {
                    return Err(LayoutError::TooManyRuns);
                }
                let mut list = List::default();
                for index in 0..count {
                    for run in runs {
                        list.push(shifted(*run, index, stride)?)?;
                    }
                }
                Ok(list.into_form())
            }
        }
    }

    /// Its runs.
    pub(super) fn into_runs(self) -> Result<Vec<Run>, LayoutError> {
        match self {
            Self::Empty => Ok(Vec::new()),
            Self::Nest(nest) => nest.runs(),
            Self::Table(runs) => Ok(runs),
        }
    }

    /// A nest, if a list of runs is one.
    pub(super) fn canonical(self) -> Self {
        match self {
            Self::Table(runs) => match nest(&runs) {
                Some(nest) => Self::Nest(nest),
                None => Self::Table(runs),
            },
            other => other,
        }
    }
}

/// Runs that are put together in the order of the stream.
#[derive(Debug, Default)]
pub(super) struct List(Vec<Run>);

impl List {
    pub(super) fn push(&mut self, run: Run) -> Result<(), LayoutError> {
        if let Some(last) = self.0.last_mut()
            && end(*last)? == run.start
        {
            last.bytes = last.bytes.checked_add(run.bytes).ok_or(LayoutError::TooFar)?;
            return Ok(());
        }
        if self.0.len() == MOST_RUNS {
            return Err(LayoutError::TooManyRuns);
        }
        self.0.push(run);
        Ok(())
    }

    pub(super) fn into_form(self) -> Form {
        match self.0[..] {
            [] => Form::Empty,
            [run] => Form::run(run.start, run.bytes),
            _ => Form::Table(self.0).canonical(),
        }
    }
}

fn end(run: Run) -> Result<i64, LayoutError> {
    run.start
        .checked_add_unsigned(run.bytes)
        .ok_or(LayoutError::TooFar)
}

pub(super) fn product(count: u64, stride: i64) -> Result<i64, LayoutError> {
    i64::try_from(i128::from(count) * i128::from(stride)).map_err(|_| LayoutError::TooFar)
}

pub(super) fn shifted(run: Run, index: u64, stride: i64) -> Result<Run, LayoutError> {
    let start = run.start.checked_add(product(index, stride)?);
    Ok(Run {
        start: start.ok_or(LayoutError::TooFar)?,
        bytes: run.bytes,
    })
}

// The types that MPI brings.

/// Most are one run. Of the pairs that C has, `MPI_SHORT_INT` alone has a gap between its parts; gaps behind are for the extent.
pub(super) fn named(tree: &Tree) -> Result<Form, LayoutError> {
    let bytes = u64::try_from(tree.bounds.size).map_err(|_| LayoutError::Contents(tree.combiner))?;
    match tree.name.as_deref() {
        Some("MPI_SHORT_INT") if bytes == 6 => {
            let mut list = List::default();
            list.push(Run { start: 0, bytes: 2 })?;
            list.push(Run { start: 4, bytes: 4 })?;
            Ok(list.into_form())
        }
        _ => Ok(Form::run(0, bytes)),
    }
}

// Finds strides in lists of runs, so that it does not matter by which constructor a type was made.

/// Runs of one length, nested in any number of levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nest {
    pub(super) run: Run,
    /// The innermost first.
    pub(super) levels: Vec<Level>,
}

/// The nest of at most [`LEVELS`] levels that a list of two or more runs is, if it is one.
pub(super) fn nest(runs: &[Run]) -> Option<Nest> {
    let first = *runs.first()?;
    if runs.iter().any(|run| run.bytes != first.bytes) {
        return None;
    }
    let mut starts: Vec<i64> = runs.iter().map(|run| run.start).collect();
    let mut levels = Vec::new();
    while starts.len() > 1 {
        if levels.len() == LEVELS {
            return None;
        }
        let stride = starts[1].checked_sub(starts[0])?;
        let follows = |pair: &&[i64]| pair[1].checked_sub(pair[0]) == Some(stride);
        let in_line = 1 + starts.windows(2).take_while(follows).count();
        // The groups are as long as the first one, or that one ran into the second: then their length divides both.
        let count = (2..=in_line)
            .rev()
            .find(|&count| is_grouped(&starts, count, stride))?;
        levels.push(Level {
            count: count as u64,
            stride,
        });
        starts = starts.iter().step_by(count).copied().collect();
    }
    Some(Nest { run: first, levels })
}

/// Whether all groups of so many starts have that stride.
fn is_grouped(starts: &[i64], count: usize, stride: i64) -> bool {
    starts.len().is_multiple_of(count)
        && starts.chunks_exact(count).all(|group| {
            group
                .windows(2)
                .all(|pair| pair[1].checked_sub(pair[0]) == Some(stride))
        })
}
