//! Whether a waveform is whole. Verilator's writer does not notice that a disk is full.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Kinds of blocks in an FST file (`fstapi.h` of GTKWave, `enum fstBlockType`).
mod block {
    pub(super) const HEADER: u8 = 0;
    pub(super) const GEOMETRY: u8 = 3;
    /// Names, compressed in one of three ways.
    pub(super) const HIERARCHY: [u8; 3] = [4, 6, 7];
    /// The highest known block type.
    pub(super) const LAST: u8 = 8;
}

/// Offsets of the header fields that are read here (`fstapi.c`, `FST_HDR_OFFS_START_TIME` and so on).
mod header {
    use std::ops::Range;

    pub(super) const START: Range<usize> = 9..17;
    pub(super) const END: Range<usize> = 17..25;
    pub(super) const SIGNALS: Range<usize> = 49..57;
    /// All of these.
    pub(super) const BYTES: usize = SIGNALS.end;
}

/// Reads the blocks of a closed waveform (FST), each of which starts with its length.
///
/// # Errors
/// If it cannot be read or is not whole.
pub fn check(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    let bytes = file.metadata()?.len();
    let mut file = BufReader::new(file);
    let (mut at, mut has_geometry, mut has_names) = (0, false, false);
    while at < bytes {
        let mut head = [0; 9];
        file.read_exact(&mut head).map_err(|_| incomplete())?;
        let [kind, length @ ..] = head;
        let is_known = kind <= block::LAST && (kind == block::HEADER) == (at == 0);
        let length = u64::from_be_bytes(length);
        at = at.saturating_add(1).saturating_add(length);
        // The length counts itself.
        if !is_known || length < 8 || at > bytes {
            return Err(incomplete());
        }
        has_geometry |= kind == block::GEOMETRY;
        has_names |= block::HIERARCHY.contains(&kind);
        file.seek(SeekFrom::Start(at))?;
    }
    match has_geometry && has_names {
        true => Ok(()),
        false => Err(incomplete()),
    }
}

/// Number of signals in a closed waveform (FST).
///
/// # Errors
/// If it cannot be read or does not begin like a waveform.
pub fn signals(path: &Path) -> io::Result<u64> {
    number(path, header::SIGNALS)
}

/// The first and the last time of a closed waveform (FST); 0 and 0 if nothing was recorded.
///
/// # Errors
/// As [`signals`].
pub fn times(path: &Path) -> io::Result<(u64, u64)> {
    Ok((number(path, header::START)?, number(path, header::END)?))
}

/// A number of the header.
fn number(path: &Path, place: Range<usize>) -> io::Result<u64> {
    let mut head = [0; header::BYTES];
    File::open(path)?
        .read_exact(&mut head)
        .map_err(|_| incomplete())?;
    let bytes = head[place].try_into().map_err(|_| incomplete())?;
    match head[0] == block::HEADER {
        true => Ok(u64::from_be_bytes(bytes)),
        false => Err(incomplete()),
    }
}

fn incomplete() -> io::Error {
    io::Error::new(
        ErrorKind::StorageFull,
        "the waveform is not whole; is the disk full?",
    )
}
