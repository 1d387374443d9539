//! From MPI's constructors to forms.

use super::form::{Form, List, product};
use super::{LayoutError, form};
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
        Combiner::Named | Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer => {
            form::named(tree)
        }
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
