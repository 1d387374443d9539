//! Where rows begin, so that their vectors can be whole lines of caches.

use crate::boxes::range;
use crate::plan::Plan;
use crate::program::Program;
use crate::tree::Call;

/// Instances of a row that is worth it.
const LONG: i64 = 16;

/// Rows that are looked at.
const ROWS: usize = 256;

impl Plan {
    /// The element that a rank writes first in the first long row of a field, or of one with which it exchanges what is
    /// stored.
    pub fn row_begin(&self, program: &Program, rank: usize, field: usize) -> Option<Vec<i64>> {
        let group = self.groups.iter().find(|group| group.fields.contains(&field));
        let is_stored =
            |other: usize| other == field || group.is_some_and(|group| group.fields.contains(&other));
        let writes = program.bodies().into_iter().map(|body| {
            let mut writes = body
                .accesses
                .iter()
                .filter(|access| access.is_write && access.inner.is_empty());
            writes.find(|access| is_stored(access.field))
        });
        let writes: Vec<_> = writes.collect();
        let mut rows = 0;
        let found = self.tree.visit(&mut self.slots(rank), &mut |row| {
            rows += 1;
            match row.call {
                Call::Body(body) if row.count >= LONG && row.step == 1 => match writes[body] {
                    Some(write) => {
                        let loops: Vec<(i64, i64)> = row.arguments.iter().map(|&at| (at, at)).collect();
                        let index = |index| range(index, &loops, &self.sizes).0;
                        Err(Some(write.subscripts.iter().map(index).collect()))
                    }
                    None => Ok(()),
                },
                _ if rows > ROWS => Err(None),
                _ => Ok(()),
            }
        });
        found.err().flatten()
    }
}
