//! From an offset in the stream to places in memory, in as many steps as there are levels.

use super::{LEVELS, Layout, Level, MOST_RUNS, Run, Shape, Strided, Table};

/// A piece of a message, in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its offset in the stream.
    pub offset: u64,
    /// Where it belongs, from the address of the buffer.
    pub start: i64,
    /// Its bytes; 1 or more.
    pub bytes: u64,
}

/// The pieces of a part of a message.
#[derive(Clone, Debug)]
pub struct Pieces<'l> {
    at: At<'l>,
    offset: u64,
    left: u64,
    /// Bytes of the present run before `offset`.
    within: u64,
}

/// The present run.
#[derive(Clone, Debug)]
enum At<'l> {
    Nowhere,
    Strided {
        form: &'l Strided,
        indices: [u64; LEVELS],
        start: i64,
    },
    Table {
        form: &'l Table,
        element: u64,
        run: usize,
    },
}

impl<'l> Pieces<'l> {
    pub(super) fn new(layout: &'l Layout, offset: u64, bytes: u64) -> Self {
        let left = bytes.min(layout.bytes.saturating_sub(offset));
        let (at, within) = match &layout.shape {
            _ if left == 0 => (At::Nowhere, 0),
            Shape::Empty => (At::Nowhere, 0),
            Shape::Strided(form) => strided(form, offset),
            Shape::Table(form) => {
                let (element, rest) = (offset / form.element_bytes(), offset % form.element_bytes());
                let run = form.before.partition_point(|before| *before <= rest) - 1;
                (At::Table { form, element, run }, rest - form.before[run])
            }
        };
        Self {
            at,
            offset,
            left,
            within,
        }
    }
}

/// The run of an offset: a division for each level.
fn strided(form: &Strided, offset: u64) -> (At<'_>, u64) {
    let (mut number, within) = (offset / form.run.bytes, offset % form.run.bytes);
    let (mut indices, mut start) = ([0; LEVELS], form.run.start);
    for (index, level) in indices.iter_mut().zip(&form.levels) {
        *index = number % level.count;
        number /= level.count;
        // No run lies further away than an i64 says: `Layout::new` has looked.
        start = start.wrapping_add(level.stride.wrapping_mul(*index as i64));
    }
    let at = At::Strided { form, indices, start };
    (at, within)
}

/// Counts one run further.
fn step(levels: &[Level], indices: &mut [u64; LEVELS], start: &mut i64) {
    for (index, level) in indices.iter_mut().zip(levels) {
        *index += 1;
        *start = start.wrapping_add(level.stride);
        if *index < level.count {
            return;
        }
        *index = 0;
        *start = start.wrapping_sub(level.stride.wrapping_mul(level.count as i64));
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.left == 0 {
            return None;
        }
        let (start, length) = match &self.at {
            At::Nowhere => return None,
            At::Strided { form, start, .. } => (*start, form.run.bytes),
            At::Table { form, element, run } => {
                let far = form.extent.wrapping_mul(*element as i64);
                (form.runs[*run].start.wrapping_add(far), form.runs[*run].bytes)
            }
        };
        let bytes = self.left.min(length - self.within);
        let piece = Piece {
            offset: self.offset,
            start: start.wrapping_add(self.within as i64),
            bytes,
        };
        (self.offset, self.left, self.within) = (self.offset + bytes, self.left - bytes, 0);
        match &mut self.at {
            At::Nowhere => {}
            At::Strided { form, indices, start } => step(&form.levels, indices, start),
            At::Table { form, element, run } => {
                *run += 1;
                if *run == form.runs.len() {
                    (*run, *element) = (0, *element + 1);
                }
            }
        }
        Some(piece)
    }
}

// Whether bytes of a message belong to the same place.
//
// A nest overlaps if two different sets of indices are less than a run apart: if numbers `d` that are not all 0, each smaller
// than its level's count, make the sum of `d * stride` smaller than a run. They are looked for from the largest stride
// on; at each level only those are tried that the levels below can still make up for, which are very few in types that
// people make. Runs of a table are sorted. If either takes more than [`BUDGET`] steps, all runs of the message are sorted;
// only if those are too many, nothing is said.

/// Most steps that are taken: some tens of milliseconds.
const BUDGET: u64 = 1 << 22;

/// Whether several bytes belong to the same place, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overlap {
    /// There are none.
    None,
    /// There are some. MPI forbids this in receives; if all of them are equal, the order of writing does not matter.
    Some,
    /// To find out takes too long, or too much memory.
    Undecided,
}

pub(super) fn overlap(layout: &Layout) -> Overlap {
    let found = match layout.shape() {
        Shape::Empty => Overlap::None,
        Shape::Strided(strided) => nest(strided),
        Shape::Table(table) => list(table),
    };
    match found {
        Overlap::Undecided => sorted(layout),
        found => found,
    }
}

/// Sorts all runs of a message, if they are not too many.
fn sorted(layout: &Layout) -> Overlap {
    if layout.runs() > MOST_RUNS as u64 {
        return Overlap::Undecided;
    }
    let pieces = layout.place(0, u64::MAX);
    let mut runs: Vec<Run> = pieces
        .map(|piece| Run {
            start: piece.start,
            bytes: piece.bytes,
        })
        .collect();
    runs.sort_unstable_by_key(|run| run.start);
    match neighbours_meet(&runs) {
        true => Overlap::Some,
        false => Overlap::None,
    }
}

fn nest(strided: &Strided) -> Overlap {
    let mut levels = strided.levels.clone();
    levels.sort_by_key(|level| std::cmp::Reverse(level.stride.unsigned_abs()));
    let mut left = BUDGET;
    search(&levels, i128::from(strided.run.bytes), 0, true, &mut left)
}

/// Whether the levels can bring a sum to less than a run from 0, with not all numbers 0. The first number that is not 0 may be
/// taken to be positive.
fn search(levels: &[Level], run: i128, sum: i128, is_zero: bool, left: &mut u64) -> Overlap {
    let Some((level, lower)) = levels.split_first() else {
        return match !is_zero && sum.abs() < run {
            true => Overlap::Some,
            false => Overlap::None,
        };
    };
    let most = i128::from(level.count) - 1;
    let stride = i128::from(level.stride).abs();
    if stride == 0 {
        // All levels below have stride 0, too, and counts of 2 and more.
        return match sum.abs() < run {
            true => Overlap::Some,
            false => Overlap::None,
        };
    }
    let reach: i128 = lower
        .iter()
        .map(|level| (i128::from(level.count) - 1) * i128::from(level.stride).abs())
        .sum::<i128>()
        + run
        - 1;
    // -reach <= sum + number * stride <= reach
    let lowest = (-reach - sum).div_euclid(stride) + i128::from((-reach - sum).rem_euclid(stride) != 0);
    let highest = (reach - sum).div_euclid(stride);
    let lowest = lowest.max(if is_zero { 0 } else { -most });
    for number in lowest..=highest.min(most) {
        if *left == 0 {
            return Overlap::Undecided;
        }
        *left -= 1;
        let found = search(lower, run, sum + number * stride, is_zero && number == 0, left);
        if found != Overlap::None {
            return found;
        }
    }
    Overlap::None
}

fn list(table: &Table) -> Overlap {
    let mut runs = table.runs.to_vec();
    runs.sort_unstable_by_key(|run| run.start);
    if neighbours_meet(&runs) {
        return Overlap::Some;
    }
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
        return Overlap::None;
    };
    // Within an element nothing overlaps, so the last run ends last.
    let span = end(*last) - i128::from(first.start);
    let extent = i128::from(table.extent).abs();
    if table.count == 1 || extent >= span {
        return Overlap::None;
    }
    if extent == 0 {
        return Overlap::Some;
    }
    let mut left = BUDGET;
    for distance in 1..i128::from(table.count).min((span + extent - 1) / extent + 1) {
        let Some(rest) = left.checked_sub(2 * runs.len() as u64) else {
            return Overlap::Undecided;
        };
        left = rest;
        if meets(&runs, distance * extent) {
            return Overlap::Some;
        }
    }
    Overlap::None
}

/// Whether sorted runs have bytes in common.
fn neighbours_meet(runs: &[Run]) -> bool {
    runs.windows(2)
        .any(|pair| end(pair[0]) > i128::from(pair[1].start))
}

/// Whether sorted runs overlap themselves when moved by `distance` bytes.
fn meets(runs: &[Run], shift: i128) -> bool {
    let mut others = runs.iter().peekable();
    for run in runs {
        let start = i128::from(run.start) + shift;
        while others.next_if(|other| end(**other) <= start).is_some() {}
        match others.peek() {
            Some(other) if i128::from(other.start) < start + i128::from(run.bytes) => return true,
            Some(_) => {}
            None => return false,
        }
    }
    false
}

fn end(run: Run) -> i128 {
    i128::from(run.start) + i128::from(run.bytes)
}
