//! A file that is read record by record.

use std::io::{self, Read};

/// Holds the beginning of the current record, as much of it as has been asked for.
#[derive(Debug)]
pub(super) struct Input<R> {
    source: R,
    record: Vec<u8>,
    offset: u64,
}

impl<R: Read> Input<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            record: Vec::new(),
            offset: 0,
        }
    }

    /// Offset in the file of the current record.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The first bytes of the current record: `wanted` of them, or fewer if the file ends before.
    pub(super) fn fill(&mut self, wanted: usize) -> io::Result<&[u8]> {
        let missing = wanted.saturating_sub(self.record.len()) as u64;
        self.source.by_ref().take(missing).read_to_end(&mut self.record)?;
        Ok(&self.record[..wanted.min(self.record.len())])
    }

    /// What has been read of the current record.
    pub(super) fn record(&self) -> &[u8] {
        &self.record
    }

    /// Goes on to the next record, which begins behind what has been read of the current one.
    pub(super) fn next_record(&mut self) {
        self.offset += self.record.len() as u64;
        self.record.clear();
    }
}
