//! When to send: how long to wait for an acknowledgement (RFC 6298), and sending at a rate.

use super::SenderConfig;
use crate::frame::{HEADERS_BYTES, MIN_FRAME_BYTES};
use std::time::Duration;

/// Round-trip time as measured, and the timeout that follows from it.
#[derive(Clone, Debug)]
pub(super) struct Timeout {
    min: Duration,
    max: Duration,
    /// Smoothed round-trip time and its mean deviation.
    measured: Option<(Duration, Duration)>,
    current: Duration,
    backed_off_at: Option<Duration>,
}

impl Timeout {
    pub(super) fn new(config: &SenderConfig) -> Self {
        Self {
            min: config.min_timeout,
            max: config.max_timeout,
            measured: None,
            current: config.initial_timeout,
            backed_off_at: None,
        }
    }

    pub(super) fn current(&self) -> Duration {
        self.current
    }

    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.measured.map(|(smoothed, _)| smoothed)
    }

    /// How long after it was sent a segment counts as lost that others have overtaken, once a round trip was measured. It is
    /// more than one round trip, because handlers on many cores finish in another order than they begin.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.measured
            .map(|(smoothed, deviation)| smoothed + smoothed / 2 + deviation * 2)
    }

    /// Takes the round-trip time of a segment that was sent once: Karn's rule, because an acknowledgement does not say
    /// which transmission it answers. This ends a back-off.
    pub(super) fn measure(&mut self, sample: Duration) {
        let (smoothed, deviation) = match self.measured {
            None => (sample, sample / 2),
            Some((smoothed, deviation)) => (
                (smoothed * 7 + sample) / 8,
                (deviation * 3 + smoothed.abs_diff(sample)) / 4,
            ),
        };
        self.measured = Some((smoothed, deviation));
        // A link whose round-trip time never varies still needs some air, as in Linux.
        self.current = (smoothed + (deviation * 4).max(self.min)).min(self.max);
    }

    /// Doubles the timeout, because a segment was not acknowledged in time.
    ///
    /// Segments that were sent before the last doubling say nothing new: they were lost together.
    pub(super) fn back_off(&mut self, sent_at: Duration, now: Duration) {
        if self.backed_off_at.is_none_or(|last| sent_at >= last) {
            self.current = self.current.saturating_mul(2).min(self.max);
            self.backed_off_at = Some(now);
        }
    }
}

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
