//! Pairs frames from the wire with packets in the cluster.

use std::collections::{BTreeMap, VecDeque};

/// Maximum number of remembered frames. Older ones were dropped.
const REMEMBERED: usize = 1 << 16;

/// A frame from the wire.
#[derive(Clone, Copy, Debug)]
struct Frame {
    at_ps: u64,
    digest: u64,
    /// Address of its handler, if it matched.
    handler: Option<u32>,
    taken: bool,
}

/// Destination of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// It matched, and its packet reached the cluster.
    Cluster,
    /// It did not match, and went to the host.
    Host,
}

/// Frames without a known destination yet.
///
/// The hardware carries no number from the wire to a HER, but each path keeps the order of its frames, and does not change
/// them. So a packet is the oldest frame with its bytes after the previous one on the same path; frames that both
/// paths have skipped were dropped. Frames with the same bytes are indistinguishable: if one of them is dropped, a
/// later one is treated as it and appears to have arrived earlier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairing {
    frames: VecDeque<Frame>,
    /// Number of the first of `frames`.
    first: u64,
    /// For each destination, the number of the frame after the last one that went there.
    after_last: [u64; 2],
    /// Matched frames that were dropped, by handler.
    dropped: BTreeMap<u32, u64>,
}

impl Pairing {
    /// Adds a frame from the wire, with its handler if it matched: its number.
    pub(crate) fn came(&mut self, at_ps: u64, digest: u64, handler: Option<u32>) -> u64 {
        if self.frames.len() == REMEMBERED {
            self.frames.pop_front();
            self.first += 1;
        }
        self.frames.push_back(Frame {
            at_ps,
            digest,
            handler,
            taken: false,
        });
        self.first + self.frames.len() as u64 - 1
    }

    /// Finds the frame with these bytes at its destination: its number and arrival time.
    pub(crate) fn went(&mut self, way: Destination, digest: u64) -> Option<(u64, u64)> {
        let start = self.after_last[way as usize].saturating_sub(self.first) as usize;
        let mut open = self.frames.iter().enumerate().skip(start);
        // A matched frame at the host was passed by a handler, and its packet reached the cluster before.
        let fits = |frame: &Frame| way == Destination::Cluster || frame.handler.is_none();
        let (place, _) = open.find(|(_, frame)| frame.digest == digest && !frame.taken && fits(frame))?;
        if way == Destination::Cluster {
            let left_behind = self.frames.range(start..place);
            for handler in left_behind.filter_map(|frame| frame.handler) {
                *self.dropped.entry(handler).or_default() += 1;
            }
        }
        let frame = &mut self.frames[place];
        frame.taken = true;
        let at_ps = frame.at_ps;
        let number = self.first + place as u64;
        self.after_last[way as usize] = number + 1;
        self.forget();
        Some((number, at_ps))
    }

    /// Frames that are known to be dropped, by handler.
    pub(crate) fn dropped(&self) -> &BTreeMap<u32, u64> {
        &self.dropped
    }

    /// Removes the frames that both paths have skipped.
    fn forget(&mut self) {
        let both = self.after_last[0].min(self.after_last[1]);
        while self.first < both || self.frames.front().is_some_and(|frame| frame.taken) {
            self.frames.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames that come when their number says.
    fn fill(pairing: &mut Pairing, numbers: std::ops::Range<u64>) {
        numbers.for_each(|number| assert_eq!(pairing.came(number, number, Some(number as u32 % 2)), number));
    }

    #[test]
    fn dropped_frames_do_not_shift_later_ones() {
        let mut pairing = Pairing::default();
        fill(&mut pairing, 0..10);
        for number in [1, 4, 5, 9] {
            assert_eq!(pairing.went(Destination::Cluster, number), Some((number, number)));
        }
        assert_eq!(
            pairing.went(Destination::Cluster, 2),
            None,
            "it would have overtaken another one"
        );
        // 0, 2, 6 and 8 of the one handler, 3 and 7 of the other.
        assert_eq!(pairing.dropped(), &BTreeMap::from([(0, 4), (1, 2)]));
    }

    #[test]
    fn each_destination_keeps_its_order() {
        let mut pairing = Pairing::default();
        (0..6).for_each(|number| assert_eq!(pairing.came(100 + number, number % 2, None), number));
        assert_eq!(pairing.went(Destination::Cluster, 1), Some((1, 101)));
        assert_eq!(pairing.went(Destination::Cluster, 1), Some((3, 103)));
        assert_eq!(pairing.went(Destination::Host, 0), Some((0, 100)));
        assert_eq!(
            pairing.went(Destination::Host, 1),
            Some((5, 105)),
            "1 and 3 went the other way"
        );
        assert_eq!(pairing.went(Destination::Cluster, 0), Some((4, 104)));
        assert_eq!(pairing.went(Destination::Cluster, 7), None);
        assert!(pairing.dropped().is_empty(), "nothing of these matched");
    }

    #[test]
    fn memory_stays_bounded_if_every_frame_is_dropped() {
        let mut pairing = Pairing::default();
        let frames = 3 * REMEMBERED as u64;
        fill(&mut pairing, 0..frames);
        assert_eq!(pairing.frames.len(), REMEMBERED);
        assert_eq!(pairing.went(Destination::Cluster, 0), None);
        assert_eq!(
            pairing.went(Destination::Cluster, frames - 1),
            Some((frames - 1, frames - 1))
        );
    }
}
