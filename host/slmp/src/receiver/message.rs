//! A message during reassembly.

use crate::memory::{Cause, MAX_SEGMENTS};
use crate::wire::{Flags, Header, MAX_PAYLOAD};

/// A segment, with offsets that cannot overflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived<'a> {
    pub(super) header: Header,
    pub(super) payload: &'a [u8],
}

impl Arrived<'_> {
    fn offset(&self) -> u64 {
        self.header.offset.into()
    }

    fn bytes(&self) -> u64 {
        self.payload.len() as u64
    }

    pub(super) fn is_end(&self) -> bool {
        self.header.has(Flags::EOM)
    }
}

/// End of the message, from the EOM segment.
#[derive(Clone, Copy, Debug)]
struct End {
    header: Header,
    length: u64,
}

impl End {
    fn offset(&self) -> u64 {
        self.header.offset.into()
    }
}

/// State and bytes of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    /// Payload of all segments but the last; 0 while unknown.
    segment_bytes: u64,
    end: Option<End>,
    bitmap: Vec<u32>,
    /// Received segments.
    done: u64,
    /// Received bytes.
    pub(super) bytes: u64,
    /// Highest end of a received segment, without EOM.
    reach: u64,
    data: Vec<u8>,
}

impl Message {
    /// Classifies a segment: accepted, duplicate, or the first cause to refuse it.
    pub(super) fn classify(&self, segment: &Arrived<'_>, capacity: u64) -> Cause {
        if !self.fits(segment) {
            Cause::Misplaced
        } else if segment.offset() + segment.bytes() > capacity {
            Cause::TooLong
        } else if self.contradicts_end(segment) {
            Cause::BeyondEnd
        } else if self.has(segment) {
            Cause::Duplicate
        } else {
            Cause::Accepted
        }
    }

    /// Adds a segment that was classified as accepted.
    pub(super) fn take(&mut self, segment: &Arrived<'_>) {
        let (offset, bytes) = (segment.offset(), segment.bytes());
        if segment.is_end() {
            self.end = Some(End {
                header: segment.header,
                length: offset + bytes,
            });
        } else {
            self.segment_bytes = bytes;
            self.reach = self.reach.max(offset + bytes);
            let index = (offset / bytes) as usize;
            self.bitmap.resize(self.bitmap.len().max(index / 32 + 1), 0);
            self.bitmap[index / 32] |= 1 << (index % 32);
        }
        self.done += 1;
        self.bytes += bytes;
        let (start, end) = (offset as usize, (offset + bytes) as usize);
        self.data.resize(self.data.len().max(end), 0);
        self.data[start..end].copy_from_slice(segment.payload);
    }

    /// Whether all segments are there.
    pub(super) fn is_complete(&self) -> bool {
        let last = self.end.and_then(|end| match end.offset() {
            0 => Some(0),
            offset => index_of(offset, self.segment_bytes),
        });
        last.is_some_and(|last| self.done == last + 1)
    }

    /// Length, once the EOM segment has come.
    pub(super) fn length(&self) -> Option<u64> {
        self.end.map(|end| end.length)
    }

    /// The EOM segment's header, once it has come.
    pub(super) fn end_header(&self) -> Option<Header> {
        self.end.map(|end| end.header)
    }

    /// Takes the bytes, and keeps the state.
    pub(super) fn take_data(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.data)
    }

    /// Whether length and offset fit the segments of this message, as far as their size is known.
    fn fits(&self, segment: &Arrived<'_>) -> bool {
        let (offset, bytes) = (segment.offset(), segment.bytes());
        if bytes > MAX_PAYLOAD as u64 {
            return false;
        }
        if segment.is_end() {
            return match self.segment_bytes {
                0 => bytes > 0 || offset == 0,
                size => (1..=size).contains(&bytes) && is_place(offset, size),
            };
        }
        let size = if self.segment_bytes == 0 {
            bytes
        } else {
            self.segment_bytes
        };
        // The EOM segment may have come before the size was known, and is a segment of this message, too.
        let end_fits = self
            .end
            .is_none_or(|end| is_place(end.offset(), size) && end.length - end.offset() <= size);
        bytes > 0 && bytes == size && is_place(offset, size) && end_fits
    }

    /// Whether a segment is beyond the known end, has a different end, or has an end before received data.
    fn contradicts_end(&self, segment: &Arrived<'_>) -> bool {
        let offset = segment.offset();
        match self.end {
            Some(end) if segment.is_end() => (end.offset(), end.length) != (offset, offset + segment.bytes()),
            Some(end) => offset >= end.offset(),
            None => segment.is_end() && offset < self.reach,
        }
    }

    fn has(&self, segment: &Arrived<'_>) -> bool {
        if segment.is_end() {
            return self.end.is_some();
        }
        let index = (segment.offset() / segment.bytes()) as usize;
        self.bitmap
            .get(index / 32)
            .is_some_and(|word| word >> (index % 32) & 1 == 1)
    }
}

/// The number of the segment at an offset; `None` while the size of segments is unknown.
fn index_of(offset: u64, segment_bytes: u64) -> Option<u64> {
    offset.checked_div(segment_bytes)
}

/// Whether a segment of a size can start at an offset.
fn is_place(offset: u64, segment_bytes: u64) -> bool {
    index_of(offset, segment_bytes)
        .is_some_and(|index| offset.is_multiple_of(segment_bytes) && index < MAX_SEGMENTS as u64)
}
