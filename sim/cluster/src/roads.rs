//! The memories of L2, which all HPUs share, and when each is free again.

use crate::map::Place;
use crate::timing::Timing;

/// What is asked of L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    Load,
    Store,
    Atomic,
}

/// When the memories are free again.
///
/// An access takes its time from the HPU, and keeps its memory for a part of it; who finds it busy waits until it is free.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roads {
    handler: u64,
    packet: u64,
}

impl Roads {
    /// Clocks that an access takes beyond those of its instruction, if it begins now.
    pub(crate) fn go(&mut self, place: Place, errand: Errand, now: u64, timing: &Timing) -> u32 {
        let (alone, busy) = match errand {
            Errand::Load if matches!(place, Place::Packet(_)) => {
                (timing.l2_packet_load, timing.l2_packet_load_busy)
            }
            Errand::Load => (timing.l2_load, timing.l2_load_busy),
            Errand::Store => (timing.l2_store, timing.l2_store_busy),
            Errand::Atomic => (timing.l2_atomic, timing.l2_atomic_busy),
        };
        let free = match place {
            Place::Handler(_) => &mut self.handler,
            Place::Packet(_) => &mut self.packet,
            Place::L1(..) | Place::Program(_) => return alone,
        };
        let start = now.max(*free);
        *free = start + busy;
        alone + u32::try_from(start - now).unwrap_or(u32::MAX - alone)
    }
}

#[cfg(test)]
mod tests {
    use super::{Errand, Roads};
    use crate::map::Place;
    use crate::timing::Timing;

    #[test]
    fn who_comes_at_the_same_time_waits_and_other_memories_do_not_matter() {
        let (mut roads, timing) = (Roads::default(), Timing::default());
        let mut go = |place, errand, now| roads.go(place, errand, now, &timing);
        let (here, there) = (Place::Handler(0), Place::Packet(0));
        assert_eq!(go(here, Errand::Atomic, 100), timing.l2_atomic);
        assert_eq!(go(there, Errand::Load, 100), timing.l2_packet_load);
        assert_eq!(
            go(here, Errand::Load, 100),
            timing.l2_load + timing.l2_atomic_busy as u32
        );
        let free = 100 + timing.l2_atomic_busy + timing.l2_load_busy;
        assert_eq!(go(here, Errand::Store, free), timing.l2_store);
    }
}
