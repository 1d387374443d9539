//! What is sent over a stream.

/// A frame: the bytes from one `tlast` to the next, with its side-band values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The bytes, without those that `tkeep` masks.
    pub bytes: Vec<u8>,
    /// `tid`; 0 on a stream without.
    pub id: u64,
    /// `tdest`; 0 on a stream without.
    pub dest: u64,
    /// `tuser`, sent with every beat and received with the last; 0 on a stream without.
    pub user: u128,
    /// Whether the last beat has no bytes at all (`tkeep` is 0), as some cores end frames whose length
    /// they did not know. A monitor has to be told to allow it. A frame without bytes always has one.
    pub null_last: bool,
}

impl Frame {
    /// A frame of these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            ..Self::default()
        }
    }

    /// The same frame with another `tid`.
    #[must_use]
    pub fn with_id(self, id: u64) -> Self {
        Self { id, ..self }
    }

    /// The same frame with another `tdest`.
    #[must_use]
    pub fn with_dest(self, dest: u64) -> Self {
        Self { dest, ..self }
    }

    /// The same frame with another `tuser`.
    #[must_use]
    pub fn with_user(self, user: u128) -> Self {
        Self { user, ..self }
    }

    /// The same frame with a last beat without bytes.
    #[must_use]
    pub fn with_null_last(self) -> Self {
        Self {
            null_last: true,
            ..self
        }
    }

    /// How many beats the frame takes on a stream of that many bytes.
    pub fn beats(&self, stream_bytes: usize) -> usize {
        let full = self.bytes.len().div_ceil(stream_bytes);
        if self.null_last { full + 1 } else { full.max(1) }
    }

    /// The beat with that number on a stream of that many bytes.
    pub fn beat(&self, index: usize, stream_bytes: usize) -> Beat<'_> {
        let start = (index * stream_bytes).min(self.bytes.len());
        let end = (start + stream_bytes).min(self.bytes.len());
        Beat {
            bytes: &self.bytes[start..end],
            last: index + 1 == self.beats(stream_bytes),
        }
    }
}

/// One transfer of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat<'a> {
    /// The bytes that `tkeep` does not mask, in the lowest lanes.
    pub bytes: &'a [u8],
    /// `tlast`.
    pub last: bool,
}

impl Beat<'_> {
    /// `tkeep`: one bit per byte, lowest first.
    pub fn keep(&self) -> u128 {
        low_bits(self.bytes.len())
    }
}

/// A frame that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The frame.
    pub frame: Frame,
    /// Cycle of the first beat.
    pub first_cycle: u64,
    /// Cycle of the last beat.
    pub last_cycle: u64,
}

/// The cycles of a frame on a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Cycle of the first beat.
    pub first_cycle: u64,
    /// Cycle of the last beat.
    pub last_cycle: u64,
}

/// A number with that many ones, at most 128.
pub(super) fn low_bits(count: usize) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::{Beat, Frame};

    fn beats(frame: &Frame, stream_bytes: usize) -> Vec<(usize, bool, u128)> {
        let beat = |index| frame.beat(index, stream_bytes);
        let summary = |beat: Beat<'_>| (beat.bytes.len(), beat.last, beat.keep());
        (0..frame.beats(stream_bytes)).map(beat).map(summary).collect()
    }

    #[test]
    fn splits_frames_into_beats() {
        assert_eq!(
            beats(&Frame::new([0; 9]), 4),
            [(4, false, 15), (4, false, 15), (1, true, 1)]
        );
        assert_eq!(beats(&Frame::new([0; 8]), 4), [(4, false, 15), (4, true, 15)]);
        assert_eq!(beats(&Frame::new([]), 4), [(0, true, 0)]);
        assert_eq!(beats(&Frame::new([0; 128]), 128), [(128, true, u128::MAX)]);
    }

    #[test]
    fn adds_a_beat_without_bytes_if_asked_to() {
        assert_eq!(
            beats(&Frame::new([0; 4]).with_null_last(), 4),
            [(4, false, 15), (0, true, 0)]
        );
        assert_eq!(
            beats(&Frame::new([0; 3]).with_null_last(), 4),
            [(3, false, 7), (0, true, 0)]
        );
        assert_eq!(beats(&Frame::new([]).with_null_last(), 4), [(0, true, 0)]);
    }
}
