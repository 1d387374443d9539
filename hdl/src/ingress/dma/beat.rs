//! What a beat carries on its way to the packet buffer.

/// Where the parts of a marked beat lie: {cut, over, bad, beyond, last, keep, data}.
///
/// The flags say everything that the writer needs to know of a frame, so that it never has to count:
/// - `last`: the frame ends with this beat;
/// - `cut`: a burst ends with this beat at the latest, as the frame or its room in the slot does;
/// - `beyond`: the beat lies behind the slot and is not written. Of such beats only the last of a frame comes;
/// - `bad`: the beat makes its packet fail;
/// - `over`: with `beyond`: the frame has bytes behind the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeatShape {
    /// Width of the data.
    pub data: usize,
}

impl BeatShape {
    /// Width of the strobes: one bit a byte.
    pub fn keep(self) -> usize {
        self.data / 8
    }

    /// Lowest bit of the strobes; data starts at bit 0.
    pub fn keep_at(self) -> usize {
        self.data
    }

    /// Bit of `last`.
    pub fn last_at(self) -> usize {
        self.data + self.keep()
    }

    /// Bit of `beyond`.
    pub fn beyond_at(self) -> usize {
        self.last_at() + 1
    }

    /// Bit of `bad`.
    pub fn bad_at(self) -> usize {
        self.last_at() + 2
    }

    /// Bit of `over`.
    pub fn over_at(self) -> usize {
        self.last_at() + 3
    }

    /// Bit of `cut`, the highest.
    pub fn cut_at(self) -> usize {
        self.last_at() + 4
    }

    /// Width of a marked beat.
    pub fn width(self) -> usize {
        self.last_at() + 5
    }
}
