//! From an offset in the stream to places in memory, in as many steps as there are levels.

use super::{LEVELS, Layout, Level, Shape, Strided, Table};

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
