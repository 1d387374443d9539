//! A file that is read record by record, and why it is not read to its end.

use super::error::{CaptureError, DamagedAt};
use pcap_file::DataLink;
use std::io::{self, Read};
use std::path::Path;

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

/// Why reading stops, before the file and the packet are known.
#[derive(Debug)]
pub(super) enum Stop {
    Read(io::Error),
    Damaged(String),
    LinkType { interface: Option<u32>, found: DataLink },
}

impl Stop {
    pub(super) fn damaged(problem: String) -> Self {
        Self::Damaged(problem)
    }

    /// The file ends within a header.
    pub(super) fn cut(what: &str, available: usize) -> Self {
        Self::Damaged(format!(
            "the file ends within {what}, {available} bytes after its beginning"
        ))
    }

    /// The file ends within something whose size is known.
    pub(super) fn cut_after(what: &str, available: usize, wanted: usize) -> Self {
        Self::Damaged(format!(
            "the file ends within {what}: {available} of {wanted} bytes are there"
        ))
    }

    pub(super) fn into_error(self, file: &Path, at: DamagedAt) -> CaptureError {
        let file = file.to_owned();
        match self {
            Self::Read(source) => CaptureError::Damaged {
                file,
                at,
                problem: source.to_string(),
            },
            Self::Damaged(problem) => CaptureError::Damaged { file, at, problem },
            Self::LinkType { interface, found } => {
                let place = match interface {
                    None => "the capture".to_owned(),
                    Some(interface) => format!("{at} is from interface {interface}, which"),
                };
                CaptureError::NotEthernet {
                    file,
                    place,
                    found: link_type(found),
                }
            }
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

fn link_type(found: DataLink) -> String {
    let number = u32::from(found);
    match found {
        DataLink::Unknown(_) => format!("{number}"),
        known => format!("{number} ({known:?})"),
    }
}
