//! The segments that wait for their acknowledgement.
//!
//! All queues hold what is in flight and nothing else, so that costs do not depend on the length of the message.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// Segments that were sent later and have been acknowledged, until a segment may count as lost.
const LATER_ACKS: usize = 3;

/// One transmission of a segment: the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub(super) segment: u32,
    pub(super) sent_at: Duration,
    /// Whether the segment was sent before.
    pub(super) is_repeated: bool,
    deadline: Duration,
}

/// Transmissions are numbered in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    next_number: u64,
    in_order: BTreeMap<u64, Transmission>,
    by_segment: HashMap<u32, u64>,
    by_deadline: BTreeSet<(Duration, u64)>,
    /// The highest numbers of transmissions that were acknowledged, highest first.
    latest_acks: [Option<u64>; LATER_ACKS],
}

impl Flight {
    pub(super) fn len(&self) -> usize {
        self.in_order.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_order.is_empty()
    }

    pub(super) fn contains(&self, segment: u32) -> bool {
        self.by_segment.contains_key(&segment)
    }

    /// Notes that a segment is sent now, for the first time or again.
    pub(super) fn send(&mut self, segment: u32, now: Duration, timeout: Duration) {
        let before = self.remove(segment);
        let transmission = Transmission {
            segment,
            sent_at: now,
            is_repeated: before.is_some(),
            deadline: now.saturating_add(timeout),
        };
        let number = self.next_number;
        self.next_number += 1;
        self.in_order.insert(number, transmission);
        self.by_segment.insert(segment, number);
        self.by_deadline.insert((transmission.deadline, number));
    }

    /// Notes that a segment was acknowledged; `None` if it does not wait for that.
    pub(super) fn acknowledge(&mut self, segment: u32) -> Option<Transmission> {
        let number = *self.by_segment.get(&segment)?;
        let transmission = self.remove(segment)?;
        // Which transmission of a repeated segment was answered is unknown, so it proves nothing about others.
        if !transmission.is_repeated {
            let place = self.latest_acks.iter().position(|latest| *latest < Some(number));
            if let Some(place) = place {
                self.latest_acks[place..].rotate_right(1);
                self.latest_acks[place] = Some(number);
            }
        }
        Some(transmission)
    }

    /// The oldest segment and when it was sent, if enough that were sent later have been acknowledged.
    pub(super) fn overtaken(&self) -> Option<(u32, Duration)> {
        let (number, oldest) = self.in_order.first_key_value()?;
        let [.., least] = self.latest_acks;
        (least > Some(*number)).then_some((oldest.segment, oldest.sent_at))
    }

    /// The transmission whose time is over first, if it is over.
    pub(super) fn overdue(&self, now: Duration) -> Option<Transmission> {
        let (deadline, number) = self.by_deadline.first()?;
        self.in_order.get(number).copied().filter(|_| *deadline <= now)
    }

    /// When the time of the next transmission is over.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.by_deadline.first().map(|(deadline, _)| *deadline)
    }

    fn remove(&mut self, segment: u32) -> Option<Transmission> {
        let number = self.by_segment.remove(&segment)?;
        let transmission = self.in_order.remove(&number)?;
        self.by_deadline.remove(&(transmission.deadline, number));
        Some(transmission)
    }
}
