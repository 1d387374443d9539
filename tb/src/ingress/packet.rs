//! A packet from the wire, beat by beat, sound or not.

/// A packet from the wire.
///
/// Unlike a [`Frame`](spinneret_sim::stream::Frame) it can be wrong: `tkeep` of one beat may be anything, and
/// `tuser` of its last beat may be another than that of the beats before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Bytes of a beat, at most 64.
    pub beat_bytes: usize,
    /// The lanes of its beats, first beat first, without those that no beat fills.
    pub bytes: Vec<u8>,
    /// Whether a last beat without bytes follows.
    pub null_last: bool,
    /// A beat whose `tkeep` does not follow from the bytes; the bytes then fill whole beats.
    pub odd: Option<OddBeat>,
    /// `tid`.
    pub id: u64,
    /// `tdest`.
    pub dest: u64,
    /// `tuser` of the last beat; bit 0 says that the frame is bad.
    pub user: u128,
    /// `tuser` of the beats before, which says nothing.
    pub early_user: u128,
}

/// `tkeep` of one beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OddBeat {
    /// The beat, counted from 0.
    pub beat: usize,
    /// Its `tkeep`.
    pub keep: u64,
}

impl Packet {
    /// A sound packet of these bytes, in beats of that many.
    pub fn new(beat_bytes: usize, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            beat_bytes,
            bytes: bytes.into(),
            null_last: false,
            odd: None,
            id: 0,
            dest: 0,
            user: 0,
            early_user: 0,
        }
    }

    /// The same packet with the error bit of its last beat set.
    #[must_use]
    pub fn marked_bad(mut self) -> Self {
        self.user |= 1;
        self
    }

    /// The same packet with a last beat without bytes.
    #[must_use]
    pub fn with_null_last(self) -> Self {
        Self {
            null_last: true,
            ..self
        }
    }

    /// The same packet with another `tkeep` in one beat; bits for which there is no lane do not count.
    ///
    /// # Panics
    /// If the bytes do not fill whole beats, so that there would be lanes without contents.
    #[must_use]
    pub fn with_keep(self, beat: usize, keep: u64) -> Self {
        assert!(
            self.bytes.len().is_multiple_of(self.beat_bytes),
            "beats are not full"
        );
        let keep = keep & low_bits(self.beat_bytes);
        let odd = Some(OddBeat { beat, keep });
        Self { odd, ..self }
    }

    /// Its beats.
    pub fn beats(&self) -> usize {
        (self.bytes.len().div_ceil(self.beat_bytes) + usize::from(self.null_last)).max(1)
    }

    /// The lanes of a beat that have contents.
    pub fn lanes(&self, beat: usize) -> &[u8] {
        let start = (beat * self.beat_bytes).min(self.bytes.len());
        let end = (start + self.beat_bytes).min(self.bytes.len());
        &self.bytes[start..end]
    }

    /// `tkeep` of a beat.
    pub fn keep(&self, beat: usize) -> u64 {
        match self.odd {
            Some(odd) if odd.beat == beat => odd.keep,
            _ => low_bits(self.lanes(beat).len()),
        }
    }

    /// Whether a beat is the last.
    pub fn is_last(&self, beat: usize) -> bool {
        beat + 1 == self.beats()
    }

    /// `tuser` of a beat.
    pub fn user(&self, beat: usize) -> u128 {
        if self.is_last(beat) {
            self.user
        } else {
            self.early_user
        }
    }

    /// Its length in bytes, as `tkeep` says.
    pub fn length(&self) -> u64 {
        match self.odd {
            None => self.bytes.len() as u64,
            Some(_) => (0..self.beats())
                .map(|beat| u64::from(self.keep(beat).count_ones()))
                .sum(),
        }
    }

    /// Whether the path has to drop it as a bad frame: its last beat says so, or its bytes do not fill the
    /// lanes without gap. Beats without bytes behind the last byte are no gap.
    pub fn is_bad(&self) -> bool {
        let (mut gap, mut ended) = (false, false);
        for keep in (0..self.beats()).map(|beat| self.keep(beat)) {
            gap |= keep & keep.wrapping_add(1) != 0 || ended && keep != 0;
            ended |= keep != low_bits(self.beat_bytes);
        }
        self.user & 1 == 1 || gap
    }
}

/// A number with that many ones, at most 64.
fn low_bits(count: usize) -> u64 {
    u64::MAX.checked_shr(64 - count as u32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Packet;

    #[test]
    fn beats_carry_all_bytes() {
        let packet = Packet::new(64, [7; 130]);
        let keeps: Vec<u64> = (0..packet.beats()).map(|beat| packet.keep(beat)).collect();
        assert_eq!(keeps, [u64::MAX, u64::MAX, 3]);
        assert_eq!((packet.length(), packet.is_bad()), (130, false));
        let packet = Packet::new(64, [7; 128]).with_null_last();
        assert_eq!((packet.beats(), packet.keep(2), packet.length()), (3, 0, 128));
        assert!(!packet.is_bad());
        assert!(!Packet::new(64, [7; 100]).with_null_last().is_bad(), "no gap");
    }

    #[test]
    fn only_what_the_contract_names_is_bad() {
        let packet = || Packet::new(64, [0; 192]);
        assert!(packet().marked_bad().is_bad());
        let early = Packet {
            early_user: 0xffff,
            ..packet()
        };
        assert!(!early.is_bad(), "tuser counts in the last beat only");
        assert!(
            packet().with_keep(1, u64::MAX >> 1).is_bad(),
            "a gap between beats"
        );
        assert!(packet().with_keep(2, 5).is_bad(), "a hole");
        assert!(packet().with_keep(0, 0).is_bad(), "a first beat without bytes");
        let short = packet().with_keep(2, 0xf);
        assert_eq!((short.is_bad(), short.length()), (false, 132));
    }

    #[test]
    fn beats_have_any_width() {
        let packet = Packet::new(16, [7; 40]);
        let keeps: Vec<u64> = (0..packet.beats()).map(|beat| packet.keep(beat)).collect();
        assert_eq!((keeps, packet.is_bad()), (vec![0xffff, 0xffff, 0xff], false));
        let packet = Packet::new(16, [7; 48]);
        assert!(!packet.clone().with_keep(1, u64::MAX).is_bad(), "all lanes");
        assert!(packet.with_keep(1, 0x7fff).is_bad(), "a gap between beats");
    }
}
