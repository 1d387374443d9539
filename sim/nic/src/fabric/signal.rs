//! What one program of a fabric tells another without a frame.

use std::sync::atomic::{AtomicU64, Ordering};

/// Something that happens once, and is known everywhere a moment later: how long after does not depend on threads.
#[derive(Debug)]
pub struct Signal {
    at_ps: AtomicU64,
    /// How far a NIC may be ahead of others.
    lookahead_ps: u64,
}

impl Signal {
    /// Something that has not happened; the fabric's [lookahead](spinneret_fabric::Topology::lookahead_ps) is how long it takes
    /// to be known.
    pub fn new(lookahead_ps: u64) -> Self {
        Self {
            at_ps: AtomicU64::new(u64::MAX),
            lookahead_ps,
        }
    }

    /// It happens now, on the clock of the NIC of who says so.
    pub fn tell(&self, now_ps: u64) {
        self.at_ps.store(now_ps, Ordering::SeqCst);
    }

    /// When it happened, if that is known now on the clock of the NIC of who asks.
    pub fn told(&self, now_ps: u64) -> Option<u64> {
        let at_ps = self.at_ps.load(Ordering::SeqCst);
        let known_ps = at_ps.saturating_add(self.lookahead_ps);
        (at_ps != u64::MAX && known_ps <= now_ps).then_some(at_ps)
    }
}
