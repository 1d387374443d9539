//! Finds strides in lists of runs, so that it does not matter by which constructor a type was made.

use super::{LEVELS, Level, Run};

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
