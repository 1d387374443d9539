//! From MPI's constructors to forms.

use super::{LEVELS, LayoutError, Level, MOST_RUNS, Run, Strided};
use spinneret_mpi_sys::{Combiner, Tree};

/// Levels of a type, as `Datatype::contents` reads at most.
const DEPTH: usize = 256;

/// The form of one element.
pub(super) fn build(tree: &Tree, depth: usize) -> Result<Form, LayoutError> {
    let wrong = || LayoutError::Contents(tree.combiner);
    if depth > DEPTH {
        return Err(wrong());
    }
    let numbers = Numbers(tree);
    let child = |index: usize| {
        let child = tree.children.get(index).ok_or_else(wrong)?;
        Ok((build(child, depth + 1)?, child.bounds.extent))
    };
    match tree.combiner {
        Combiner::Named | Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer => named(tree),
        Combiner::Dup | Combiner::Resized => Ok(child(0)?.0),
        Combiner::Contiguous => {
            let (form, extent) = child(0)?;
            form.repeat(numbers.count(0)?, extent)
        }
        Combiner::Vector | Combiner::Hvector => {
            let (form, extent) = child(0)?;
            let stride = match tree.combiner {
                Combiner::Vector => times(numbers.integer(2)?, extent)?,
                _ => numbers.address(0)?,
            };
            form.repeat(numbers.count(1)?, extent)?
                .repeat(numbers.count(0)?, stride)
        }
        Combiner::Indexed | Combiner::Hindexed | Combiner::IndexedBlock | Combiner::HindexedBlock => {
            let (form, extent) = child(0)?;
            let blocks = numbers.blocks(extent)?;
            one_type(&form, extent, &blocks)
        }
        Combiner::Struct => {
            let mut parts = Vec::new();
            for index in 0..numbers.length(0)? {
                let length = numbers.count(1 + index)?;
                if length != 0 {
                    let (form, extent) = child(index)?;
                    parts.push((form.repeat(length, extent)?, numbers.address(index)?));
                }
            }
            several(parts)
        }
        Combiner::Subarray | Combiner::Darray => {
            let (form, extent) = child(0)?;
            array(&numbers, form, extent)
        }
    }
}

/// A block of an indexed type.
#[derive(Clone, Copy)]
struct Block {
    /// In bytes.
    start: i64,
    length: u64,
}

/// Blocks of one type.
fn one_type(form: &Form, extent: i64, blocks: &[Block]) -> Result<Form, LayoutError> {
    let blocks: Vec<Block> = blocks.iter().copied().filter(|block| block.length != 0).collect();
    let Some(first) = blocks.first() else {
        return Ok(Form::Empty);
    };
    let stride = match &blocks[..] {
        [one, two, ..] => two.start.checked_sub(one.start).ok_or(LayoutError::TooFar)?,
        _ => 0,
    };
    let follows = |pair: &[Block]| {
        pair[0].length == pair[1].length && pair[1].start.checked_sub(pair[0].start) == Some(stride)
    };
    if blocks.windows(2).all(follows) {
        let block = form.repeat(first.length, extent)?.shift(first.start)?;
        return block.repeat(blocks.len() as u64, stride);
    }
    let mut list = List::default();
    for block in blocks {
        for run in form
            .repeat(block.length, extent)?
            .shift(block.start)?
            .into_runs()?
        {
            list.push(run)?;
        }
    }
    Ok(list.into_form())
}

/// Blocks of several types.
fn several(parts: Vec<(Form, i64)>) -> Result<Form, LayoutError> {
    let parts: Vec<(Form, i64)> = parts
        .into_iter()
        .filter(|(form, _)| *form != Form::Empty)
        .collect();
    let Some((first, start)) = parts.first() else {
        return Ok(Form::Empty);
    };
    if parts.iter().all(|(form, _)| form == first) {
        let blocks: Vec<Block> = parts
            .iter()
            .map(|&(_, start)| Block { start, length: 1 })
            .collect();
        return one_type(first, 0, &blocks);
    }
    if parts.len() == 1 {
        return first.clone().shift(*start);
    }
    let mut list = List::default();
    for (form, start) in parts {
        for run in form.shift(start)?.into_runs()? {
            list.push(run)?;
        }
    }
    Ok(list.into_form())
}

/// A part of an array, dimension by dimension from the one that changes first.
fn array(numbers: &Numbers<'_>, form: Form, extent: i64) -> Result<Form, LayoutError> {
    let is_darray = numbers.0.combiner == Combiner::Darray;
    let head = if is_darray { 2 } else { 0 };
    let dimensions = numbers.length(head)?;
    let row = |row: usize, index: usize| numbers.integer(head + 1 + row * dimensions + index);
    let columns = if is_darray { 4 } else { 3 };
    let is_fortran = numbers.integer(head + 1 + columns * dimensions)? == 1;
    // Processes are numbered so that the last coordinate changes first, whatever the order of the array.
    let mut coordinates = vec![0; dimensions];
    if is_darray {
        let mut rank = numbers.integer(1)?;
        for index in (0..dimensions).rev() {
            let processes = row(3, index)?.max(1);
            coordinates[index] = rank % processes;
            rank /= processes;
        }
    }
    let mut order: Vec<usize> = (0..dimensions).collect();
    if !is_fortran {
        order.reverse();
    }
    let (mut form, mut stride) = (form, extent);
    for index in order {
        let size = row(0, index)?;
        let blocks = match is_darray {
            false => vec![(row(2, index)?, row(1, index)?)],
            true => dealt(
                size,
                row(1, index)?,
                row(2, index)?,
                row(3, index)?,
                coordinates[index],
            ),
        };
        form = dimension(&form, &blocks, stride)?;
        stride = times(size, stride)?;
    }
    Ok(form)
}

/// Blocks of (first, length) of a dimension.
fn dimension(form: &Form, blocks: &[(i64, i64)], stride: i64) -> Result<Form, LayoutError> {
    let block = |&(first, length): &(i64, i64)| {
        let length = u64::try_from(length).map_err(|_| LayoutError::Contents(Combiner::Darray))?;
        let start = times(first, stride)?;
        Ok(Block { start, length })
    };
    let blocks: Vec<Block> = blocks.iter().map(block).collect::<Result<_, LayoutError>>()?;
    one_type(form, stride, &blocks)
}

/// The blocks of a dimension that one of its processes has; kinds and arguments are those of [`Combiner::Darray`].
fn dealt(size: i64, kind: i64, argument: i64, processes: i64, coordinate: i64) -> Vec<(i64, i64)> {
    let processes = processes.max(1);
    let length = match (kind, argument) {
        (0, -1) => (size + processes - 1) / processes,
        (1, -1) => 1,
        (2, _) => return vec![(0, size)],
        (_, argument) => argument,
    };
    if length < 1 {
        return Vec::new();
    }
    let block = |first: i64| (first, length.min(size - first));
    let firsts = (coordinate * length..size).step_by((processes * length).unsigned_abs() as usize);
    firsts.map(block).collect()
}

fn times(count: i64, stride: i64) -> Result<i64, LayoutError> {
    match u64::try_from(count) {
        Ok(count) => product(count, stride),
        Err(_) => product(
            count.unsigned_abs(),
            stride.checked_neg().ok_or(LayoutError::TooFar)?,
        ),
    }
}

/// The numbers of a constructor, which are looked up with distrust.
struct Numbers<'t>(&'t Tree);

impl Numbers<'_> {
    fn wrong(&self) -> LayoutError {
        LayoutError::Contents(self.0.combiner)
    }

    fn integer(&self, index: usize) -> Result<i64, LayoutError> {
        self.0.integers.get(index).copied().ok_or_else(|| self.wrong())
    }

    fn address(&self, index: usize) -> Result<i64, LayoutError> {
        self.0.addresses.get(index).copied().ok_or_else(|| self.wrong())
    }

    fn count(&self, index: usize) -> Result<u64, LayoutError> {
        u64::try_from(self.integer(index)?).map_err(|_| self.wrong())
    }

    /// A number of other numbers.
    fn length(&self, index: usize) -> Result<usize, LayoutError> {
        let length = usize::try_from(self.integer(index)?).map_err(|_| self.wrong())?;
        match length <= self.0.integers.len() + self.0.addresses.len() {
            true => Ok(length),
            false => Err(self.wrong()),
        }
    }

    /// The blocks of the four indexed constructors.
    fn blocks(&self, extent: i64) -> Result<Vec<Block>, LayoutError> {
        let count = self.length(0)?;
        let block = |index: usize| {
            let (length, start) = match self.0.combiner {
                Combiner::Indexed => (1 + index, times(self.integer(1 + count + index)?, extent)?),
                Combiner::Hindexed => (1 + index, self.address(index)?),
                Combiner::IndexedBlock => (1, times(self.integer(2 + index)?, extent)?),
                _ => (1, self.address(index)?),
            };
            Ok(Block {
                start,
                length: self.count(length)?,
            })
        };
        (0..count).map(block).collect()
    }
}

// Forms: runs, strides and lists.

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

    /// The same, moved by `bytes` bytes.
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

    /// Repeats it `count` times at a stride.
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

/// Whether all groups of `count` starts have that stride.
fn is_grouped(starts: &[i64], count: usize, stride: i64) -> bool {
    starts.len().is_multiple_of(count)
        && starts.chunks_exact(count).all(|group| {
            group
                .windows(2)
                .all(|pair| pair[1].checked_sub(pair[0]) == Some(stride))
        })
}
