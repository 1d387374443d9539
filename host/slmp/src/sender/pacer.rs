//! Sending at a rate.

use crate::frame::{HEADERS_BYTES, MIN_FRAME_BYTES};
use std::time::Duration;

/// What a sender that is late may catch up, in segments: systems do not wake up on the microsecond.
const BURST: u32 = 16;

/// When the next segment may be sent.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    rate_bits_per_s: Option<u64>,
    ready_at: Duration,
    has_started: bool,
}

impl Pacer {
    pub(super) fn new(rate_bits_per_s: Option<u64>) -> Self {
        Self {
            rate_bits_per_s,
            ready_at: Duration::ZERO,
            has_started: false,
        }
    }

    /// When the next segment may be sent.
    pub(super) fn ready_at(&self) -> Duration {
        self.ready_at
    }

    /// Notes that a segment with a payload was sent.
    pub(super) fn sent(&mut self, now: Duration, payload_bytes: usize) {
        let Some(rate) = self.rate_bits_per_s else {
            return;
        };
        let bits = 8 * (HEADERS_BYTES + payload_bytes).max(MIN_FRAME_BYTES) as u128;
        let nanoseconds = (bits * 1_000_000_000).div_ceil(rate.into());
        let gap = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        let catch_up = if self.has_started {
            gap.saturating_mul(BURST)
        } else {
            Duration::ZERO
        };
        self.has_started = true;
        self.ready_at = self
            .ready_at
            .max(now.saturating_sub(catch_up))
            .saturating_add(gap);
    }
}
